package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"
)

// TestThrottledPageStandsAside: a page that is always refused has its host held for a
// minute, which is no setting; the others are fetched before it is requested again.
func TestThrottledPageStandsAside(t *testing.T) {
	waitsBeside(t, 80)
	const good, gap, refused = 28, 200 * time.Millisecond, "/p2.html"
	healthy := tree(good + 1)
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case refused:
			w.WriteHeader(http.StatusTooManyRequests)
		case "/":
			fmt.Fprintf(w, "<!doctype html><title>all pages</title>")
			for i := 1; i <= good; i++ {
				fmt.Fprintf(w, `<p><a href="/p%d.html">page %d</a>`, i, i)
			}
		default:
			healthy.ServeHTTP(w, r)
		}
	}))
	// The pages come back again and again, at the rate that the host can take.
	args := append([]string{"--name", "t"}, crawlSettings(gap.String())...)
	d := startDev(t, filepath.Join(t.TempDir(), "data"), append(args, "--default-interval", "5s", s.url+"/")...)
	// How often the refused page was asked for until all others were had.
	count := func() (all bool, asked int) {
		seen := map[string]bool{}
		for _, r := range s.requests() {
			switch {
			case r.path == refused:
				asked++
			case r.status == http.StatusOK:
				seen[r.path] = true
			}
			if len(seen) == good {
				return true, asked
			}
		}
		return false, asked
	}
	d.await("all pages but the one that is refused are had", func() bool {
		all, _ := count()
		return all
	})
	if _, asked := count(); asked > 2 {
		t.Errorf("the page that is always refused was asked for %d times before all others were had", asked)
	}
	d.stop()
	s.checkPolite(t, gap)
}
