package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

// operator is somebody who has the commands of an installation, of one machine or of a
// cluster, and makes mistakes with them.
type operator struct {
	t        *testing.T
	starter  func(args ...string) (stdout string, code int, stderr string)
	temporal func(args ...string) string
	await    func(what string, holds func() bool)
}

func (d *dev) operator() operator {
	return operator{d.t, d.starter, d.temporal, d.await}
}

// says runs a starter command that must succeed and say this.
func (o operator) says(want string, args ...string) {
	o.t.Helper()
	out, code, problem := o.starter(args...)
	if code != 0 || !strings.Contains(out, want) {
		o.t.Errorf("starter %s: %d: %q %q, want %q", strings.Join(args, " "), code, out, problem, want)
	}
}

// refuses runs a starter command that must fail and say this.
func (o operator) refuses(code int, want string, args ...string) {
	o.t.Helper()
	out, got, problem := o.starter(args...)
	if got != code || !strings.Contains(problem, want) {
		o.t.Errorf("starter %s: %d: %q %q, want %d and %q", strings.Join(args, " "), got, out, problem, code, want)
	}
}

// awaitSays waits until a command says this.
func (o operator) awaitSays(want string, args ...string) {
	o.t.Helper()
	o.await(strings.Join(args, " ")+" says "+want, func() bool {
		out, _, _ := o.starter(args...)
		return strings.Contains(out, want)
	})
}

// counts reports whether so many workflows of this id are in this state.
func (o operator) counts(want, id, state string) bool {
	o.t.Helper()
	out := o.temporal("workflow", "count", "--query", "WorkflowId='"+id+"' AND ExecutionStatus='"+state+"'")
	return strings.TrimSpace(out) == "Total: "+want
}

// aTerminatedCrawl: the crawl's workflow is terminated twice. Once commands come before
// any worker has noticed, and once a worker must notice by itself. Then it is stopped.
func (o operator) aTerminatedCrawl(name string) {
	o.t.Helper()
	id := "crawl/" + name
	o.temporal("workflow", "terminate", "--workflow-id", id, "--reason", "a mistake")
	o.says("paused: no request begins until it is resumed", "pause", name)
	o.says("("+"paused)", "status", name)
	o.says("running: pages that came due", "resume", name)
	o.says("the pages are being ranked", "rank", name)
	o.await("the crawl's workflow runs", func() bool { return o.counts("1", id, "Running") })

	o.temporal("workflow", "terminate", "--workflow-id", id, "--reason", "the same mistake")
	o.awaitSays("workflow: it was terminated and was started anew", "status", name)
	o.await("the crawl's workflow runs", func() bool { return o.counts("1", id, "Running") })

	o.temporal("workflow", "terminate", "--workflow-id", id, "--reason", "and again")
	o.says("stopped: no further request begins", "stop", name)
	o.awaitStopped(name)
}

// awaitStopped waits until every page of a crawl is stopped, and asks for more.
func (o operator) awaitStopped(name string) {
	o.t.Helper()
	o.await("every page is stopped", func() bool {
		out, _, _ := o.starter("--output", "json", "pages", name, "--limit", "0")
		pages := decodeLines[pageLine](o.t, out)
		for _, p := range pages {
			if p.State != "stopped" && p.State != "known" {
				return false
			}
		}
		return len(pages) > 0
	})
	o.says("crawl "+name+" is stopped", "stop", name)
	for _, command := range []string{"pause", "resume", "rank"} {
		o.refuses(1, "is stopped: `starter crawl "+name+"` starts it again", command, name)
	}
	o.refuses(3, "there is no crawl", "pause", "nobody")
}

// TestTerminatedCrawl: on today's mistake of terminating a crawl its pages went on, and
// nothing could stop them.
func TestTerminatedCrawl(t *testing.T) {
	t.Parallel()
	const pages = 8
	s := serve(t, tree(pages))
	d := startDev(t, filepath.Join(t.TempDir(), "data"), crawlArgs(s, "10ms")...)
	d.await("every page is visited", d.crawled("t", pages, 1))
	for _, p := range d.pages("t")[:3] {
		d.temporal("workflow", "terminate", "--workflow-id", "page/t/"+p.URL, "--reason", "a mistake")
	}
	d.operator().says("looked at 8 pages: 3 had no workflow, 0 were stuck, 3 started anew", "repair", "t")
	d.await("every page has its workflow", func() bool { return d.running("t") == pages })
	d.operator().aTerminatedCrawl("t")
	d.must("crawl", "t") // brings it back
	d.await("every page is back", func() bool { return d.running("t") == pages })

	// Cancelling is stopping.
	d.temporal("workflow", "cancel", "--workflow-id", "crawl/t")
	d.operator().awaitStopped("t")
	o := d.operator()
	d.await("the workflow says how it ended", func() bool { return o.counts("1", "crawl/t", "Canceled") })
	d.stop()
}
