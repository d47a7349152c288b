package web_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"recrawl/internal/crawl"
	"recrawl/internal/report"
	"recrawl/internal/search"
	"recrawl/internal/search/fts"
	"recrawl/internal/web"
)

// searched is a site whose crawl has a search index with its pages.
func searched(t *testing.T) *site {
	t.Helper()
	var index *fts.Index
	w := newSite(t, func(o *web.Options) {
		var err error
		index, err = fts.Open(t.Context(), filepath.Join(t.TempDir(), fts.Name), fts.Options{Store: "s"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = index.Close() })
		o.Report.Index = index
	})
	spec := w.crawl.Spec
	spec.Sinks = maps.Clone(spec.Sinks)
	spec.Sinks["search"] = crawl.SinkSpec{Kind: crawl.SinkSearch}
	_, err := w.s.OpenCrawl(w.ctx, spec)
	w.check(err)
	var docs []search.Document
	for url, text := range map[string]string{
		"https://a.test/prices": "A ticket costs 12 euros. Children are free.", "https://a.test/copy": "A ticket costs 12 euros. Children are free.", "https://c.test/hostile": hostile,
	} {
		p := w.record(url)
		docs = append(docs, search.Document{Crawl: w.crawl.ID, Page: p.PageID, Version: p.Last.Seq, URL: url, Host: p.Host, Title: p.Last.Title, Text: text, Digest: fmt.Sprint(len(text)), Importance: 1})
	}
	w.check(index.Put(w.ctx, docs))
	w.check(index.SetCursor(w.ctx, w.crawl.ID, search.Progress{Filled: true}.String()))
	return w
}

func TestSearch(t *testing.T) {
	t.Parallel()
	w := searched(t)
	body := w.html("/crawls/news/search?q=TICKET+euros")
	for _, want := range []string{
		`value="TICKET euros"`, "A <mark>ticket</mark> costs 12 <mark>euros</mark>.", "https://a.test/", `href="/crawls/news/pages/`, "the same text on 1 other page", "version 2",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page does not have %s\n%s", want, body)
		}
	}
	got := data[struct {
		rows
		Some, Unfilled bool
	}](w, "/crawls/news/search.json?q=ticket")
	if len(got.Items) != 1 || got.Items[0]["snippet"] == "" || got.Items[0]["copies"] != 1.0 || got.Some || got.Unfilled || got.Next != nil {
		t.Errorf("%v", got)
	}
	for query, want := range map[string]string{
		"":                        `name="q"`,
		"?q=nothing":              "No page has any of these words.",
		"?q=ticket+nothing":       "No page has all of these words.",
		"?q=ticket&offset=10":     "There are no more pages.",
		"?q=ticket&host=c.test":   "No page has any of these words.",
		"?q=%3Cscript%3E":         "&lt;",
		"?q=alert&limit=1":        "evil.test",
		"?q=ticket&prefix=https:": "<mark>ticket</mark>",
	} {
		body := w.html("/crawls/news/search" + query)
		if !strings.Contains(body, want) {
			t.Errorf("%s does not have %s\n%s", query, want, body)
		}
		for _, never := range []string{"<script>", "<iframe", "\u202E", "\x1b"} {
			if strings.Contains(body, never) {
				t.Errorf("%s has %.20q", query, never)
			}
		}
	}
	for address, want := range map[string]int{
		"search?q=" + strings.Repeat("x", 1001): 400, "search.json?limit=101": 400, "search?offset=x": 400,
	} {
		if status, _, body := w.get("/crawls/news/" + address); status != want {
			t.Errorf("%.40s: %d, want %d\n%s", address, status, want, body)
		}
	}
}

// A search in a crawl without an index says how to add one.
func TestSearchWithoutIndex(t *testing.T) {
	t.Parallel()
	w := newSite(t, nil)
	if body := w.html("/crawls/news/search?q=x"); !strings.Contains(body, "starter crawl news --search") {
		t.Errorf("%s", body)
	}
	if status, _, body := w.get("/crawls/news/search.json?q=x"); status != 404 || !strings.Contains(body, report.ErrNotSearchable.Error()) {
		t.Errorf("%d %s", status, body)
	}
	if status, _, _ := w.get("/crawls/none/search?q=x"); status != 404 {
		t.Errorf("no crawl: %d", status)
	}
}
