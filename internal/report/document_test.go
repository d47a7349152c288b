package report

import (
	"errors"
	"strings"
	"testing"
	"time"

	"recrawl/internal/archive"
	"recrawl/internal/crawl"
	"recrawl/internal/document"
	"recrawl/internal/extract"
	"recrawl/internal/store"
)

// lived is versioned with the visits that found its versions, a day apart, and one a day
// after that found nothing new: the third version is only another markup, and the body of
// the second may not be kept.
func lived(t *testing.T) (*fake, *archive.Dir, store.PageRecord) {
	t.Helper()
	f, files, page := versioned(t)
	outcomes := []crawl.Outcome{crawl.OutcomeNew, crawl.OutcomeChanged, crawl.OutcomeCosmetic, crawl.OutcomeChanged, crawl.OutcomeUnchanged}
	f.visits[1] = nil
	for i, o := range outcomes {
		v := store.VisitRecord{PageID: 1, Visit: i + 1, At: now.Add(-time.Duration(8-i) * 24 * time.Hour), Outcome: o, Status: 200, Version: min(i+1, 4), State: crawl.Active}
		f.visits[1] = append([]store.VisitRecord{v}, f.visits[1]...)
	}
	f.pages[0].Visits, f.pages[0].TextAt = 5, f.visits[1][1].At
	return f, files, page
}

func TestDocumentOf(t *testing.T) {
	t.Parallel()
	f, files, _ := lived(t)
	page := f.pages[0]
	r := Reporter{Store: f}
	at := func(visit int) time.Time { return f.visits[1][5-visit].At }
	for _, c := range []struct {
		name             string
		q                DocumentQuery
		version          int
		fetched, changed time.Time
	}{
		{"now", DocumentQuery{}, 4, at(4), at(4)},
		{"by number", DocumentQuery{Version: 1}, 1, at(1), at(1)},
		{"of another markup only", DocumentQuery{Version: 3}, 3, at(3), at(2)},
		{"at a time", DocumentQuery{At: at(3).Add(time.Hour)}, 3, at(3), at(2)},
		{"at the very time", DocumentQuery{At: at(4)}, 4, at(4), at(4)},
		{"at a time to come", DocumentQuery{At: now.Add(time.Hour)}, 4, at(4), at(4)},
		{"the number counts", DocumentQuery{Version: 1, At: now}, 1, at(1), at(1)},
	} {
		d, err := r.DocumentOf(t.Context(), files, page, c.q)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		want := document.Meta{
			URL: page.URL, Title: "Opening\thours", Crawl: "news", Page: 1, Version: c.version, Fetched: c.fetched, Changed: c.changed,
			Language: "en", ContentType: "text/html; charset=utf-8", TextSHA256: d.TextSHA256,
		}
		if d.URL != want.URL || d.Version != want.Version || !d.Fetched.Equal(want.Fetched) || !d.Changed.Equal(want.Changed) || d.Title != want.Title || d.Language != want.Language || d.Crawl != want.Crawl || len(d.TextSHA256) != 64 {
			t.Errorf("%s: %+v, want %+v", c.name, d.Meta, want)
		}
		if !strings.Contains(d.Markdown, "Thursday") || strings.Contains(d.Markdown, "<") {
			t.Errorf("%s: %q", c.name, d.Markdown)
		}
	}
}

// A page that came back to an earlier text changed when it came back.
func TestDocumentOfAReturn(t *testing.T) {
	t.Parallel()
	f, files, page := returned(t)
	page.TextAt = f.visits[1][0].At
	r := Reporter{Store: f}
	for _, c := range []struct {
		name    string
		q       DocumentQuery
		version int
		changed time.Time
	}{
		{"now", DocumentQuery{}, 1, f.visits[1][0].At},
		{"between the returns", DocumentQuery{At: f.visits[1][1].At.Add(time.Second)}, 3, f.visits[1][1].At},
		{"visits that are not kept", DocumentQuery{Version: 4}, 4, f.versions[1][0].At},
	} {
		d, err := r.DocumentOf(t.Context(), files, page, c.q)
		if err != nil || d.Version != c.version || !d.Changed.Equal(c.changed) {
			t.Errorf("%s: version %d changed %s (%v), want %d and %s", c.name, d.Version, d.Changed, err, c.version, c.changed)
		}
	}
}

// Elements that the crawl ignores are in no document.
func TestDocumentOfFollowsTheRules(t *testing.T) {
	t.Parallel()
	f, files, _ := lived(t)
	f.crawls[1].Spec.Content.IgnorePatterns = []string{"Tues"}
	d, err := Reporter{Store: f}.DocumentOf(t.Context(), files, f.pages[0], DocumentQuery{Reading: extract.ReadMain})
	if err != nil || strings.Contains(d.Markdown, "Tuesday") || !strings.Contains(d.Markdown, "Monday") {
		t.Errorf("%q, %v", d.Markdown, err)
	}
}

func TestDocumentOfMissing(t *testing.T) {
	t.Parallel()
	f, files, _ := lived(t)
	page, r := f.pages[0], Reporter{Store: f}
	of := func(q DocumentQuery) error {
		_, err := r.DocumentOf(t.Context(), files, page, q)
		return err
	}
	_, noVersion := r.DocumentOf(t.Context(), files, store.PageRecord{PageRef: crawl.PageRef{PageID: 2, URL: "https://example.com/new"}}, DocumentQuery{})
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"none yet", noVersion, "has no version yet"},
		{"unknown", of(DocumentQuery{Version: 9}), "has no version 9"},
		{"forbidden", of(DocumentQuery{Version: 2}), "version 2 of https://example.com/: no body: the site asked that it not be kept"},
		{"before the first visit", of(DocumentQuery{At: now.Add(-99 * 24 * time.Hour)}), "no visit that is kept, at or before 2025-11-22"},
	} {
		if !errors.Is(c.err, ErrNoBody) || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, c.err, c.want)
		}
	}
	if err := files.Delete(t.Context(), page.Last.Digest); err != nil {
		t.Fatal(err)
	}
	if err := of(DocumentQuery{}); !errors.Is(err, ErrNoBody) || !errors.Is(err, archive.ErrNotFound) {
		t.Errorf("without its bytes: %v", err)
	}
}
