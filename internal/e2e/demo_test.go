package e2e

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// demoRow is a line of the demo's summary.
type demoRow struct {
	visits, changes, failed int
	state                   string
}

// demoSummary reads the table that the demo ends with. Its columns are at least
// two spaces apart.
func demoSummary(t *testing.T, out string) map[string]demoRow {
	t.Helper()
	rows := map[string]demoRow{}
	for line := range strings.Lines(out) {
		var cells []string
		for cell := range strings.SplitSeq(strings.TrimSpace(line), "  ") {
			if cell = strings.TrimSpace(cell); cell != "" {
				cells = append(cells, cell)
			}
		}
		if len(cells) != 7 || cells[0] == "PAGE" || cells[2] == "-" {
			continue
		}
		row := demoRow{state: cells[5]}
		for i, into := range []*int{&row.visits, &row.changes, &row.failed} {
			n, err := strconv.Atoi(cells[2+i])
			if err != nil {
				t.Fatalf("summary line %q: %v", line, err)
			}
			*into = n
		}
		rows[cells[0]] = row
	}
	return rows
}

// demoLearned returns what the demo has not shown yet of its learning: a page that changes
// every 2 s is visited more often than one that never does, and one that fails is visited
// again until it recovers.
func demoLearned(rows map[string]demoRow) (lacks string) {
	quick, slow, flaky := rows["news/ticker"], rows["news/archive/1975"], rows["flaky/recovering"]
	if slow.visits < 2 || quick.visits < 2*slow.visits || quick.changes < quick.visits/2 || slow.changes != 0 {
		return fmt.Sprintf("a page that changes every 2 s has %+v, one that never changes %+v", quick, slow)
	}
	if flaky.failed == 0 || flaky.visits <= flaky.failed {
		return fmt.Sprintf("the page that fails and recovers has %+v", flaky)
	}
	return ""
}

// demoFolder is a data folder whose demo's site has a port that stays its own while
// the demo is down. The one of an untouched folder is the same for all.
func demoFolder(t *testing.T, parent string) string {
	t.Helper()
	data := filepath.Join(parent, "data")
	write(t, filepath.Join(data, "recrawl.lock"), "") // marks it as a data folder
	write(t, filepath.Join(data, "demo.json"), fmt.Sprintf(`{"seed": 1, "port": %s}`, freePort(t)))
	return data
}

// TestDemo runs the demo as a person does, interrupts it, resumes it, and reads its last
// output. Its site checks the crawl's manners itself. How much is learned in one run
// depends on the machine, so it may run again: the summary counts the visits of all runs.
func TestDemo(t *testing.T) {
	sideBySide(t, 120)
	span := 50 * time.Second
	if long() {
		span = 10 * time.Minute
	}
	data := demoFolder(t, t.TempDir())
	first := startDev(t, data, "--demo")
	first.await("the demo's first visits", func() bool { return len(first.pages("demo")) > 20 })
	port := first.demoPort()
	first.cmd.Process.Signal(syscall.SIGINT)
	first.awaitEnd()
	if code := first.cmd.ProcessState.ExitCode(); code != 0 || !strings.Contains(first.out.String(), "start again on the same data folder") {
		t.Fatalf("after Ctrl-C: %d: %s", code, first.out)
	}

	var d *dev
	var rows map[string]demoRow
	begun, lacks := time.Now(), "a run"
	for lacks != "" && time.Since(begun) < patience() {
		d = startDev(t, data, "--demo", "--for", span.String())
		if again := d.demoPort(); again != port {
			t.Errorf("the site went from port %s to %s", port, again)
		}
		d.awaitEnd()
		out := d.out.String()
		if code := d.cmd.ProcessState.ExitCode(); code != 0 {
			t.Fatalf("exit %d: %s", code, out)
		}
		for _, want := range []string{"Forbidden pages were never requested", "no two requests to a host overlapped", "every Retry-After was kept"} {
			if !strings.Contains(out, want) {
				t.Errorf("the summary does not say %q", want)
			}
		}
		rows = demoSummary(t, out)
		if lacks = demoLearned(rows); lacks != "" {
			t.Logf("after a run of %s: %s", span, lacks)
		}
	}
	if lacks != "" {
		t.Error(lacks)
	}
	if r := rows["news/private/drafts"]; r.visits > 0 || r.state != "excluded" {
		t.Errorf("the forbidden page has %+v", r)
	}
	for url, visits := range d.stored("demo") {
		for _, v := range visits {
			if strings.Contains(v.Problem, "the host refused the connection") {
				t.Errorf("%s was asked for when its site was gone: visit %d", url, v.Visit)
			}
		}
	}
	d.checkReport("demo")
	if t.Failed() {
		t.Log(fmt.Sprint(rows), d.out.String())
	}
}
