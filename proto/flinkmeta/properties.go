package flinkmeta

import (
	"slices"
	"strings"
)

const (
	flinkCheckpoints  = "org.apache.flink.runtime.checkpoint."
	propertiesClass   = flinkCheckpoints + "CheckpointProperties"
	snapshotClass     = flinkCheckpoints + "SnapshotType"
	checkpointClass   = flinkCheckpoints + "CheckpointType"
	savepointClass    = flinkCheckpoints + "SavepointType"
	sharingClass      = flinkCheckpoints + "SnapshotType$SharingFilesStrategy"
	actionClass       = flinkCheckpoints + "SavepointType$PostCheckpointAction"
	formatClass       = "org.apache.flink.core.execution.SavepointFormatType"
	propertiesVersion = 2 // serialVersionUID
)

// properties reads the trailer: a Java serialization stream of one object.
func (d *decoder) properties() {
	j := javaReader{cursor: &d.cursor}
	j.open()
	at := d.offset()
	v := j.value(0)
	if d.err != nil || v == nil { // Flink's writer can be given none
		return
	}
	object, ok := v.(*javaValue)
	if !ok || object.class.name != propertiesClass || object.class.id != propertiesVersion {
		d.fail(at, unsupportedf("the object is no %s of version %d", propertiesClass, propertiesVersion))
		return
	}
	t := trailer{at: at, d: d, object: object}
	p := &d.info.Properties
	p.DiscardCancelled = field[bool](&t, "discardCancelled", "")
	p.DiscardFailed = field[bool](&t, "discardFailed", "")
	p.DiscardFinished = field[bool](&t, "discardFinished", "")
	p.DiscardSubsumed = field[bool](&t, "discardSubsumed", "")
	p.DiscardSuspended = field[bool](&t, "discardSuspended", "")
	p.Forced = field[bool](&t, "forced", "")
	p.Unclaimed = field[bool](&t, "unclaimed", "")
	snapshot := field[*javaValue](&t, "checkpointType", snapshotClass)
	t.done()
	if d.err == nil {
		d.snapshotType(at, snapshot)
	}
}

// snapshotType reads what tells a savepoint from a checkpoint.
func (d *decoder) snapshotType(at int64, object *javaValue) {
	t := trailer{at: at, d: d, object: object}
	p := &d.info.Properties
	p.Name = field[string](&t, "name", "java.lang.String")
	switch object.class.name {
	case checkpointClass:
		p.Sharing = t.enum("sharingFilesStrategy", sharingClass, "FORWARD_BACKWARD", "FORWARD", "NO_SHARING")
		t.done()
		d.info.Kind = Checkpoint
	case savepointClass:
		p.Action = t.enum("postCheckpointAction", actionClass, "NONE", "SUSPEND", "TERMINATE")
		format := t.enum("formatType", formatClass, "CANONICAL", "NATIVE")
		t.done()
		d.info.Kind, d.info.Format = Savepoint, Canonical
		if format == "NATIVE" {
			d.info.Format = Native
		}
	default:
		d.fail(at, unsupportedf("a snapshot of class %q", object.class.name))
	}
}

// trailer takes an object apart; every field must be asked for by its name.
type trailer struct {
	at     int64 // where the trailer starts
	d      *decoder
	object *javaValue
	taken  int
}

// field gives a field's value, which must be of the type T and declared as of
// the class.
func field[T any](t *trailer, name, class string) (value T) {
	if class != "" {
		class = "L" + strings.ReplaceAll(class, ".", "/") + ";"
	}
	i := slices.IndexFunc(t.object.fields, func(f javaField) bool { return f.name == name })
	if i >= 0 && t.object.fields[i].class == class {
		if value, ok := t.object.fields[i].value.(T); ok {
			t.taken++
			return value
		}
	}
	t.d.fail(t.at, unsupportedf("class %q: no field %q as known", t.object.class.name, name))
	return value
}

func (t *trailer) enum(name, class string, constants ...string) string {
	v := field[*javaValue](t, name, class)
	if v == nil {
		return ""
	}
	if v.class.name != class || !slices.Contains(constants, v.constant) {
		t.d.fail(t.at, unsupportedf("class %q: field %q is %q of %q", t.object.class.name, name, v.constant, v.class.name))
	}
	return v.constant
}

// done: there must be no field beyond those taken, which may mean something.
func (t *trailer) done() {
	if t.taken != len(t.object.fields) {
		t.d.fail(t.at, unsupportedf("class %q: %d fields, %d of them known", t.object.class.name, len(t.object.fields), t.taken))
	}
}
