package app

import (
	"context"
	"errors"

	"recrawl/internal/archive"
	"recrawl/internal/archive/gc"
	"recrawl/internal/cli"
	"recrawl/internal/store"
)

// VerifyArchive implements cli.Backend.
func (Backend) VerifyArchive(ctx context.Context, at cli.Target, o gc.VerifyOptions) (found gc.Verified, err error) {
	err = withContents(ctx, at, storeRead, func(s store.Store, files archive.Store) error {
		found, err = gc.Verify(ctx, s, files, o)
		return err
	})
	return found, err
}

// CollectArchive implements cli.Backend.
func (Backend) CollectArchive(ctx context.Context, at cli.Target, o gc.CollectOptions) (found gc.Collected, err error) {
	err = withContents(ctx, at, storeWrite, func(s store.Store, files archive.Store) error {
		found, err = gc.Collect(ctx, s, files, o)
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
