package activities

import (
	"context"
	"slices"

	"recrawl/internal/contract"
	"recrawl/internal/maintain"
	"recrawl/internal/store"
)

// maxHostsOut bounds the hosts that RegisterLinks hands on for admission;
// maintenance admits the pages of any others.
const maxHostsOut = 1000

// RegisterLinks adds the links that a visit stored with its version to the
// frontier: those the crawl's scope accepts; the others are counted by reason.
// Running it again changes nothing. While a filter program has no answer about some
// of them it registers the others and fails: it must be run again.
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
	urls, err := a.holdBack(ctx, view, maintain.FinderOf(pending), judged.accepted)
	if err != nil {
		return contract.RegisterOut{}, translate(err)
	}
	params := store.RegisterParams{
		CrawlID: in.Page.CrawlID, From: in.Page.PageID, Listed: pending.Kind.IsSource(), URLs: slices.Concat(urls, judged.sources),
		ForeignHosts: view.Spec.Sources.ForeignHosts,
	}
	if judged.undecided == nil {
		// Before their wait ends: an attempt that is cut off is made again.
		moves, err := maintain.Hints(ctx, a.stores.Hints, a.maintained(view), pending)
		if err == nil {
			err = a.move(ctx, moves)
		}
		if err != nil {
			return contract.RegisterOut{}, translate(err)
		}
		params.Version, params.Rejected = pending.Version, judged.rejected.list() // which ends the wait of its links
	}
	registered, err := a.stores.Frontier.RegisterLinks(ctx, params)
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
