package activities

import (
	"context"
	"errors"
	"slices"
	"time"

	"recrawl/internal/admission"
	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/maintain"
	"recrawl/internal/robots/reserve"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// refillTries bounds how often a refill begins anew when room is made just as it ends.
// Half a minute later another page is told.
const refillTries = 3

// Admit turns the best known pages of some hosts, or of all, active, up to the room that
// the windows and the bound on admission leave. Pages that a cached robots.txt forbids are
// excluded without a workflow. A refill ends with the call that admits nothing.
func (a *Activities) Admit(ctx context.Context, in contract.AdmitIn) (contract.AdmitOut, error) {
	engine := a.settings.Engine()
	for range refillTries {
		out, err := a.admit(ctx, in, engine)
		if err != nil || out.More || !in.Refill {
			return out, translate(err)
		}
		again, err := a.stores.Frontier.Refilled(ctx, in.CrawlID, engine)
		if err != nil || !again {
			return out, translate(err)
		}
	}
	return contract.AdmitOut{}, nil
}

func (a *Activities) admit(ctx context.Context, in contract.AdmitIn, engine admission.Engine) (contract.AdmitOut, error) {
	params := store.AdmitParams{CrawlID: in.CrawlID, Key: in.Key, Engine: &engine}
	candidates, err := a.stores.Frontier.Candidates(ctx, store.CandidateParams{CrawlID: in.CrawlID, Hosts: in.Hosts, Limit: in.Limit, Engine: &engine})
	if err == nil && len(candidates) > 0 {
		err = a.choose(ctx, candidates, &params)
	}
	if err != nil {
		return contract.AdmitOut{}, err
	}
	// Even without candidates: this returns the answer of a first attempt again if it was
	// lost.
	admitted, err := a.stores.Frontier.Admit(ctx, params)
	if err != nil {
		return contract.AdmitOut{}, err
	}
	out := contract.AdmitOut{Pages: newPageIns(admitted), Excluded: len(params.Exclude)}
	if len(admitted) > 0 && !slices.Contains(params.Admit, admitted[0].PageID) {
		out.Excluded = 0 // it was the first attempt's answer, and this one did nothing
	}
	out.More = len(out.Pages)+out.Excluded > 0
	return out, nil
}

// choose decides what becomes of the candidates of one crawl.
func (a *Activities) choose(ctx context.Context, candidates []store.PageRecord, params *store.AdmitParams) error {
	view, err := a.crawl(ctx, candidates[0].Crawl)
	if err != nil {
		return err
	}
	params.Generation = view.Generation
	params.ExcludedFor = view.Spec.Revisit.MaxInterval.Std()
	return a.sortOut(ctx, view, candidates, params)
}

// sortOut separates the candidates to be admitted from those that a cached
// robots.txt forbids or that are outside the scope now.
func (a *Activities) sortOut(ctx context.Context, view *crawlView, candidates []store.PageRecord, params *store.AdmitParams) error {
	now, err := a.stores.Crawls.Now(ctx)
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
		if p.Kind == crawl.KindRequisite { // its visit says why there is no copy
			params.Admit = append(params.Admit, p.PageID)
			continue
		}
		forbidden, err := a.forbidden(ctx, view, p.PageRef, p.Kind, now)
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

// forbidden asks the cached robots.txt and, for a crawl with a purpose, the cached
// tdmrep.json. If they are not cached or have expired, the decision is made when the page's
// permit is granted.
func (a *Activities) forbidden(ctx context.Context, view *crawlView, page crawl.PageRef, kind crawl.PageKind, now time.Time) (bool, error) {
	u, err := urlkey.Canonical(page.URL)
	if err != nil {
		return false, err
	}
	rec, err := a.stores.Gate.Robots(ctx, u.Origin())
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil || !rec.ExpiresAt.After(now) {
		return false, err
	}
	purpose := view.purposeOf(kind)
	if rec.State == store.RobotsParsed {
		verdict, err := a.robotsVerdict(ctx, rec, view.Spec.Identity.Agent, purpose, u)
		if err != nil || !verdict.Allowed {
			return true, err
		}
	}
	if len(purpose) == 0 {
		return false, nil
	}
	terms, fresh, err := a.termsOf(ctx, u)
	if err != nil || !fresh {
		return false, err
	}
	_, refused := reserve.Against(terms.Reserved(u), purpose)
	return refused, nil
}
