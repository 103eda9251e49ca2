// Package reports turns values into bytes: the report as text and JSON, rows of
// the inventory as NDJSON and CSV, and what Flink's files refer to as text, JSON
// and NDJSON. It computes no numbers and opens no files.
//
// Names in HDFS are bytes. Text shows them as [EscapePath] does. JSON has those
// that are UTF-8 as they are; any other is shown in that escaped form, with its
// exact bytes beside it under a key that ends in _b64. CSV has all bytes as they
// are, with the _b64 column for the same names as JSON.
package reports

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"

	"fsweep/analyze"
	"fsweep/analyze/namespace"
)

// JSON writes the report as one JSON object. Its keys are a contract:
// docs/OUTPUT.md.
func JSON(w io.Writer, r *analyze.Report) error {
	d := document{encoder{format: NDJSON}}
	d.object("", func() {
		d.source(&r.Source)
		d.findings(r.Findings)
		d.object("totals", func() { d.totals(&r.Totals) })
		d.object("snapshot_totals", func() { d.totals(&r.SnapshotTotals) })
		d.quotas(r.Quotas)
		d.object("top_directories", func() {
			d.directories("by_space_consumed", r.Top.BySpace)
			d.directories("by_inodes", r.Top.ByINodes)
			d.directories("by_children", r.Top.ByChildren)
		})
		d.owners("users", r.Users)
		d.owners("groups", r.Groups)
		d.types("storage_types", &r.StorageTypes)
		d.policies("storage_policies", r.StoragePolicy)
		d.policies("erasure_coding_policies", r.ErasureCoding)
		d.openFiles(&r.OpenFiles)
		d.snapshots(&r.Snapshots)
	})
	return d.writeTo(w)
}

// QuotaJSON writes the quotas as one JSON object.
func QuotaJSON(w io.Writer, src *analyze.Source, findings []namespace.Finding, rows []analyze.QuotaRow) error {
	d := document{encoder{format: NDJSON}}
	d.object("", func() {
		d.source(src)
		d.findings(findings)
		d.string("note", analyze.DriftNote)
		d.quotas(rows)
	})
	return d.writeTo(w)
}

// document is an encoder of one large JSON object.
type document struct{ encoder }

func (d *document) writeTo(w io.Writer) error {
	var out bytes.Buffer
	if err := json.Indent(&out, d.buf, "", "  "); err != nil {
		return err
	}
	out.WriteByte('\n')
	_, err := w.Write(out.Bytes())
	return err
}

// object writes an object; one without key is an element or the document.
func (d *document) object(key string, body func()) {
	if key == "" {
		d.comma()
	} else {
		d.field(key)
	}
	d.buf = append(d.buf, '{')
	body()
	d.buf = append(d.buf, '}')
}

func (d *document) array(key string, n int, element func(i int)) {
	d.field(key)
	at := d.beginArray()
	for i := range n {
		element(i)
	}
	d.endArray(at)
}

func (d *document) source(s *analyze.Source) {
	d.object("source", func() {
		d.string("image", s.Image)
		d.int("size_bytes", s.SizeBytes)
		d.uint("txid", s.Txid)
		d.int("layout_version", int64(s.LayoutVersion))
		d.uint("namespace_id", uint64(s.NamespaceID))
		d.stringIf("codec", s.Codec)
		d.stringIf("md5", s.MD5)
		d.bool("verified", s.Verified)
		d.string("verified_reason", s.VerifiedReason)
		d.int("image_time_ms", s.ImageTimeMs)
		d.string("image_time_source", s.ImageTimeSource)
	})
}

func (d *document) findings(fs []namespace.Finding) {
	d.array("findings", len(fs), func(i int) {
		f := &fs[i]
		d.object("", func() {
			d.string("code", f.Code)
			d.int("count", f.Count)
			d.string("message", f.Message)
			if len(f.INodes) > 0 {
				d.array("inode_ids", len(f.INodes), func(i int) {
					d.comma()
					d.buf = strconv.AppendUint(d.buf, f.INodes[i], 10)
				})
			}
		})
	})
}

func (d *document) totals(t *analyze.Totals) {
	d.int("directories", t.Directories)
	d.int("files", t.Files)
	d.int("symlinks", t.Symlinks)
	d.int("length", t.Length)
	d.int("space_consumed", t.SpaceConsumed)
}

func (d *document) quotas(rows []analyze.QuotaRow) {
	d.array("quotas", len(rows), func(i int) {
		d.object("", func() { (*quotaRow)(&rows[i]).encode(&d.encoder) })
	})
}

func (d *document) directories(key string, rows []analyze.DirRow) {
	d.array(key, len(rows), func(i int) {
		r := &rows[i]
		d.object("", func() {
			d.bytes("path", "path_b64", r.Path)
			d.uint("inode_id", r.INodeID)
			d.string("owner", r.Owner)
			d.totals(&r.Totals)
			d.int("children", r.Children)
		})
	})
}

func (d *document) owners(key string, rows []analyze.OwnerRow) {
	d.array(key, len(rows), func(i int) {
		d.object("", func() {
			d.string("name", rows[i].Name)
			d.totals(&rows[i].Totals)
		})
	})
}

func (d *document) policies(key string, rows []analyze.PolicyRow) {
	d.array(key, len(rows), func(i int) {
		r := &rows[i]
		d.object("", func() {
			d.stringIf("name", r.Name) // absent: files without a policy
			d.int("files", r.Files)
			d.int("length", r.Length)
			d.int("space_consumed", r.SpaceConsumed)
		})
	})
}

func (d *document) openFiles(o *analyze.OpenFiles) {
	d.object("open_files", func() {
		d.int("count", o.Count)
		d.int("length", o.Length)
		d.array("oldest", len(o.Oldest), func(i int) {
			r := &o.Oldest[i]
			d.object("", func() {
				d.bytes("path", "path_b64", r.Path)
				d.uint("inode_id", r.INodeID)
				d.int("length", r.Length)
				d.int("mtime_ms", r.MTimeMs)
				d.string("client_name", r.ClientName)
				d.string("client_machine", r.ClientMachine)
			})
		})
	})
}

func (d *document) snapshots(s *analyze.Snapshots) {
	d.object("snapshots", func() {
		d.int("snapshottable_directories", int64(len(s.Directories)))
		d.int("count", s.Count)
		d.array("directories", len(s.Directories), func(i int) {
			r := &s.Directories[i]
			d.object("", func() {
				d.bytes("path", "path_b64", r.Path)
				d.uint("inode_id", r.INodeID)
				d.array("snapshots", len(r.Snapshots), func(i int) {
					d.object("", func() {
						d.uint("id", uint64(r.Snapshots[i].ID))
						d.bytes("name", "name_b64", []byte(r.Snapshots[i].Name))
						d.int("mtime_ms", r.Snapshots[i].MTimeMs)
					})
				})
				d.int("snapshot_directories", r.Held.Directories)
				d.int("snapshot_files", r.Held.Files)
				d.int("snapshot_symlinks", r.Held.Symlinks)
				d.int("snapshot_length", r.Held.Length)
				d.int("snapshot_space", r.Held.SpaceConsumed)
			})
		})
	})
}
