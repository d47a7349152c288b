package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"recrawl/internal/durable"
)

const (
	tempFolder = "tmp"
	// staleAfter is the age at which a temporary file cannot belong to a request
	// that still runs: requests take minutes at the most.
	staleAfter = 24 * time.Hour
)

// Dir is a Store in a folder: aa/bb/<digest>.zst or .raw, written to tmp/ first
// and renamed when complete. Several processes may use one folder.
type Dir struct {
	root string
	// locks, by the digest's first byte, make Commit's check of an existing file and
	// Delete exclude each other within this process.
	locks [256]sync.Mutex
}

var _ Store = (*Dir)(nil)

// OpenDir opens the folder at path, making it if necessary, and removes temporary
// files older than a day that an unclean end left behind.
func OpenDir(path string) (*Dir, error) {
	d := &Dir{root: path}
	if err := durable.MakeFolders(d.temp(), 0o755); err != nil {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	if err := d.sweep(time.Now().Add(-staleAfter)); err != nil {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	return d, nil
}

// ExistingDir is the folder at path as it is, for reading: nothing is made in it. was reports
// whether OpenDir has ever opened it: not so the empty folder at which a disk is to be mounted.
func ExistingDir(path string) (d *Dir, was bool) {
	d = &Dir{root: path}
	_, err := os.Stat(d.temp())
	return d, err == nil
}

// sweep removes temporary files last written before a time.
func (d *Dir) sweep(before time.Time) error {
	entries, err := os.ReadDir(d.temp())
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !strings.HasSuffix(e.Name(), tempSuffix) || !info.ModTime().Before(before) {
			continue // gone meanwhile, not ours, or still in use
		}
		if err := os.Remove(filepath.Join(d.temp(), e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (d *Dir) temp() string { return filepath.Join(d.root, tempFolder) }

// file returns the path of a checked digest.
func (d *Dir) file(digest string, c Coding) string {
	return filepath.Join(d.root, filepath.FromSlash(Name(digest, c)))
}

// lock locks the part of the archive that contains a checked digest and returns the
// unlock.
func (d *Dir) lock(digest string) func() {
	n, _ := strconv.ParseUint(digest[:2], 16, 8) // hex, as checked
	d.locks[n].Lock()
	return d.locks[n].Unlock
}

// Create implements Store.
func (d *Dir) Create(ctx context.Context) (Writer, error) {
	return (&Spool{folder: d.temp(), named: true, store: d.store}).begin(ctx)
}

// Open implements Store.
func (d *Dir) Open(ctx context.Context, digest string) (io.ReadCloser, error) {
	if err := Check(ctx, digest); err != nil {
		return nil, err
	}
	f, coding, err := d.find(digest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrNotFound, digest)
	}
	if err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	return Decode(f, coding, digest), nil
}

// find opens the file of a checked digest; fs.ErrNotExist if there is none.
func (d *Dir) find(digest string) (f *os.File, c Coding, err error) {
	for _, c = range Codings() {
		if f, err = os.Open(d.file(digest, c)); !errors.Is(err, fs.ErrNotExist) {
			return f, c, err
		}
	}
	return nil, "", err
}

// Has implements Store.
func (d *Dir) Has(ctx context.Context, digest string) (bool, error) {
	if err := Check(ctx, digest); err != nil {
		return false, err
	}
	for _, c := range Codings() {
		_, err := os.Stat(d.file(digest, c))
		if err == nil {
			return true, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return false, fmt.Errorf("archive: %w", err)
		}
	}
	return false, nil
}

// Delete implements Store.
func (d *Dir) Delete(ctx context.Context, digest string) error {
	if err := Check(ctx, digest); err != nil {
		return err
	}
	defer d.lock(digest)()
	if err := d.remove(digest, Codings()...); err != nil {
		return fmt.Errorf("archive: delete: %w", err)
	}
	return nil
}

// remove removes the files of a checked digest in some codings for good.
func (d *Dir) remove(digest string, codings ...Coding) error {
	removed, err := d.unlink(digest, codings...)
	if err != nil || !removed {
		return err
	}
	return durable.Sync(filepath.Dir(d.file(digest, Plain)))
}

// unlink is remove until the next power loss; it reports whether there was anything to remove.
func (d *Dir) unlink(digest string, codings ...Coding) (removed bool, err error) {
	for _, c := range codings {
		switch err := os.Remove(d.file(digest, c)); {
		case err == nil:
			removed = true
		case !errors.Is(err, fs.ErrNotExist):
			return removed, err
		}
	}
	return removed, nil
}

// store moves a spooled content to its place unless it lies there already: most
// visits find an unchanged page, and reading a file costs far less than making a
// new one durable. Bytes that went bad are replaced.
func (d *Dir) store(digest string, s *Spool) error {
	defer d.lock(digest)()
	if d.Intact(digest) {
		// Another process may have renamed it there a moment ago and not yet synced the
		// folder. If there is nothing to sync, this costs little.
		return durable.Sync(filepath.Dir(d.file(digest, Plain)))
	}
	e, err := encode(s)
	if err != nil {
		return err
	}
	defer e.close()
	if err := d.place(digest, e); err != nil {
		return err
	}
	return d.removeOthers(digest, e.coding)
}

// removeOthers removes a content in other codings than the one in which it was just placed. They
// are damaged, or it would not have been placed.
func (d *Dir) removeOthers(digest string, placed Coding) error {
	for _, other := range Codings() {
		if other != placed {
			if err := d.remove(digest, other); err != nil {
				return err
			}
		}
	}
	return nil
}

// place makes an encoded content durable under its name.
func (d *Dir) place(digest string, e encoded) error {
	if err := e.file.Sync(); err != nil {
		return err
	}
	if err := d.makeFolders(digest); err != nil {
		return err
	}
	target := d.file(digest, e.coding)
	if err := os.Rename(e.file.Name(), target); err != nil {
		return err
	}
	return durable.Sync(filepath.Dir(target))
}

// Intact reports whether the content lies in its place undamaged. It reads all of it.
func (d *Dir) Intact(digest string) bool {
	f, c, err := d.find(digest)
	if err != nil {
		return false
	}
	r := Decode(f, c, digest)
	_, err = io.Copy(io.Discard, r)
	return errors.Join(err, r.Close()) == nil
}

// makeFolders makes the folders of a digest durable, from the root down, so that
// no power loss leaves a durable file in a folder that is not.
func (d *Dir) makeFolders(digest string) error {
	parent := d.root
	for _, name := range []string{digest[:2], digest[2:4]} {
		folder := filepath.Join(parent, name)
		err := os.Mkdir(folder, 0o755)
		if err == nil {
			err = durable.Sync(parent)
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		parent = folder
	}
	return nil
}
