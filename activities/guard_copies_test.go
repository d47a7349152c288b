package activities_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// Print views are found with their articles, and visited after all of them. By then the site does
// not grow any more, and yet the guard finds that they are copies.
func TestCopiesOfASiteThatGrowsNoMore(t *testing.T) {
	t.Parallel()
	const articles, prints = 40, 15
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		var n int
		if at, _ := fmt.Sscanf(r.URL.Path, "/print-view/%d", &n); at == 1 {
			fmt.Fprintf(rw, "<main><p>%s</p></main>", sentences(60, uint64(n)))
			return
		}
		if at, _ := fmt.Sscanf(r.URL.Path, "/article/%d", &n); at == 1 {
			fmt.Fprintf(rw, "<main><p>%s</p><a href=/print-view/%d>print</a></main>", sentences(60, uint64(n)), n)
			return
		}
		for n := range articles {
			fmt.Fprintf(rw, "<a href=/article/%d>%d</a>", n+1, n+1)
		}
	}))
	t.Cleanup(server.Close)
	w := newWorld(t)
	seed := w.living([]string{server.URL + "/"})[0]
	visits := w.firstPass(seed, func(visits int) bool { return visits == 1+articles || visits == 1+articles+prints })
	if want := 1 + articles + prints; visits != want || w.status().Pages[crawl.Held] != articles-prints {
		t.Errorf("%d visits, want %d; %d pages are held by %v", visits, want, w.status().Pages[crawl.Held], w.traps())
	}
}

// firstPass visits the pages of a crawl in the order of their admission, from its seed on, and
// returns how many it visited. Maintenance runs after the visits that it is told.
func (w *world) firstPass(seed crawl.PageRef, maintains func(visits int) bool) (visits int) {
	w.t.Helper()
	for line := []crawl.PageRef{seed}; len(line) > 0; {
		page := line[0]
		line = line[1:]
		w.saveRobots(store.SaveRobotsParams{Origin: originOf(page.URL), State: store.RobotsAllowAll, Status: 404, Expires: time.Hour})
		if w.acquire(page, 1).Answer != contract.AnswerEvicted {
			w.visitAnd(page, 1, contract.DetectIn{Register: true})
			if visits++; maintains(visits) {
				w.maintain(false)
			}
		}
		for _, p := range run(w, contract.Admit, contract.AdmitIn{CrawlID: seed.CrawlID, Limit: 100}).Pages {
			line = append(line, p.Page)
		}
	}
	return visits
}
