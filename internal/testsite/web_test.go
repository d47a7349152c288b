package testsite

import (
	"reflect"
	"strings"
	"testing"
)

// Every page of a generated web can be reached, few pages have most of the links, and the
// same settings give the same web.
func TestGeneratedWeb(t *testing.T) {
	t.Parallel()
	w := Web{Seed: 7, Hosts: 8, Pages: 2000, Links: 6}
	hosts := Generated(w)
	New(Options{Hosts: hosts}) // panics on a script that cannot be played
	outlinks, backlinks := map[string][]string{}, map[string]int{}
	links := 0
	for _, h := range hosts {
		for _, p := range h.Pages {
			all := Outlinks(h, p)
			outlinks["//"+h.Name+p.Path] = all
			for _, to := range all {
				backlinks[to]++
				links++
			}
		}
	}
	if len(hosts) != w.Hosts || len(outlinks) != w.Pages || links < 5*w.Pages {
		t.Fatalf("%d pages on %d hosts with %d links", len(outlinks), len(hosts), links)
	}
	reached := map[string]bool{}
	var reach func(at string)
	reach = func(at string) {
		if reached[at] {
			return
		}
		if _, ok := outlinks[at]; !ok {
			t.Fatalf("a link leads to %s, which is no page", at)
		}
		reached[at] = true
		for _, to := range outlinks[at] {
			if strings.HasPrefix(to, at[:strings.Index(at[2:], "/")+3]) {
				reach(to)
			}
		}
	}
	many := 0
	for _, h := range hosts {
		reach("//" + h.Name + "/")
	}
	for _, n := range backlinks {
		if n >= 5*links/w.Pages {
			many++
		}
	}
	if len(reached) != w.Pages || many == 0 || many > w.Pages/10 {
		t.Errorf("%d of %d pages can be reached within their hosts; %d have five times the mean of links", len(reached), w.Pages, many)
	}
	if !reflect.DeepEqual(hosts, Generated(w)) {
		t.Error("the same web twice is not the same")
	}
	w.Seed++
	if reflect.DeepEqual(hosts, Generated(w)) {
		t.Error("another seed gives the same web")
	}
}
