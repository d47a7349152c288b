package cli

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recrawl/internal/archive/gc"
)

// Long work says now and then how far it is also where its output is no terminal, as in a
// job of cron's.
func TestProgressWithoutTerminal(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "out")
	for command, want := range map[string]string{
		"export news --format jsonl " + out:              "1 page, 0 visits",
		"export news --format mirror " + out:             "listing: 2 pages",
		"report news":                                    "reading: 1 page",
		"evidence example.com:8080":                      "reading: 1 page",
		"simulate --crawl news --seeds 1 --policy fresh": "reading: 1 page",
		"archive verify":                                 "4 contents",
		"archive gc":                                     "500 contents",
		"search news --rebuild":                          "1 page",
	} {
		synctest.Test(t, func(t *testing.T) {
			for _, takes := range []time.Duration{progressEvery / 3, progressEvery} {
				b := &fakeBackend{takes: takes, visits: crawled(), damage: []gc.Problem{{Damage: gc.Missing}}}
				got := starterEnv(t, b, placed, strings.Fields(command)...)
				if said := strings.Contains(got.errOut, want); said != (takes == progressEvery) {
					t.Errorf("%s after %s: %d %q, want %q: %v", command, takes, got.code, got.errOut, want, !said)
				}
			}
		})
	}
}

// A deletion says at once what it does.
func TestDeletionIsNotSilent(t *testing.T) {
	t.Parallel()
	got := starterEnv(t, &fakeBackend{}, placed, "delete", "news", "--yes")
	if got.code != ExitOK || got.errOut != "deleting pages: 1 of 3 pages\n" {
		t.Errorf("%d %q", got.code, got.errOut)
	}
}

// The time left follows from the progress since the first word, not since an earlier
// command; before a second has gone by, and without a known total, it is not shown.
func TestRemaining(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var r remaining
	for _, c := range []struct {
		after time.Duration
		part  float64
		want  string
	}{
		{0, 0.5, ""},
		{500 * time.Millisecond, 0.6, ""},
		{10 * time.Second, 0.5, ""},
		{10 * time.Second, 0.6, "; about 40s left"},
		{time.Minute, 0.75, "; about 1m left"},
		{2 * time.Minute, 1, ""}, // what is left then is something else
		{2 * time.Minute, 1.2, ""},
		{2 * time.Minute, share(3, 0), ""},
	} {
		if got := r.words(c.part, begin.Add(c.after)); got != c.want {
			t.Errorf("after %s, at %v: %q, want %q", c.after, c.part, got, c.want)
		}
	}
}
