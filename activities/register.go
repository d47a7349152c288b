package activities

import (
	"context"
	"fmt"
	"slices"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/maintain"
	"recrawl/internal/requisite"
	"recrawl/internal/store"
)

// maxHostsOut bounds the hosts that RegisterLinks hands on for admission;
// maintenance admits the pages of any others.
const maxHostsOut = 1000

// This is the part that DetectChange registers itself; the rest is left to RegisterLinks,
// which has more time and records its work in its own history.
const (
	// registeredAtOnce is the most links that DetectChange registers: as many as the store
	// registers in one transaction. Lists may have fifty times as many.
	registeredAtOnce = 1000
	// touchedAtOnce is the most hosts that they may lead to, since the page's history names
	// each host with new pages twice.
	touchedAtOnce = 100
	// registerPatience is the most time that it may take. Only filter programs take
	// longer.
	registerPatience = 15 * time.Second
)

// RegisterLinks adds the links that a visit stored with its version to the
// frontier: those the crawl's scope accepts; the others are counted by reason.
// Running it again changes nothing. If a filter program has no answer about some of
// them, it registers the others and fails: it must be run again.
func (a *Activities) RegisterLinks(ctx context.Context, in contract.RegisterIn) (contract.RegisterOut, error) {
	pending, err := a.stores.Frontier.PendingLinks(ctx, in.Page.PageID, in.Visit)
	if err != nil {
		return contract.RegisterOut{}, translate(err)
	}
	if pending == nil {
		return contract.RegisterOut{}, nil
	}
	view, err := a.crawl(ctx, in.Page.Crawl)
	if err != nil {
		return contract.RegisterOut{}, translate(err)
	}
	judged, err := a.filter(ctx, view, pending)
	if err != nil {
		return contract.RegisterOut{}, translate(err)
	}
	registered, err := a.enter(ctx, view, pending, judged)
	if err == nil {
		err = judged.undecided
	}
	if err != nil {
		return contract.RegisterOut{}, translate(err)
	}
	return registeredOut(judged, registered, registered.Hosts), nil
}

// registerFound is RegisterLinks for DetectChange, which has just stored the links and
// still has them at hand. It returns nil if they must wait for a Discover: if there are
// many, or they cannot be registered now. That is no reason to compare again, so it does
// not fail.
func (a *Activities) registerFound(ctx context.Context, view *crawlView, found *store.PendingLinks) *contract.RegisterOut {
	limit := registerPatience
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline)/2)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, err := a.tryRegister(ctx, view, found)
	if err != nil {
		a.log.Warn("links wait for a Discover", "crawl", view.Spec.Name, "page", found.Page.PageID, "visit", found.Visit, "error", err)
	}
	return out
}

func (a *Activities) tryRegister(ctx context.Context, view *crawlView, found *store.PendingLinks) (*contract.RegisterOut, error) {
	if len(found.Links) > registeredAtOnce {
		return nil, nil
	}
	if found.Kind.IsSource() {
		known, err := a.stores.Pages.ListSources(ctx, store.SourceFilter{CrawlID: found.Page.CrawlID, PageID: found.Page.PageID, Limit: 1})
		if err != nil || len(known) == 0 {
			return nil, err
		}
		found.Nesting = known[0].Nesting
	}
	judged, err := a.filter(ctx, view, found)
	if err == nil {
		err = judged.undecided
	}
	if err != nil || judged.hosts() > touchedAtOnce {
		return nil, err
	}
	registered, err := a.enter(ctx, view, found, judged)
	if err != nil {
		return nil, err
	}
	touched := registered.NewHosts
	if registered.Again { // and the answer of that attempt may have been lost
		touched = registered.Hosts
	}
	out := registeredOut(judged, registered, touched)
	return &out, nil
}

// enter adds the accepted links of a page to the frontier, and counts the others. It ends
// their wait unless some are undecided.
func (a *Activities) enter(ctx context.Context, view *crawlView, from *store.PendingLinks, links judged) (store.RegisterResult, error) {
	urls, err := a.holdBack(ctx, view, maintain.FinderOf(from), links.accepted)
	if err != nil {
		return store.RegisterResult{}, err
	}
	params := store.RegisterParams{
		CrawlID: from.Page.CrawlID, From: from.Page.PageID, Listed: from.Kind.IsSource(), URLs: slices.Concat(urls, links.sources),
		ForeignHosts: view.Spec.Sources.ForeignHosts, RequisiteHosts: view.Spec.Documents.HostsForRequisites(),
	}
	if links.undecided == nil {
		// Before their wait ends: an interrupted attempt is repeated.
		moves, err := maintain.Hints(ctx, a.stores.Hints, a.maintained(view), from, links.rejected.of(reasonRenamed))
		if err == nil {
			err = a.move(ctx, moves)
		}
		if err != nil {
			return store.RegisterResult{}, fmt.Errorf("hints: %w", err)
		}
		params.Version, params.Rejected = from.Version, links.rejected.list() // which ends the wait of its links
	}
	registered, err := a.stores.Frontier.RegisterLinks(ctx, params)
	if err == nil && links.undecided == nil && view.Spec.Traps.Guard && registered.New > 0 {
		a.watch(ctx, view, from, links.accepted)
	}
	return registered, err
}

// registeredOut reports what became of links, with the hosts at which pages may be
// admitted.
func registeredOut(links judged, registered store.RegisterResult, hosts []int64) contract.RegisterOut {
	rejected := links.rejected.counts()
	if sources := registered.Refused - registered.RefusedRequisites; sources > 0 {
		rejected[store.ReasonForeign] += sources
	}
	if registered.RefusedRequisites > 0 {
		rejected[requisite.ReasonCrawlHosts] += registered.RefusedRequisites
	}
	return contract.RegisterOut{New: registered.New, Seen: registered.Seen, Rejected: rejected, Hosts: hosts[:min(len(hosts), maxHostsOut)]}
}
