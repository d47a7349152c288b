package mcp

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"recrawl/internal/crawl"
	"recrawl/internal/document"
	"recrawl/internal/extract"
	"recrawl/internal/report"
	"recrawl/internal/store"
)

type readAsked struct {
	pageAsked
	Section string `json:"section,omitempty" jsonschema:"Only this section: its number or its heading, as an answer without section lists them."`
	Offset  int    `json:"offset,omitempty" jsonschema:"How many characters of the text to leave out: next_offset of the answer before."`
	Version int    `json:"version,omitempty" jsonschema:"The number of a version, by default the newest. With an offset, give the version that the answer before was of; at does not count then."`
	At      string `json:"at,omitempty" jsonschema:"Read the page as it was at the end of a date (2026-03-01, in UTC) or at a time (2026-03-01T12:00:00Z)."`
	Extent  string `json:"extent,omitempty" jsonschema:"How much of the page: main (the default) is the text in which changes are found, article is stricter, all has navigation and adverts too."`
}

// readings are the values of extent.
var readings = map[string]extract.Reading{"": extract.ReadMain, "main": extract.ReadMain, "article": extract.ReadArticle, "all": extract.ReadAll}

// query returns a request as a query of report.
func (in readAsked) query() (q report.DocumentQuery, err error) {
	var known bool
	if q.Reading, known = readings[in.Extent]; !known {
		return q, mistakef("extent %q: it is main, article or all", oneLine(in.Extent, 40))
	}
	if err := notNegative("offset", in.Offset); err != nil {
		return q, err
	}
	switch {
	case in.Version < 0:
		return q, mistakef("version %d: versions are numbered from 1", in.Version)
	case in.Version > 0 && in.At != "" && in.Offset > 0: // an answer's to_go_on adds the version
	case in.Version > 0 && in.At != "":
		return q, mistakef("give version or at, not both")
	case in.At != "":
		q.At, err = timeAsked("at", in.At)
	}
	q.Version = in.Version
	return q, err
}

func (s *Server) readPage(ctx context.Context, in readAsked) (*answer, error) {
	q, err := in.query()
	if err != nil {
		return nil, err
	}
	page, err := s.page(ctx, in.pageAsked)
	if err != nil {
		return nil, err
	}
	if s.Files == nil {
		return nil, errNoFiles
	}
	d, err := s.Reports.DocumentOf(ctx, s.Files, page, q)
	if err != nil {
		return nil, err
	}
	a := newAnswer()
	if err := s.documentFacts(ctx, a, page, d.Meta); err != nil {
		return nil, err
	}
	return a, a.document(d, in)
}

// documentFacts says which copy this is, and how far to trust it.
func (s *Server) documentFacts(ctx context.Context, a *answer, page store.PageRecord, m document.Meta) error {
	now, err := s.pageFacts(ctx, a, page)
	if err != nil {
		return err
	}
	if m.Version == page.Last.Seq {
		a.fact("version", "%d, which the page has now as far as is known", m.Version)
	} else {
		a.fact("version", "%d, and not what the page has now, which is version %d", m.Version, page.Last.Seq)
	}
	a.fact("found", "%s", isoTime(m.Fetched, now))
	a.fact("text_changed", "%s", isoTime(m.Changed, now))
	a.fact("reserved", "%s", reservedWords(m.Reserved))
	return nil
}

// reservedWords says what a site allows and refuses. Where it says so is in its own words,
// and stands among these.
func reservedWords(all []crawl.Reservation) string {
	var words []string
	for _, r := range all {
		if !slices.Contains(crawl.Uses(), r.Use) {
			continue
		}
		verb := "refuses"
		if r.Allowed {
			verb = "allows"
		}
		words = append(words, "the site "+verb+" "+string(r.Use))
	}
	if len(words) == 0 {
		return "the site says nothing of uses of the page"
	}
	return strings.Join(words, ", ")
}

// document adds the requested part of a text.
func (a *answer) document(d document.Document, in readAsked) error {
	text := plain(d.Markdown)
	all := sections(text)
	whole := in.Section == "" && in.Offset == 0
	if in.Section != "" {
		chosen, err := find(all, in.Section)
		if err != nil {
			return err
		}
		text = text[chosen.begin:chosen.end]
	}
	length := utf8.RuneCountInString(text)
	if in.Offset > length {
		return mistakef("offset %d: the text has %d characters; the page may have changed since: begin anew", in.Offset, length)
	}
	a.quote("url: " + oneLine(d.URL, urlMost) + "\n")
	if whole {
		a.quote(metaLines(d.Meta))
	}
	if whole && length > a.room && len(all) > 1 {
		list := outline(text, all)
		a.fact("sections", "%s", list.words(len(all)))
		a.quote("sections:\n" + list.text)
	}
	a.quote("\n")
	part, next := window(text, in.Offset, a.room)
	a.quote(part)
	a.room += kept
	a.fact("part", "characters %d to %d of %d", in.Offset, in.Offset+utf8.RuneCountInString(part), length)
	if next == 0 {
		a.next("")
		return nil
	}
	a.next(strconv.Itoa(next))
	a.fact("to_go_on", "ask for the same again, with offset %d and version %d", next, d.Version)
	return nil
}

// Bounds in bytes of a site's metadata, in lists and before texts. A longer URL is cut:
// pages are asked for by their numbers.
const (
	urlMost   = 1000
	titleMost = 300
)

// metaLines returns a page's metadata.
func metaLines(m document.Meta) string {
	var b strings.Builder
	line := func(name, value string) {
		if value = oneLine(value, urlMost); value != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	line("title", oneLine(m.Title, titleMost))
	line("language", m.Language)
	if m.Canonical != m.URL {
		line("canonical", m.Canonical)
	}
	for _, r := range m.Reserved[:min(reservedShown, len(m.Reserved))] {
		line(fmt.Sprintf("reservation of %s", r.Use), oneLine(r.Source, 200))
	}
	return b.String()
}

// reservedShown is the number of reservations whose places are shown.
const reservedShown = 8

// pageFacts says which page an answer is about, and how fresh its last copy is. It returns the
// store's time.
func (s *Server) pageFacts(ctx context.Context, a *answer, page store.PageRecord) (now time.Time, err error) {
	fresh, err := s.Reports.FreshnessOfCopies(ctx, page.Crawl, page)
	if err != nil {
		return now, err
	}
	a.fact("page", "%d", page.PageID)
	a.fact("crawl", "%s", page.Crawl)
	a.fact("last_copy", "%s", fresh[0].Words())
	return s.Reports.Now(ctx)
}
