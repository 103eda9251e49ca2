package reports

import (
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"

	"fsweep/analyze/flink"
	"fsweep/proto/flinkmeta"
)

// appendReferenceText appends a line: kind, size, of a segment where it is, and
// the path, which is last because it can have blanks in it.
func appendReferenceText(b []byte, ref *flink.Ref) []byte {
	const kindWidth, sizeWidth = 9, 15
	b = append(b, "    "...)
	kind := ref.KindName()
	b = appendPadding(append(b, kind...), kindWidth-len(kind))
	var digits [20]byte
	size := append(digits[:0], '-')
	if ref.Size >= 0 {
		size = strconv.AppendInt(digits[:0], ref.Size, 10)
	}
	b = append(appendPadding(b, sizeWidth-len(size)), size...)
	b = append(b, "  "...)
	if !ref.Pointer && ref.Kind == flinkmeta.Segment {
		b = strconv.AppendInt(append(b, "at "...), ref.Start, 10)
		b = append(b, ' ')
		b = append(b, ref.Scope.String()...)
		b = append(b, "  "...)
	}
	return append(EscapePath(b, ref.Path), '\n')
}

func appendPadding(b []byte, n int) []byte {
	for range n {
		b = append(b, ' ')
	}
	return b
}

func (r *References) endText(m *flink.Metadata, failed error) error {
	var p printer
	if r.files++; r.files > 1 {
		p.line("")
	}
	p.line("%s", Escape(r.name))
	if failed != nil {
		p.line("  INCOMPLETE   %s", Escape(failed.Error()))
	}
	switch m.Type {
	case flink.MetadataFile:
		p.metadataInfo(&m.Info)
	case flink.PointerFile:
		p.line("  pointer      of Flink's high availability; every path in it")
	case flink.UnknownType:
	}
	if m.Type != flink.UnknownType {
		p.line("  references   %s", count(m.References))
	}
	r.print(p.b.String())
	_, _ = r.w.Write(r.lines) // the last write gives the error
	p = printer{}
	p.referredDirectories(r.name, m)
	if failed != nil && m.Type != flink.UnknownType {
		p.line("  INCOMPLETE   the file can refer to more than this")
	}
	_, err := r.w.WriteString(p.b.String())
	return err
}

func (p *printer) metadataInfo(i *flinkmeta.Info) {
	if i.Size < headerSize { // there is no more of it
		return
	}
	what := "checkpoint or savepoint, not known" // version 3 does not say, later ones at their end
	switch i.Kind {
	case flinkmeta.Checkpoint:
		what = "checkpoint"
		if i.Properties.Name != "Checkpoint" {
			what += " (" + Escape(i.Properties.Name) + ")"
		}
		if i.Properties.DiscardCancelled {
			what += ", removed when the job is cancelled"
		} else {
			what += ", retained when the job is cancelled"
		}
	case flinkmeta.Savepoint:
		what = i.Format.String() + " savepoint"
		if i.Properties.Name != "Savepoint" {
			what += " (" + Escape(i.Properties.Name) + ")"
		}
	case flinkmeta.UnknownSnapshot:
	}
	p.line("  checkpoint   %d, %s", i.CheckpointID, what)
	p.line("  version      %d", i.Version)
	p.line("  operators    %s, %s of them finished; %s subtasks, %s finished",
		count(i.Operators), count(i.FinishedOperators), count(i.Subtasks), count(i.FinishedSubtasks))
	if i.RegionalSubtasks > 0 {
		p.line("  regional     %s subtasks with state of older checkpoints, the oldest %d", count(i.RegionalSubtasks), i.OldestRegional)
	}
	if i.MasterStates > 0 {
		p.line("  master       %s states", count(i.MasterStates))
	}
	p.line("  inline state %s in %s handles", size(i.InlineBytes), count(i.InlineHandles))
	if i.ChangeBytes > 0 {
		p.line("  changelog    %s in the file itself", size(i.ChangeBytes))
	}
}

// referredDirectories shows the directories and how each stands to the file's run.
func (p *printer) referredDirectories(metadata string, m *flink.Metadata) {
	if len(m.Directories) == 0 {
		return
	}
	p.line("  directories  %s", count(int64(len(m.Directories))))
	t := newTable("references", "files", "bytes", "<", "<path")
	outside, absolute := 0, 0
	for i := range m.Directories {
		d := &m.Directories[i]
		mark := ""
		if d.Outside {
			mark = "OUTSIDE"
			outside++
		}
		if !d.Relative {
			absolute++
		}
		bytes := size(d.Bytes)
		if m.Type == flink.PointerFile {
			bytes = "-"
		}
		path := Escape(directoryName(metadata, d))
		if d.Relative {
			path += "  (beside the file)"
		}
		t.AppendRow(table.Row{count(d.References), count(d.Files), bytes, mark, path})
	}
	p.table(t)
	switch {
	case m.Type == flink.PointerFile:
	case m.Run != "" && outside > 0:
		p.line("  own run      %s; %d of %d directories are OUTSIDE of it, and needed all the same", Escape(m.Run), outside, len(m.Directories))
	case m.Run != "":
		p.line("  own run      %s; nothing is outside of it", Escape(m.Run))
	case absolute > 0:
		place := fmt.Sprintf("RUN/chk-%d", m.Info.CheckpointID)
		if m.Info.Kind == flinkmeta.Savepoint {
			place = "savepoint-…"
		}
		p.line("  own run      not known, so nothing is marked; put the file into a folder as in HDFS, %s/_metadata", place)
	}
}

// directoryName is the path of a directory; a relative one is found from the
// directory that holds the metadata file.
func directoryName(metadata string, d *flink.Directory) string {
	if !d.Relative {
		return d.Path
	}
	return filepath.Join(filepath.Dir(metadata), filepath.FromSlash(d.Path))
}
