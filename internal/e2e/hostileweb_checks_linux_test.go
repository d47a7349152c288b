package e2e

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/testsite"
)

const (
	// perAddress is the default of politeness.per_address.
	perAddress = 4
	// refusedRest is how long a page that had its host held for a second is left alone, from
	// the second time on.
	refusedRest = 8 * time.Second
)

// asked returns the different paths of a host that were requested, without those that every
// host is asked for.
func (w *hostileWeb) asked(name string) []string {
	var paths []string
	for _, r := range w.attackers.Log() {
		if r.Host == name+".localhost" && r.Path != "/robots.txt" && r.Path != "/sitemap.xml" {
			paths = append(paths, r.Path)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// met reports whether each attacker has had its turn.
func (w *hostileWeb) met() bool {
	for _, one := range w.answers {
		if !slices.ContainsFunc(one.Log(), func(r testsite.Request) bool { return r.Path == "/" }) {
			return false
		}
	}
	for name, paths := range map[string]int{
		"stars": 1 + testsite.LongPages, "more-stars": 1 + testsite.LongPages, "bare-stars": 1 + testsite.LongPages,
		testsite.OrdersHost: 1 + len(testsite.OrderPaths()), "throttle": 2 + testsite.ThrottledPages,
		"others": 3, "chain": 1, "c1.chain": 1, "crowd": 1, "n11.crowd": 1, "relay": 1, "lists": 6,
	} {
		if len(w.asked(name)) < paths {
			return false
		}
	}
	return true
}

// checkMemory bounds the peak memory of `starter dev`'s process: starter and worker in one.
// Temporal's server is a process of its own.
func (w *hostileWeb) checkMemory(t *testing.T) {
	t.Helper()
	ours, temporal := peakMemory(t, w.d.cmd.Process.Pid), peakMemory(t, w.d.state().TemporalPID)
	alone := peakMemory(t, w.control.cmd.Process.Pid)
	t.Logf("at most %d MiB in recrawl, %d MiB in Temporal; without attackers %d MiB in recrawl", ours>>20, temporal>>20, alone>>20)
	if ours > hostileMemory {
		t.Errorf("the process had %d MiB, want at most %d", ours>>20, hostileMemory>>20)
	}
}

// checkThirdParties reads the result from the logs of the attackers' targets.
func (w *hostileWeb) checkThirdParties(t *testing.T) {
	t.Helper()
	names := map[string]int{}
	for _, r := range w.victim.Log() {
		names[r.Host]++
	}
	t.Logf("the victim was asked as %v", names)
	checkLedTo(t, names)
	for _, r := range w.neighbour.Log() {
		t.Errorf("the neighbour was asked for %s", r.Path)
	}
	// All these are names of one address.
	most := mostInFlight(answered(slices.Concat(w.attackers.Log(), w.victim.Log())))
	if t.Logf("at most %d requests at a time to one address", most); most > perAddress {
		t.Errorf("%d requests at a time to one address, want at most %d", most, perAddress)
	}
	hops := map[string]bool{}
	for _, r := range w.attackers.Log() {
		if strings.HasSuffix(r.Host, ".chain.localhost") {
			hops[r.Host] = true
		}
	}
	if len(hops) > foreignHosts {
		t.Errorf("a chain of redirects led over %d subdomains", len(hops))
	}
}

// answered returns the requests that were answered properly. For others an attacker may
// notice late that we have left.
func answered(log []testsite.Request) []testsite.Request {
	return slices.DeleteFunc(log, func(r testsite.Request) bool { return r.Status == 0 })
}

// checkRobots: no path was requested that a robots.txt forbids, or does not allow, all
// allowed ones were, and a page that is refused for ever does not keep its host from the
// rest.
func (w *hostileWeb) checkRobots(t *testing.T) {
	t.Helper()
	if got := w.asked("others"); !slices.Equal(got, []string{"/", "/about", "/forum"}) {
		t.Errorf("of a host whose robots.txt forbids much to others we asked for %v", got)
	}
	for _, name := range []string{"partial", "unmodified", "dripping-robots"} {
		if got := w.asked(name); len(got) > 0 {
			t.Errorf("%s: asked for %v without a robots.txt", name, got)
		}
	}
	for _, path := range w.asked(testsite.OrdersHost) {
		if strings.HasPrefix(path, "/unfollowed/") {
			t.Errorf("asked for %s, which no link may be followed to", path)
		}
	}
	var refused []time.Time
	for _, r := range w.attackers.Log() {
		if r.Host == "throttle.localhost" && r.Path == "/refused" {
			refused = append(refused, r.Begin)
		}
	}
	for i := 2; i < len(refused); i++ { // at first it may be anybody's bad luck
		if gap := refused[i].Sub(refused[i-1]); gap < refusedRest {
			t.Errorf("a page that is refused was asked again after %s, want at least %s", gap, refusedRest)
		}
	}
}

// traps returns those with held pages, by their reasons.
func (w *hostileWeb) traps() map[string]trapLine {
	w.d.t.Helper()
	found := map[string]trapLine{}
	for _, line := range lines[trapLine](w.d, "--output", "json", "traps", "web") {
		if line.Held > 0 {
			found[line.Reason] = line
		}
	}
	return found
}

// held reports whether the guard has found all it can: everything in ten minutes, and in
// one minute what shows at once.
func (w *hostileWeb) held() bool {
	found := w.traps()
	for _, trap := range testsite.EndlessTraps() {
		reason := trapBounds[trap].reason
		if _, ok := found[reason]; !ok && (long() || reason == "session id" || reason == "copied hosts") {
			return false
		}
	}
	return true
}

// checkEndless: endless sites stay within twice the bounds, as in TestTrapsAreContained:
// maintenance comes late beside a web of attackers, while fetches continue.
func (w *hostileWeb) checkEndless(t *testing.T) {
	t.Helper()
	t.Logf("asked of what has no end: %v", w.endless.Fetched())
	for trap, n := range w.endless.Fetched() {
		if most := 2 * trapBounds[trap].fetches; n > most {
			t.Errorf("%s: %d fetches, want at most %d", trap, n, most)
		}
	}
	for reason, trap := range w.traps() {
		if trap.State != "holding" || !strings.Contains(trap.Trap, ".localhost") {
			t.Errorf("%s: %+v", reason, trap)
		}
	}
}

// checkTold: the operator sees what was held and left out, and why.
func (w *hostileWeb) checkTold(t *testing.T) {
	t.Helper()
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"status", "web"}, []string{" held", " host", " foreign host", " in back-off", "failed", "too large", "timed out", "unsupported"}},
		{[]string{"rejected", "web"}, []string{
			"bad port", "http://bad-ports.localhost:6000/",
			"foreign host", ".victim.localhost:", "sources.foreign_hosts",
			// Examples whose addresses hash to one place replace each other, and a random
			// port in the address makes the place random.
			"nofollow", "/unfollowed/",
			".invalid/",
		}},
		{[]string{"traps", "web"}, []string{"session id", "such as", "PHPSESSID", "copied hosts", "have nothing of their own"}},
		{[]string{"hosts", "web"}, []string{"unreachable: the server sent a part of the page", "unreachable: the server answered 304", "slower than 100 bytes a second", "tried again in"}},
		{[]string{"hosts", "local"}, []string{"unreachable: "}},
		{[]string{"sources", "web"}, []string{"http://lists.localhost:"}},
	} {
		out := w.d.must(c.args...)
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("starter %s does not say %q:\n%s", strings.Join(c.args, " "), want, out)
			}
		}
		if strings.Contains(out, "\x1b") {
			t.Errorf("starter %s writes a page's escape sequences", strings.Join(c.args, " "))
		}
	}
}

// awaitNotKept waits until the archive has no word of a page that asks, in whatever
// spelling, not to be kept, once no visit begins any more. A visit in progress has put its
// bytes there: Fetch does so, DetectChange reads what they ask, PlanRevisit gives them up,
// and the next pass of maintenance deletes them. A stop in between only delays that, since
// the page's workflow records the visit before anything else when it continues. Only
// "archive gc" finds the bytes of a worker that was killed before its Fetch had answered,
// if the page has others by its next visit; nobody is killed here.
func (w *hostileWeb) awaitNotKept(t *testing.T) {
	t.Helper()
	w.d.must("pause", "web")
	w.d.awaitEvery(time.Second, "the archive has nothing of what asks not to be kept", func() bool {
		keeping, files := w.keeping(t, "archive")
		return len(keeping) == 0 && files > 0
	})
}

// checkNotKept: no file of the data folder has a word of the pages that awaitNotKept waited
// for.
func (w *hostileWeb) checkNotKept(t *testing.T) {
	t.Helper()
	keeping, files := w.keeping(t, "")
	for _, path := range keeping {
		t.Errorf("%s has kept what asked not to be", path)
	}
	if files < 50 {
		t.Errorf("%d files", files)
	}
}

// keeping lists the files in a part of the data folder that have a word of a page that is
// not to be kept, and counts all. Contents so small are not compressed.
func (w *hostileWeb) keeping(t *testing.T, part string) (keeping []string, files int) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(w.d.data, part), func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // deleted meanwhile
			return nil
		}
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		files++
		if bytes.Contains(content, []byte(testsite.Unkept)) {
			keeping = append(keeping, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return keeping, files
}
