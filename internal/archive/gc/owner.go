package gc

import (
	"context"

	"recrawl/internal/archive"
	"recrawl/internal/store"
)

// samples is how many contents of each side tell whether an archive and a store belong together.
const samples = 10

// CheckOwner returns ErrForeign if an archive is another store's: it has none of the store's first
// contents, and the store none of the archive's. Collect, which deletes whatever it does not know,
// asks for more: here an archive that has lost its contents is still the store's.
func CheckOwner(ctx context.Context, s store.Contents, files archive.Store) error {
	first, err := s.ListContents(ctx, "", samples)
	if err != nil || len(first) == 0 {
		return err
	}
	for _, digest := range first {
		there, err := files.Has(ctx, digest)
		if err != nil || there {
			return err
		}
	}
	known, seen := contents{store: s}, 0
	for info, err := range files.List(ctx, "") {
		if err != nil {
			return err
		}
		had, err := known.has(ctx, info.Digest)
		if err != nil || had {
			return err
		}
		if seen++; seen == samples {
			break
		}
	}
	if seen == 0 {
		return nil // it is empty
	}
	return ErrForeign
}
