package store

import (
	"context"

	"recrawl/internal/crawl"
)

// Takedown removes what must not be kept, and keeps it from coming back. After
// Forget, to the end, the bytes that no version has any more are the caller's to
// delete: see Contents.
type Takedown interface {
	// Forget removes pages with all that is known of them (visits, versions and what
	// these are compared by, links from and to them, records of them and of their
	// duplicates, places in lines) in all crawls and leaves a tombstone: a hash that
	// keeps RegisterLinks from bringing them back. A forgotten host loses its
	// robots.txt records, mirrors and ranks too; its name, politeness and block stay. It works
	// in many transactions; cut off, a new call goes on. There need not be any pages.
	//
	// Workflows of the pages find out by ErrNotFound. A request in flight may still
	// put bytes into the archive afterwards: who made it should Discard them.
	Forget(ctx context.Context, p ForgetParams) (ForgetResult, error)
	// Remember removes the tombstone, so that links bring the pages back as new
	// ones; ErrNotFound if there is none.
	Remember(ctx context.Context, t Target) error
	// Erase makes true on disk what Forget did: it removes what deleted rows have
	// left in the store's files. It does nothing else, and may be cut off and called
	// again. What is left without Rewrite, and of Postgres' write-ahead log with it,
	// is in docs/operations.md.
	Erase(ctx context.Context, p EraseParams) error
}

// EraseParams are the inputs of Erase.
type EraseParams struct {
	// Rewrite writes the tables anew, since pages of a database keep copies of rows
	// in their unused parts. It takes about ten seconds a gigabyte, in which nobody
	// else can write, and room for the tables twice.
	Rewrite bool
}

// Target is what Takedown is about: one canonical URL, or all URLs of one host.
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

// ForgetResult is what Forget has removed, or would remove.
type ForgetResult struct {
	Pages []crawl.PageRef
	More  bool // there are more pages: call again
	// Digests are those in the archive that no version has any more. They wait for
	// Unreferenced. A dry run does not look for them.
	Digests []string
}
