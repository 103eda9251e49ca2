package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// resource is what this package reads of a Kubernetes resource, of any kind that
// is looked at: FlinkDeployment, FlinkSessionJob and FlinkStateSnapshot of
// flink.apache.org, and ConfigMap.
type resource struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name   string            `json:"name"`
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec resourceSpec `json:"spec"`

	Status struct {
		JobStatus struct {
			JobID                string `json:"jobId"`
			UpgradeSavepointPath string `json:"upgradeSavepointPath"`
			SavepointInfo        struct {
				LastSavepoint    savepoint   `json:"lastSavepoint"`
				SavepointHistory []savepoint `json:"savepointHistory"`
			} `json:"savepointInfo"`
		} `json:"jobStatus"`
		ReconciliationStatus struct {
			LastReconciledSpec string `json:"lastReconciledSpec"` // JSON in a string
			LastStableSpec     string `json:"lastStableSpec"`
		} `json:"reconciliationStatus"`
		Path string `json:"path"` // of a FlinkStateSnapshot
	} `json:"status"`

	Data map[string]json.RawMessage `json:"data"` // of a ConfigMap; only its keys matter
}

type resourceSpec struct {
	Job *struct {
		InitialSavepointPath string `json:"initialSavepointPath"`
	} `json:"job"`
	// Values are text, or further keys since operators of 2025.
	FlinkConfiguration map[string]any `json:"flinkConfiguration"`
	Savepoint          *struct {
		Path string `json:"path"`
	} `json:"savepoint"` // of a FlinkStateSnapshot
}

type savepoint struct {
	Location string `json:"location"`
}

// kubernetes takes a List as kubectl writes it, one item at a time.
func (l *liveReader) kubernetes(d *json.Decoder, m *meter) error {
	if err := delim(d, m, '{'); err != nil {
		return err
	}
	seen, listed := map[string]bool{}, false
	for d.More() {
		m.since = 0
		key, err := d.Token()
		if err != nil {
			return err
		}
		switch {
		case seen[folded(fmt.Sprint(key))]:
			return listErrorf("%v is there twice", key)
		case len(seen) == maxHeader:
			return listErrorf("more than %d keys beside items; save the output of kubectl get … -o json", maxHeader)
		}
		seen[folded(fmt.Sprint(key))] = true
		read := l.header
		if key == "items" {
			read, listed = l.items, true
		}
		if err := read(d, m, key); err != nil {
			return err
		}
	}
	if err := delim(d, m, '}'); err != nil {
		return err
	}
	if !listed {
		return listErrorf("there are no items; save the output of kubectl get … -o json")
	}
	m.since = 0
	switch _, err := d.Token(); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	}
	return listErrorf("more follows after the list")
}

// maxHeader is how many keys a List may have; those of Kubernetes have four.
const maxHeader = 100

// header reads one key before or after the items. One resource alone, of kubectl
// get NAME, is no list; and of a list in pieces, one piece says nothing of what the
// others have.
func (l *liveReader) header(d *json.Decoder, m *meter, key json.Token) error {
	var raw json.RawMessage
	if err := m.value(d, &raw); err != nil {
		return err
	}
	switch key {
	case "kind":
		var kind string
		if err := json.Unmarshal(raw, &kind); err != nil {
			return err
		}
		if !strings.HasSuffix(kind, "List") {
			return listErrorf("a %q, where a List belongs; save the output of kubectl get … -o json", kind)
		}
	case "metadata":
		var meta struct {
			Continue  string `json:"continue"`
			Remaining int64  `json:"remainingItemCount"`
		}
		if err := decodeOnce(raw, &meta); err != nil {
			return err
		}
		if meta.Continue != "" || meta.Remaining != 0 {
			return listErrorf("the list is a part: metadata has continue or remainingItemCount; get all of it, as kubectl get does without --limit")
		}
	}
	return nil
}

func (l *liveReader) items(d *json.Decoder, m *meter, _ json.Token) error {
	if err := delim(d, m, '['); err != nil {
		return err
	}
	for n := 0; d.More(); n++ {
		var r resource
		if err := m.value(d, &r); err != nil {
			return fmt.Errorf("items[%d]: %w", n, err)
		}
		if err := l.resource(&r); err != nil {
			return fmt.Errorf("items[%d], %s %q: %w", n, r.Kind, r.Metadata.Name, err)
		}
	}
	return delim(d, m, ']')
}

// delim takes one bracket.
func delim(d *json.Decoder, m *meter, want json.Delim) error {
	m.since = 0
	t, err := d.Token()
	if err != nil {
		return err
	}
	if t != want {
		return listErrorf("%v, where %v belongs; save the output of kubectl get … -o json", t, want)
	}
	return nil
}

func (l *liveReader) resource(r *resource) error {
	switch {
	case r.Kind == "" || r.Metadata.Name == "":
		return listErrorf("an item without kind or name")
	case r.Kind == "ConfigMap":
		return l.configMap(r)
	case !strings.HasPrefix(r.APIVersion, "flink.apache.org/"):
		return nil // asked for along with the others; says nothing about Flink
	case r.Kind == "FlinkDeployment":
		if err := l.cluster(r.Metadata.Name); err != nil { // which the operator makes the cluster id
			return err
		}
	}
	specs := []resourceSpec{r.Spec}
	for _, text := range []string{r.Status.ReconciliationStatus.LastReconciledSpec, r.Status.ReconciliationStatus.LastStableSpec} {
		if text == "" {
			continue
		}
		// Older operators wrote the spec, newer ones an object that holds it.
		var wrapped struct {
			Spec resourceSpec `json:"spec"`
			resourceSpec
		}
		if err := decodeOnce([]byte(text), &wrapped); err != nil {
			return listErrorf("the spec in its status: %v", err) // its offset is not the file's
		}
		specs = append(specs, wrapped.Spec, wrapped.resourceSpec)
	}
	for i := range specs {
		if err := l.spec(&specs[i]); err != nil {
			return err
		}
	}
	job := &r.Status.JobStatus
	if err := l.id(job.JobID); err != nil {
		return err
	}
	paths := []string{r.Status.Path, job.UpgradeSavepointPath, job.SavepointInfo.LastSavepoint.Location}
	for _, s := range job.SavepointInfo.SavepointHistory {
		paths = append(paths, s.Location)
	}
	return l.written(paths)
}

// spec takes what a spec says a job starts from, and under which ids it runs.
func (l *liveReader) spec(s *resourceSpec) error {
	var paths []string
	if s.Job != nil {
		paths = append(paths, s.Job.InitialSavepointPath)
	}
	if s.Savepoint != nil {
		paths = append(paths, s.Savepoint.Path)
	}
	flat := map[string]string{}
	flatten(flat, "", s.FlinkConfiguration)
	for _, key := range []string{"execution.savepoint.path", "execution.state-recovery.path"} {
		paths = append(paths, flat[key])
	}
	for _, key := range []string{"kubernetes.cluster-id", "high-availability.cluster-id"} {
		if err := l.cluster(strings.Trim(flat[key], "/")); err != nil {
			return err
		}
	}
	if err := l.id(flat["$internal.pipeline.job-id"]); err != nil {
		return err
	}
	return l.written(paths)
}

// flatten gives nested keys of a configuration their dotted names.
func flatten(into map[string]string, prefix string, m map[string]any) {
	for key, v := range m {
		switch v := v.(type) {
		case string:
			into[prefix+key] = v
		case map[string]any:
			flatten(into, prefix+key+".", v)
		}
	}
}

// lastState is what the operator writes in place of a path, for the last state
// wherever it is.
const lastState = "KUBERNETES_OPERATOR_LAST_STATE"

// written takes paths that somebody wrote into a resource, and words that the
// operator and Flink write in their place. What is neither may be meant as the path
// of a savepoint that a job starts from, so it is an error.
func (l *liveReader) written(paths []string) error {
	for _, p := range paths {
		if p == lastState || p == notOnDisk {
			continue
		}
		if err := l.path(p); err != nil {
			return err
		}
	}
	return nil
}

// haSuffixes end the names of Flink's ConfigMaps: of 1.15 and later, then of those
// before. A job id may stand between cluster id and suffix.
var haSuffixes = []string{
	"-cluster-config-map", "-config-map",
	"-jobmanager-leader", "-dispatcher-leader", "-resourcemanager-leader", "-restserver-leader",
}

// haName gives cluster and job from the name of a ConfigMap. Without labels a name
// that only looks like Flink's counts too: a cluster too many can only keep more.
func haName(name string) (cluster, job string) {
	for _, suffix := range haSuffixes {
		cluster, ok := strings.CutSuffix(name, suffix)
		if !ok {
			continue
		}
		if n := len(cluster) - 33; n > 0 && cluster[n] == '-' && isHex(cluster[n+1:], 32) {
			return cluster[:n], cluster[n+1:]
		}
		if suffix == "-config-map" {
			return "", "" // many have such names; Flink's have a job there
		}
		return cluster, ""
	}
	return "", ""
}

// configMap takes the cluster and the job of a ConfigMap of high availability.
func (l *liveReader) configMap(r *resource) error {
	cluster, job := haName(r.Metadata.Name)
	if labels := r.Metadata.Labels; labels["configmap-type"] == "high-availability" && labels["app"] != "" {
		cluster = labels["app"] // surer than the name
		l.configMaps++
	}
	if err := l.cluster(cluster); err != nil {
		return err
	}
	if err := l.id(job); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(r.Data)) {
		for _, prefix := range []string{"jobGraph-", "executionPlan-"} {
			if id, ok := strings.CutPrefix(key, prefix); ok && isHex(id, 32) {
				if err := l.id(id); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
