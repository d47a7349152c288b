package reader

import (
	"context"

	"recrawl/internal/feed"
	"recrawl/internal/store"
)

// Texts reads the compared texts of a change's page, before and after it, by the rules that
// its crawl has now. known is false if one of them is no longer kept or is damaged, or the page
// has none since. The text before a page's first content is empty.
func (r *Reader) Texts(ctx context.Context, c feed.Change) (before, after string, known bool, err error) {
	facts, err := r.store.ChangeFacts(ctx, []feed.Change{c})
	if err != nil || len(facts) == 0 {
		return "", "", false, err
	}
	f := facts[0]
	d := differ{r, map[string]rules{}}
	rules, err := d.rulesOf(ctx, f.Crawl)
	if err != nil || !rules.known || f.URL == "" || f.Version.Digest == "" {
		return "", "", false, err
	}
	if c.Data.From > 0 {
		if before, known, err = d.kept(ctx, f, f.Before, rules); err != nil || !known {
			return "", "", false, err
		}
	}
	after, known, err = d.kept(ctx, f, f.Version, rules)
	return before, after, known, err
}

// kept returns the text that seen reads, for a version that may have no body.
func (d differ) kept(ctx context.Context, f store.ChangeFacts, v store.VersionRecord, rules rules) (string, bool, error) {
	if v.Digest == "" {
		return "", false, nil
	}
	seen, ok, err := d.seen(ctx, f, v, rules)
	return seen.Text, ok, err
}
