package report

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recrawl/internal/archive"
	"recrawl/internal/crawl"
	"recrawl/internal/extract"
	"recrawl/internal/search"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// SearchIndex answers searches; every search.Index is one. If there is no index yet, its
// error is search.ErrNone.
type SearchIndex interface {
	Query(ctx context.Context, q search.Query) (search.Result, error)
	Cursor(ctx context.Context, crawl int64) (string, error)
}

// ErrNotSearchable: the crawl has no sink that keeps a search index.
var ErrNotSearchable = errors.New("it has no search index")

// NotSearchable returns ErrNotSearchable for a crawl, with what to do about it.
func NotSearchable(crawlName string) error {
	return fmt.Errorf("crawl %s: %w: `starter crawl %s --search` adds the sink that keeps one", crawlName, ErrNotSearchable, crawlName)
}

// SearchQuery asks for pages by their words.
type SearchQuery struct {
	Crawl  string
	Words  string // as a person types them; no character has a meaning of its own
	Host   string // "" for all
	Prefix string // of the URL, "" for all
	Limit  int    // 0 is ten
	Offset int
}

// SearchHit is a page that was found.
type SearchHit struct {
	Page    int64  `json:"page"` // its number
	Version int    `json:"version"`
	URL     string `json:"url"`
	Title   string `json:"title"`
	// Snippet is the part of the text that fits best, on one line; "" if the text is not
	// available. It is the site's text, so anything may be in it.
	Snippet string `json:"snippet"`
	// Marks are the places in Snippet of the query's words, in bytes: from, to.
	Marks [][2]int `json:"-"`
	Score float64  `json:"score"` // higher is better; only comparable within one answer
	// Seen is when the page was last found in this version.
	Seen time.Time `json:"seen"`
	// Copies counts further pages with the same text.
	Copies int `json:"copies"`
	// Reserved holds what the site said about uses of the version, if anything.
	Reserved []crawl.Reservation `json:"reserved,omitempty"`
	// Record is the page as stored, for further words on it.
	Record store.PageRecord `json:"-"`
}

// SearchAnswer is a part of the hits, best first.
type SearchAnswer struct {
	Hits []SearchHit
	// Offset is how many pages were left out before them.
	Offset int
	// Next is the offset of the next part, 0 if there is none.
	Next int
	// Some: no page has all of the words; these have some of them.
	Some bool
	// Unfilled: the index has not seen all pages yet.
	Unfilled bool
	Now      time.Time // relative to which times are shown
}

// SearchOf finds pages of a crawl by their words, and shows where in the text they stand.
// ErrNotSearchable says that the crawl keeps no index. Without files there are no snippets.
func (r Reporter) SearchOf(ctx context.Context, files Contents, q SearchQuery) (SearchAnswer, error) {
	record, now, err := r.openAt(ctx, q.Crawl, q.Host)
	if err != nil {
		return SearchAnswer{}, err
	}
	answer := SearchAnswer{Hits: []SearchHit{}, Offset: q.Offset, Now: now}
	if _, _, ok := record.Spec.SearchSink(); !ok || r.Index == nil {
		return answer, NotSearchable(q.Crawl)
	}
	asked := search.Query{Crawl: record.ID, Words: q.Words, Host: q.Host, Prefix: urlkey.Begun(q.Prefix), Limit: q.Limit, Offset: q.Offset}
	result, err := r.Index.Query(ctx, asked)
	if errors.Is(err, search.ErrNone) {
		answer.Unfilled = true
		return answer, nil
	}
	if err != nil {
		return answer, err
	}
	cursor, err := r.Index.Cursor(ctx, record.ID)
	if err != nil {
		return answer, err
	}
	answer.Some, answer.Unfilled = result.Some, !search.Filled(cursor)
	if offset, limit := asked.Window(); result.More && offset+limit < search.Most {
		answer.Next = offset + limit
	}
	s := snippets{Reporter: r, files: files, terms: search.TermsOf(q.Words)}
	if s.rules, err = extract.NewRules(record.Spec.Content); err != nil {
		return answer, fmt.Errorf("crawl %s: %w", q.Crawl, err)
	}
	for _, h := range result.Hits {
		hit, err := s.of(ctx, h)
		if errors.Is(err, store.ErrNotFound) { // it was forgotten since, or may not be kept any more
			continue
		}
		if err != nil {
			return answer, err
		}
		answer.Hits = append(answer.Hits, hit)
	}
	return answer, nil
}

// snippets show hits. The index has no texts: they come from the archive, for the few pages
// that are shown.
type snippets struct {
	Reporter
	files Contents
	rules extract.Rules
	terms []search.Term
}

func (s snippets) of(ctx context.Context, h search.Hit) (SearchHit, error) {
	page, err := s.Relations.Page(ctx, h.Page)
	if err != nil {
		return SearchHit{}, err
	}
	// If its text is the same, that the site asks not to keep it is no change: the index hears of
	// it with the next look at all pages.
	if page.Last.Digest == "" {
		return SearchHit{}, fmt.Errorf("page %d: %w: %w", h.Page, store.ErrNotFound, errNotKept)
	}
	hit := SearchHit{Page: h.Page, Version: h.Version, URL: h.URL, Title: h.Title, Score: h.Score, Copies: h.Copies, Seen: seen(page), Record: page}
	v, err := s.Store.Version(ctx, h.Page, h.Version)
	if errors.Is(err, store.ErrNotFound) {
		return hit, nil // it is no longer kept, and the index does not have the next one yet
	}
	if err != nil {
		return hit, err
	}
	hit.Reserved = v.Reserved
	text, err := s.text(ctx, page, v)
	if err != nil {
		return hit, err
	}
	shown := search.SnippetOf(text, s.terms)
	hit.Snippet, hit.Marks = shown.Text, shown.Marks
	return hit, nil
}

// seen returns when a page was last found in its present version.
func seen(p store.PageRecord) time.Time {
	if p.Failures == 0 && p.LastAt.After(p.Last.At) {
		return p.LastAt
	}
	return p.Last.At
}

// text returns the searched text of a version, "" if it is not available.
func (s snippets) text(ctx context.Context, page store.PageRecord, v store.VersionRecord) (string, error) {
	if s.files == nil {
		return "", nil
	}
	body, err := bodyOf(ctx, s.files, v)
	if errors.Is(err, ErrNoBody) || archive.Lost(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	src := extract.Source{Body: body, ContentType: v.ContentType}
	if src.URL, err = urlkey.Canonical(page.URL); err != nil { // of an older release with other limits
		src.URL = urlkey.URL{}
	}
	read, err := extract.ParseMarkdown(src, s.rules, extract.ReadMain)
	if err != nil {
		return "", nil // it could not be decoded, so no word of it was found
	}
	return read.Displayed, nil
}
