package bench

import (
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	t.Parallel()
	got, err := parseStat([]byte("42 (a (b) c) S 7 42 42 0 -1 4194560 100 0 0 0 150 25 30 5 20 0 9 0 100 0 0\n"))
	want := stat{name: "a (b) c", parent: 7, own: 1750 * time.Millisecond, children: 350 * time.Millisecond}
	if err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	for _, line := range []string{"", "42 a S 7", "42 (a) S 7 1 2", "42 (a) S x 42 42 0 -1 0 0 0 0 0 1 2 3 4 5", "42 (a) S 7 42 42 0 -1 0 0 0 0 0 y 2 3 4 5"} {
		if s, err := parseStat([]byte(line)); err == nil {
			t.Errorf("%q is read as %+v", line, s)
		}
	}
}

func TestDescends(t *testing.T) {
	t.Parallel()
	all := map[int]stat{1: {}, 5: {parent: 1}, 6: {parent: 5}, 7: {parent: 6}, 8: {parent: 9}, 9: {parent: 8}}
	for pid, want := range map[int]bool{7: true, 6: true, 5: false, 1: false, 8: false, 4: false} {
		if got := descends(all, pid, 5); got != want {
			t.Errorf("process %d descends from 5: %v", pid, got)
		}
	}
}
