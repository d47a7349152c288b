package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"recrawl/internal/archive"
	"recrawl/internal/archive/gc"
	"recrawl/internal/cli"
	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/maintain"
	"recrawl/internal/search"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
	"recrawl/internal/temporalkit/embedded"
)

// contentBatch is how many contents a takedown claims at a time: those of one that
// is killed wait for the end of its claim.
const contentBatch = 100

// Forget implements cli.Backend.
func (Backend) Forget(ctx context.Context, at cli.Target, what cli.Takedown, o cli.ForgetOptions) (done cli.Forgotten, err error) {
	s, err := openStore(ctx, at.Store, storeWrite, "")
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	target := store.Target{URL: what.URL, Host: what.Host}
	pages, err := maintain.CountTarget(ctx, s, target)
	if err != nil || o.Dry {
		return cli.Forgotten{Pages: pages}, err
	}
	if at.Archive == "" {
		return done, errors.New("name the archive with --archive: the pages' bytes are to be removed too")
	}
	files, err := openArchiveOf(ctx, s, at.Archive)
	if err != nil {
		return done, err
	}
	eraser, hangUp, err := dialEraser(ctx, s, at)
	if err != nil {
		return done, fmt.Errorf("the pages' workflows are to be removed too: %w", err)
	}
	defer hangUp()
	texts := textsOf(target)
	t := maintain.Takedown{
		Target: target, Store: s, Workflows: naming{eraser, texts}, Sweep: sweeper(s, files),
		OneFile: isEmbedded(at.Store), Rewrite: rewrites(at.Store), Of: pages,
		Progress: func(p maintain.TakedownProgress) { o.Progress(cli.ForgetProgress(p)) },
	}
	if o.Rewrite != nil {
		t.Rewrite = *o.Rewrite
	}
	if at.Data != "" {
		t.EraseServer = func(ctx context.Context) error { return embedded.Erase(ctx, at.Data, texts, t.Rewrite) }
	}
	removed, err := t.Run(ctx)
	if err == nil {
		err = searchIndex{at.Store, s.ID()}.forget(ctx, search.Target{URL: what.URL, Host: what.Host}, t.Rewrite)
	}
	return cli.Forgotten(removed), err
}

// openArchiveOf opens the archive of a store from which bytes are to be removed. In another's they
// would not be found, and those who asked would be told that they are gone.
func openArchiveOf(ctx context.Context, s store.Contents, url string) (archive.Store, error) {
	files, err := openArchive(ctx, url, storeWrite)
	if err != nil {
		return nil, err
	}
	// Any other error comes again when the bytes are removed.
	if err := gc.CheckOwner(ctx, s, files); errors.Is(err, gc.ErrForeign) {
		return nil, fmt.Errorf("archive %s: %w", url, err)
	}
	return files, nil
}

// rewrites reports whether a takedown rewrites a store's files by default: an
// embedded store's, which stand still for seconds. Tables of Postgres may be large
// and shared.
func rewrites(dsn string) bool { return isEmbedded(dsn) }

func isEmbedded(dsn string) bool { return strings.HasPrefix(dsn, "sqlite:") }

// dialEraser connects to the Temporal of a store until hangUp is called.
func dialEraser(ctx context.Context, s store.Identity, at cli.Target) (e *temporalkit.Eraser, hangUp func(), err error) {
	c, err := dialTemporal(ctx, at.Temporal)
	if err != nil {
		return nil, nil, err
	}
	namespace := temporalkit.Namespace(temporalkit.Options{Namespace: at.Temporal.Namespace})
	if err := atHome(ctx, c, s, namespace); err != nil {
		c.Close()
		return nil, nil, err
	}
	return &temporalkit.Eraser{Client: c, Namespace: namespace}, c.Close, nil
}

// naming is an Eraser of the histories that name one of some texts.
type naming struct {
	*temporalkit.Eraser
	texts []string
}

// Naming implements maintain.PageWorkflows.
func (n naming) Naming(ctx context.Context, pages []crawl.PageRef) ([]string, error) {
	return n.Eraser.Naming(ctx, pages, n.mentions)
}

// Finish implements maintain.PageWorkflows.
func (n naming) Finish(ctx context.Context, crawls []string) ([]string, error) {
	return n.Eraser.Finish(ctx, crawls, n.mentions)
}

func (n naming) mentions(text []byte) bool { return embedded.Mentions(text, n.texts) }

// sweeper deletes a batch of the contents that no version has any more.
func sweeper(s store.Contents, files archive.Store) func(context.Context) (int, error) {
	return func(ctx context.Context) (int, error) { return gc.Sweep(ctx, s, files, contentBatch) }
}

// textsOf returns texts of which one appears wherever a target is named: for a host
// its name, for a page its URL, also in the forms of JSON and workflow ids.
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

// Remember implements cli.Backend.
func (Backend) Remember(ctx context.Context, at cli.Target, what cli.Takedown) error {
	s, err := openStore(ctx, at.Store, storeWrite, "")
	if err != nil {
		return err
	}
	err = s.Remember(ctx, store.Target{URL: what.URL, Host: what.Host})
	if errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("%s was not forgotten: %w", what, store.ErrNotFound)
	}
	return errors.Join(err, s.Close())
}
