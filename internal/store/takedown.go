package store

import (
	"context"

	"recrawl/internal/crawl"
)

// Takedown removes what must not be kept, and prevents it from coming back. When Forget has
// finished, the caller deletes the bytes that no version has any more: see Contents.
type Takedown interface {
	// Forget removes pages from all crawls with everything known about them (visits,
	// versions and their contents, links from and to them, records of them and of their
	// duplicates, places in lines). It leaves a tombstone: a hash that keeps RegisterLinks
	// from bringing them back. A forgotten host also loses its robots.txt records, mirrors
	// and ranks; its name, politeness and block stay. Forget works in many transactions; if
	// it is cut off, a new call continues. There need not be any pages.
	//
	// The pages' workflows find out by ErrNotFound. A request in flight may still put bytes
	// into the archive afterwards: the caller that made it should Discard them.
	Forget(ctx context.Context, p ForgetParams) (ForgetResult, error)
	// ForgetMentions removes the target's URLs from the records of other pages: where their
	// visits were redirected, which page had the same content, which one their versions named
	// as canonical. It looks through the records of up to limit page ids after one, returns
	// where to go on, and whether there are more. From Forget on, none is added.
	//
	// Before it changes the records of some pages, it calls before with the pages: only these
	// records tell who named the target. Where before fails, they stay as they are.
	ForgetMentions(ctx context.Context, t Target, after int64, limit int, before func(context.Context, []crawl.PageRef) error) (next int64, more bool, err error)
	// Forgotten reports whether a URL has a tombstone, or its host.
	Forgotten(ctx context.Context, url string) (bool, error)
	// Remember removes the tombstone, so that links can bring the pages back as new ones.
	// It returns ErrNotFound if there is none.
	Remember(ctx context.Context, t Target) error
	// Erase completes Forget on disk: it removes the traces of deleted rows from the
	// store's files. It changes nothing else, and may be cut off and called again.
	// docs/operations.md says what remains without Rewrite, and in Postgres' write-ahead
	// log even with it.
	Erase(ctx context.Context, p EraseParams) error
}

// EraseParams are the inputs of Erase.
type EraseParams struct {
	// Rewrite rewrites the tables, since pages of a database keep copies of rows in their
	// unused parts. It takes about ten seconds a gigabyte, during which nobody else can
	// write, and needs room for the tables twice.
	Rewrite bool
}

// Target is the subject of a Takedown: one canonical URL, or all URLs of one host.
// Exactly one field is set.
type Target struct {
	URL  string // canonical
	Host string // urlkey.HostKey
}

// ForgetParams are the inputs of Forget.
type ForgetParams struct {
	Target
	Limit int  // pages to remove, or list, at most
	Dry   bool // only list what would be removed
	// After is the page id after which a dry run lists, exclusive.
	After int64
}

// ForgetResult counts what Forget has removed, or would remove.
type ForgetResult struct {
	Pages []crawl.PageRef
	More  bool // more pages are left: call again
	// Digests are the contents in the archive that no version has any more. They wait for
	// Unreferenced. A dry run does not search for them.
	Digests []string
}
