package reports

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"fsweep/analyze/flink"
	"fsweep/proto/flinkmeta"
)

// ReferencesFormat is a form of [References].
type ReferencesFormat int

// The forms.
const (
	ReferencesText ReferencesFormat = iota
	ReferencesJSON
	ReferencesNDJSON
)

// References writes what metadata files refer to, one file after the other:
// Begin, Ref for every reference, End. Text and NDJSON go out as they come; JSON
// has on top what a file tells at its end, so of one file the references are kept.
// After the last file comes Close. The first error of the writer stays.
type References struct {
	w      *bufio.Writer
	format ReferencesFormat
	enc    encoder
	name   string
	place  string   // of the file
	lines  []byte   // one line; of JSON the last ones of the file
	kept   [][]byte // JSON: the lines before, in pieces that need not be moved to grow
	files  int
}

// NewReferences makes one that writes to w.
func NewReferences(w io.Writer, format ReferencesFormat) *References {
	const buffer = 64 << 10
	return &References{w: bufio.NewWriterSize(w, buffer), format: format, enc: encoder{format: NDJSON}}
}

// Begin starts a file. name is shown with everything about it; place is its path,
// another one than name if that is a symlink: relative paths start there.
func (r *References) Begin(name, place string) {
	r.name, r.place, r.lines, r.kept = name, place, r.lines[:0], nil
	if r.format == ReferencesText {
		if r.files > 0 {
			r.print("\n")
		}
		r.print(Escape(name) + "\n")
	}
}

// Ref adds a reference.
func (r *References) Ref(ref *flink.Ref) error {
	if r.format == ReferencesText {
		r.lines = appendReferenceText(r.lines[:0], ref)
		_, err := r.w.Write(r.lines)
		return err
	}
	row := referenceRow{ref: ref}
	if r.format == ReferencesNDJSON {
		row.metadata = r.name
		r.lines = r.enc.row(r.lines[:0], &row)
		_, err := r.w.Write(r.lines)
		return err
	}
	const piece = 1 << 20
	if len(r.lines) >= piece {
		r.kept, r.lines = append(r.kept, r.lines), make([]byte, 0, piece+piece/4)
	}
	r.lines = r.enc.row(r.lines, &row)
	return nil
}

// End ends a file; failed is why it is not complete, or nil.
func (r *References) End(m *flink.Metadata, failed error) error {
	r.files++
	switch r.format {
	case ReferencesText:
		return r.endText(m, failed)
	case ReferencesJSON:
		return r.endJSON(m, failed)
	case ReferencesNDJSON:
	}
	return nil
}

// Close ends the document. complete tells whether all that was asked for is in it.
func (r *References) Close(complete bool) error {
	if r.format == ReferencesJSON {
		if r.files == 0 {
			r.print("{\n  \"files\": [")
		} else {
			r.print("\n  ")
		}
		if complete {
			r.print("],\n  \"complete\": true\n}\n")
		} else {
			r.print("],\n  \"complete\": false\n}\n")
		}
	}
	return r.w.Flush()
}

// print writes; the writer keeps an error for the next one to see.
func (r *References) print(s string) { _, _ = r.w.WriteString(s) }

// referenceRow is a reference in JSON.
type referenceRow struct {
	metadata string // empty where the object around it has it
	ref      *flink.Ref
}

func (row *referenceRow) encode(e *encoder) {
	ref := row.ref
	e.bytesIf("metadata", "metadata_b64", []byte(row.metadata), row.metadata != "")
	e.string("kind", ref.KindName())
	e.bytes("path", "path_b64", ref.Path)
	e.intIf("size", ref.Size, ref.Size >= 0)
	segment := !ref.Pointer && ref.Kind == flinkmeta.Segment
	e.intIf("start", ref.Start, segment)
	if segment {
		e.string("scope", ref.Scope.String())
	}
	e.bytesIf("logical_id", "logical_id_b64", ref.LogicalID, segment)
}

func (r *References) endJSON(m *flink.Metadata, failed error) error {
	d := document{encoder{format: NDJSON}}
	d.object("", func() {
		d.bytes("metadata", "metadata_b64", []byte(r.name))
		if m.Type != flink.UnknownType {
			d.string("type", m.Type.String())
		}
		if m.Type == flink.MetadataFile {
			d.metadataInfo(&m.Info)
		}
		if m.Run != "" {
			d.bytes("own_run", "own_run_b64", []byte(m.Run))
			d.bytesIf("own_run_path", "own_run_path_b64", []byte(m.RunPath), m.RunPath != "")
		}
		d.array("references", 0, nil) // they come in place of this
		d.array("directories", len(m.Directories), func(i int) {
			dir := &m.Directories[i]
			d.object("", func() { d.referredDirectory(r.place, dir, m) })
		})
		d.bool("complete", failed == nil)
		if failed != nil {
			d.failure(failed)
		}
	})
	if r.files == 1 {
		r.print("{\n  \"files\": [\n    ")
	} else {
		r.print(",\n    ")
	}
	var out bytes.Buffer
	if err := json.Indent(&out, d.buf, "    ", "  "); err != nil {
		return err
	}
	const key = "\n      \"references\": [" // no string has such a line end in it
	before, after, _ := bytes.Cut(out.Bytes(), []byte(key))
	_, _ = r.w.Write(before) // the last write gives the error
	r.print(key)
	if err := r.printElements(append(r.kept, r.lines)); err != nil {
		return err
	}
	_, err := r.w.Write(after)
	return err
}

// printElements writes lines as elements of an array, one after the other, as there
// can be many.
func (r *References) printElements(pieces [][]byte) error {
	const indent = "        "
	var out bytes.Buffer
	end := "\n" + indent
	for _, lines := range pieces {
		for row := range bytes.Lines(lines) {
			out.Reset()
			out.WriteString(end)
			if err := json.Indent(&out, bytes.TrimSuffix(row, []byte("\n")), indent, "  "); err != nil {
				return err
			}
			if _, err := r.w.Write(out.Bytes()); err != nil {
				return err
			}
			end = ",\n" + indent
		}
	}
	if out.Len() > 0 {
		r.print("\n      ")
	}
	return nil
}

// headerSize is what a metadata file has before its contents: magic, version and
// checkpoint id.
const headerSize = 16

func (d *document) metadataInfo(i *flinkmeta.Info) {
	d.intIf("version", int64(i.Version), i.Version != 0)
	d.intIf("checkpoint_id", i.CheckpointID, i.Size >= headerSize)
	if i.Kind != flinkmeta.UnknownSnapshot {
		d.string("snapshot", i.Kind.String())
		d.string("snapshot_name", i.Properties.Name)
		d.stringIf("format", i.Format.String())
		d.bool("retained_on_cancel", !i.Properties.DiscardCancelled)
	}
	d.int("operators", i.Operators)
	d.int("finished_operators", i.FinishedOperators)
	d.int("subtasks", i.Subtasks)
	d.int("finished_subtasks", i.FinishedSubtasks)
	d.intIf("regional_subtasks", i.RegionalSubtasks, i.RegionalSubtasks > 0)
	d.intIf("oldest_regional_checkpoint", i.OldestRegional, i.RegionalSubtasks > 0)
	d.int("master_states", i.MasterStates)
	d.int("inline_handles", i.InlineHandles)
	d.int("inline_state_bytes", i.InlineBytes)
	d.int("inline_changelog_bytes", i.ChangeBytes)
	d.int("empty_segments", i.EmptySegments)
	d.int("decoded_bytes", i.Size)
}

func (d *document) referredDirectory(metadata string, dir *flink.Directory, m *flink.Metadata) {
	d.bytes("path", "path_b64", []byte(directoryName(metadata, dir)))
	if dir.Relative {
		d.bool("relative", true)
	}
	d.int("references", dir.References)
	d.int("files", dir.Files)
	d.intIf("bytes", dir.Bytes, m.Type == flink.MetadataFile)
	d.boolIf("outside", dir.Side == flink.Outside, dir.Side != flink.SideUnknown)
}

func (d *document) failure(err error) {
	d.object("error", func() {
		d.string("message", err.Error())
		if format, ok := errors.AsType[*flinkmeta.FormatError](err); ok {
			d.int("offset", format.Offset)
		}
	})
}
