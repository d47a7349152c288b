package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"recrawl/internal/store/sqlite"
	"recrawl/internal/testsite"
)

const (
	hostileHosts = 200
	// hostileLimit is the time limit of a request: long, because the hosts hold theirs
	// until all have one. Dripping answers are given up by their pace.
	hostileLimit  = 10 * time.Minute
	hostileMemory = 1 << 30
)

// asUsersDo has a program collect garbage as it does for users, also if other tests' do so more
// seldom to save time: its memory is measured.
const asUsersDo = "GOGC="

// crowd is a number of hosts that hold the first requests for their pages until
// they may answer.
type crowd struct {
	waiting atomic.Int64
	answer  chan struct{}
}

// serveHostile serves an attack on a host and an address of its own, one of the
// crowd, and returns its URL.
func (c *crowd) serveHostile(t *testing.T, attack testsite.Attack, address string) string {
	t.Helper()
	held := attack
	held.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			c.waiting.Add(1)
			select {
			case <-c.answer:
			case <-r.Context().Done():
				return
			}
		}
		attack.ServeHTTP(w, r)
	})
	return "http://" + startHosts(t, address, []testsite.Attack{held}, nil).Address() + "/"
}

// inOneAnswer are the attacks that consist of one answer.
func inOneAnswer() []testsite.Attack {
	return slices.DeleteFunc(testsite.Attacks(testsite.Aims{}), func(a testsite.Attack) bool { return a.Outcome == 0 })
}

// TestHostileSiteBound: one process makes requests to two hundred hostile hosts at
// the same moment. A sane host of the same crawl gets its visits meanwhile, each hostile
// page ends in the way that its attack calls for, and memory stays within a bound.
func TestHostileSiteBound(t *testing.T) {
	sideBySide(t, 125)
	sane, hostile, kinds := serve(t, tree(crashPages)), &crowd{answer: make(chan struct{})}, inOneAnswer()
	hosts, seeds := map[string]testsite.Attack{}, []string{sane.url + "/"}
	for i := range hostileHosts {
		h := kinds[i%len(kinds)]
		url := hostile.serveHostile(t, h, fmt.Sprintf("127.9.0.%d", i+1))
		hosts[url], seeds = h, append(seeds, url)
	}
	data := filepath.Join(t.TempDir(), "data")
	d := startDevEnv(t, data, []string{asUsersDo, fmt.Sprintf("RECRAWL_CONCURRENCY=%d", hostileHosts+8)})
	d.crawlSpec(map[string]any{
		"name": "t", "seeds": seeds, "fetch": map[string]any{"time_limit": hostileLimit.String()},
		"politeness":     map[string]any{"delay": "20ms", "factor": 0},
		"revisit":        map[string]any{"policy": "fixed", "default_interval": "1h", "min_interval": "1h"},
		"maintain_every": "2s",
	})
	d.await("all hostile hosts are asked", func() bool { return hostile.waiting.Load() == hostileHosts })
	d.await("the sane host gets its visits", func() bool { return len(sane.requests()) > crashPages })
	close(hostile.answer)
	// On a machine that is far too busy, permits may have to expire.
	d.awaitEvery(time.Second, "every page is visited", d.crawled("t", hostileHosts+crashPages, 1))
	peak := peakMemory(t, d.cmd.Process.Pid)
	if t.Logf("at most %d MiB", peak>>20); peak > hostileMemory {
		t.Errorf("the process had %d MiB, want at most %d", peak>>20, hostileMemory>>20)
	}
	d.stop()
	checkHostile(t, data, hosts)
	sane.checkPolite(t, 20*time.Millisecond)
}

// checkHostile reads the outcome of the hosts' pages from the store.
func checkHostile(t *testing.T, data string, hosts map[string]testsite.Attack) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(data, "recrawl.db"), sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for url, h := range hosts {
		pages, err := db.FindPages(t.Context(), url, "t")
		if err != nil || len(pages) != 1 {
			t.Fatalf("%s: %d pages, %v", h.Name, len(pages), err)
		}
		visits, err := db.ListVisits(t.Context(), pages[0].PageID, 0, 2)
		if err != nil {
			t.Fatal(err)
		}
		if v := visits[0]; len(visits) != 1 || v.Outcome != h.Outcome || !strings.Contains(v.Problem, h.Problem) {
			t.Errorf("%s: %d visits, the last one %s: %q; want %s: %q", h.Name, len(visits), v.Outcome, v.Problem, h.Outcome, h.Problem)
		}
	}
}

// peakMemory returns the largest memory of a process so far, in bytes.
func peakMemory(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		var kib int64
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kib); err == nil {
			return kib << 10
		}
	}
	t.Fatalf("no peak in the status of %d: %s", pid, status)
	return 0
}
