package backup_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recrawl/internal/archive/archivetest"
	"recrawl/internal/backup"
)

// fill makes files in a folder, and folders for names that end with a slash.
func (w *world) fill(dir string, names ...string) {
	w.t.Helper()
	for _, name := range names {
		path := filepath.Join(dir, name)
		if strings.HasSuffix(name, "/") {
			w.check(os.MkdirAll(path, 0o700))
			continue
		}
		w.check(os.MkdirAll(filepath.Dir(path), 0o700))
		w.check(os.WriteFile(path, []byte("theirs"), 0o600))
	}
}

// A backup deletes contents that no backup has: so it takes no folder whose contents may be
// somebody else's.
func TestBackupRefusesForeignFolders(t *testing.T) {
	w := newWorld(t, 1)
	for name, c := range map[string]struct {
		names []string
		want  string
	}{
		"letters":                            {[]string{"letters.txt"}, "letters.txt"},
		"an archive":                         {[]string{"archive/"}, "it holds archive"},
		"an archive that a restore locked":   {[]string{"archive/", backup.LockFile}, "it holds archive"},
		"stores of another program":          {[]string{"store/main.db", "archive/", backup.LockFile}, "it holds archive"},
		"a file of that name":                {[]string{"store", "archive/"}, "it holds archive"},
		"a data folder":                      {[]string{"recrawl.json", "archive/"}, "recrawl.json"},
		"a data folder that never ran":       {[]string{"recrawl.db", "archive/"}, "recrawl.db"},
		"a data folder without its store":    {[]string{"temporal.db", "archive/"}, "temporal.db"},
		"a data folder with backups":         {[]string{"recrawl.db", "archive/", "recrawl-backup.json", "store/20261122T120000Z.json"}, "recrawl.db"},
		"contents without their store":       {[]string{"store/", "archive/", backup.LockFile}, "--archive-only"},
		"contents, and a mark of the future": {[]string{"recrawl-backup.json", "archive/"}, "recrawl-backup.json"},
	} {
		t.Run(name, func(t *testing.T) {
			w.dir = filepath.Join(t.TempDir(), "backup")
			w.fill(w.dir, c.names...)
			if info, err := os.Stat(filepath.Join(w.dir, "archive")); err == nil && info.IsDir() {
				archivetest.Put(t, openDir(t, filepath.Join(w.dir, "archive")), []byte("theirs"))
			}
			link := filepath.Join(t.TempDir(), "link")
			w.check(os.Symlink(w.dir, link))
			for _, dir := range []string{w.dir, link} {
				w.refused(dir, c.want)
			}
		})
	}
}

// refused checks that a folder is refused in one line that says why, and keeps what it has.
func (w *world) refused(dir, want string) {
	w.t.Helper()
	files := filepath.Join(dir, "archive")
	before := countFiles(w.t, files)
	_, err := backup.Make(w.t.Context(), w.src, dir, backup.Options{Now: w.now, Keep: 1, Progress: quiet})
	if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "choose") || strings.Contains(err.Error(), "\n") {
		w.t.Errorf("backed up into %s: %v, want %q", dir, err, want)
	}
	if after := countFiles(w.t, files); after < before {
		w.t.Errorf("%s: %d files are left of %d", files, after, before)
	}
}

func countFiles(t *testing.T, dir string) int {
	t.Helper()
	n := 0
	if err := filepath.WalkDir(dir, func(_ string, e os.DirEntry, _ error) error {
		if e != nil && e.Type().IsRegular() {
			n++
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

// The archive that is backed up is never pruned, by whatever path a backup's folder leads
// to it, and no other store's either.
func TestBackupRefusesAnArchiveInUse(t *testing.T) {
	for name, link := range map[string]func(w *world){
		"its own archive": func(w *world) { w.check(os.Symlink(w.root, filepath.Join(w.dir, "archive"))) },
		"that of a data folder": func(w *world) {
			data := t.TempDir()
			w.fill(data, "recrawl.db", "archive/aa/bb/other")
			w.check(os.Symlink(filepath.Join(data, "archive"), filepath.Join(w.dir, "archive")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 2)
			w.make()
			w.check(os.RemoveAll(filepath.Join(w.dir, "archive")))
			link(w)
			w.refused(w.dir, "archive")
		})
	}
	w := newWorld(t, 2)
	w.refused(w.root, "archive")
	w = newWorld(t, 0)
	w.refused(w.root, "archive")
}

// Folders that this release or an earlier one began go on.
func TestBackupGoesOnInItsFolder(t *testing.T) {
	w := newWorld(t, 1)
	for name, names := range map[string][]string{
		"empty":                           {"./"},
		"nothing but the lock":            {backup.LockFile},
		"before the first content":        {backup.LockFile, "store/", "archive/"},
		"before the first content, mark":  {backup.LockFile, "store/", "recrawl-backup.json.part"},
		"in the middle of the first copy": {backup.LockFile, "store/20261122T120000Z.db.part", "archive/aa/bb/"},
		"brought from elsewhere":          {"store/20261122T120000Z.db", "archive/", "notes.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			w.dir = filepath.Join(t.TempDir(), "backup")
			w.fill(w.dir, names...)
			w.make()
			w.make()
		})
	}
}

// Contents that were copied alone stay, since nothing here says which are needed.
func TestContentsCopiedAloneStay(t *testing.T) {
	w := newWorld(t, 2)
	alone := func() {
		t.Helper()
		_, err := backup.CopyArchive(t.Context(), w.src, w.dir, quiet)
		w.check(err)
	}
	alone()
	w.fill(w.dir, "store.dump")
	w.refused(w.dir, "--archive-only")
	alone()

	// As an earlier release left it.
	w.check(os.Remove(filepath.Join(w.dir, "recrawl-backup.json")))
	w.fill(w.dir, backup.LockFile)
	w.refused(w.dir, "--archive-only")
	alone()
	w.refused(w.dir, "--archive-only")

	// Beside backups, they are only earlier than the next one.
	w.dir = filepath.Join(t.TempDir(), "backups")
	w.make()
	alone()
	w.make()
}
