package activities

import (
	"context"
	"errors"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/maintain"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// Admit turns the best known pages of some hosts, or of all, active, as far as
// the windows leave room; pages that a cached robots.txt forbids are excluded
// without a workflow.
func (a *Activities) Admit(ctx context.Context, in contract.AdmitIn) (contract.AdmitOut, error) {
	if earlier, err := a.store.Admitted(ctx, in.CrawlID, in.Key); err != nil {
		return contract.AdmitOut{}, translate(err)
	} else if len(earlier) > 0 {
		return contract.AdmitOut{Pages: newPageIns(earlier), More: true}, nil
	}
	candidates, err := a.store.Candidates(ctx, store.CandidateParams{CrawlID: in.CrawlID, Hosts: in.Hosts, Limit: in.Limit})
	if err != nil || len(candidates) == 0 {
		return contract.AdmitOut{}, translate(err)
	}
	view, err := a.crawl(ctx, candidates[0].Crawl, 0)
	if err != nil {
		return contract.AdmitOut{}, translate(err)
	}
	params := store.AdmitParams{CrawlID: in.CrawlID, Key: in.Key, ExcludedFor: view.Spec.Revisit.MaxInterval.Std()}
	if err := a.sortOut(ctx, view, candidates, &params); err != nil {
		return contract.AdmitOut{}, translate(err)
	}
	admitted, err := a.store.Admit(ctx, params)
	if err != nil {
		return contract.AdmitOut{}, translate(err)
	}
	return contract.AdmitOut{
		Pages: newPageIns(admitted), Excluded: len(params.Exclude), More: len(admitted) > 0 || len(params.Exclude) > 0,
	}, nil
}

// sortOut names the candidates to be admitted, and those that a cached robots.txt
// forbids or that lie outside of the scope now.
func (a *Activities) sortOut(ctx context.Context, view *crawlView, candidates []store.PageRecord, params *store.AdmitParams) error {
	now, err := a.store.Now(ctx)
	if err != nil {
		return err
	}
	outside, err := maintain.Outside(ctx, a.maintained(view), candidates)
	if err != nil {
		return err
	}
	for _, p := range candidates {
		if outside[p.PageID] != "" {
			params.Exclude = append(params.Exclude, p.PageID)
			continue
		}
		forbidden, err := a.forbidden(ctx, view, p.PageRef, now)
		if err != nil {
			return err
		}
		if forbidden {
			params.Exclude = append(params.Exclude, p.PageID)
		} else {
			params.Admit = append(params.Admit, p.PageID)
		}
	}
	return nil
}

func newPageIns(pages []store.PageRecord) []contract.PageIn {
	var ins []contract.PageIn
	for _, p := range pages {
		ins = append(ins, NewPageIn(p))
	}
	return ins
}

// forbidden asks the cached robots.txt; what is not cached, or has expired, is
// decided at the grant of the page's permit.
func (a *Activities) forbidden(ctx context.Context, view *crawlView, page crawl.PageRef, now time.Time) (bool, error) {
	u, err := urlkey.Canonical(page.URL)
	if err != nil {
		return false, err
	}
	rec, err := a.store.Robots(ctx, u.Origin())
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil || rec.State != store.RobotsParsed || !rec.ExpiresAt.After(now) {
		return false, err
	}
	verdict, err := a.robotsVerdict(ctx, rec, view.Spec.Identity.Agent, u)
	return !verdict.Allowed, err
}
