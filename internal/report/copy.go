package report

import (
	"context"
	"fmt"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// CopyFreshness is how likely a page's copy still equals the page.
type CopyFreshness struct {
	// Seen is when the page was last found to be as the copy has it, zero if that is not known.
	Seen time.Time
	// Fresh is the probability that the page has not changed since; it is meaningful only
	// if Seen is known.
	Fresh float64
	// State is the page's state: only in some states does a page still answer with the
	// copied content.
	State crawl.PageState
	// None: the page has no copy.
	None bool

	now, visited time.Time
}

// FreshnessOfCopies returns the freshness of pages of one crawl, in their order.
func (r Reporter) FreshnessOfCopies(ctx context.Context, crawlName string, pages ...store.PageRecord) ([]CopyFreshness, error) {
	record, now, err := r.open(ctx, crawlName)
	if err != nil {
		return nil, err
	}
	rules, err := schedule.NewRules(record.Spec.Revisit)
	if err != nil {
		return nil, fmt.Errorf("crawl %s: %w", crawlName, err)
	}
	all := make([]CopyFreshness, 0, len(pages))
	for _, p := range pages {
		f := CopyFreshness{State: p.State, None: p.Last.ID == 0, now: now, visited: p.LastAt}
		if seen := surveyed(p, rules, nil, now); seen.Lags {
			f.Seen, f.Fresh = schedule.DecodeBelief(p.Belief).ComparedAt(), seen.Lag.Fresh
		}
		all = append(all, f)
	}
	return all, nil
}

// Words says it in a few words: "seen 3h ago, 97 % likely unchanged".
func (f CopyFreshness) Words() string {
	switch {
	case f.None:
		return "there is none: no visit has found a body"
	case f.State == crawl.Gone:
		return fmt.Sprintf("the page is gone, as a visit found %s: this is its last copy", when(f.visited, f.now))
	case f.State == crawl.Redirect:
		return fmt.Sprintf("the page leads elsewhere, as a visit found %s: this is its last copy", when(f.visited, f.now))
	case f.State == crawl.Known:
		return "the page waits to be visited again: this is its last copy"
	case f.State == crawl.Excluded:
		return "the page is excluded from the crawl, and tried only now and then: this is its last copy"
	case !copied(f.State):
		return fmt.Sprintf("the page is %s and is not visited any more: this is its last copy", f.State)
	case f.Seen.IsZero():
		return "nothing is known of how fresh the copy is"
	}
	text := fmt.Sprintf("seen %s, %s likely unchanged", when(f.Seen, f.now), Percent(f.Fresh))
	if f.State == crawl.Failing {
		text += fmt.Sprintf("; its last visit, %s, failed", when(f.visited, f.now))
	}
	return text
}

// PagesAt returns the pages of a URL in any spelling: that of one crawl, or those of all
// crawls if crawlName is "". It returns none if the URL is unknown.
func (r Reporter) PagesAt(ctx context.Context, url, crawlName string) ([]store.PageRecord, error) {
	u, err := urlkey.Canonical(url)
	if err != nil {
		return nil, fmt.Errorf("the URL %s: %w", crawl.Clean(url, 200), err)
	}
	pages, err := r.Store.FindPages(ctx, u.String(), crawlName)
	if err != nil || len(pages) > 0 || crawlName == "" {
		return pages, err
	}
	record, err := r.Store.Crawl(ctx, crawlName)
	if err != nil {
		return nil, err
	}
	kept, _ := urlkey.NewRules(record.Spec.URLs).Apply(u)
	return r.Store.FindPages(ctx, kept.String(), crawlName)
}

// PageNumbered returns a page of any crawl by its number.
func (r Reporter) PageNumbered(ctx context.Context, pageID int64) (store.PageRecord, error) {
	page, err := r.Relations.Page(ctx, pageID)
	if err != nil {
		return store.PageRecord{}, fmt.Errorf("page %d: %w", pageID, err)
	}
	return page, nil
}
