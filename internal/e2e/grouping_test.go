package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestGroupedHosts crawls two servers on one address, which a store that groups
// by domain takes for one host, as the servers' logs together show.
func TestGroupedHosts(t *testing.T) {
	sideBySide(t, 15)
	const pages, gap = 12, 50 * time.Millisecond
	one, other := serve(t, tree(pages)), serve(t, tree(pages))
	data := filepath.Join(t.TempDir(), "data")
	d := startDev(t, data, append([]string{other.url + "/"}, crawlArgs(one, gap.String(), "--group-hosts", "domain")...)...)
	d.await("every page is visited", d.crawled("t", 2*pages, 1))
	both := &site{log: slices.Concat(one.requests(), other.requests())}
	slices.SortFunc(both.log, func(a, b request) int { return a.begin.Compare(b.begin) })
	both.checkPolite(t, gap)
	if out := d.must("hosts", "t"); strings.Count(out, "127.0.0.1") != 1 {
		t.Errorf("the hosts are\n%s", out)
	}
	_, code, stderr := d.starter("hosts", "block", strings.TrimPrefix(one.url, "http://"))
	if code == 0 || !strings.Contains(stderr, "name 127.0.0.1") {
		t.Errorf("blocking one of them: %d, %s", code, stderr)
	}
	d.stop()
	_, code, stderr = run(t, programs.starter, "dev", "--data", data, "--group-hosts", "host")
	if code != 1 || !strings.Contains(stderr, "groups hosts by domain, not by host: fixed when the store was made") {
		t.Errorf("opened by host: %d, %s", code, stderr)
	}
}
