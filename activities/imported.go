package activities

import (
	"context"
	"fmt"
	"net/netip"

	"recrawl/internal/crawl"
	"recrawl/internal/scope"
	"recrawl/internal/urlkey"
)

// askedTogether bounds the keys of one question about imported seeds.
const askedTogether = 5000

// seeing returns the view for judging these URLs: with the relevant ones of the
// crawl's imported seeds, of which there may be millions. Its scope must judge no
// other URLs. For a crawl without imported seeds it asks nothing.
func (a *Activities) seeing(ctx context.Context, view *crawlView, urls ...urlkey.URL) (*crawlView, error) {
	if !view.Imported || len(urls) == 0 {
		return view, nil
	}
	known := map[crawl.SeedKey]bool{}
	var keys []crawl.SeedKey
	ask := func() error {
		found, err := a.stores.Frontier.SeedKeys(ctx, view.ID, keys)
		for k := range found {
			known[k] = true
		}
		keys = keys[:0]
		return err
	}
	for _, u := range urls {
		keys = append(keys, scope.AskedKeys(u)...)
		if len(keys) >= askedTogether {
			if err := ask(); err != nil {
				return nil, fmt.Errorf("imported seeds: %w", err)
			}
		}
	}
	if err := ask(); err != nil {
		return nil, fmt.Errorf("imported seeds: %w", err)
	}
	seen := *view
	seen.scope = view.scope.Knowing(known)
	seen.loopback = map[string][]netip.AddrPort{}
	for host, at := range view.loopback {
		seen.loopback[host] = at
	}
	for _, u := range urls {
		if !u.IsLoopback() {
			continue
		}
		if at := scope.SeedLoopback(known, u); len(at) > 0 {
			seen.loopback[u.HostKey()] = append(at, view.loopback[u.HostKey()]...)
		}
	}
	return &seen, nil
}

// seeingRaw is seeing for addresses before canonicalisation.
func (a *Activities) seeingRaw(ctx context.Context, view *crawlView, raw ...string) (*crawlView, error) {
	if !view.Imported {
		return view, nil
	}
	urls := make([]urlkey.URL, 0, len(raw))
	for _, text := range raw {
		if u, err := view.url(text); err == nil {
			urls = append(urls, u)
		}
	}
	return a.seeing(ctx, view, urls...)
}
