//go:build unix

package gc_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"recrawl/internal/archive"
	"recrawl/internal/archive/archivetest"
	"recrawl/internal/archive/gc"
	"recrawl/internal/store"
)

const hour = time.Hour

// age makes a plain content look as if it was stored some time ago.
func (w *world) age(digest string, by time.Duration) {
	w.t.Helper()
	at := time.Now().Add(-by)
	w.check(os.Chtimes(w.file(digest), at, at))
}

func (w *world) file(digest string) string {
	return filepath.Join(w.root, filepath.FromSlash(archive.Name(digest, archive.Plain)))
}

func TestCollect(t *testing.T) {
	t.Parallel()
	w := newWorld(t, onSQLite(t), 2)
	kept, twice, old, young, discarded := w.put("kept"), w.put("twice"), w.put("old one"), w.put("young"), w.put("discarded")
	w.save(0, 1, kept)
	w.save(0, 2, twice)
	w.save(1, 1, twice)
	w.check(w.store.Discard(t.Context(), []string{discarded}))
	for _, digest := range []string{kept, old, discarded} {
		w.age(digest, 3*hour)
	}
	leftover := filepath.Join(w.root, "tmp", "1.part")
	w.check(os.WriteFile(leftover, nil, 0o600))

	want := gc.Collected{Deleted: 2, Bytes: int64(len("old one") + len("discarded")), Kept: 2, Young: 1}
	if got := w.collect(gc.CollectOptions{Age: 2 * hour, Dry: true}); got != want {
		t.Errorf("a dry run finds %+v, want %+v", got, want)
	}
	if !w.has(old) || !w.has(discarded) {
		t.Error("a dry run deleted something")
	}
	if got := w.collect(gc.CollectOptions{Age: 4 * hour}); got.Deleted != 0 || got.Young != 3 {
		t.Errorf("of younger contents it makes %+v", got)
	}
	if got := w.collect(gc.CollectOptions{Age: 2 * hour}); got != want {
		t.Errorf("found %+v, want %+v", got, want)
	}
	for digest, stays := range map[string]bool{kept: true, twice: true, young: true, old: false, discarded: false} {
		if w.has(digest) != stays {
			t.Errorf("%s: there %t, want %t", digest, !stays, stays)
		}
	}
	if n, err := gc.Sweep(t.Context(), w.store, w.files, 10); n != 0 || err != nil {
		t.Errorf("%d digests still wait, %v", n, err)
	}
	w.save(1, 2, w.put("old one")) // deleted bytes can come back
	w.age(w.put("young"), 3*hour)
	w.collect(gc.CollectOptions{Age: 2 * hour})
	w.agrees()
}

// A dry run counts what a run would delete, not everything that no version has.
func TestDryRunAsks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, onSQLite(t), 1)
	kept, busy, old := w.put("kept"), w.put("another process deletes it"), w.put("old")
	w.save(0, 1, kept)
	for _, digest := range []string{kept, busy, old} {
		w.age(digest, 3*hour)
	}
	if claimed, err := w.store.Claim(t.Context(), []string{busy}); err != nil || len(claimed) != 1 {
		t.Fatalf("claimed %v, %v", claimed, err)
	}
	want := gc.Collected{Deleted: 1, Bytes: int64(len("old")), Kept: 2, Claimed: 1}
	for _, dry := range []bool{true, false} {
		if got := w.collect(gc.CollectOptions{Age: 2 * hour, Dry: dry}); got != want {
			t.Errorf("dry %t: found %+v, want %+v", dry, got, want)
		}
	}
}

// More contents than one batch; versions have every third.
func TestCollectMany(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: many files")
	}
	t.Parallel()
	w := newWorld(t, onSQLite(t), 1)
	const n = 1050
	for i := range n {
		digest := w.put(fmt.Sprint("body ", i))
		if i%3 == 0 {
			w.save(0, i+1, digest)
		}
	}
	var told []gc.Progress
	got := w.collect(gc.CollectOptions{Age: -hour, Progress: func(p gc.Progress) { told = append(told, p) }})
	if want := (n + 2) / 3; got.Kept != want || got.Deleted != n-want {
		t.Errorf("found %+v, want %d kept", got, want)
	}
	if len(told) < 2 || !slices.IsSortedFunc(told, func(a, b gc.Progress) int { return a.Contents - b.Contents }) {
		t.Errorf("progress %+v", told)
	}
	for _, p := range told {
		if d := p.Part - float64(p.Contents)/n; d < -0.1 || d > 0.1 {
			t.Errorf("%d of %d contents are %.2f of the way", p.Contents, n, p.Part)
		}
	}
	w.agrees()
}

// An archive that seems to belong to another store is not touched.
func TestCollectRefusesAForeignArchive(t *testing.T) {
	t.Parallel()
	w := newWorld(t, onSQLite(t), 1)
	collect := func() error {
		_, err := gc.Collect(t.Context(), w.store, w.files, gc.CollectOptions{Age: -hour})
		return err
	}
	w.check(collect()) // nothing on either side
	foreign := w.put("another store's")
	if err := collect(); !errors.Is(err, gc.ErrForeign) {
		t.Errorf("for a store without versions: %v", err)
	}
	w.save(0, 1, archivetest.Digest([]byte("never there")))
	if err := collect(); !errors.Is(err, gc.ErrForeign) || !w.has(foreign) {
		t.Errorf("for another store: %v, deleted %t", err, !w.has(foreign))
	}
	w.save(0, 2, w.put("ours"))
	w.check(collect())
	if w.has(foreign) {
		t.Error("one content of its own is enough")
	}
}

// An archive is another store's if neither has what the other has. One that has lost nearly
// everything is still the store's.
func TestCheckOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t, onSQLite(t), 1)
	check := func() error { return gc.CheckOwner(t.Context(), w.store, w.files) }
	w.save(0, 1, archivetest.Digest([]byte("lost")))
	w.check(check()) // the archive is empty
	foreign := w.put("another store's")
	if err := check(); !errors.Is(err, gc.ErrForeign) {
		t.Errorf("another store's archive: %v", err)
	}
	w.check(w.files.Delete(t.Context(), foreign))
	var digests []string
	for i := range 30 {
		digests = append(digests, archivetest.Digest([]byte(fmt.Sprint("body ", i))))
	}
	left := slices.Max(digests)
	for i, digest := range digests {
		w.save(0, i+2, digest)
		if digest == left {
			w.put(fmt.Sprint("body ", i))
		}
	}
	w.check(check())
	w.put("left by a killed worker")
	w.check(check())
	empty := newWorld(t, onSQLite(t), 1)
	empty.put("left by a killed worker")
	w.check(gc.CheckOwner(t.Context(), empty.store, empty.files))
}

// A content whose deletion fails is deleted another time, and until then nobody can
// rely on it.
func TestFailedDeletionIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, onSQLite(t), 1)
	w.save(0, 1, w.put("kept"))
	orphan := w.put("orphan")
	broken := faulty{Store: w.files, delete: func(string) error { return errDisk }}
	if _, err := gc.Collect(t.Context(), w.store, broken, gc.CollectOptions{Age: -hour}); !errors.Is(err, errDisk) {
		t.Errorf("collect: %v", err)
	}
	_, err := w.store.SaveVersion(t.Context(), store.SaveVersionParams{Version: store.VersionRecord{PageID: w.pages[0].PageID, Visit: 2, Digest: orphan}})
	if !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a version took what is being deleted: %v", err)
	}
	if got := w.collect(gc.CollectOptions{Age: -hour}); got.Deleted != 0 || got.Kept != 2 || got.Claimed != 1 {
		t.Errorf("while another one is at it, or was killed: %+v", got)
	}
}

// A claim is not used to its end: a slow process must not delete bytes that a
// version has taken by then.
func TestDeletionsEndBeforeTheirClaim(t *testing.T) {
	t.Parallel()
	w := newWorld(t, onSQLite(t), 1)
	w.check(w.store.Discard(t.Context(), []string{w.put("orphan")}))
	deadlines := deadlineArchive{Store: w.files}
	if _, err := gc.Sweep(t.Context(), w.store, &deadlines, 10); err != nil {
		t.Fatal(err)
	}
	if left := time.Until(deadlines.last); left <= 0 || left > store.ClaimFor/2 {
		t.Errorf("a deletion may take %s of a claim of %s", left, store.ClaimFor)
	}
}

// deadlineArchive records until when it may delete.
type deadlineArchive struct {
	archive.Store
	last time.Time
}

func (d *deadlineArchive) Delete(ctx context.Context, digest string) error {
	d.last, _ = ctx.Deadline()
	return d.Store.Delete(ctx, digest)
}

func TestSecure(t *testing.T) {
	t.Parallel()
	w := newWorld(t, onSQLite(t), 1)
	for name, there := range map[string]bool{"there": true, "deleted": false} {
		digest := w.put(name)
		if !there {
			w.check(w.files.Delete(t.Context(), digest))
		}
		w.check(gc.Secure(t.Context(), w.files, digest, []byte(name)))
		if !w.has(digest) {
			t.Errorf("%s: it is not there", name)
		}
	}
	var asked atomic.Int32
	moody := faulty{Store: w.files, has: func(string) error {
		if asked.Add(1) < 3 {
			return fmt.Errorf("%w: not now", archive.ErrUnavailable)
		}
		return nil
	}}
	late := archivetest.Digest([]byte("late"))
	if w.check(gc.Secure(t.Context(), moody, late, []byte("late"))); !w.has(late) {
		t.Error("an archive that answers at the third time has no bytes")
	}
	missing := archivetest.Digest([]byte("one"))
	if err := gc.Secure(t.Context(), w.files, missing, []byte("two")); err == nil || w.has(missing) {
		t.Errorf("other bytes passed for a digest: %v", err)
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	w := newWorld(t, onSQLite(t), 5)
	intact, missing, corrupt, unreadable, unused := w.put("intact"), w.put("missing"), w.put("corrupt"), w.put("unreadable"), w.put("unused")
	for page := range w.pages {
		w.save(page, 1, missing)
	}
	w.save(0, 2, intact)
	w.save(1, 2, corrupt)
	w.save(2, 2, unreadable)
	if got, problems := w.verify(); got.Contents != 4 || got.Damaged() != 0 || len(problems) != 0 || got.Bytes != int64(len("intactmissingcorruptunreadable")) {
		t.Errorf("before any damage: %+v, %v", got, problems)
	}
	w.check(w.files.Delete(t.Context(), missing))
	for _, digest := range []string{corrupt, unused} {
		w.check(os.WriteFile(w.file(digest), []byte("other"), 0o600))
	}
	w.files = faulty{Store: w.files, open: func(digest string) error {
		if digest == unreadable {
			return errDisk
		}
		return nil
	}}
	got, problems := w.verify()
	if want := (gc.Verified{Contents: 4, Bytes: int64(len("intact")), Missing: 1, Corrupt: 1, Unreadable: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	want := []gc.Problem{
		{Digest: missing, Damage: gc.Missing, Pages: []string{w.pages[0].URL, w.pages[1].URL, w.pages[2].URL}},
		{Digest: corrupt, Damage: gc.Corrupt, Pages: []string{w.pages[1].URL}},
		{Digest: unreadable, Damage: gc.Unreadable, Detail: errDisk.Error(), Pages: []string{w.pages[2].URL}},
	}
	slices.SortFunc(want, func(a, b gc.Problem) int { return strings.Compare(a.Digest, b.Digest) })
	if fmt.Sprint(problems) != fmt.Sprint(want) {
		t.Errorf("problems\n%v\nwant\n%v", problems, want)
	}
}

// A content that is forgotten while it is read is no damage.
func TestVerifyBesideATakedown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, onSQLite(t), 1)
	digest := w.put("to be forgotten")
	w.save(0, 1, digest)
	w.files = faulty{Store: w.files, open: func(string) error {
		_, err := w.store.Forget(t.Context(), store.ForgetParams{Target: store.Target{URL: w.pages[0].URL}})
		return errors.Join(err, w.files.Delete(t.Context(), digest))
	}}
	if got, problems := w.verify(); got != (gc.Verified{}) || len(problems) > 0 {
		t.Errorf("%+v, %v", got, problems)
	}
}

// With hundreds of problems only the first have pages; all are reported. When
// the archive goes away, the problems found before are reported.
func TestVerifyManyProblems(t *testing.T) {
	t.Parallel()
	w := newWorld(t, onSQLite(t), 1)
	const n = 620
	for i := range n {
		w.save(0, i+1, archivetest.Digest(fmt.Append(nil, i)))
	}
	got, problems := w.verify()
	named := 0
	for _, p := range problems {
		if len(p.Pages) > 0 {
			named++
		}
	}
	if got.Missing != n || len(problems) != n || named != 100 {
		t.Errorf("%+v, %d problems, %d with pages", got, len(problems), named)
	}

	for _, c := range []struct{ until, reported int32 }{{50, 0}, {550, 500}} {
		var opened atomic.Int32
		gone := faulty{Store: w.files, open: func(string) error {
			if opened.Add(1) > c.until {
				return fmt.Errorf("%w: connection refused", archive.ErrUnavailable)
			}
			return nil
		}}
		reported := int32(0)
		_, err := gc.Verify(t.Context(), w.store, gone, gc.VerifyOptions{Report: func(gc.Problem) error { reported++; return nil }})
		if !errors.Is(err, archive.ErrUnavailable) || reported < c.reported {
			t.Errorf("an archive that goes away after %d contents: %v, %d problems", c.until, err, reported)
		}
	}
}
