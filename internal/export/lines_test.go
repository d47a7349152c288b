package export_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"recrawl/internal/crawl"
	"recrawl/internal/export"
	"recrawl/internal/export/exporttest"
)

// jsonLines reads a file of JSON Lines.
func jsonLines[T any](t testing.TB, text []byte) []T {
	t.Helper()
	var all []T
	for line := range bytes.Lines(text) {
		var v T
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&v); err != nil {
			t.Fatalf("%.200s: %v", line, err)
		}
		all = append(all, v)
	}
	return all
}

func TestLines(t *testing.T) {
	t.Parallel()
	src := exporttest.Crawl(41, exporttest.URLs(), 10)
	all := files(t, mustExport(t, src, t.TempDir(), options(export.JSONL)).Folder)
	type visit struct {
		URL, At, Outcome, Duration string
		Visit, Status, Version     int
		Bytes                      int64
		Digest, Location, Problem  *string
		Reasons                    []crawl.Reason
	}
	type version struct {
		URL, At                                     string
		Version, Visit                              int
		Bytes                                       int64
		Digest, ContentType, Title, Canonical, Text *string
		Reserved                                    []crawl.Reservation
	}
	// The names in the files are with underscores.
	text := bytes.ReplaceAll(all["versions.jsonl"], []byte(`"content_type":`), []byte(`"contenttype":`))
	visits, versions := jsonLines[visit](t, all["visits.jsonl"]), jsonLines[version](t, text)
	if len(visits) != len(src.Visits) {
		t.Fatalf("%d visits, want %d", len(visits), len(src.Visits))
	}
	texts, withheld := 0, 0
	for i, x := range src.Visits {
		v := visits[i]
		if v.URL != x.URL || v.Visit != x.Visit || v.Outcome != x.Outcome.String() || v.Status != x.Status || v.Version != x.Version.Seq ||
			v.Bytes != x.Bytes || v.Duration != crawl.FormatDuration(x.Duration) || len(v.Reasons) != 1 || (v.Digest == nil) != (x.Digest == "") {
			t.Errorf("%+v of %+v", v, x)
		}
		if !x.Found() {
			continue
		}
		w := versions[0]
		versions = versions[1:]
		if w.URL != x.URL || w.Version != x.Version.Seq || w.Visit != x.Visit || w.At != v.At || (w.Digest == nil) != (x.Version.Digest == "") || (w.Text == nil) != (w.Digest == nil) || !slices.Equal(w.Reserved, x.Reserved) {
			t.Errorf("%+v of %+v", w, x.Version)
		}
		if w.Text == nil {
			withheld++
		} else if texts++; *w.Text != strings.ToUpper(string(src.Bodies[x.Version.Digest])) {
			t.Errorf("%s: text %.80q", x.URL, *w.Text)
		}
	}
	if len(versions) > 0 || texts == 0 || withheld == 0 {
		t.Errorf("%d versions too many, %d texts, %d withheld", len(versions), texts, withheld)
	}
}
