package reports

import (
	"io"

	"github.com/jedib0t/go-pretty/v6/table"

	"fsweep/analyze"
	"fsweep/reports/internal/plaintable"
)

// InspectionText writes what an image is made of for people.
func InspectionText(w io.Writer, i *analyze.Inspection) error {
	var p printer
	p.line("HDFS fsimage")
	p.source(&i.Source, len(i.Findings))
	codec := "none"
	if i.Source.Codec != "" {
		codec = Escape(i.Source.Codec)
	}
	p.line("  codec        %s", codec)
	p.line("  summary      at offset %d, on-disk version %d", i.Summary.Offset, i.Summary.OnDiskVersion)
	s := i.System
	p.line("  system       generation stamps %d and %d (limit %d), last block ids %d and %d (striped)",
		s.GetGenstampV1(), s.GetGenstampV2(), s.GetGenstampV1Limit(), s.GetLastAllocatedBlockId(), int64(s.GetLastAllocatedStripedBlockId()))
	if t := s.GetRollingUpgradeStartTime(); t != 0 {
		p.line("  upgrade      rolling upgrade since %s", Time(int64(t)))
	}
	p.findings(i.Findings)

	p.title("Sections")
	t := plaintable.New("<name", "offset", "bytes", "<")
	for _, s := range i.Summary.Sections {
		note := ""
		switch {
		case !s.Known():
			note = "unknown, skipped"
		case s.Part():
			note = "part of the section, for loading in parallel"
		}
		t.AppendRow(table.Row{Escape(s.Name), count(s.Offset), size(s.Length), note})
	}
	p.table(t)

	p.title("Records")
	t = plaintable.New("<section", "<what", "count")
	for _, c := range i.Counts {
		t.AppendRow(table.Row{c.Section, c.What, count(c.N)})
	}
	p.table(t)

	if len(i.Policies) > 0 {
		p.title("Erasure coding policies")
		t = plaintable.New("id", "<name", "<state")
		for _, e := range i.Policies {
			name := Escape(e.GetName())
			if name == "" {
				name = "(defined by Hadoop itself)"
			}
			t.AppendRow(table.Row{e.GetId(), name, e.GetState()})
		}
		p.table(t)
	}
	_, err := io.WriteString(w, p.b.String())
	return err
}

// InspectionJSON writes the same as one JSON object.
func InspectionJSON(w io.Writer, i *analyze.Inspection) error {
	d := document{encoder{format: NDJSON}}
	d.object("", func() {
		d.source(&i.Source)
		d.findings(i.Findings)
		d.uint("on_disk_version", uint64(i.Summary.OnDiskVersion))
		d.int("summary_offset", i.Summary.Offset)
		s := i.System
		d.object("name_system", func() {
			d.uint("generation_stamp_v1", s.GetGenstampV1())
			d.uint("generation_stamp_v2", s.GetGenstampV2())
			d.uint("generation_stamp_v1_limit", s.GetGenstampV1Limit())
			d.int("last_block_id", int64(s.GetLastAllocatedBlockId()))
			d.int("last_striped_block_id", int64(s.GetLastAllocatedStripedBlockId()))
			start := s.GetRollingUpgradeStartTime()
			d.intIf("rolling_upgrade_start_ms", int64(start), start != 0)
		})
		d.array("sections", len(i.Summary.Sections), func(k int) {
			s := i.Summary.Sections[k]
			d.object("", func() {
				d.string("name", s.Name)
				d.int("offset", s.Offset)
				d.int("length", s.Length)
				d.bool("known", s.Known())
				d.bool("part", s.Part())
			})
		})
		d.object("counts", func() {
			for _, c := range i.Counts {
				d.int(c.What, c.N)
			}
		})
		d.array("erasure_coding_policies", len(i.Policies), func(k int) {
			e := i.Policies[k]
			d.object("", func() {
				d.uint("id", uint64(e.GetId()))
				d.stringIf("name", e.GetName()) // Hadoop's own have none
				d.string("state", e.GetState().String())
			})
		})
	})
	return d.writeTo(w)
}
