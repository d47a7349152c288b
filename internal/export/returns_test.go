package export_test

import (
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/export"
	"recrawl/internal/export/exporttest"
)

// flipping is a page that shows two texts in turn, and a page after it.
func flipping() *exporttest.Memory {
	m := &exporttest.Memory{}
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	version := func(seq int, body string) export.Version {
		return export.Version{
			Seq: seq, Visit: seq, At: at.Add(time.Duration(seq) * time.Hour), Digest: m.Put([]byte(body)), Bytes: int64(len(body)), ContentType: "text/html",
		}
	}
	low, high := version(1, "<p>Low water"), version(2, "<p>High water")
	visit := func(n int, outcome crawl.Outcome, status int, v export.Version) {
		m.Visits = append(m.Visits, export.Exchange{
			Page: 1, URL: "https://example.org/tide", Visit: n, At: at.Add(time.Duration(n) * time.Hour), Outcome: outcome, Status: status,
			Digest: v.Digest, Bytes: v.Bytes, Version: v, Back: outcome == crawl.OutcomeReturned,
		})
	}
	visit(1, crawl.OutcomeNew, 200, low)
	visit(2, crawl.OutcomeChanged, 200, high)
	visit(3, crawl.OutcomeReturned, 200, low)
	visit(4, crawl.OutcomeUnchanged, 304, low)
	visit(5, crawl.OutcomeReturned, 200, high)
	visit(6, crawl.OutcomeReturned, 200, low)
	m.Visits[5].Digest = strings.Repeat("ab", 32) // other bytes with the same text
	other := m.Visits[0]
	other.Page, other.URL, other.At = 2, "https://example.org/other", at.Add(9*time.Hour)
	other.Version.At = other.At
	m.Visits = append(m.Visits, other)
	return m
}

// A visit that found an earlier version again refers to its capture, and has no body.
func TestWARCOfReturns(t *testing.T) {
	t.Parallel()
	all := files(t, mustExport(t, flipping(), t.TempDir(), options(export.WARC)).Folder)
	mustBeValid(t, all)
	ids, refers := map[string]string{}, []string{}
	bodies := 0
	for _, r := range records(t, all) {
		switch r.Get("WARC-Type") {
		case "resource":
			bodies++
			ids[r.Get("WARC-Record-ID")] = r.Get("WARC-Date")
		case "revisit":
			refers = append(refers, r.Get("WARC-Date")[11:13]+" of "+ids[r.Get("WARC-Refers-To")][11:13])
		}
	}
	if got := strings.Join(refers, ", "); bodies != 3 || got != "15 of 13, 16 of 13, 17 of 14" {
		t.Errorf("%d bodies; revisits %s", bodies, got)
	}
}

// The tree holds each page's present version, which may be an earlier one.
func TestTreeOfReturns(t *testing.T) {
	t.Parallel()
	src := flipping()
	all := files(t, mustExport(t, src, t.TempDir(), options(export.Dir)).Folder)
	lines := jsonLines[indexedPage](t, all["index.jsonl"])
	if len(lines) != 2 || lines[0].Version != 1 || string(all[*lines[0].Path]) != "<p>Low water" || !strings.HasPrefix(lines[0].At, "2026-03-01T18:") {
		t.Errorf("%+v", lines)
	}
}
