// Package backup copies a store and its archive to a folder while crawls run, and
// brings them back. The folder looks like this:
//
//	store/20261122T154500Z.db    a copy of the store's file at one moment
//	store/20261122T154500Z.json  its manifest; a copy without one is not whole
//	archive/aa/bb/<digest>.zst   the contents of all copies, as in an archive
//	recrawl-backup.json          says that the folder is for backups alone
//
// Contents lie under the digest of their bytes, so only those that are missing are
// copied, and every copy is checked against its name. A copy of the store counts from
// the moment at which its manifest gets its name, which comes last: an interrupted
// backup leaves the copies before it as they were.
package backup

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"recrawl/internal/durable"
)

// LockFile is the file in a backup's folder that is locked while it is written.
const LockFile = "recrawl-backup.lock"

// The layout of a backup's folder.
const (
	storeDir   = "store"
	archiveDir = "archive"

	copySuffix     = ".db"
	manifestSuffix = ".json"
	partSuffix     = ".part"

	// nameLayout makes names whose order is that of time.
	nameLayout = "20060102T150405Z"
	format     = 1
)

// Errors that callers decide on.
var (
	// ErrNone: the folder holds no whole backup, or not the one that was named.
	ErrNone = errors.New("no whole backup")
	// ErrDamaged: a file does not match its manifest.
	ErrDamaged = errors.New("the backup is damaged")
	// ErrExists: there is already a store where one should be restored.
	ErrExists = errors.New("a restore overwrites nothing")
)

// Contents is a store's record of the archive; see store.Contents.
type Contents interface {
	ListContents(ctx context.Context, after string, limit int) ([]string, error)
}

// Store is a store whose contents are backed up.
type Store interface {
	Contents
	// ID is the store's identity; see store.Identity.
	ID() string
}

// Copy is a copy of a store that is open for reading.
type Copy interface {
	Store
	Close() error
}

// Manifest describes a whole backup.
type Manifest struct {
	Format   int       `json:"format"`
	Name     string    `json:"name"` // of the copy, without its suffix
	Made     time.Time `json:"made"` // when the store was copied
	Software string    `json:"software"`
	// Store is the store's identity. Earlier releases did not write it.
	Store string `json:"store,omitempty"`
	// Bytes and SHA256 are the copy's.
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	// Contents counts the digests that the copy's versions have; ContentsSHA256 is the
	// digest of them all, in order, a line each.
	Contents       int    `json:"contents"`
	ContentsSHA256 string `json:"contents_sha256"`
	// Lacking counts those that the archive did not have when the backup was made.
	Lacking int `json:"lacking,omitempty"`
}

// List returns the manifests of the whole backups in a folder, the newest first. It
// does not check whether their files are intact.
func List(dir string) ([]Manifest, error) {
	var all []Manifest
	names, err := listNames(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		m, err := readManifest(dir, name)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// listNames is List without reading the manifests.
func listNames(dir string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(dir, storeDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list backups: %w", err)
	}
	var names []string
	for _, e := range entries {
		if name, is := strings.CutSuffix(e.Name(), manifestSuffix); is && isName(name) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(b, a) })
	return names, nil
}

func isName(name string) bool {
	_, err := time.Parse(nameLayout, name)
	return err == nil
}

func readManifest(dir, name string) (m Manifest, err error) {
	path := file(dir, name, manifestSuffix)
	text, err := os.ReadFile(path)
	if err != nil {
		return m, fmt.Errorf("read a manifest: %w", err)
	}
	if err := json.Unmarshal(text, &m); err != nil || m.Name != name {
		return m, fmt.Errorf("%s is not a manifest: %w", path, ErrDamaged)
	}
	if m.Format != format {
		return m, fmt.Errorf("%s: a manifest of format %d, of another release of recrawl: restore it with that one", path, m.Format)
	}
	return m, nil
}

// Find returns the manifest of a backup by its name, of the newest for "". It reads no other: one
// that is damaged, or of another release, keeps nobody from the rest.
func Find(dir, name string) (Manifest, error) {
	names, err := listNames(dir)
	switch {
	case err != nil:
		return Manifest{}, err
	case len(names) == 0:
		return Manifest{}, fmt.Errorf("%s: %w: make one with `starter backup %s`", dir, ErrNone, dir)
	case name != "" && !slices.Contains(names, name):
		return Manifest{}, fmt.Errorf("%s: %w named %s: it has %s", dir, ErrNone, name, strings.Join(names, ", "))
	}
	m, err := readManifest(dir, cmp.Or(name, names[0]))
	if errors.Is(err, ErrDamaged) && len(names) > 1 {
		err = fmt.Errorf("%w: name another one with --at, of %s", err, strings.Join(names, ", "))
	}
	return m, err
}

func file(dir, name, suffix string) string { return filepath.Join(dir, storeDir, name+suffix) }

// digestFile returns the size and SHA-256 of a file.
func digestFile(path string) (int64, string, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	return n, hex.EncodeToString(sum.Sum(nil)), err
}

// writeWhole writes a file under its name when it is whole and on the disk.
func writeWhole(path string, data []byte) error {
	f, err := os.OpenFile(path+partSuffix, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path+partSuffix))
	}
	return durable.Place(path+partSuffix, path)
}
