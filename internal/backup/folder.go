package backup

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"recrawl/internal/archive"
)

// markFile says that a folder holds backups and nothing else: contents that no backup has
// are deleted there. It is written before anything else.
const markFile = "recrawl-backup.json"

// mark is the content of markFile.
type mark struct {
	Format int `json:"format"`
	// ArchiveOnly: the folder was begun by CopyArchive. Its contents belong to stores that
	// are backed up by other means, and nothing here says which are needed.
	ArchiveOnly bool `json:"archive_only,omitempty"`
	// Store is the identity of the store whose backups these are, "" if it had none yet.
	Store string `json:"store,omitempty"`
}

// ofDataFolder are files that only the data folder of a `starter dev` has.
var ofDataFolder = []string{"recrawl.json", "recrawl.db", "temporal.db"}

const choose = "choose a new or empty folder for the backups"

// CheckFolder refuses a folder that is in use for anything except backups. Source is the
// folder of the archive to back up, "" if it is in none.
func CheckFolder(dir, source string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	if err := checkApart(dir, source); err != nil {
		return err
	}
	var foreign []string
	for _, e := range entries {
		if e.Name() != LockFile {
			foreign = append(foreign, e.Name())
		}
	}
	if len(foreign) == 0 || len(foreign) < len(entries) && isEmpty(filepath.Join(dir, storeDir)) {
		return nil // earlier releases left the latter when they copied an archive alone
	}
	if _, err := os.Lstat(filepath.Join(dir, markFile)); err == nil {
		return nil
	}
	if has, err := hasCopies(dir); has || err != nil {
		return err
	}
	return fmt.Errorf("folder %s is no backup (it holds %s): %s", dir, foreign[0], choose)
}

// checkApart refuses a folder whose archive is in use, whatever else is there.
func checkApart(dir, source string) error {
	files := filepath.Join(dir, archiveDir)
	if source != "" && (same(dir, source) || same(files, source)) {
		return fmt.Errorf("folder %s holds the archive that is to be backed up: %s", dir, choose)
	}
	places := []string{dir}
	if target, err := filepath.EvalSymlinks(files); err == nil {
		places = append(places, filepath.Dir(target))
	}
	for i, place := range places {
		for _, name := range ofDataFolder {
			switch _, err := os.Lstat(filepath.Join(place, name)); {
			case err != nil:
			case i == 0:
				return fmt.Errorf("folder %s is a data folder (it holds %s): %s", dir, name, choose)
			default:
				return fmt.Errorf("folder %s has the archive of the data folder %s (which holds %s): %s", dir, place, name, choose)
			}
		}
	}
	return nil
}

func same(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

func isEmpty(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && len(entries) == 0
}

// hasCopies reports whether a folder has a copy of a store, or what is left of one.
func hasCopies(dir string) (bool, error) {
	path := filepath.Join(dir, storeDir)
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return false, nil //nolint:nilerr // then it has none
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return false, fmt.Errorf("backup: %w", err)
	}
	for _, e := range entries {
		if name, _, _ := strings.Cut(e.Name(), "."); isName(name) {
			return true, nil
		}
	}
	return false, nil
}

// prepare makes the folders for backups of a store, or of its contents alone, and removes
// the remains of an interrupted backup.
func prepare(ctx context.Context, dir string, from Source, archiveOnly bool) (*archive.Dir, error) {
	if err := CheckFolder(dir, from.Root); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, storeDir), 0o700); err != nil {
		return nil, fmt.Errorf("backup: %w", err)
	}
	files, err := archive.OpenDir(filepath.Join(dir, archiveDir))
	if err != nil {
		return nil, err
	}
	if err := begin(ctx, dir, from, files, archiveOnly); err != nil {
		return nil, err
	}
	return files, removeRemains(dir)
}

// begin marks a folder as one for backups of a store. It refuses a backup of a store where
// contents were copied without one: what its copy does not have would be deleted.
func begin(ctx context.Context, dir string, from Source, files *archive.Dir, archiveOnly bool) error {
	was, marked, err := readMark(dir)
	if err != nil {
		return err
	}
	copies, err := hasCopies(dir)
	if err != nil {
		return err
	}
	alone := was.ArchiveOnly
	if !marked && !copies { // an earlier release left no mark
		if alone, err = hasContents(ctx, files); err != nil {
			return err
		}
	}
	if alone && !archiveOnly {
		return fmt.Errorf("folder %s holds contents without their store, as --archive-only copies them, and a backup would delete them: %s", dir, choose)
	}
	is := mark{Format: format, ArchiveOnly: was.ArchiveOnly || !marked && archiveOnly && !copies}
	if !is.ArchiveOnly {
		is.Store = from.Store.ID()
		if err := checkOwner(ctx, dir, from, was.Store); err != nil {
			return err
		}
	}
	if is == was {
		return nil
	}
	return writeMark(dir, is)
}

// checkOwner refuses a folder of another store's backups: each store would remove the other's
// as old ones. A restored store has the identity of its original, and goes on in its folder.
func checkOwner(ctx context.Context, dir string, from Source, marked string) error {
	all, err := List(dir)
	if err != nil {
		return err
	}
	owners := []string{marked}
	for _, m := range all {
		if m.Store == "" {
			m.Store = ownerOf(ctx, from, file(dir, m.Name, copySuffix))
		}
		owners = append(owners, m.Store)
	}
	for _, owner := range owners {
		if owner != "" && owner != from.Store.ID() {
			return fmt.Errorf("folder %s holds backups of the store %s, and this is the store %s: give another folder", dir, owner, cmp.Or(from.Store.ID(), "without an identity"))
		}
	}
	return nil
}

// ownerOf is the identity in a copy of an earlier release, "" if it has none. A copy that
// cannot be read says nothing: whoever needs it will say what is wrong.
func ownerOf(ctx context.Context, from Source, path string) string {
	opened, err := from.Open(ctx, path)
	if err != nil {
		return ""
	}
	id := opened.ID()
	if err := opened.Close(); err != nil {
		return ""
	}
	return id
}

func hasContents(ctx context.Context, files *archive.Dir) (bool, error) {
	for _, err := range files.List(ctx, "") {
		return err == nil, err
	}
	return false, nil
}

func readMark(dir string) (m mark, is bool, err error) {
	path := filepath.Join(dir, markFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return m, false, nil
	}
	if err != nil {
		return m, false, fmt.Errorf("backup: %w", err)
	}
	if err := json.Unmarshal(text, &m); err != nil || m.Format != format {
		return m, false, fmt.Errorf("%s is of no backup that this release knows: %s", path, choose)
	}
	return m, true, nil
}

func writeMark(dir string, m mark) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := writeWhole(filepath.Join(dir, markFile), append(text, '\n')); err != nil {
		return fmt.Errorf("mark the folder of backups: %w", err)
	}
	return nil
}

// removeRemains removes what a backup that was cut off has left of its copy of the store.
func removeRemains(dir string) error {
	whole := map[string]bool{}
	all, err := List(dir)
	if err != nil {
		return err
	}
	for _, m := range all {
		whole[m.Name] = true
	}
	entries, err := os.ReadDir(filepath.Join(dir, storeDir))
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	for _, e := range entries {
		name, _, _ := strings.Cut(e.Name(), ".")
		if isName(name) && (!whole[name] || strings.HasSuffix(e.Name(), partSuffix)) {
			if err := os.Remove(filepath.Join(dir, storeDir, e.Name())); err != nil {
				return fmt.Errorf("remove what a backup that was cut off has left: %w", err)
			}
		}
	}
	return nil
}
