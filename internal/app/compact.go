package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"recrawl/internal/cli"
	"recrawl/internal/search/fts"
	"recrawl/internal/store/sqlite"
	"recrawl/internal/temporalkit/embedded"
)

// Compact implements cli.Backend. The folder is locked meanwhile: with a server on the
// database, its writes would wait for minutes.
func (Backend) Compact(ctx context.Context, data string, begin func(file string)) (done []cli.Compacted, err error) {
	if _, err := os.Stat(data); err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	dir, err := openDataDir(data)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, dir.close()) }()
	for _, name := range []string{embedded.DatabaseName, storeFile, fts.Name} {
		path := dir.file(name)
		c := cli.Compacted{File: path}
		if c.Before, err = databaseSize(path); errors.Is(err, fs.ErrNotExist) {
			continue // no crawl has asked for it yet
		} else if err != nil {
			return done, err
		}
		begin(path)
		if err := sqlite.Rewrite(ctx, path, true); err != nil {
			return done, err
		}
		if c.After, err = databaseSize(path); err != nil {
			return done, err
		}
		done = append(done, c)
	}
	return done, nil
}

// databaseSize is the size of a SQLite file with its write-ahead log, in bytes.
func databaseSize(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	total := info.Size()
	switch log, err := os.Stat(path + "-wal"); {
	case err == nil:
		total += log.Size()
	case !errors.Is(err, fs.ErrNotExist):
		return 0, err
	}
	return total, nil
}
