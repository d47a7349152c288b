package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/document"
	"recrawl/internal/extract"
	"recrawl/internal/report"
	"recrawl/internal/store"
	"recrawl/internal/web/sheet"
)

// readAnswer is a document for programs.
type readAnswer struct {
	document.Meta
	// Freshness says how far to trust the page's last copy.
	Freshness string `json:"freshness"`
	Markdown  string `json:"markdown"`
}

// readMore is a document for people.
type readMore struct {
	pageHead
	sheet.Sheet
	Extents []choice
	Extent  string // the one that is shown
	// Asked is the date asked for, "" for none. It is a text field, since browsers' date
	// fields load a picture, which the page's policy forbids.
	Asked, Today string
	// Newest is the number of the page's last version, and Old whether this is another one.
	Newest int
	Old    bool
	// Version and Others are the addresses of this version's text, and of all versions.
	Version, Others string
	Fresh           string // how far the last copy can be trusted
	Reserved        []reservation
}

// reservation is a site's statement on a use of the page, in words.
type reservation struct{ Says, Source string }

// extents are how much of a page can be read, in the order in which that is offered.
var extents = []struct {
	name    string
	reading extract.Reading
	shown   string
}{{"main", extract.ReadMain, "Main text"}, {"article", extract.ReadArticle, "Article"}, {"all", extract.ReadAll, "All of it"}}

// readAsked reads from an address what to show.
func readAsked(r *http.Request) (q report.DocumentQuery, extent string, err error) {
	asked := r.URL.Query()
	extent = cmp.Or(asked.Get("extent"), extents[0].name)
	known := false
	for _, e := range extents {
		if e.name == extent {
			q.Reading, known = e.reading, true
		}
	}
	if !known {
		return q, extent, fmt.Errorf("?extent=%s %w: it is main, article or all", crawl.Clean(extent, 20), errBad)
	}
	version, at := asked.Get("version"), asked.Get("at")
	switch {
	case version != "" && at != "":
		err = fmt.Errorf("?version and ?at %w: give one of the two", errBad)
	case version != "":
		q.Version, err = number(version, "?version=")
	case at != "":
		q.At, err = endOfDay(at)
	}
	return q, extent, err
}

// endOfDay reads a time, or a date as its end in UTC, so that versions found on that day
// count.
func endOfDay(text string) (time.Time, error) {
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return t.AddDate(0, 0, 1).Add(-time.Nanosecond), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fmt.Errorf("?at=%s %w: write a date (2026-03-01) or a time (2026-03-01T12:00:00Z)", crawl.Clean(text, 40), errBad)
	}
	return t, nil
}

// readView shows a page as a document.
func readView(ctx context.Context, s *Server, r *http.Request) (answer, error) {
	page, err := s.pageOf(ctx, r)
	if err == nil && s.Files == nil {
		err = missing(errNoArchive)
	}
	if err != nil {
		return answer{}, err
	}
	q, extent, err := readAsked(r)
	if err != nil {
		return answer{}, err
	}
	d, err := s.Report.DocumentOf(ctx, s.Files, page, q)
	if err != nil {
		return answer{}, missing(err)
	}
	fresh, err := s.Report.FreshnessOfCopies(ctx, page.Crawl, page)
	if err != nil {
		return answer{}, err
	}
	now, err := s.Report.Now(ctx)
	if err != nil {
		return answer{}, err
	}
	head := headOfPage(page)
	a := answer{Title: head.Title, Crawl: page.Crawl, Now: now, Data: readAnswer{d.Meta, fresh[0].Words(), d.Markdown}}
	if !wantsJSON(r) {
		more := readMoreOf(r, page, d, extent, now)
		more.Fresh = shownFact(fresh[0].Words())
		a.More = more
	}
	return a, nil
}

func readMoreOf(r *http.Request, page store.PageRecord, d document.Document, extent string, now time.Time) readMore {
	seq := strconv.Itoa(d.Version)
	more := readMore{
		pageHead: headOfPage(page), Sheet: sheet.Of(d.Markdown), Today: now.UTC().Format(time.DateOnly), Newest: page.Last.Seq, Old: d.Version != page.Last.Seq,
		Extent: extent, Version: atPage(page, "versions", seq), Others: atPage(page, "versions"),
	}
	if at, err := time.Parse(time.DateOnly, r.URL.Query().Get("at")); err == nil {
		more.Asked = at.Format(time.DateOnly)
	}
	for _, e := range extents {
		values := url.Values{"extent": {e.name}}
		for _, name := range []string{"version", "at"} {
			if value := r.URL.Query().Get(name); value != "" {
				values.Set(name, value)
			}
		}
		more.Extents = append(more.Extents, choice{Name: e.shown, Link: r.URL.EscapedPath() + "?" + values.Encode(), Chosen: e.name == extent})
	}
	for _, reserved := range d.Reserved {
		verb := "refuses "
		if reserved.Allowed {
			verb = "allows "
		}
		more.Reserved = append(more.Reserved, reservation{verb + string(reserved.Use), crawl.Clean(reserved.Source, 200)})
	}
	return more
}
