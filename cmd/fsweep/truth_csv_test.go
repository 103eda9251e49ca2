package main_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"unicode/utf8"
)

// compareCSV requires that the CSV holds, record by record, what the NDJSON
// rows hold: the same keys, an empty field where a key is absent, an array as
// JSON, and the path's own bytes even where they are not UTF-8.
func compareCSV(t *testing.T, what string, rows []row, csv []byte) {
	t.Helper()
	d := &differences{t: t, what: "CSV of " + what}
	defer d.end()
	records, err := parseCSV(string(csv))
	if err != nil {
		d.note("%v", err)
		return
	}
	if len(records) == 0 || len(records)-1 != len(rows) {
		d.note("%d records, NDJSON has %d rows and CSV a header on top", len(records), len(rows))
		return
	}
	header := records[0]
	columns := map[string]bool{}
	for _, key := range header {
		if columns[key] {
			d.note("column %q comes twice", key)
		}
		columns[key] = true
	}
	for i, want := range rows {
		path := want.path(t)
		compareRow(d, path, csvRow(d, header, records[i+1]), csvExpected(path, want))
		for key := range want {
			if !columns[key] {
				d.note("no column %q", key)
			}
		}
	}
}

// csvExpected is an NDJSON row as CSV has to show it.
func csvExpected(path string, r row) row {
	want := maps.Clone(r)
	if !utf8.ValidString(path) {
		want["path"] = path // raw
	}
	return want
}

func csvRow(d *differences, header, record []string) row {
	d.t.Helper()
	r := row{}
	if len(record) != len(header) {
		d.note("%d fields where the header has %d: %q", len(record), len(header), record)
		return r
	}
	for i, key := range header {
		r[key] = record[i]
		if key != "acl" && key != "blocks" || record[i] == "" {
			continue
		}
		decoder := json.NewDecoder(strings.NewReader(record[i]))
		decoder.UseNumber()
		var list []any
		if err := decoder.Decode(&list); err != nil {
			d.note("%s is not a JSON array: %q", key, record[i])
			continue
		}
		r[key] = ""
		if len(list) > 0 {
			r[key] = canonical(d.t, list)
		}
	}
	return r
}

// parseCSV reads RFC 4180 and nothing more lenient. encoding/csv turns CR LF
// inside quotes into LF, which would hide that a name was lost.
func parseCSV(s string) ([][]string, error) {
	var records [][]string
	var record []string
	for pos := 0; pos < len(s); {
		field, n, err := csvField(s[pos:])
		if err != nil {
			return nil, fmt.Errorf("record %d, offset %d: %w", len(records)+1, pos, err)
		}
		pos += n
		record = append(record, field)
		if pos < len(s) && s[pos] == ',' {
			pos++
			if pos == len(s) {
				return nil, errors.New("ends after a comma")
			}
			continue
		}
		if !strings.HasPrefix(s[pos:], "\r\n") {
			return nil, fmt.Errorf("record %d, offset %d: a record must end in CR LF", len(records)+1, pos)
		}
		pos += 2
		records, record = append(records, record), nil
	}
	return records, nil
}

// csvField reads one field and tells how many bytes it takes.
func csvField(s string) (field string, n int, err error) {
	if !strings.HasPrefix(s, `"`) {
		n = strings.IndexAny(s, ",\r\n")
		if n < 0 {
			n = len(s)
		}
		if strings.Contains(s[:n], `"`) {
			return "", 0, errors.New("a quote in a field without quotes")
		}
		return s[:n], n, nil
	}
	var b strings.Builder
	for n = 1; ; {
		i := strings.IndexByte(s[n:], '"')
		if i < 0 {
			return "", 0, errors.New("a quoted field does not end")
		}
		b.WriteString(s[n : n+i])
		n += i + 1
		if !strings.HasPrefix(s[n:], `"`) {
			return b.String(), n, nil
		}
		b.WriteByte('"')
		n++
	}
}

func TestParseCSV(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in, want string
	}{
		{"plain", "a,b\r\n1,\r\n", `[["a" "b"] ["1" ""]]`},
		{"quoted", "\"a,\"\"b\r\nc\rd\ne\",2\r\n", `[["a,\"b\r\nc\rd\ne" "2"]]`},
		{"one empty field", "\r\n", `[[""]]`},
		{"not UTF-8", "\xff,\xfe\r\n", `[["\xff" "\xfe"]]`},
		{"nothing", "", `[]`},
		{"bare LF", "a\n", "record 1, offset 1: a record must end in CR LF"},
		{"bare CR", "a\rb\r\n", "record 1, offset 1: a record must end in CR LF"},
		{"no end", "a", "record 1, offset 1: a record must end in CR LF"},
		{"open quote", "\"a\r\n", "record 1, offset 0: a quoted field does not end"},
		{"inner quote", "a\"b\r\n", "record 1, offset 0: a quote in a field without quotes"},
		{"text after quotes", "\"a\"b\r\n", "record 1, offset 3: a record must end in CR LF"},
		{"comma at the end", "a,", "ends after a comma"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			records, err := parseCSV(c.in)
			got := fmt.Sprintf("%q", records)
			if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
