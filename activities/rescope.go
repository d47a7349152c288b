package activities

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
	"recrawl/internal/urlkey"
)

const (
	// scopeBatch is how many pages are read at a time when a scope has changed, and
	// scopeRounds how often in a turn: some seconds' work. A crawl of more pages is
	// looked at in several turns.
	scopeBatch  = 1000
	scopeRounds = 50
	// scopeWoken is after how many pages that were woken a turn leaves the rest to the
	// next: each costs a signal.
	scopeWoken = 2000
)

// outOfScope is the start of the rule of a page that the scope excludes.
const outOfScope = "out of scope: "

// outside says for which rule pages that the crawl has lie outside of its scope now,
// by page id. Those that lie inside are left out, and those of which it cannot be told: a
// filter program does not answer, or a rule asks for the language of the page that led
// there. Lists are no pages, and keep to rules of their own.
func (a *Activities) outside(ctx context.Context, view *crawlView, pages []store.PageRecord) (map[int64]string, error) {
	urls := make([]urlkey.URL, 0, len(pages))
	judged := make([]store.PageRecord, 0, len(pages))
	for _, p := range pages {
		if p.Kind.IsSource() {
			continue
		}
		u, err := urlkey.Canonical(p.URL)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", pageLabel(p.PageRef), err)
		}
		urls, judged = append(urls, u), append(judged, p)
	}
	view, err := a.seeing(ctx, view, urls...)
	if err != nil {
		return nil, err
	}
	out := map[int64]string{}
	for i, p := range judged {
		if v := view.scope.Recheck(urls[i], p.Level, p.Hops); !v.Accept && !v.Undecided {
			out[p.PageID] = outOfScope + v.Reason
		}
	}
	return out, nil
}

// excluded answers for a page that lies outside of its crawl's scope now: it leaves
// its line, and no request is made. The view may be of before a change: whom it takes
// is looked at again when a permit is granted, and whom it does not at once.
func (a *Activities) excluded(ctx context.Context, in contract.AcquireIn, view *crawlView) (out contract.AcquireOut, is bool, err error) {
	page, err := a.store.Page(ctx, in.Page.PageID)
	if err != nil || page.Visits >= in.Visit {
		return contract.AcquireOut{}, false, err
	}
	rules, err := a.outside(ctx, view, []store.PageRecord{page})
	if err != nil || rules[page.PageID] == "" {
		return contract.AcquireOut{}, false, err
	}
	if view, err = a.crawl(ctx, in.Page.Crawl, 0); err != nil {
		return contract.AcquireOut{}, false, err
	}
	if rules, err = a.outside(ctx, view, []store.PageRecord{page}); err != nil || rules[page.PageID] == "" {
		return contract.AcquireOut{}, false, err
	}
	effects, err := a.store.Leave(ctx, page.PageID)
	if err != nil {
		return contract.AcquireOut{}, false, err
	}
	a.carryOut(ctx, effects)
	return contract.AcquireOut{Answer: contract.AnswerExcluded, Rule: rules[page.PageID]}, true, nil
}

// scopeName names what decides which pages lie in the scope of a crawl. Of imported
// seeds only the generation tells that there are others; it is raised for less, too.
func scopeName(view *crawlView) (string, error) {
	what := struct {
		Seeds      []string
		Scope      crawl.ScopeSpec
		URLs       crawl.URLSpec
		Generation int64
	}{Seeds: view.Spec.Seeds, Scope: view.Spec.Scope, URLs: view.Spec.URLs}
	if view.Imported {
		what.Generation = view.Generation
	}
	text, err := json.Marshal(what)
	if err != nil {
		return "", fmt.Errorf("encode scope: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// rescope looks at the pages of a crawl whose scope has changed since they were looked
// at, and wakes those that lie outside now, to be excluded, and those that were
// excluded and lie inside again. It goes on in the next turn where there are many; a
// scope that has not changed costs one look at one row.
func (a *Activities) rescope(ctx context.Context, in contract.MaintainIn, _ *contract.MaintainOut) error {
	view, err := a.crawl(ctx, in.Name, 0)
	if err != nil {
		return err
	}
	name, err := scopeName(view)
	if err != nil {
		return err
	}
	look, err := a.store.ScopeLook(ctx, view.ID)
	if err != nil || look.Done && look.Scope == name {
		return err
	}
	if look.Scope != name {
		look = store.ScopeLook{Scope: name}
	}
	woken := 0
	for round := 0; round < scopeRounds && woken < scopeWoken && !look.Done; round++ {
		pages, err := a.store.ListPages(ctx, store.PageFilter{CrawlID: view.ID, States: livingStates(), After: look.After, Limit: scopeBatch})
		if err != nil {
			return err
		}
		n, err := a.wakeMisplaced(ctx, view, pages)
		if err != nil {
			return err
		}
		woken += n
		if look.Done = len(pages) < scopeBatch; len(pages) > 0 {
			look.After = pages[len(pages)-1].PageID
		}
		// After the pages were woken: a turn that is cut off wakes them again, or others do.
		if err := a.store.SetScopeLook(ctx, view.ID, look); err != nil {
			return err
		}
	}
	return nil
}

// wakeMisplaced wakes those of the pages whose state is not what the scope makes of
// them, and returns how many. A page that robots.txt forbids stays excluded.
func (a *Activities) wakeMisplaced(ctx context.Context, view *crawlView, pages []store.PageRecord) (int, error) {
	outside, err := a.outside(ctx, view, pages)
	if err != nil {
		return 0, err
	}
	now, err := a.store.Now(ctx)
	if err != nil {
		return 0, err
	}
	var wake []int64
	for _, p := range pages {
		out, excluded := outside[p.PageID] != "", p.State == crawl.Excluded
		if out == excluded || p.Kind.IsSource() {
			continue
		}
		if excluded {
			forbidden, err := a.forbidden(ctx, view, p.PageRef, now)
			if err != nil {
				return 0, err
			}
			if forbidden {
				continue
			}
		}
		wake = append(wake, p.PageID)
	}
	woken, err := a.store.WakePages(ctx, wake)
	if err != nil {
		return 0, err
	}
	for _, p := range woken {
		err := a.workflows.Reschedule(ctx, p.PageRef, contract.RescheduleArg{Due: p.NextAt, Why: "the crawl's scope has changed", Visit: p.Visits})
		if errors.Is(err, temporalkit.ErrNoWorkflow) {
			err = a.workflows.StartPage(ctx, NewPageIn(p))
		}
		if err != nil {
			return len(woken), fmt.Errorf("%s: %w", pageLabel(p.PageRef), err)
		}
	}
	return len(woken), nil
}
