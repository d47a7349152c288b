package duplicates

import (
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// collect returns all that the sorter yields.
func collect(t interface{ Fatal(args ...any) }, s *sorter) []record {
	var all []record
	for r, err := range s.sorted() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// Everything that is added comes out in order, however little fits into memory;
// sums are those of a map.
func TestSorterProperties(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		records := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) record {
			return record{rapid.Uint64Range(0, 9).Draw(t, "key"), rapid.Uint64Range(0, 9).Draw(t, "value")}
		}), 0, 60).Draw(t, "records")
		sum := rapid.Bool().Draw(t, "sum")
		s := newSorter(dir, make([]record, 0, rapid.IntRange(1, 20).Draw(t, "memory")), sum)
		defer func() {
			if err := s.close(); err != nil {
				t.Fatal(err)
			}
		}()
		for _, r := range records {
			if err := s.add(r); err != nil {
				t.Fatal(err)
			}
		}
		want := slices.SortedFunc(slices.Values(records), compare)
		if sum {
			want = summed(want)
		}
		if got := collect(t, s); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
	wantEmpty(t, dir)
}

// summed adds up sorted records by key.
func summed(sorted []record) []record {
	var all []record
	for _, r := range sorted {
		if n := len(all); n > 0 && all[n-1].key == r.key {
			all[n-1].value += r.value
		} else {
			all = append(all, r)
		}
	}
	return all
}

// wantEmpty fails the test unless no files are left.
func wantEmpty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("%d files are left, %v", len(left), err)
	}
}

func TestSorterWithManyRuns(t *testing.T) {
	t.Parallel()
	const n = 200_000
	s := newSorter(t.TempDir(), make([]record, 0, 1000), false)
	rng := rand.New(rand.NewPCG(1, 2))
	for range n {
		if err := s.add(record{rng.Uint64(), rng.Uint64()}); err != nil {
			t.Fatal(err)
		}
	}
	got := collect(t, s)
	if len(got) != n || !slices.IsSortedFunc(got, compare) || len(s.runs) != n/1000 {
		t.Errorf("%d records from %d runs, in order: %v", len(got), len(s.runs), slices.IsSortedFunc(got, compare))
	}
	// A reader that has seen enough may stop.
	for range s.sorted() {
		break
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
}

func TestSorterWithoutADisk(t *testing.T) {
	t.Parallel()
	s := newSorter(t.TempDir()+"/missing", make([]record, 0, 1), false)
	if err := s.add(record{1, 1}); err != nil {
		t.Fatal(err)
	}
	if err := s.add(record{2, 2}); err == nil {
		t.Error("sorted on a disk that is not there")
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
}

// A file that was cut off is an error, and not fewer records.
func TestSorterWithADamagedFile(t *testing.T) {
	t.Parallel()
	s := newSorter(t.TempDir(), make([]record, 0, 2), false)
	for i := range uint64(9) {
		if err := s.add(record{i, i}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.spill(); err != nil {
		t.Fatal(err)
	}
	if err := s.file.Truncate(5*recordBytes + 3); err != nil {
		t.Fatal(err)
	}
	failed := false
	for _, err := range s.sorted() {
		failed = err != nil
	}
	if !failed {
		t.Error("no error")
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
}
