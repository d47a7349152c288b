package store

import (
	"context"
	"time"
)

// ClaimFor is how long a claim on digests holds.
const ClaimFor = 10 * time.Minute

// Contents keeps count of which digests versions have, so that the archive keeps
// those and no others. Package gc does what follows from it.
//
// The bytes in the archive are the caller's to delete, in this order: claim
// digests with Unreferenced or Claim, delete their bytes while the claim holds, and
// report them with Deleted. Discarded digests wait in the store, so that whoever
// goes on after a kill deletes what the killed one could not. A digest is counted
// by version in the transaction that saves or removes the version, and SaveVersion
// refuses a digest while it is claimed: once a version is saved, nobody deletes its
// bytes. They may have been deleted before it, after they were found in the
// archive; so who saves a version looks for them once more (gc.Secure).
type Contents interface {
	// Unreferenced claims up to limit digests that no version has any more, or that
	// were discarded, for ClaimFor: the time to delete their bytes. A claim that ends
	// without Deleted is given out again.
	Unreferenced(ctx context.Context, limit int) ([]string, error)
	// Claim is Unreferenced for digests that were found in the archive: it claims
	// those that no version has and that nobody has claimed, known or not.
	Claim(ctx context.Context, digests []string) ([]string, error)
	// Waiting counts the digests whose bytes are to be deleted, claimed or not.
	Waiting(ctx context.Context) (int, error)
	// Deleted says that the bytes of claimed digests are gone from the archive. It
	// must not be called for a digest when the claim has ended.
	Deleted(ctx context.Context, digests []string) error
	// Discard gives digests in the archive to Unreferenced, but for those that a
	// version has.
	Discard(ctx context.Context, digests []string) error
	// ListContents lists the digests that versions have, in order after after, at
	// most limit.
	ListContents(ctx context.Context, after string, limit int) ([]string, error)
	// PagesWith lists pages that have, or had, the digests: for each digest the first
	// three.
	PagesWith(ctx context.Context, digests []string) ([]ContentPage, error)
}

// ContentPage is a page that has a version with a digest.
type ContentPage struct{ Digest, URL string }
