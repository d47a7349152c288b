package archive

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// batchOf begins a batch in a new archive whose syncs do what a test says.
func batchOf(t *testing.T, sync func(d *Dir) (bool, error)) *Batch {
	t.Helper()
	d, err := OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.Batch()
	if err != nil {
		t.Fatal(err)
	}
	b.syncAll = func(string) (bool, error) { return sync(d) }
	return b
}

// write commits contents to a batch, and returns their digests.
func write(t *testing.T, b *Batch, contents ...string) (digests []string) {
	t.Helper()
	for _, c := range contents {
		w, err := b.Create(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, c); err != nil {
			t.Fatal(err)
		}
		digest, size, err := w.Commit()
		if err != nil || size != int64(len(c)) {
			t.Fatalf("committed %d bytes of %d: %v", size, len(c), err)
		}
		digests = append(digests, digest)
	}
	return digests
}

func placed(t *testing.T, d *Dir) (digests []string) {
	t.Helper()
	for info, err := range d.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		digests = append(digests, info.Digest)
	}
	return digests
}

func temporary(t *testing.T, d *Dir) int {
	t.Helper()
	entries, err := os.ReadDir(d.temp())
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// placedAtSyncs is a sync that adds to seen how many contents were in their places.
func placedAtSyncs(t *testing.T, seen *[]int, together bool) func(*Dir) (bool, error) {
	return func(d *Dir) (bool, error) {
		*seen = append(*seen, len(placed(t, d)))
		return together, nil
	}
}

// Contents get their names after their bytes are on the disk, and the names are brought there
// before Flush returns. A batch of any size takes two syncs.
func TestBatch(t *testing.T) {
	t.Parallel()
	for _, together := range []bool{true, false} {
		t.Run(fmt.Sprintf("together %t", together), func(t *testing.T) {
			t.Parallel()
			var seen []int
			b := batchOf(t, placedAtSyncs(t, &seen, together))
			digests := write(t, b, "one", string(make([]byte, 5000)), "three", "one")
			if n := len(placed(t, b.dir)); n != 0 {
				t.Errorf("%d contents are there before the flush", n)
			}
			for range 2 { // the second has nothing to do
				if err := b.Flush(); err != nil {
					t.Fatal(err)
				}
			}
			want := []int{0, 3}
			if !together {
				want = want[:1]
			}
			if !slices.Equal(seen, want) {
				t.Errorf("contents at the syncs: %v, want %v", seen, want)
			}
			for i, digest := range digests {
				r, err := b.dir.Open(t.Context(), digest)
				if err != nil {
					t.Fatalf("content %d: %v", i, err)
				}
				if _, err := io.Copy(io.Discard, r); err != nil {
					t.Errorf("content %d: %v", i, err)
				}
				_ = r.Close()
			}
			if n := temporary(t, b.dir); n != 0 {
				t.Errorf("%d temporary files are left", n)
			}
		})
	}
}

// Without a sync no content gets its name, and an aborted batch leaves nothing.
func TestBatchThatCannotSync(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is gone")
	b := batchOf(t, func(*Dir) (bool, error) { return true, broken })
	write(t, b, "one", "two")
	if err := b.Flush(); !errors.Is(err, broken) || len(placed(t, b.dir)) != 0 {
		t.Errorf("flushed %q: %v", placed(t, b.dir), err)
	}
	b.Abort()
	if n := temporary(t, b.dir); n != 0 {
		t.Errorf("%d temporary files are left", n)
	}
	if err := b.Flush(); err != nil {
		t.Errorf("an empty batch: %v", err)
	}
}

// Where a process was killed during a batch, its temporary files are swept like all others.
func TestBatchThatWasCutOff(t *testing.T) {
	t.Parallel()
	b := batchOf(t, func(*Dir) (bool, error) { return true, nil })
	write(t, b, "one")
	files, err := filepath.Glob(filepath.Join(b.dir.temp(), "*"+tempSuffix))
	if err != nil || len(files) != 1 {
		t.Errorf("temporary files %q, %v, want one that ends in %s", files, err, tempSuffix)
	}
}

// Deletions of any number take one sync, in Flush; where there is no such call, one for each folder.
func TestBatchOfDeletions(t *testing.T) {
	t.Parallel()
	for _, together := range []bool{true, false} {
		t.Run(fmt.Sprintf("together %t", together), func(t *testing.T) {
			t.Parallel()
			var seen []int
			b := batchOf(t, placedAtSyncs(t, &seen, together))
			digests := write(t, b, "one", "two", "three", "four")
			if err := b.Flush(); err != nil {
				t.Fatal(err)
			}
			seen = nil
			for _, digest := range append(digests[:3:3], digests[0]) { // the last is no longer there
				if err := b.Delete(t.Context(), digest); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 { // the second has nothing to do
				if err := b.Flush(); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(seen, []int{1}) || !slices.Equal(placed(t, b.dir), digests[3:]) {
				t.Errorf("contents at the syncs: %v, and then %v; want one sync, with %v", seen, placed(t, b.dir), digests[3:])
			}
			if err := b.Delete(t.Context(), "../x"); err == nil {
				t.Error("deleted what is no digest")
			}
		})
	}
}

// A content that waits in a batch keeps its bytes when the temporary name of another one is the
// name that its own had: names are drawn by chance.
func TestBatchWithOneNameTwice(t *testing.T) {
	t.Parallel()
	b := batchOf(t, func(*Dir) (bool, error) { return true, nil })
	var digests []string
	for _, text := range []string{"one", "two"} {
		w, err := b.Create(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s := w.(*Spool)
		dropTemp(s.file)
		if s.file, err = os.OpenFile(filepath.Join(s.folder, "7"+tempSuffix), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		digest, _, err := w.Commit()
		if err != nil {
			t.Fatal(err)
		}
		digests = append(digests, digest)
	}
	if err := b.Flush(); err != nil {
		t.Error(err)
	}
	for _, digest := range digests {
		if !b.dir.Intact(digest) {
			t.Errorf("%s is not intact", digest)
		}
	}
}
