// Package source gives exports a crawl of a store and its archive.
package source

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"strings"
	"time"

	"recrawl/internal/archive"
	"recrawl/internal/crawl"
	"recrawl/internal/document"
	"recrawl/internal/export"
	"recrawl/internal/extract"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

const (
	pagesAtOnce  = 200
	visitsAtOnce = 1000 // a row with heads has up to 40 KiB
)

// Store holds the data of a crawl for an export.
type Store interface {
	ListPages(ctx context.Context, f store.PageFilter) ([]store.PageRecord, error)
	Page(ctx context.Context, pageID int64) (store.PageRecord, error)
	RecentVisits(ctx context.Context, pages []int64, each int) ([]store.VisitLook, error)
	ListVisits(ctx context.Context, pageID int64, before, limit int) ([]store.VisitRecord, error)
	FindPages(ctx context.Context, url, crawlName string) ([]store.PageRecord, error)
	Duplicate(ctx context.Context, pageID int64) (store.DuplicateRecord, error)
	store.Exchanges
}

// Source implements export.Source.
type Source struct {
	store Store
	files archive.Store
	crawl store.CrawlRecord
	rules extract.Rules
	urls  urlkey.Rules

	requisites bool                  // are documents too
	reading    extract.Reading       // of documents
	chosen     func(url string) bool // of the pages to which Path leads; nil for all
}

var _ export.Source = (*Source)(nil)

// New returns a crawl for exports.
func New(s Store, files archive.Store, c store.CrawlRecord) (*Source, error) {
	rules, err := extract.NewRules(c.Spec.Content)
	if err != nil {
		return nil, fmt.Errorf("crawl %s: %w", c.Spec.Name, err)
	}
	return &Source{store: s, files: files, crawl: c, rules: rules, urls: urlkey.NewRules(c.Spec.URLs)}, nil
}

// WithRequisites returns a source whose documents include the requisites, for formats that
// show pages as their sites do.
func (s *Source) WithRequisites() *Source {
	more := *s
	more.requisites = true
	return &more
}

// WithArticles returns a source whose documents hold the article alone.
func (s *Source) WithArticles() *Source {
	strict := *s
	strict.reading = extract.ReadArticle
	return &strict
}

// Choosing returns a source for a folder that has only some of the pages: Path knows of no others.
// Requisites are in it wherever they are from.
func (s *Source) Choosing(chosen func(url string) bool) *Source {
	some := *s
	some.chosen = chosen
	return &some
}

// Exchanges implements export.Source.
func (s *Source) Exchanges(ctx context.Context, q export.Query) iter.Seq2[export.Exchange, error] {
	return func(yield func(export.Exchange, error) bool) {
		filter := store.PageFilter{CrawlID: s.crawl.ID, After: q.After, Limit: pagesAtOnce}
		for {
			pages, err := s.store.ListPages(ctx, filter)
			if err != nil {
				yield(export.Exchange{}, err)
				return
			}
			if len(pages) == 0 || !s.visits(ctx, pages, q, yield) {
				return
			}
			filter.After = pages[len(pages)-1].PageID
		}
	}
}

// visits yields the visits of some pages and reports whether to go on.
func (s *Source) visits(ctx context.Context, pages []store.PageRecord, q export.Query, yield func(export.Exchange, error) bool) bool {
	p := store.ExchangeParams{Until: q.Until, Found: q.Found, Limit: visitsAtOnce}
	byID := make(map[int64]store.PageRecord, len(pages))
	for _, page := range pages {
		byID[page.PageID] = page
		p.Pages = append(p.Pages, page.PageID)
	}
	standing, err := s.standing(ctx, pages)
	if err != nil {
		return yield(export.Exchange{}, err)
	}
	var last, origin export.Exchange // the last visit, and the last that found a version
	for {
		found, err := s.store.ListExchanges(ctx, p)
		if err != nil {
			return yield(export.Exchange{}, err)
		}
		for _, f := range found {
			x := exchangeOf(byID[f.PageID].URL, f)
			x.Stands, x.Requisite = standing[f.PageID], byID[f.PageID].Kind == crawl.KindRequisite
			x.TextAt = textAt(byID[f.PageID], last, x)
			// Times ascend with the visits, though the store's clock may have been set
			// back between two of them.
			if x.Page == last.Page && x.At.Before(last.At) {
				x.At = last.At
			}
			if x.Found() {
				origin = x
			}
			if x.Page == origin.Page && x.Version.Seq == origin.Version.Seq {
				x.Version.At = origin.At
			}
			last = x
			if !yield(x, nil) {
				return false
			}
		}
		if len(found) < p.Limit {
			return true
		}
		p.After, p.AfterVisit = last.Page, last.Visit
	}
}

// textAt returns when the page last got another main text, up to a visit. For the present
// version the page's row has it, even if visits are no longer kept.
func textAt(page store.PageRecord, last, x export.Exchange) time.Time {
	switch now := page.Last; {
	case x.Version.Seq == 0:
		return time.Time{}
	case x.Version.Seq == now.Seq && x.Visit >= max(now.Visit, now.Back) && !page.TextAt.IsZero():
		return page.TextAt
	case x.Outcome.BringsText():
		return x.At
	case last.Page == x.Page && !last.TextAt.IsZero():
		return last.TextAt
	}
	return x.Version.Fetched
}

func exchangeOf(url string, f store.ExchangeRecord) export.Exchange {
	x := export.Exchange{
		Page: f.PageID, URL: url, Visit: f.Visit, At: f.At, Outcome: f.Outcome, Status: f.Status, Duration: f.Duration, Bytes: f.Bytes,
		Digest: f.Digest, Problem: f.Problem, Location: f.Location, Reasons: f.Reasons,
	}
	if w := f.Version; w.ID != 0 {
		x.Version = export.Version{
			Seq: w.Seq, Visit: w.Visit, At: w.At, Digest: w.Digest, Bytes: w.Bytes, ContentType: w.ContentType, Title: w.Title, Canonical: w.Canonical,
			Language: w.Language, Fetched: w.At,
		}
		x.Request, x.Response, x.IP = []byte(w.Heads.Request), []byte(w.Heads.Response), w.Heads.Remote
		x.Protocol = protocolOf(w.Heads.Response)
		x.Reserved = w.Reserved
		x.Back = !x.Found() && (f.Outcome == crawl.OutcomeReturned || w.Back == f.Visit)
	}
	return x
}

// protocolOf returns the ALPN name of the protocol of a response's head, "" if there is
// none.
func protocolOf(response string) string {
	protocol, _, _ := strings.Cut(response, " ")
	switch protocol {
	case "HTTP/1.0":
		return "http/1.0"
	case "HTTP/1.1":
		return "http/1.1"
	case "HTTP/2.0":
		return "h2"
	}
	return ""
}

// Body implements export.Source.
func (s *Source) Body(ctx context.Context, digest string) (io.ReadCloser, error) {
	return s.files.Open(ctx, digest)
}

// Text implements export.Source. A body that cannot be read as text has none.
func (s *Source) Text(ctx context.Context, x export.Exchange) (string, error) {
	src, err := s.read(ctx, x)
	if err != nil {
		return "", err
	}
	page, err := extract.Parse(src, s.rules)
	if err != nil {
		return "", nil
	}
	return page.Text, nil
}

// Read implements export.Source. A body that cannot be read as text is a document without
// text.
func (s *Source) Read(ctx context.Context, x export.Exchange) (document.Document, error) {
	src, err := s.read(ctx, x)
	if err != nil {
		return document.Document{}, err
	}
	m, err := extract.ParseMarkdown(src, s.rules, s.reading)
	if err != nil {
		m = extract.Markdown{}
	}
	if x.Reserved == nil { // Document and Documents do not ask for it
		if x.Reserved, err = s.reserved(ctx, x); err != nil {
			return document.Document{}, err
		}
	}
	return document.Of(export.MetaOf(s.crawl.Spec.Name, x), m), nil
}

// reserved returns what the site said about uses of a version, if that is not forgotten.
func (s *Source) reserved(ctx context.Context, x export.Exchange) ([]crawl.Reservation, error) {
	found, err := s.store.ListExchanges(ctx, store.ExchangeParams{
		Pages: []int64{x.Page}, After: x.Page, AfterVisit: x.Version.Visit - 1, Until: time.UnixMicro(math.MaxInt64 / 2), Found: true, Limit: 1,
	})
	if err != nil || len(found) == 0 || found[0].Version.Seq != x.Version.Seq {
		return nil, err
	}
	return exchangeOf(x.URL, found[0]).Reserved, nil
}

// read reads a version's body.
func (s *Source) read(ctx context.Context, x export.Exchange) (extract.Source, error) {
	content, err := s.files.Open(ctx, x.Version.Digest)
	if err != nil {
		return extract.Source{}, err
	}
	defer content.Close()
	body, err := io.ReadAll(content)
	if err != nil {
		return extract.Source{}, err
	}
	base, err := urlkey.Canonical(x.URL)
	if err != nil { // it was fetched under other limits; its links stay as they are
		base = urlkey.URL{}
	}
	return extract.Source{Body: body, ContentType: x.Version.ContentType, URL: base}, nil
}
