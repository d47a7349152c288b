package archive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// plainSuffix ends the names of files that hold their bytes as they are. A later
// coding, such as compression, gets a suffix of its own beside it.
const plainSuffix = ".raw"

const (
	tempFolder = "tmp"
	tempSuffix = ".part"
	// staleAfter is the age at which a temporary file cannot belong to a request
	// that still runs: requests take minutes at the most.
	staleAfter = 24 * time.Hour
)

// Dir is a Store in a folder: aa/bb/<digest>.raw, written to tmp/ first and
// renamed when complete. Several processes may use one folder.
type Dir struct {
	root string
	// locks, by the digest's first byte, make Commit's look at an existing file
	// and Delete exclude each other within this process.
	locks [256]sync.Mutex
}

var _ Store = (*Dir)(nil)

// OpenDir opens the folder at path, making it if need be, and removes temporary
// files older than a day that an unclean end left behind.
func OpenDir(path string) (*Dir, error) {
	d := &Dir{root: path}
	if err := os.MkdirAll(d.temp(), 0o755); err != nil {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	if err := d.sweep(time.Now().Add(-staleAfter)); err != nil {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	return d, nil
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
func (d *Dir) file(digest string) string {
	return filepath.Join(d.root, digest[:2], digest[2:4], digest+plainSuffix)
}

// lock locks the part of the archive that a checked digest lies in and returns
// the unlock.
func (d *Dir) lock(digest string) func() {
	n, _ := strconv.ParseUint(digest[:2], 16, 8) // hex, as checked
	d.locks[n].Lock()
	return d.locks[n].Unlock
}

// Create implements Store.
func (d *Dir) Create(ctx context.Context) (Writer, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	f, err := os.CreateTemp(d.temp(), "*"+tempSuffix)
	if err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	return &dirWriter{ctx: ctx, dir: d, file: f, hash: sha256.New()}, nil
}

// Open implements Store.
func (d *Dir) Open(ctx context.Context, digest string) (io.ReadCloser, error) {
	if err := check(ctx, digest); err != nil {
		return nil, err
	}
	f, err := os.Open(d.file(digest))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrNotFound, digest)
	}
	if err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	return NewVerifier(f, digest), nil
}

// Has implements Store.
func (d *Dir) Has(ctx context.Context, digest string) (bool, error) {
	if err := check(ctx, digest); err != nil {
		return false, err
	}
	_, err := os.Stat(d.file(digest))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("archive: %w", err)
	}
	return true, nil
}

// Delete implements Store.
func (d *Dir) Delete(ctx context.Context, digest string) error {
	if err := check(ctx, digest); err != nil {
		return err
	}
	defer d.lock(digest)()
	file := d.file(digest)
	err := os.Remove(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = syncFolder(filepath.Dir(file))
	}
	if err != nil {
		return fmt.Errorf("archive: delete: %w", err)
	}
	return nil
}

func check(ctx context.Context, digest string) error {
	if err := CheckDigest(digest); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	return nil
}

// dirWriter writes one content to a temporary file. It keeps its context
// because io.Writer has none: a cancelled fetch must not fill the disk.
type dirWriter struct {
	ctx  context.Context
	dir  *Dir
	file *os.File // nil when committed or aborted
	hash hash.Hash
	size int64
}

// Write implements io.Writer.
func (w *dirWriter) Write(p []byte) (int, error) {
	if w.file == nil {
		return 0, fmt.Errorf("archive: %w", ErrClosed)
	}
	if err := w.ctx.Err(); err != nil {
		return 0, fmt.Errorf("archive: %w", err)
	}
	n, err := w.file.Write(p)
	w.hash.Write(p[:n])
	w.size += int64(n)
	if err != nil {
		return n, fmt.Errorf("archive: %w", err)
	}
	return n, nil
}

// Commit implements Writer.
func (w *dirWriter) Commit() (string, int64, error) {
	if w.file == nil {
		return "", 0, fmt.Errorf("archive: %w", ErrClosed)
	}
	defer w.Abort()
	digest := hex.EncodeToString(w.hash.Sum(nil))
	if err := w.store(digest); err != nil {
		return "", 0, fmt.Errorf("archive: commit: %w", err)
	}
	return digest, w.size, nil
}

// store moves the temporary file to its place unless the same bytes lie there
// already: most visits find an unchanged page, and reading a file costs far less
// than making a new one durable. Bytes that went bad are replaced.
func (w *dirWriter) store(digest string) error {
	defer w.dir.lock(digest)()
	target := w.dir.file(digest)
	if intact(target, digest) {
		// Another process may have renamed it there a moment ago and not come to
		// sync the folder. Where there is nothing to sync it costs little.
		return syncFolder(filepath.Dir(target))
	}
	if err := w.file.Sync(); err != nil {
		return err
	}
	if err := w.dir.makeFolders(digest); err != nil {
		return err
	}
	if err := os.Rename(w.file.Name(), target); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(target))
}

// Abort implements Writer.
func (w *dirWriter) Abort() {
	if w.file == nil {
		return
	}
	// Best effort: what stays is swept when the archive is next opened. After a
	// rename there is nothing left to remove.
	_ = w.file.Close()
	_ = os.Remove(w.file.Name())
	w.file = nil
}

// intact reports whether the file exists and hashes to the digest.
func intact(path, digest string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	r := NewVerifier(f, digest)
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
			err = syncFolder(parent)
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		parent = folder
	}
	return nil
}

// syncFolder makes a folder's entries durable.
func syncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
