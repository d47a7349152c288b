package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"recrawl/internal/crawl"
)

// evidence is the output of `starter evidence`.
type evidence struct {
	Requests struct {
		Total       int
		SmallestGap crawl.Duration `json:"smallest_gap"`
		Answers     []struct {
			Answer   string
			Requests int
		}
		Refusals []struct {
			URL        string
			RetryAfter *crawl.Duration `json:"retry_after"`
			Quiet      *crawl.Duration
		}
	}
	Robots []struct {
		State              string
		Text               string
		Allowed, Forbidden int
	}
	RobotsUnknown int `json:"robots_unknown"`
}

// TestEvidenceIsTheSitesLog: the evidence for a site's owner agrees with the site's own
// log.
func TestEvidenceIsTheSitesLog(t *testing.T) {
	sideBySide(t, 15)
	const n, gap, quiet, rules = 12, 200 * time.Millisecond, 2 * time.Second, "User-agent: *\nDisallow: /p11.html\n"
	pages := tree(n)
	var refused atomic.Bool
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/robots.txt":
			fmt.Fprint(w, rules)
		case r.URL.Path == "/p3.html" && refused.CompareAndSwap(false, true):
			w.Header().Set("Retry-After", strconv.Itoa(int(quiet/time.Second)))
			w.WriteHeader(http.StatusTooManyRequests)
		default:
			pages.ServeHTTP(w, r)
		}
	}))
	args := append([]string{"--name", "t"}, crawlSettings(gap.String())...)
	d := startDev(t, filepath.Join(t.TempDir(), "data"), append(args, s.url+"/")...)
	// Then no request is on its way whose visit a stop would cut off.
	d.await("all pages but the forbidden one are had, and the refused one again", func() bool {
		had := 0
		for _, p := range d.pages("t") {
			least := 1
			if strings.HasSuffix(p.URL, "/p3.html") {
				least = 2
			}
			if p.State == "active" && p.Visits >= least {
				had++
			}
		}
		return had == n-1
	})
	d.stop()
	seen, total := map[string]int{}, 0
	for _, r := range s.requests() {
		if r.path != "/robots.txt" {
			seen[strconv.Itoa(r.status)]++
			total++
		}
	}
	e := lines[evidence](d, "--output", "json", "evidence", strings.TrimPrefix(s.url, "http://"))[0]
	for _, a := range e.Requests.Answers {
		if seen[a.Answer] != a.Requests {
			t.Errorf("the evidence has %d answers %s, the site %d", a.Requests, a.Answer, seen[a.Answer])
		}
	}
	if e.Requests.Total != total || len(e.Requests.Answers) != len(seen) || e.Requests.SmallestGap.Std() < gap {
		t.Errorf("%+v; the site has seen %d requests, %v", e.Requests, total, seen)
	}
	if r := e.Requests.Refusals; len(r) != 1 || !strings.HasSuffix(r[0].URL, "/p3.html") || r[0].RetryAfter == nil || r[0].RetryAfter.Std() != quiet || r[0].Quiet.Std() < quiet {
		t.Errorf("refusals %+v", r)
	}
	if r := e.Robots; len(r) != 1 || r[0].State != "parsed" || r[0].Text != rules || r[0].Allowed != total || r[0].Forbidden != 0 || e.RobotsUnknown != 0 {
		t.Errorf("robots.txt: %+v, unknown %d", r, e.RobotsUnknown)
	}
	s.checkPolite(t, gap)
}
