package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"recrawl/internal/report"
	"recrawl/internal/search"
	"recrawl/internal/store"
)

const (
	// shownHits is the number of pages in a part of an answer, unless the address says
	// otherwise, and mostHits the largest: the text of each is read.
	shownHits = 10
	mostHits  = 100
	// mostAsked bounds the query, in bytes.
	mostAsked = 1000
)

// searchAnswer is the answer to a search as JSON has it.
type searchAnswer struct {
	list[report.SearchHit]
	// Some: no page has all of the words; these have some of them.
	Some bool `json:"some"`
	// Unfilled: the index has not seen all pages yet.
	Unfilled bool `json:"unfilled"`
}

// searchMore holds the parts of a search that only people see.
type searchMore struct {
	parts
	Words, Host, Prefix string
	Asked               bool
	Number              int // of the first hit
	Hits                []shownHit
	// Missing says why nothing can be found, "" if it can.
	Missing string
}

// shownHit is a hit with its snippet in pieces.
type shownHit struct {
	report.SearchHit
	Words  string
	Pieces []piece
}

// piece is a part of a snippet; Found marks a word of the query.
type piece struct {
	Text  string
	Found bool
}

// searchView finds pages by their words.
func searchView(ctx context.Context, s *Server, r *http.Request) (answer, error) {
	a := askedOf(r)
	q := report.SearchQuery{
		Crawl: value(r, "crawl"), Words: a.text("q"), Host: a.host(), Prefix: a.text("prefix"), Offset: int(min(a.number("offset"), search.Most)),
		Limit: int(cmp.Or(min(a.number("limit"), mostHits+1), shownHits)),
	}
	if q.Limit > mostHits {
		a.wrong("limit", a.text("limit"), fmt.Sprintf("it is at most %d", mostHits))
	}
	if len(q.Words) > mostAsked {
		a.wrong("q", q.Words, fmt.Sprintf("it has at most %d bytes", mostAsked))
	}
	if a.err != nil {
		return answer{}, a.err
	}
	more := searchMore{Words: q.Words, Host: q.Host, Prefix: q.Prefix, Asked: q.Words != "", Number: q.Offset + 1}
	found, err := s.Report.SearchOf(ctx, s.Files, q)
	switch {
	case errors.Is(err, report.ErrNotSearchable) && wantsJSON(r):
		return answer{}, fmt.Errorf("%w: %w", store.ErrNotFound, err)
	case errors.Is(err, report.ErrNotSearchable):
		more.Missing = err.Error()
	case err != nil:
		return answer{}, understood(err)
	}
	if found.Hits == nil {
		found.Hits = []report.SearchHit{}
	}
	next := ""
	if found.Next > 0 {
		next = strconv.Itoa(found.Next)
	}
	more.parts = partsOf(r, "offset", next)
	for _, h := range found.Hits {
		more.Hits = append(more.Hits, shownHit{h, h.Words(found.Now), piecesOf(h.Snippet, h.Marks)})
	}
	return answer{
		Title: "Search in " + q.Crawl, Crawl: q.Crawl, Now: found.Now,
		Data: searchAnswer{listed(r, found.Hits, "offset", next), found.Some, found.Unfilled}, More: more,
	}, nil
}

// piecesOf cuts a snippet where words of the query begin and end.
func piecesOf(text string, marks [][2]int) (pieces []piece) {
	at := 0
	add := func(to int, found bool) {
		if to > at {
			pieces = append(pieces, piece{text[at:to], found})
			at = to
		}
	}
	for _, m := range marks {
		add(m[0], false)
		add(m[1], true)
	}
	add(len(text), false)
	return pieces
}
