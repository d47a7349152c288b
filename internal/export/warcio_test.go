package export_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"recrawl/internal/export"
	"recrawl/internal/export/exporttest"
)

// Webrecorder's warcio reads our files, and makes the same index of them as we do.
func TestWarcio(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: no other program")
	}
	// `make warcio` installs it.
	program, err := filepath.Abs("../../tools/warcio/node_modules/warcio/dist/cli.js")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("warcio is not installed; make warcio does: %v", err)
	}
	src := exporttest.Crawl(12, append(exporttest.URLs(),
		"https://www2.example.com:8443/B?z=1&a=%C3%A9&a=0", "http://127.0.0.1:8000/", "https://example.com/a'b(c)*!;d$e,f", "https://www.com/"), 12)
	result := mustExport(t, src, t.TempDir(), options(export.WARC))
	all := files(t, result.Folder)
	cmd := exec.CommandContext(t.Context(), "node", append([]string{program, "cdx-index", "--format", "cdxj"}, warcFiles(all)...)...)
	cmd.Dir = result.Folder
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil || complaints.Len() > 0 {
		t.Fatalf("warcio: %v\n%s", err, complaints.String())
	}
	theirs, ours := indexByPlace(t, string(out)), indexByPlace(t, string(all["index.cdxj"]))
	for place, want := range theirs {
		got := ours[place]
		// Their index has no status if a record has no HTTP head, no type if the head has
		// none, and keeps a resource's parameters.
		for _, name := range []string{"status", "mime"} {
			if _, ok := want.fields[name]; !ok {
				delete(got.fields, name)
			}
		}
		if mime, _, ok := strings.Cut(want.fields["mime"], ";"); ok {
			want.fields["mime"] = mime
		}
		if want.key != got.key || want.date != got.date || !maps.Equal(want.fields, got.fields) {
			t.Errorf("%s: ours %.300s, theirs %.300s", place, fmt.Sprint(got), fmt.Sprint(want))
		}
	}
	if len(ours) != len(theirs) || len(ours) == 0 {
		t.Errorf("%d lines, want %d", len(ours), len(theirs))
	}
	countRecords(t, program, result.Folder, all)
}

// indexLine is a line of an index.
type indexLine struct {
	key, date string
	fields    map[string]string
}

// indexByPlace reads an index by file and offset.
func indexByPlace(t *testing.T, text string) map[string]indexLine {
	t.Helper()
	lines := map[string]indexLine{}
	for line := range strings.Lines(text) {
		key, date, fields := cdxj(t, line)
		lines[fields["filename"]+" "+fields["offset"]] = indexLine{key, date, fields}
	}
	return lines
}

// countRecords has warcio list all records.
func countRecords(t *testing.T, program, folder string, all map[string][]byte) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", append([]string{program, "index"}, warcFiles(all)...)...)
	cmd.Dir = folder
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	recs := records(t, all)
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(recs) {
		t.Fatalf("warcio sees %d records of %d", len(lines), len(recs))
	}
	for i, line := range lines {
		var r struct {
			Offset int64  `json:"offset"`
			Type   string `json:"warc-type"`
			Target string `json:"warc-target-uri"`
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Offset != recs[i].Offset || r.Type != recs[i].Get("WARC-Type") || r.Target != recs[i].Get("WARC-Target-URI") {
			t.Errorf("record %d: %s, %v; want %v", i, line, err, recs[i].Fields)
		}
	}
}
