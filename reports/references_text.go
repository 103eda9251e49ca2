package reports

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"

	"fsweep/analyze/flink"
	"fsweep/proto/flinkmeta"
	"fsweep/reports/internal/plaintable"
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

// endText writes, below the references, what the file tells at its end and sums.
func (r *References) endText(m *flink.Metadata, failed error) error {
	var p printer
	if m.Type != flink.UnknownType {
		p.line("  references   %s", count(m.References))
	}
	switch m.Type {
	case flink.MetadataFile:
		p.metadataInfo(&m.Info)
	case flink.PointerFile:
		p.line("  pointer      of Flink's high availability; every path in it")
	case flink.UnknownType:
	}
	if len(m.Directories) > 0 {
		p.referredDirectories(r.place, m, failed)
	}
	if failed != nil {
		p.line("  INCOMPLETE   %s", Escape(failed.Error()))
		if m.Type != flink.UnknownType {
			p.line("  INCOMPLETE   the file can refer to more than this")
		}
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
func (p *printer) referredDirectories(metadata string, m *flink.Metadata, failed error) {
	p.line("  directories  %s", count(int64(len(m.Directories))))
	t := plaintable.New("references", "files", "bytes", "<", "<path")
	for i := range m.Directories {
		d := &m.Directories[i]
		mark := ""
		switch {
		case d.Side == flink.Outside:
			mark = "OUTSIDE"
		case d.Side == flink.SideUnknown && m.Run != "" && !d.Relative:
			mark = "not known"
		}
		bytes := size(d.Bytes)
		if m.Type == flink.PointerFile {
			bytes = "-"
		}
		path := Escape(directoryName(metadata, d))
		switch {
		case !d.Relative:
		case !d.Beside():
			path += "  relative to the file"
		case d.Side == flink.Inside || m.Info.Kind == flinkmeta.Savepoint:
			path += "  beside the file"
		default:
			path += "  beside the file, or still in a native savepoint (FLINK-39964)"
		}
		t.AppendRow(table.Row{count(d.References), count(d.Files), bytes, mark, path})
	}
	p.table(t)
	if m.Type == flink.MetadataFile {
		p.ownRun(m, failed)
	}
}

// ownRun says what is taken as the file's own run, and no more than is certain of
// what lies outside of it.
func (p *printer) ownRun(m *flink.Metadata, failed error) {
	outside, unknown, absolute, relative := countSides(m.Directories)
	if m.Run == "" {
		if absolute > 0 {
			place := fmt.Sprintf("PARENT/RUN/chk-%d", m.Info.CheckpointID)
			if m.Info.Kind == flinkmeta.Savepoint {
				place = "PARENT/savepoint-…"
			}
			p.line("  own run      not known, so nothing is marked; put the file into folders as in HDFS, %s/_metadata", place)
		}
		return
	}
	what := "nothing is outside of it"
	switch {
	case outside > 0:
		what = fmt.Sprintf("%d of %d directories are OUTSIDE of it, and needed all the same", outside, len(m.Directories))
	case failed != nil:
		what = "nothing outside of it was found before the " + damage(failed)
	case unknown > 0:
		what = "no path is certain to lead out of it, but those not known may"
	case relative > 0 && absolute > 0:
		what = "no full path leads out of it, but the relative ones may"
	case relative > 0:
		what = "relative paths may lead out of it"
	}
	p.line("  own run      %s; %s", Escape(m.Run), what)
	if m.RunPath != "" {
		p.line("  run path     %s", Escape(m.RunPath))
	}
	if m.FolderRun != "" {
		p.line("  note         the file lies in a folder of %s, but its chk-%d is in the run path", Escape(m.FolderRun), m.Info.CheckpointID)
	}
}

// countSides counts the directories outside of the run, those of full paths of which
// that is not known, those of full paths, and the relative ones of which it is not known.
func countSides(directories []flink.Directory) (outside, unknown, absolute, relative int) {
	for i := range directories {
		d := &directories[i]
		if !d.Relative {
			absolute++
		}
		switch {
		case d.Side == flink.Outside:
			outside++
		case d.Side == flink.SideUnknown && d.Relative:
			relative++
		case d.Side == flink.SideUnknown:
			unknown++
		}
	}
	return outside, unknown, absolute, relative
}

// damage tells contents that are not as they should be from an error of reading.
func damage(err error) string {
	if _, ok := errors.AsType[*flinkmeta.FormatError](err); ok {
		return "damage"
	}
	return "error"
}

// directoryName is the path of a directory; a relative one is found from the
// directory that holds the metadata file.
func directoryName(metadata string, d *flink.Directory) string {
	if !d.Relative {
		return d.Path
	}
	return filepath.Join(filepath.Dir(metadata), filepath.FromSlash(d.Path))
}
