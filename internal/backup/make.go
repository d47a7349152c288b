package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"recrawl/internal/archive"
	"recrawl/internal/durable"
)

// Source is the store and archive to back up, while they are in use.
type Source struct {
	Store Store
	Files archive.Store
	// Root is the folder of Files, "" if they are in none.
	Root string
	// Snapshot copies the store, as it is at one moment, to a file that does not exist.
	Snapshot func(ctx context.Context, path string) error
	// Open opens such a copy for reading.
	Open func(ctx context.Context, path string) (Copy, error)
}

// Options are the settings of Make.
type Options struct {
	Now      time.Time
	Software string
	// Keep is how many backups stay, including this one, at least 1. Contents that
	// none of them has are deleted.
	Keep     int
	Progress Progress
}

// Made is the result of Make.
type Made struct {
	Manifest Manifest
	Copied   Copied // of the contents
	// Gone counts contents that the copy has and the crawl has given up since.
	Gone    int
	Removed int // older backups
	Pruned  int // contents that no backup has any more
}

// Make adds a backup to a folder, which one process at a time may do. Contents come
// first, then the store, then the contents that were added meanwhile: so the time in
// which a crawl may give up contents that the copy of its store still has is short,
// however many contents there are to copy.
func Make(ctx context.Context, from Source, dir string, o Options) (made Made, err error) {
	to, err := prepare(ctx, dir, from, false)
	if err != nil {
		return made, err
	}
	c := copier{from: from.Files, to: to, doing: "copying contents", progress: o.Progress}
	first, err := c.all(ctx, from.Store, func(string) {})
	if err != nil {
		return made, err
	}
	name, err := freeName(dir, o.Now)
	if err != nil {
		return made, err
	}
	m := Manifest{Format: format, Name: name, Made: o.Now.UTC(), Software: o.Software, Store: from.Store.ID()}
	o.Progress("copying the store", 0)
	if err := snapshot(ctx, from, dir, &m); err != nil {
		return made, err
	}
	made.Copied, made.Gone, err = settle(ctx, from, c, dir, &m)
	made.Copied.Copied, made.Copied.Bytes = made.Copied.Copied+first.Copied, made.Copied.Bytes+first.Bytes
	if err != nil {
		return made, err
	}
	made.Manifest = m
	if err = seal(dir, m); err == nil {
		made.Removed, err = removeOld(dir, o.Keep, m.Name)
	}
	if err == nil {
		made.Pruned, err = prune(ctx, from.Open, dir, to, o.Progress)
	}
	return made, err
}

// freeName is the name of a backup that is made now. The order of the names says which backup
// is the newest, so a name is always later than those that are there: of two in one second
// the later one gets the name of the next second, as does one that is made after the clock went back.
func freeName(dir string, now time.Time) (string, error) {
	names, err := listNames(dir)
	if err != nil || len(names) == 0 {
		return now.UTC().Format(nameLayout), err
	}
	newest, err := time.Parse(nameLayout, names[0])
	if err != nil {
		return "", fmt.Errorf("name a backup: %w", err)
	}
	if next := newest.Add(time.Second); next.After(now) {
		now = next
	}
	return now.UTC().Format(nameLayout), nil
}

// CopyArchive copies the contents of a store to a folder, without the store: for a
// store that is backed up by other means. Nothing is deleted there.
func CopyArchive(ctx context.Context, from Source, dir string, progress Progress) (Copied, error) {
	to, err := prepare(ctx, dir, from, true)
	if err != nil {
		return Copied{}, err
	}
	return copier{from: from.Files, to: to, doing: "copying contents", progress: progress}.all(ctx, from.Store, func(string) {})
}

// snapshot copies the store and records the copy's data.
func snapshot(ctx context.Context, from Source, dir string, m *Manifest) error {
	path := file(dir, m.Name, copySuffix)
	err := from.Snapshot(ctx, path+partSuffix)
	if err == nil {
		m.Bytes, m.SHA256, err = digestFile(path + partSuffix)
	}
	if err == nil {
		err = durable.Place(path+partSuffix, path)
	}
	if err != nil {
		return fmt.Errorf("copy the store: %w", errors.Join(err, removeIfThere(path+partSuffix)))
	}
	return nil
}

func removeIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// settle copies the contents that the copy of the store has and the folder lacks,
// and distinguishes contents missing from the archive from those that the crawl has
// given up since.
func settle(ctx context.Context, from Source, c copier, dir string, m *Manifest) (done Copied, gone int, err error) {
	opened, err := from.Open(ctx, file(dir, m.Name, copySuffix))
	if err != nil {
		return done, 0, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	sum := sha256.New()
	done, err = c.all(ctx, opened, func(digest string) {
		m.Contents++
		_, _ = io.WriteString(sum, digest+"\n") // a hash takes everything
	})
	if err != nil {
		return done, 0, err
	}
	m.ContentsSHA256, m.Lacking = hex.EncodeToString(sum.Sum(nil)), done.Lacking()
	if done.Missing == 0 {
		return done, 0, nil
	}
	return forgive(ctx, from.Store, opened, c.to, done)
}

// forgive removes from the missing contents those that the crawl itself no longer has.
func forgive(ctx context.Context, live Contents, copied Contents, files archive.Store, done Copied) (Copied, int, error) {
	gone := 0
	done.Named = nil
	for next, err := range digests(ctx, copied) {
		if err != nil {
			return done, gone, err
		}
		for _, digest := range next {
			there, err := files.Has(ctx, digest)
			if err != nil {
				return done, gone, err
			}
			if there {
				continue
			}
			still, err := live.ListContents(ctx, before(digest), 1)
			switch {
			case err != nil:
				return done, gone, err
			case len(still) == 0 || still[0] != digest:
				gone++
			case len(done.Named) < named:
				done.Named = append(done.Named, digest)
			}
		}
	}
	done.Missing = max(0, done.Missing-gone)
	return done, gone, nil
}

// before is a text that sorts right before a digest: ListContents returns what
// comes after it.
func before(digest string) string { return digest[:len(digest)-1] }

// seal makes a backup whole.
func seal(dir string, m Manifest) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := writeWhole(file(dir, m.Name, manifestSuffix), append(text, '\n')); err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	return nil
}
