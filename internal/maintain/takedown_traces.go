package maintain

import (
	"context"
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// eraseTraces removes the traces of the takedown on disk, in the histories of other
// workflows and in the files of the databases, and records what it may not or
// cannot remove. The server's files come last, since removing histories writes to
// them.
func (t Takedown) eraseTraces(ctx context.Context, pages stillNaming, done *Removed) error {
	t.show("looking for histories that name them", done.Pages)
	crawls, err := t.Store.ListCrawls(ctx)
	if err != nil {
		return err
	}
	names := make([]string, len(crawls))
	for i, c := range crawls {
		names[i] = c.Spec.Name
		leaveSeeds(c.Spec, t.Target, done)
	}
	running, err := t.Workflows.Finish(ctx, names)
	if err != nil {
		return err
	}
	if err := t.leaveHistories(ctx, running, pages, done); err != nil {
		return err
	}
	t.show("erasing the store's file", done.Pages)
	if err := t.Store.Erase(ctx, store.EraseParams{Rewrite: t.Rewrite}); err != nil {
		return err
	}
	t.leaveUnused(done)
	if t.EraseServer == nil {
		done.leave("the database of that Temporal server keeps what was deleted from it as its own kind does: see docs/operations.md")
		return nil
	}
	t.show("erasing Temporal's file", done.Pages)
	return t.EraseServer(ctx)
}

// leaveSeeds names the seeds of a crawl that were forgotten: they are not visited any
// more, but a spec is its author's.
func leaveSeeds(spec crawl.Spec, target store.Target, done *Removed) {
	for _, seed := range spec.Seeds {
		u, err := urlkey.Canonical(seed)
		if err != nil {
			continue
		}
		if u.String() == target.URL || target.Host != "" && (u.HostKey() == target.Host || urlkey.RegistrableDomain(u.Host()) == target.Host) {
			done.leave("crawl %s still names the seed %s, which is not visited: replace its spec to take it out", spec.Name, seed)
		}
	}
}

// leaveHistories names the running workflows whose histories name the forgotten
// URLs.
func (t Takedown) leaveHistories(ctx context.Context, running []string, pages stillNaming, done *Removed) error {
	if len(running) == 0 && pages.workflows == 0 {
		return nil
	}
	retention, err := t.Workflows.Retention(ctx)
	if err != nil {
		return err
	}
	kept := "Temporal keeps it for " + crawl.FormatDuration(retention) + " from then on"
	for _, id := range running {
		if strings.HasPrefix(id, "sink/") {
			done.leave("the history of %s still names it, in an answer of its receiver: its run ends within a day of the next delivery, and %s", id, kept)
			continue
		}
		done.leave("the history of %s still names it: its run ends within a day, and %s", id, kept)
	}
	if pages.workflows > 0 {
		done.leave("histories of pages that redirect to it, or named it otherwise, still name it, %d of them, such as that of %s: a run of theirs ends after some visits, within forty days, and %s",
			pages.workflows, pages.such, kept)
	}
	return nil
}

func (t Takedown) leaveUnused(done *Removed) {
	switch {
	case t.OneFile && !t.Rewrite:
		done.leave("unused parts of the store's file may hold copies of what was deleted: --rewrite removes them")
	case !t.OneFile && !t.Rewrite:
		done.leave("unused parts of the store's tables hold what was deleted until they are used again, --rewrite removes it now; Postgres' write-ahead log holds it until that is recycled")
	case !t.OneFile:
		done.leave("Postgres' write-ahead log holds what was deleted until that is recycled")
	}
}
