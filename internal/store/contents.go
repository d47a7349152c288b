package store

import (
	"context"
	"time"
)

// ClaimFor is how long a claim on digests holds.
const ClaimFor = 10 * time.Minute

// Contents counts how many versions have each digest, so that the archive keeps those
// digests and no others. Package gc acts on the counts.
//
// The caller deletes the bytes in the archive, in this order: it claims digests with
// Unreferenced or Claim, deletes their bytes while the claim is valid, and reports them
// with Deleted. Discarded digests wait in the store, so that a successor can delete what
// a killed process could not. The transaction that saves or removes a version also
// updates the count of its digest, and SaveVersion refuses a digest while it is claimed:
// once a version is saved, nobody deletes its bytes. They may have been deleted earlier,
// after they were found in the archive, so a caller that saves a version checks for them
// once more (gc.Secure).
type Contents interface {
	// Unreferenced claims up to limit digests that no version has any more, or that were
	// discarded, except those that a page's Suspect names: they wait for its second look.
	// The claim lasts for ClaimFor, the time to delete their bytes. If it ends without
	// Deleted, the digests are handed out again.
	Unreferenced(ctx context.Context, limit int) ([]string, error)
	// Claim is Unreferenced for digests that were found in the archive. It claims those
	// that no version has, no page's Suspect names and nobody has claimed, whether the
	// store knows them or not.
	Claim(ctx context.Context, digests []string) ([]string, error)
	// Claimable returns the digests that Claim would claim, and claims none.
	Claimable(ctx context.Context, digests []string) ([]string, error)
	// Waiting counts the digests whose bytes are to be deleted, claimed or not.
	Waiting(ctx context.Context) (int, error)
	// Deleted reports that the bytes of claimed digests are gone from the archive. Do not
	// call it for a digest whose claim has ended.
	Deleted(ctx context.Context, digests []string) error
	// Discard hands digests in the archive to Unreferenced, except those that a version
	// has.
	Discard(ctx context.Context, digests []string) error
	// ListContents lists at most limit digests that versions have, in order, from the one
	// that follows after.
	ListContents(ctx context.Context, after string, limit int) ([]string, error)
	// PagesWith lists pages that have, or had, the digests: the first three for each.
	PagesWith(ctx context.Context, digests []string) ([]ContentPage, error)
}

// ContentPage is a page that has a version with a digest.
type ContentPage struct{ Digest, URL string }
