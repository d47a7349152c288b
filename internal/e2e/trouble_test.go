package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// TestDeadSeeds: a host where nobody answers and one that forbids everything do not look
// alive, wherever their pages are shown, and dev reports it by itself.
func TestDeadSeeds(t *testing.T) {
	sideBySide(t, 15)
	closed := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			fmt.Fprint(w, "User-agent: *\nDisallow: /\n")
		}
	}))
	dead, shut := "http://"+closedPort+"/", closed.url+"/"
	host := strings.TrimPrefix(closed.url, "http://")
	args := append([]string{"--name", "t"}, crawlSettings("100ms")...)
	d := startDev(t, filepath.Join(t.TempDir(), "data"), append(args, dead, shut)...)
	for _, says := range []string{
		"t: " + closedPort + " is unreachable: robots.txt cannot be had: ",
		"t: " + host + " is forbidden: robots.txt forbids everything",
	} {
		d.await("dev says "+says, func() bool { return strings.Contains(d.out.String(), says) })
	}
	status, _, _ := d.starter("status", "t")
	for _, want := range []string{closedPort + " is unreachable: robots.txt cannot be had: ", host + " is forbidden: robots.txt forbids everything"} {
		if !strings.Contains(status, want) {
			t.Errorf("status does not say %q:\n%s", want, status)
		}
	}
	type line struct {
		URL       string `json:"url"`
		HostState string `json:"host_state"`
		NextBy    string `json:"next_by"`
		NextWhy   string `json:"next_why"`
	}
	found := map[string]line{}
	d.await("both pages are shown with what is wrong", func() bool {
		for _, p := range lines[line](d, "pages", "t", "--output", "json") {
			found[p.URL] = p
		}
		return found[shut].NextWhy != "" && found[dead].NextBy == "robots"
	})
	if p := found[dead]; p.HostState != "unreachable" || !strings.HasPrefix(p.NextWhy, "robots.txt cannot be had: ") {
		t.Errorf("the dead host's page: %+v", p)
	}
	if p := found[shut]; p.HostState != "forbidden" || p.NextWhy != `line 2 of robots.txt says "Disallow: /"` {
		t.Errorf("the page that is forbidden: %+v", p)
	}
	for _, command := range []string{"history", "explain"} {
		if out, _, _ := d.starter(command, dead); !strings.Contains(out, "robots.txt cannot be had: ") {
			t.Errorf("%s does not say why:\n%s", command, out)
		}
	}
	if _, code, stderr := d.starter("pause", "t"); code != 0 {
		t.Fatal(stderr)
	}
	if out, _, _ := d.starter("visit", dead); !strings.Contains(out, "(none: the crawl is paused)") {
		t.Errorf("the visit of a paused crawl is promised: %s", out)
	}
	d.stop()
}
