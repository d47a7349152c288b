package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit/embedded"
	"recrawl/internal/urlkey"
)

// rewrites reports whether a takedown writes a store's files anew unless it is told
// otherwise: an embedded store's, which stand still for seconds. Tables of Postgres
// may be large and shared.
func rewrites(dsn string) bool { return isEmbedded(dsn) }

func isEmbedded(dsn string) bool { return strings.HasPrefix(dsn, "sqlite:") }

// erase removes what the takedown has left on disk, in Temporal's histories of others
// and in the files of the databases, and notes what it may not or cannot remove.
func (t *takedown) erase(ctx context.Context) error {
	t.show("looking for histories that name them")
	crawls, err := t.store.ListCrawls(ctx)
	if err != nil {
		return err
	}
	names := make([]string, len(crawls))
	for i, c := range crawls {
		names[i] = c.Spec.Name
		t.leaveSeeds(c.Spec)
	}
	texts := textsOf(t.target)
	running, err := t.eraser.Finish(ctx, names, func(text []byte) bool { return embedded.Mentions(text, texts) })
	if err != nil {
		return err
	}
	if err := t.leaveHistories(ctx, running); err != nil {
		return err
	}
	t.show("erasing the store's file")
	if err := t.store.Erase(ctx, store.EraseParams{Rewrite: t.rewrite}); err != nil {
		return err
	}
	t.leaveUnused()
	if t.at.Data == "" {
		t.leave("the database of that Temporal server keeps what was deleted from it as its own kind does: see docs/operations.md")
		return nil
	}
	t.show("erasing Temporal's file")
	return embedded.Erase(ctx, t.at.Data, texts, t.rewrite)
}

func (t *takedown) leave(format string, args ...any) {
	t.done.Left = append(t.done.Left, fmt.Sprintf(format, args...))
}

// leaveSeeds names the seeds of a crawl that were forgotten: they are not visited any
// more, but a spec is its author's.
func (t *takedown) leaveSeeds(spec crawl.Spec) {
	for _, seed := range spec.Seeds {
		u, err := urlkey.Canonical(seed)
		if err != nil {
			continue
		}
		if u.String() == t.target.URL || t.target.Host != "" && (u.HostKey() == t.target.Host || urlkey.RegistrableDomain(u.Host()) == t.target.Host) {
			t.leave("crawl %s still names the seed %s, which is not visited: replace its spec to take it out", spec.Name, seed)
		}
	}
}

// leaveHistories names the workflows that run and whose histories name what was
// forgotten.
func (t *takedown) leaveHistories(ctx context.Context, running []string) error {
	if len(running) == 0 {
		return nil
	}
	retention, err := t.eraser.Retention(ctx)
	if err != nil {
		return err
	}
	for _, id := range running {
		t.leave("the history of %s still names it: its run ends within a day, and Temporal keeps it for %s from then on", id, crawl.FormatDuration(retention))
	}
	return nil
}

func (t *takedown) leaveUnused() {
	switch {
	case isEmbedded(t.at.Store) && !t.rewrite:
		t.leave("unused parts of the store's file may hold copies of what was deleted: --rewrite removes them")
	case !isEmbedded(t.at.Store) && !t.rewrite:
		t.leave("unused parts of the store's tables hold what was deleted until they are used again, --rewrite removes it now; Postgres' write-ahead log holds it until that is recycled")
	case !isEmbedded(t.at.Store):
		t.leave("Postgres' write-ahead log holds what was deleted until that is recycled")
	}
}

// textsOf are texts of which one is wherever a target is named: of a host its name, of
// a page its URL, also as JSON and workflow ids have it.
func textsOf(target store.Target) []string {
	if target.Host != "" {
		return []string{target.Host}
	}
	quoted, err := json.Marshal(target.URL)
	if err != nil {
		return []string{target.URL}
	}
	const anyCrawl = "x"
	texts := []string{
		target.URL, string(bytes.Trim(quoted, `"`)),
		strings.TrimPrefix(contract.PageID(anyCrawl, target.URL), "page/"+anyCrawl+"/"),
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}
