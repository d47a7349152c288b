package backup_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recrawl/internal/archive/archivetest"
	"recrawl/internal/backup"
	"recrawl/internal/store/sqlite"
	"recrawl/internal/store/storetest/crawltest"
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

// Two stores in one folder would remove each other's backups as old ones.
func TestBackupsOfOneStoreOnly(t *testing.T) {
	w, other := newWorld(t, 2), newWorld(t, 1)
	made := w.make()
	if made.Manifest.Store == "" || made.Manifest.Store != w.store.ID() {
		t.Errorf("a backup of %q, want %q", made.Manifest.Store, w.store.ID())
	}
	refused := func(why string) {
		t.Helper()
		_, whole := backup.Make(t.Context(), other.src, w.dir, backup.Options{Now: w.now, Keep: 1, Progress: quiet})
		_, alone := backup.CopyArchive(t.Context(), other.src, w.dir, quiet)
		for _, err := range []error{whole, alone} {
			if err == nil || !strings.Contains(err.Error(), w.store.ID()) || !strings.Contains(err.Error(), "give another folder") {
				t.Errorf("%s: another store was backed up: %v", why, err)
			}
		}
		if all, err := backup.List(w.dir); err != nil || len(all) == 0 || len(w.archived()) != 2 {
			t.Errorf("%s: %v, %v, %v are left", why, all, err, w.archived())
		}
	}
	refused("with a mark")
	w.check(os.Remove(filepath.Join(w.dir, "recrawl-backup.json")))
	refused("by the manifest")

	manifest := filepath.Join(w.dir, "store", made.Manifest.Name+".json")
	text, err := os.ReadFile(manifest)
	w.check(err)
	older := strings.Replace(string(text), w.store.ID(), "", 1)
	w.check(os.WriteFile(manifest, []byte(older), 0o600))
	refused("by the copy, as earlier releases left it")
	w.make()

	// Cut off before its first copy, a folder is already a store's.
	w.check(os.RemoveAll(filepath.Join(w.dir, "store")))
	if _, err := backup.Make(t.Context(), other.src, w.dir, backup.Options{Now: w.now, Keep: 1, Progress: quiet}); err == nil || len(w.archived()) != 2 {
		t.Errorf("another store was backed up: %v", err)
	}
}

// A restored store takes the place of its original, also as to its backups.
func TestRestoredStoreGoesOnInTheFolder(t *testing.T) {
	w := newWorld(t, 2)
	w.make()
	into, path := w.into()
	_, err := backup.Restore(t.Context(), w.dir, "", into, quiet)
	w.check(err)
	restored := crawltest.OpenStore(t, path)
	w.src = backup.Source{
		Store: restored, Files: into.Files, Open: openCopy,
		Snapshot: func(ctx context.Context, to string) error { return sqlite.Snapshot(ctx, path, to) },
	}
	if made := w.make(); made.Copied.Copied != 0 || made.Manifest.Contents != 2 {
		t.Errorf("%+v, want the same contents", made)
	}
}

// Nothing is deleted among contents that are copied alone, so stores may share them.
func TestContentsOfTwoStores(t *testing.T) {
	w, other := newWorld(t, 2), newWorld(t, 3)
	for _, src := range []backup.Source{w.src, other.src, w.src} {
		_, err := backup.CopyArchive(t.Context(), src, w.dir, quiet)
		w.check(err)
	}
	if n := len(w.archived()); n != 3 {
		t.Errorf("%d contents, want those of both", n)
	}
}
