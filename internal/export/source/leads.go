package source

import (
	"context"
	"errors"
	"iter"

	"recrawl/internal/crawl"
	"recrawl/internal/export"
	"recrawl/internal/mirror"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

var (
	_ export.Leading = (*Source)(nil)
	_ mirror.Paths   = (*Source)(nil)
)

const (
	// maxLeads bounds the redirects and duplicates that are followed.
	maxLeads = 5
	// leadingVisits is the number of a page's last visits that are searched for a redirect.
	leadingVisits = 20
)

// leadingStates are the states of pages whose content is at another address.
var leadingStates = []crawl.PageState{crawl.Redirect, crawl.Duplicate, crawl.Kept}

// Key implements export.Leading.
func (s *Source) Key(u urlkey.URL) urlkey.URL {
	key, _ := s.urls.Apply(u)
	return key
}

// Leads implements export.Leading.
func (s *Source) Leads(ctx context.Context) iter.Seq2[export.Lead, error] {
	return func(yield func(export.Lead, error) bool) {
		filter := store.PageFilter{CrawlID: s.crawl.ID, States: leadingStates, Limit: pagesAtOnce}
		for {
			pages, err := s.store.ListPages(ctx, filter)
			if err != nil {
				yield(export.Lead{}, err)
				return
			}
			if len(pages) == 0 {
				return
			}
			for _, p := range pages {
				to, err := s.leadsTo(ctx, p)
				if err == nil && to == "" {
					continue
				}
				if !yield(export.Lead{From: p.URL, To: to}, err) || err != nil {
					return
				}
			}
			filter.After = pages[len(pages)-1].PageID
		}
	}
}

// leadsTo returns the URL with the content of a page, "" if that is not known.
func (s *Source) leadsTo(ctx context.Context, p store.PageRecord) (string, error) {
	switch p.State {
	case crawl.Duplicate:
		d, err := s.store.Duplicate(ctx, p.PageID)
		if errors.Is(err, store.ErrNotFound) {
			return "", nil
		}
		return d.Of.URL, err
	case crawl.Redirect, crawl.Kept: // a requisite may have been found elsewhere
		visits, err := s.store.ListVisits(ctx, p.PageID, 0, leadingVisits)
		if err != nil {
			return "", err
		}
		for _, v := range visits { // the newest first
			if v.Outcome == crawl.OutcomeRedirected && v.Location != "" {
				return s.redirected(p.URL, v.Location), nil
			}
			if v.Outcome.Observes() {
				break
			}
		}
	}
	return "", nil
}

// redirected returns the URL under which the crawl keeps the target of a redirect.
func (s *Source) redirected(from, location string) string {
	base, err := urlkey.Canonical(from)
	if err != nil {
		return ""
	}
	u, err := urlkey.Resolve(base, location)
	if err != nil {
		return ""
	}
	return s.Key(u).String()
}

// Path implements mirror.Paths, by the pages that stand now, for a folder that is kept up
// to date.
func (s *Source) Path(ctx context.Context, u urlkey.URL) (string, error) {
	url := s.Key(u).String()
	for range maxLeads {
		found, err := s.store.FindPages(ctx, url, s.crawl.Spec.Name)
		if err != nil || len(found) == 0 {
			return "", err
		}
		x, stands, err := s.Document(ctx, found[0].PageID)
		if err != nil {
			return "", err
		}
		if stands {
			if s.chosen != nil && !x.Requisite && !s.chosen(x.URL) {
				return "", nil
			}
			return export.FileName(export.Mirror, x), nil
		}
		if url, err = s.leadsTo(ctx, found[0]); err != nil || url == "" {
			return "", err
		}
	}
	return "", nil
}
