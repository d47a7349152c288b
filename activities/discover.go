package activities

import (
	"context"
	"errors"
	"slices"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// maxHostsOut bounds the hosts that RegisterLinks hands on for admission;
// maintenance admits the pages of any others.
const maxHostsOut = 1000

// RegisterLinks adds the links that a visit stored with its version to the
// frontier: those the crawl's scope accepts; the others are counted by reason.
// Running it again changes nothing. While a filter program has no answer about some
// of them it registers the others and fails: it must be run again.
func (a *Activities) RegisterLinks(ctx context.Context, in contract.RegisterIn) (contract.RegisterOut, error) {
	pending, err := a.store.PendingLinks(ctx, in.Page.PageID, in.Visit)
	if err != nil {
		return contract.RegisterOut{}, translate(err)
	}
	if pending == nil {
		return contract.RegisterOut{}, nil
	}
	view, err := a.crawl(ctx, in.Page.Crawl, 0)
	if err != nil {
		return contract.RegisterOut{}, translate(err)
	}
	judged, err := a.filter(ctx, view, pending)
	if err != nil {
		return contract.RegisterOut{}, translate(err)
	}
	urls, err := a.holdBack(ctx, view, finderOf(pending), judged.accepted)
	if err != nil {
		return contract.RegisterOut{}, translate(err)
	}
	params := store.RegisterParams{
		CrawlID: in.Page.CrawlID, From: in.Page.PageID, Listed: pending.Kind.IsSource(), URLs: slices.Concat(urls, judged.sources),
		ForeignHosts: view.Spec.Sources.ForeignHosts,
	}
	if judged.undecided == nil {
		// Before their wait ends: an attempt that is cut off is made again.
		if err := a.hint(ctx, view, pending); err != nil {
			return contract.RegisterOut{}, translate(err)
		}
		params.Version, params.Rejected = pending.Version, judged.rejected.list() // which ends the wait of its links
	}
	registered, err := a.store.RegisterLinks(ctx, params)
	if err == nil {
		err = judged.undecided
	}
	if err != nil {
		return contract.RegisterOut{}, translate(err)
	}
	if view.Spec.Traps.Guard && registered.New > 0 {
		a.watch(ctx, view, pending, judged.accepted)
	}
	hosts, rejected := registered.Hosts, judged.rejected.counts()
	if registered.Refused > 0 {
		rejected[store.ReasonForeign] += registered.Refused
	}
	return contract.RegisterOut{New: registered.New, Seen: registered.Seen, Rejected: rejected, Hosts: hosts[:min(len(hosts), maxHostsOut)]}, nil
}

// Admit turns the best known pages of some hosts, or of all, active, as far as
// the windows leave room; pages that a cached robots.txt forbids are excluded
// without a workflow.
func (a *Activities) Admit(ctx context.Context, in contract.AdmitIn) (contract.AdmitOut, error) {
	params := store.AdmitParams{CrawlID: in.CrawlID, Key: in.Key}
	candidates, err := a.store.Candidates(ctx, store.CandidateParams{CrawlID: in.CrawlID, Hosts: in.Hosts, Limit: in.Limit})
	if err == nil && len(candidates) > 0 {
		err = a.choose(ctx, candidates, &params)
	}
	if err != nil {
		return contract.AdmitOut{}, translate(err)
	}
	// Also with no candidates: the answer of a first attempt that was lost comes again.
	admitted, err := a.store.Admit(ctx, params)
	if err != nil {
		return contract.AdmitOut{}, translate(err)
	}
	out := contract.AdmitOut{Pages: newPageIns(admitted), Excluded: len(params.Exclude)}
	if len(admitted) > 0 && !slices.Contains(params.Admit, admitted[0].PageID) {
		out.Excluded = 0 // it was the first attempt's answer, and nothing else was done
	}
	out.More = len(out.Pages)+out.Excluded > 0
	return out, nil
}

// choose says what becomes of the candidates of one crawl.
func (a *Activities) choose(ctx context.Context, candidates []store.PageRecord, params *store.AdmitParams) error {
	view, err := a.crawl(ctx, candidates[0].Crawl, 0)
	if err != nil {
		return err
	}
	params.ExcludedFor = view.Spec.Revisit.MaxInterval.Std()
	return a.sortOut(ctx, view, candidates, params)
}

// sortOut names the candidates to be admitted, and those that a cached robots.txt
// forbids or that lie outside of the scope now.
func (a *Activities) sortOut(ctx context.Context, view *crawlView, candidates []store.PageRecord, params *store.AdmitParams) error {
	now, err := a.store.Now(ctx)
	if err != nil {
		return err
	}
	outside, err := a.outside(ctx, view, candidates)
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
