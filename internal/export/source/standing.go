package source

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"

	"recrawl/internal/crawl"
	"recrawl/internal/export"
	"recrawl/internal/extract"
	"recrawl/internal/store"
)

// standingStates returns the states of pages that may stand.
func (s *Source) standingStates() []crawl.PageState {
	states := []crawl.PageState{crawl.Active, crawl.Failing, crawl.Stopped}
	if s.requisites {
		states = append(states, crawl.Kept, crawl.Known)
	}
	return states
}

// tellingVisits is the number of a page's last visits that are searched for one that shows
// whether the page was there.
const tellingVisits = 50

// standing returns the pages that stand; see export.Exchange. A page that fails, or that
// was stopped, counts as what it was before: it is not known to have gone, and stopping a
// crawl is not meant to empty it.
func (s *Source) standing(ctx context.Context, pages []store.PageRecord) (map[int64]bool, error) {
	standing := make(map[int64]bool, len(pages))
	var ask []int64
	requisites := map[int64]bool{}
	for _, p := range pages {
		switch {
		case p.Kind.IsSource():
		case p.Kind == crawl.KindRequisite:
			requisites[p.PageID] = true
			ask = append(ask, p.PageID)
		case p.State == crawl.Active:
			standing[p.PageID] = true
		case p.State == crawl.Failing, p.State == crawl.Stopped:
			standing[p.PageID] = true
			ask = append(ask, p.PageID)
		}
	}
	if len(ask) == 0 {
		return standing, nil
	}
	visits, err := s.store.RecentVisits(ctx, ask, tellingVisits)
	if err != nil {
		return nil, err
	}
	for _, v := range visits { // the newest of each page come last
		if requisites[v.PageID] {
			tellRequisite(standing, v)
			continue
		}
		switch v.State {
		case crawl.Active:
			standing[v.PageID] = true
		case crawl.Gone, crawl.Redirect, crawl.Excluded, crawl.Duplicate:
			delete(standing, v.PageID)
		}
	}
	return standing, nil
}

// tellRequisite notes whether a requisite was there at a visit. Its state after all visits is
// the same.
func tellRequisite(standing map[int64]bool, v store.VisitLook) {
	switch {
	case v.Outcome.Observes():
		standing[v.PageID] = true
	case v.Outcome == crawl.OutcomeGone, v.Outcome == crawl.OutcomeRedirected, v.Outcome == crawl.OutcomeExcluded:
		delete(standing, v.PageID)
	}
}

// Document returns a page's present version, as the visit that found it. It reports false
// if the page does not stand, has no version, is another crawl's, or does not exist.
func (s *Source) Document(ctx context.Context, page int64) (export.Exchange, bool, error) {
	p, err := s.store.Page(ctx, page)
	if errors.Is(err, store.ErrNotFound) {
		return export.Exchange{}, false, nil
	}
	if err != nil || p.CrawlID != s.crawl.ID {
		return export.Exchange{}, false, err
	}
	found, err := s.documents(ctx, []store.PageRecord{p})
	if err != nil || len(found) == 0 {
		return export.Exchange{}, false, err
	}
	return found[0], true, nil
}

// Documents does what Document does, for the pages after one, in ascending order. It looks
// at up to limit pages, those with ids up to through, and says whether there are more.
func (s *Source) Documents(ctx context.Context, after int64, limit int) (found []export.Exchange, through int64, more bool, err error) {
	pages, err := s.store.ListPages(ctx, store.PageFilter{CrawlID: s.crawl.ID, States: s.standingStates(), After: after, Limit: limit})
	if err != nil || len(pages) == 0 {
		return nil, after, false, err
	}
	found, err = s.documents(ctx, pages)
	return found, pages[len(pages)-1].PageID, true, err
}

func (s *Source) documents(ctx context.Context, pages []store.PageRecord) (found []export.Exchange, err error) {
	standing, err := s.standing(ctx, pages)
	if err != nil {
		return nil, err
	}
	for _, p := range pages {
		w := p.Last
		if w.Seq == 0 || !standing[p.PageID] || p.Kind == crawl.KindRequisite && !s.requisites {
			continue
		}
		found = append(found, export.Exchange{
			Page: p.PageID, URL: p.URL, Visit: w.Visit, At: w.At, Digest: w.Digest, Stands: true, TextAt: cmp.Or(p.TextAt, w.At),
			Requisite: p.Kind == crawl.KindRequisite,
			Version: export.Version{
				Seq: w.Seq, Visit: w.Visit, At: w.At, Digest: w.Digest, Bytes: w.Bytes, ContentType: w.ContentType, Title: w.Title, Canonical: w.Canonical,
				Language: w.Language, Fetched: w.At,
			},
		})
	}
	return found, nil
}

// Rules identifies the rules by which texts are made: those of the crawl's spec, and how
// much of a page is read. Under other rules, texts may differ.
func (s *Source) Rules() string {
	text, err := json.Marshal(s.crawl.Spec.Content)
	if err != nil { // it was read from JSON
		return err.Error()
	}
	sum := sha256.Sum256(text)
	rules := hex.EncodeToString(sum[:8])
	if s.reading == extract.ReadArticle {
		rules += " article"
	}
	return rules
}
