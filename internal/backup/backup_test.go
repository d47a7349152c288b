package backup_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/archive"
	"recrawl/internal/archive/archivetest"
	"recrawl/internal/backup"
	"recrawl/internal/feed"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlite"
	"recrawl/internal/store/storetest/crawltest"
)

// world is a crawl that is running, and a folder for its backups.
type world struct {
	t     *testing.T
	path  string // of the store
	store store.Store
	root  string // of the archive
	files archive.Store
	rec   store.CrawlRecord
	dir   string
	now   time.Time
	src   backup.Source
	pages int
}

func newWorld(t *testing.T, pages int) *world {
	t.Helper()
	made := crawltest.New(t)
	w := &world{
		t: t, path: made.Path, store: made.Store, root: made.Root, files: made.Files, rec: made.Record, dir: filepath.Join(t.TempDir(), "backup"),
		now: time.Date(2026, 11, 22, 15, 0, 0, 0, time.UTC),
	}
	w.src = backup.Source{
		Store: w.store, Files: w.files, Root: w.root, Open: openCopy,
		Snapshot: func(ctx context.Context, path string) error { return sqlite.Snapshot(ctx, w.path, path) },
	}
	for range pages {
		w.page()
	}
	return w
}

func openDir(t *testing.T, root string) *archive.Dir {
	t.Helper()
	files, err := archive.OpenDir(root)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func openCopy(ctx context.Context, path string) (backup.Copy, error) {
	return sqlite.OpenCopy(ctx, path)
}

func (w *world) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// page adds a page with a version.
func (w *world) page() (digest string) {
	w.t.Helper()
	url := fmt.Sprintf("https://host.test/%d", w.pages)
	w.pages++
	_, err := w.store.RegisterLinks(w.t.Context(), store.RegisterParams{CrawlID: w.rec.ID, URLs: []store.NewURL{{URL: url, Host: "host.test"}}})
	w.check(err)
	found, err := w.store.FindPages(w.t.Context(), url, "")
	w.check(err)
	digest = archivetest.Put(w.t, w.files, []byte(strings.Repeat(url+" ", 500)))
	_, err = w.store.SaveVersion(w.t.Context(), store.SaveVersionParams{Version: store.VersionRecord{PageID: found[0].PageID, Visit: 1, Digest: digest}})
	w.check(err)
	return digest
}

// try makes a backup, a minute after the last.
func (w *world) try(ctx context.Context, progress backup.Progress) (backup.Made, error) {
	w.now = w.now.Add(time.Minute)
	return backup.Make(ctx, w.src, w.dir, backup.Options{Now: w.now, Software: "recrawl/test", Keep: 2, Progress: progress})
}

func (w *world) make() backup.Made {
	w.t.Helper()
	made, err := w.try(w.t.Context(), quiet)
	w.check(err)
	return made
}

func quiet(string, float64) {}

// restore restores into a new place and counts the contents there.
func (w *world) restore(name string) (backup.Restored, string, error) {
	w.t.Helper()
	into, path := w.into()
	done, err := backup.Restore(w.t.Context(), w.dir, name, into, quiet)
	return done, path, err
}

func (w *world) into() (backup.Into, string) {
	path := filepath.Join(w.t.TempDir(), "restored.db")
	return backup.Into{Store: path, Files: openDir(w.t, w.t.TempDir()), Open: openCopy, Renew: sqlite.NewEpoch}, path
}

// contents lists the contents of a store's versions.
func (w *world) contents(path string) []string {
	w.t.Helper()
	all, err := crawltest.OpenStore(w.t, path).ListContents(w.t.Context(), "", 1<<20)
	w.check(err)
	return all
}

// archived lists the contents of the folder.
func (w *world) archived() []string {
	w.t.Helper()
	var all []string
	for info, err := range openDir(w.t, filepath.Join(w.dir, "archive")).List(w.t.Context(), "") {
		w.check(err)
		all = append(all, info.Digest)
	}
	return all
}

func TestBackupIsIncrementalAndComesBack(t *testing.T) {
	w := newWorld(t, 12)
	first := w.make()
	if first.Copied.Copied != 12 || first.Manifest.Contents != 12 || first.Copied.Bytes == 0 {
		t.Errorf("first: %+v", first)
	}
	w.page()
	second := w.make()
	if second.Copied.Copied != 1 || second.Manifest.Contents != 13 {
		t.Errorf("second: %+v, want one content copied", second)
	}
	w.page() // is in no backup
	for name, want := range map[string]int{"": 13, first.Manifest.Name: 12} {
		done, path, err := w.restore(name)
		if err != nil || done.Copied.Copied != want || done.Copied.Lacking() != 0 {
			t.Errorf("restore %q: %+v, %v", name, done, err)
		}
		if got := w.contents(path); len(got) != want {
			t.Errorf("restore %q: %d contents, want %d", name, len(got), want)
		}
	}
}

// inBatches is an archive that stores no content by itself.
type inBatches struct{ *archive.Dir }

var errAlone = errors.New("a content is stored by itself")

func (inBatches) Create(context.Context) (archive.Writer, error) { return nil, errAlone }

// TestContentsAreStoredInBatches: a million contents that each wait for the disk take hours.
func TestContentsAreStoredInBatches(t *testing.T) {
	w := newWorld(t, 3)
	w.make()
	into, _ := w.into()
	into.Files = inBatches{openDir(t, t.TempDir())}
	if done, err := backup.Restore(t.Context(), w.dir, "", into, quiet); err != nil || done.Copied.Copied != 3 {
		t.Errorf("restored %+v: %v", done, err)
	}
}

// TestCutOff ends a backup at each of its steps: none of these leaves anything that is
// taken for a backup, and the next one is whole and takes the rest away.
func TestCutOff(t *testing.T) {
	steps := 1
	for cut := 0; cut < steps; cut++ {
		w := newWorld(t, 3)
		whole := w.make()
		w.page()
		ctx, cancel := context.WithCancel(t.Context())
		steps = 0
		_, err := w.try(ctx, func(string, float64) {
			if steps++; steps == cut+1 {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cut off at step %d: %v", cut, err)
		}
		cancel()
		steps = 3 // contents, the store, contents
		if all, err := backup.List(w.dir); err != nil || len(all) != 1 || all[0].Name != whole.Manifest.Name {
			t.Errorf("after step %d: %v, %v", cut, all, err)
		}
		if done, _, err := w.restore(""); err != nil || done.Manifest.Contents != 3 {
			t.Errorf("after step %d: %+v, %v", cut, done, err)
		}
		if made := w.make(); made.Manifest.Contents != 4 {
			t.Errorf("after step %d: %+v", cut, made)
		}
		if files, err := os.ReadDir(filepath.Join(w.dir, "store")); err != nil || len(files) != 4 {
			t.Errorf("after step %d: %v, %v, want two copies with their manifests", cut, files, err)
		}
	}
}

// TestHalfWrittenIsNoBackup: the remains of a killed process are neither listed nor
// kept.
func TestHalfWrittenIsNoBackup(t *testing.T) {
	w := newWorld(t, 1)
	w.check(os.MkdirAll(filepath.Join(w.dir, "store"), 0o700))
	for _, name := range []string{"20261122T120000Z.db", "20261122T120000Z.db.part", "20261122T120000Z.json.part"} {
		w.check(os.WriteFile(filepath.Join(w.dir, "store", name), []byte("half"), 0o600))
	}
	if _, _, err := w.restore(""); !errors.Is(err, backup.ErrNone) {
		t.Errorf("restored: %v", err)
	}
	made := w.make()
	files, err := os.ReadDir(filepath.Join(w.dir, "store"))
	if err != nil || len(files) != 2 || files[0].Name() != made.Manifest.Name+".db" {
		t.Errorf("%v, %v", files, err)
	}
}

func TestOldBackupsAndTheirContentsGo(t *testing.T) {
	w := newWorld(t, 2)
	w.make()
	_, err := w.store.Forget(t.Context(), store.ForgetParams{Target: store.Target{URL: "https://host.test/0"}, Limit: 10})
	w.check(err)
	if made := w.make(); made.Removed != 0 || made.Pruned != 0 || len(w.archived()) != 2 {
		t.Errorf("%+v: the older one needs it", made)
	}
	if made := w.make(); made.Removed != 1 || made.Pruned != 1 {
		t.Errorf("%+v, want the first backup and a content to go", made)
	}
	live, err := w.store.ListContents(t.Context(), "", 10)
	if err != nil || !slices.Equal(w.archived(), live) {
		t.Errorf("archived %v, the crawl has %v, %v", w.archived(), live, err)
	}
}

// Long removals say how far they are, after a crawl of many contents was deleted.
func TestRemovingContentsIsProgress(t *testing.T) {
	w := newWorld(t, 1)
	w.make()
	files := openDir(t, filepath.Join(w.dir, "archive"))
	for i := range 1200 { // of no backup
		archivetest.Put(t, files, fmt.Appendf(nil, "content %d", i))
	}
	var parts []float64
	made, err := w.try(t.Context(), func(doing string, part float64) {
		if strings.HasPrefix(doing, "removing") {
			parts = append(parts, part)
		}
	})
	if w.check(err); made.Pruned != 1200 || len(w.archived()) != 1 {
		t.Errorf("removed %d, and %d are left", made.Pruned, len(w.archived()))
	}
	if len(parts) != 2 || !slices.IsSorted(parts) || parts[0] < 0.2 || parts[1] > 0.99 {
		t.Errorf("said %v", parts)
	}
}

// TestGivenUpMeanwhile: a content that is deleted between the copy of the store and
// that of the contents is no damage; one that is lost is.
func TestGivenUpMeanwhile(t *testing.T) {
	w := newWorld(t, 2)
	lost := w.page()
	snapshot := w.src.Snapshot
	w.src.Snapshot = func(ctx context.Context, path string) error {
		gone := w.page() // came and went
		err := snapshot(ctx, path)
		_, forgot := w.store.Forget(ctx, store.ForgetParams{Target: store.Target{URL: fmt.Sprintf("https://host.test/%d", w.pages-1)}, Limit: 10})
		return errors.Join(err, forgot, w.files.Delete(ctx, gone))
	}
	w.check(w.files.Delete(t.Context(), lost))
	made := w.make()
	if made.Gone != 1 || made.Copied.Missing != 1 || !slices.Equal(made.Copied.Named, []string{lost}) || made.Manifest.Lacking != 2 {
		t.Errorf("%+v, want one given up, and %s missing", made, lost)
	}
	done, path, err := w.restore("")
	if err != nil || done.Copied.Missing != 2 || len(w.contents(path)) != 4 {
		t.Errorf("restored %+v, %v", done, err)
	}
}

func TestDamageIsFound(t *testing.T) {
	w := newWorld(t, 3)
	made := w.make()
	all := w.archived()
	var file string
	w.check(filepath.WalkDir(filepath.Join(w.dir, "archive"), func(path string, e fs.DirEntry, err error) error {
		if strings.Contains(path, all[1]) {
			file = path
		}
		return err
	}))
	w.check(os.WriteFile(file, []byte("other bytes"), 0o600))
	done, _, err := w.restore("")
	if err != nil || done.Copied.Damaged != 1 || done.Copied.Copied != 2 || !slices.Equal(done.Copied.Named, []string{all[1]}) {
		t.Errorf("with a damaged content: %+v, %v", done, err)
	}

	f, err := os.OpenFile(filepath.Join(w.dir, "store", made.Manifest.Name+".db"), os.O_WRONLY, 0)
	w.check(err)
	_, err = f.WriteAt([]byte{1}, 5000)
	w.check(errors.Join(err, f.Close()))
	_, path, err := w.restore("")
	if !errors.Is(err, backup.ErrDamaged) {
		t.Errorf("a damaged store was restored: %v", err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestRestoreMendsAnArchive: a content that is there and damaged comes back, in whichever coding.
func TestRestoreMendsAnArchive(t *testing.T) {
	w := newWorld(t, 3)
	w.make()
	root := t.TempDir()
	files := openDir(t, root)
	if done, err := backup.RestoreArchive(t.Context(), w.dir, files, quiet); err != nil || done.Copied != 3 {
		t.Fatalf("%+v, %v", done, err)
	}
	all := w.archived()
	other := filepath.Join(root, archive.Name(all[1], archive.Plain))
	w.check(os.WriteFile(filepath.Join(root, archive.Name(all[0], archive.Zstd)), []byte("no frame"), 0o600))
	w.check(os.Rename(filepath.Join(root, archive.Name(all[1], archive.Zstd)), other))
	if done, err := backup.RestoreArchive(t.Context(), w.dir, files, quiet); err != nil || done.Copied != 2 || done.Contents != 3 {
		t.Errorf("%+v, %v: want two mended", done, err)
	}
	for _, digest := range all {
		r, err := files.Open(t.Context(), digest)
		w.check(err)
		if _, err := io.Copy(io.Discard, r); err != nil {
			t.Errorf("%s after the restore: %v", digest, err)
		}
		w.check(r.Close())
	}
	if _, err := os.Lstat(other); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the damaged content in another coding: %v", err)
	}
	if done, err := backup.RestoreArchive(t.Context(), w.dir, files, quiet); err != nil || done.Copied != 0 {
		t.Errorf("%+v, %v: want nothing copied again", done, err)
	}
}

// TestDamagedManifestSparesOthers: it keeps nobody from restoring the other backups of the folder.
func TestDamagedManifestSparesOthers(t *testing.T) {
	w := newWorld(t, 1)
	older, newest := w.make().Manifest.Name, w.make().Manifest.Name
	manifest := func(name string) string { return filepath.Join(w.dir, "store", name+".json") }
	whole, err := os.ReadFile(manifest(newest))
	w.check(err)
	w.check(os.WriteFile(manifest(newest), nil, 0o600))
	if _, _, err := w.restore(""); !errors.Is(err, backup.ErrDamaged) || !strings.Contains(err.Error(), older) {
		t.Errorf("the newest: %v, want it damaged, and %s to choose", err, older)
	}
	if done, _, err := w.restore(older); err != nil || done.Manifest.Name != older {
		t.Errorf("the older one: %s, %v", done.Manifest.Name, err)
	}
	w.check(os.WriteFile(manifest(newest), whole, 0o600))
	w.check(os.WriteFile(manifest(older), []byte(`{"format":99,"name":"`+older+`"}`), 0o600))
	if done, _, err := w.restore(""); err != nil || done.Manifest.Name != newest {
		t.Errorf("the newest beside one of another release: %s, %v", done.Manifest.Name, err)
	}
}

func TestRestoreOverwritesNothing(t *testing.T) {
	w := newWorld(t, 1)
	w.make()
	into, path := w.into()
	for _, name := range []string{path, path + "-wal"} {
		w.check(os.WriteFile(name, []byte("mine"), 0o600))
		if _, err := backup.Restore(t.Context(), w.dir, "", into, quiet); !errors.Is(err, backup.ErrExists) || !strings.Contains(err.Error(), name) {
			t.Errorf("restored over %s: %v", name, err)
		}
		if text, err := os.ReadFile(name); err != nil || string(text) != "mine" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		w.check(os.Remove(name))
	}
	if _, err := backup.Restore(t.Context(), w.dir, "20200101T000000Z", into, quiet); !errors.Is(err, backup.ErrNone) {
		t.Errorf("restored a backup that is not there: %v", err)
	}
}

// TestRestoreGoesOn: a restore that is cut off has made no store, and the next one
// copies the rest.
func TestRestoreGoesOn(t *testing.T) {
	w := newWorld(t, 4)
	w.make()
	into, path := w.into()
	ctx, cancel := context.WithCancel(t.Context())
	step := 0
	if _, err := backup.Restore(ctx, w.dir, "", into, func(string, float64) {
		if step++; step == 2 { // the contents are there
			cancel()
		}
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("cut off: %v", err)
	}
	cancel()
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a store after a restore that was cut off: %v", err)
	}
	done, err := backup.Restore(t.Context(), w.dir, "", into, quiet)
	if err != nil || done.Copied.Copied != 0 || done.Copied.Contents != 4 || len(w.contents(path)) != 4 {
		t.Errorf("%+v, %v: want nothing copied again", done, err)
	}
}

// TestRestoreTakesNoOldJournal: of a restore that was killed while it renewed the feed's epoch a
// journal stays, which belongs to no file any more.
func TestRestoreTakesNoOldJournal(t *testing.T) {
	w := newWorld(t, 1)
	w.make()
	into, path := w.into()
	journal := path + ".part-journal"
	w.check(os.WriteFile(journal, []byte("pages of another backup"), 0o600))
	renew := into.Renew
	into.Renew = func(ctx context.Context, path string) error {
		if _, err := os.Lstat(journal); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the journal when the copy is opened: %v", err)
		}
		return renew(ctx, path)
	}
	_, err := backup.Restore(t.Context(), w.dir, "", into, quiet)
	w.check(err)
}

// TestRestoreSparesAStoreThatWasMovedAway: a restore that was killed right after it had named its
// store left the copy's name for the same file. The next one must not write to it.
func TestRestoreSparesAStoreThatWasMovedAway(t *testing.T) {
	w := newWorld(t, 1)
	w.make()
	into, path := w.into()
	_, err := backup.Restore(t.Context(), w.dir, "", into, quiet)
	w.check(err)
	moved := path + ".moved"
	w.check(errors.Join(os.Link(path, path+".part"), os.Rename(path, moved), os.WriteFile(moved, []byte("in use"), 0o600)))
	_, err = backup.Restore(t.Context(), w.dir, "", into, quiet)
	w.check(err)
	if text, err := os.ReadFile(moved); err != nil || string(text) != "in use" {
		t.Errorf("the store that was moved away: %d bytes, %v", len(text), err)
	}
	if n := len(w.contents(path)); n != 1 {
		t.Errorf("%d contents restored, want 1", n)
	}
}

// TestRestoreMakesNothingInTheBackup: it may be on a read-only medium, without its empty folders.
func TestRestoreMakesNothingInTheBackup(t *testing.T) {
	w := newWorld(t, 2)
	w.make()
	temp := filepath.Join(w.dir, "archive", "tmp")
	w.check(os.Remove(temp))
	if done, _, err := w.restore(""); err != nil || done.Copied.Copied != 2 {
		t.Errorf("%+v, %v: want two contents", done, err)
	}
	if _, err := os.Lstat(temp); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the restore made %s: %v", temp, err)
	}
}

// errStuck is why a copy does not close.
var errStuck = errors.New("stuck")

type stuck struct{ backup.Copy }

func (c stuck) Close() error { return errors.Join(errStuck, c.Copy.Close()) }

// TestCopyThatDoesNotClose: whoever looks for contents that no backup has says so.
func TestCopyThatDoesNotClose(t *testing.T) {
	w := newWorld(t, 1)
	opened := 0
	w.src.Open = func(ctx context.Context, path string) (backup.Copy, error) {
		c, err := openCopy(ctx, path)
		if opened++; opened == 2 { // the first copies what is missing
			return stuck{c}, err
		}
		return c, err
	}
	if _, err := w.try(t.Context(), quiet); !errors.Is(err, errStuck) {
		t.Errorf("the error is lost: %v", err)
	}
}

// TestRestoredFeedHasAnotherEpoch: a consumer of the lost store's feed is told so, and does
// not miss the restored store's changes.
func TestRestoredFeedHasAnotherEpoch(t *testing.T) {
	w := newWorld(t, 1)
	before, err := w.store.FeedEnds(t.Context())
	w.check(err)
	w.make()
	_, path, err := w.restore("")
	w.check(err)
	restored := crawltest.OpenStore(t, path)
	after, err := restored.FeedEnds(t.Context())
	w.check(err)
	if after.Newest.Epoch == before.Newest.Epoch || after.Newest.ID != before.Newest.ID {
		t.Errorf("restored at %s, backed up at %s", after.Newest, before.Newest)
	}
	_, err = restored.Changes(t.Context(), store.ChangesParams{After: before.Newest})
	if !errors.Is(err, feed.ErrEpoch) {
		t.Errorf("a cursor from before: %v", err)
	}
}

func TestTwoInOneSecond(t *testing.T) {
	w := newWorld(t, 1)
	first := w.make()
	w.now = w.now.Add(-time.Minute)
	if second := w.make(); second.Manifest.Name <= first.Manifest.Name || !second.Manifest.Made.Equal(first.Manifest.Made) {
		t.Errorf("%s after %s", second.Manifest.Name, first.Manifest.Name)
	}
}

// TestArchiveAlone: for a store that is backed up by other means.
func TestArchiveAlone(t *testing.T) {
	w := newWorld(t, 3)
	for _, want := range []int{3, 0} {
		done, err := backup.CopyArchive(t.Context(), w.src, w.dir, quiet)
		if err != nil || done.Contents != 3 || done.Copied != want {
			t.Errorf("%+v, %v; want %d copied", done, err, want)
		}
	}
	to := openDir(t, t.TempDir())
	done, err := backup.RestoreArchive(t.Context(), w.dir, to, quiet)
	if err != nil || done.Copied != 3 {
		t.Errorf("%+v, %v", done, err)
	}
	for _, digest := range w.archived() {
		r, err := to.Open(t.Context(), digest)
		w.check(err)
		_, err = io.Copy(io.Discard, r)
		w.check(errors.Join(err, r.Close()))
	}
}

// A backup made after the clock went back is still the newest one: it stays with its contents,
// and `restore` takes it.
func TestClockWentBack(t *testing.T) {
	w := newWorld(t, 1)
	w.make()
	w.make()
	w.now = w.now.Add(-time.Hour)
	kept := w.page()
	made := w.make()
	all, err := backup.List(w.dir)
	w.check(err)
	if len(all) != 2 || all[0].Name != made.Manifest.Name || !all[0].Made.Equal(w.now) || made.Removed != 1 || made.Pruned != 0 {
		t.Fatalf("%+v; %+v", all, made)
	}
	if has, err := openDir(t, filepath.Join(w.dir, "archive")).Has(t.Context(), kept); !has || err != nil {
		t.Errorf("the new content is there: %v, %v", has, err)
	}
	done, _, err := w.restore("")
	if err != nil || done.Manifest.Name != made.Manifest.Name {
		t.Errorf("restored %+v, %v", done, err)
	}
}
