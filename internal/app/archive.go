package app

import (
	"context"
	"errors"

	"recrawl/internal/archive"
	"recrawl/internal/cli"
	"recrawl/internal/store"
	"recrawl/internal/upkeep"
)

// VerifyArchive implements cli.Backend.
func (Backend) VerifyArchive(ctx context.Context, at cli.Target, o upkeep.VerifyOptions) (found upkeep.Verified, err error) {
	err = withContents(ctx, at, storeRead, func(s store.Store, files archive.Store) error {
		found, err = upkeep.Verify(ctx, s, files, o)
		return err
	})
	return found, err
}

// CollectArchive implements cli.Backend.
func (Backend) CollectArchive(ctx context.Context, at cli.Target, o upkeep.CollectOptions) (found upkeep.Collected, err error) {
	err = withContents(ctx, at, storeWrite, func(s store.Store, files archive.Store) error {
		found, err = upkeep.Collect(ctx, s, files, o)
		return err
	})
	return found, err
}

// withContents opens the store and the archive for as long as do runs.
func withContents(ctx context.Context, at cli.Target, use storeUse, do func(store.Store, archive.Store) error) error {
	s, err := openStore(ctx, at.Store, use, "")
	if err != nil {
		return err
	}
	files, err := openArchive(ctx, at.Archive, use)
	if err == nil {
		err = do(s, files)
	}
	return errors.Join(err, s.Close())
}
