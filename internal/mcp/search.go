package mcp

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"recrawl/internal/report"
	"recrawl/internal/store"
)

type searchAsked struct {
	Crawl  string `json:"crawl" jsonschema:"The crawl."`
	Query  string `json:"query" jsonschema:"Words that the page has, in its own language; no character has a meaning of its own."`
	Host   string `json:"host,omitempty" jsonschema:"Only pages of this host."`
	Prefix string `json:"prefix,omitempty" jsonschema:"Only pages whose URL begins with this."`
	Limit  int    `json:"limit,omitempty" jsonschema:"How many pages at most: up to 50, 10 by default."`
	Offset int    `json:"offset,omitempty" jsonschema:"How many pages to leave out: next_offset of the answer before."`
}

func (s *Server) searchPages(ctx context.Context, in searchAsked) (*answer, error) {
	limit, err := rows(in.Limit, 10, 50)
	if err == nil {
		err = notNegative("offset", in.Offset)
	}
	if err == nil && strings.TrimSpace(in.Query) == "" {
		err = mistakef("query is empty: give words that the page has")
	}
	if err == nil {
		err = crawlAsked(in.Crawl)
	}
	if err != nil {
		return nil, err
	}
	host, err := hostAsked(in.Host)
	if err != nil {
		return nil, err
	}
	found, err := s.Reports.SearchOf(ctx, s.Files, report.SearchQuery{
		Crawl: in.Crawl, Words: in.Query, Host: host, Prefix: in.Prefix, Limit: limit, Offset: in.Offset,
	})
	switch {
	case errors.Is(err, report.ErrNotSearchable):
		return nil, mistakef("crawl %s cannot be searched: %w", oneLine(in.Crawl, 100), report.ErrNotSearchable)
	case errors.Is(err, store.ErrNotFound):
		return nil, noCrawl(in.Crawl)
	case err != nil:
		return nil, err
	}
	return s.found(ctx, in, found)
}

// found says which pages were found, and how fresh the copies of them are.
func (s *Server) found(ctx context.Context, in searchAsked, found report.SearchAnswer) (*answer, error) {
	pages := make([]store.PageRecord, 0, len(found.Hits))
	for _, h := range found.Hits {
		pages = append(pages, h.Record)
	}
	fresh, err := s.Reports.FreshnessOfCopies(ctx, in.Crawl, pages...)
	if err != nil {
		return nil, err
	}
	a := newAnswer()
	a.fact("crawl", "%s", in.Crawl)
	if found.Some {
		a.fact("note", "no page has all of the words; these have some of them")
	}
	if found.Unfilled {
		a.fact("note", "the search index has not seen all pages yet")
	}
	shown := 0
	for i, h := range found.Hits {
		if !a.item(in.Offset+i+1, hitFacts(h)+", "+fresh[i].Words(), hitWords(h)) {
			break
		}
		shown++
	}
	a.room += kept
	a.fact("pages", "%d in this answer, the best first; read_page reads one by its number", shown)
	switch {
	case shown < len(found.Hits):
		a.next(strconv.Itoa(in.Offset + shown))
	case found.Next > 0:
		a.next(strconv.Itoa(found.Next))
	default:
		a.next("")
	}
	return a, nil
}

// hitFacts returns our facts about a page that was found.
func hitFacts(h report.SearchHit) string {
	text := fmt.Sprintf("page %d, version %d", h.Page, h.Version)
	if h.Copies > 0 {
		text += fmt.Sprintf(", of whose text there are %d more copies", h.Copies)
	}
	if len(h.Reserved) > 0 {
		text += ", " + reservedWords(h.Reserved)
	}
	return text
}

// snippetMost bounds the shown part of a text in bytes.
const snippetMost = 600

// hitWords returns the page's words.
func hitWords(h report.SearchHit) string {
	text := oneLine(h.URL, urlMost)
	for _, more := range []string{oneLine(h.Title, titleMost), oneLine(h.Snippet, snippetMost)} {
		if more != "" {
			text += " | " + more
		}
	}
	return text
}
