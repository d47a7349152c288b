package activities_test

import (
	"log/slog"
	"net/http"
	"slices"
	"testing"

	"recrawl/activities"
	"recrawl/internal/contract"
	"recrawl/internal/crawl"
)

func atOnce(p *parts) { p.settings.AtOnce = true }

// newAtOnce is a worker that begins permits at once, with one page, which is gone.
func newAtOnce(t *testing.T) (w *world, s *site, page crawl.PageRef) {
	t.Helper()
	w, s = newWorld(t, atOnce), serve(t, answering(410, ""))
	return w, s, w.living([]string{s.url + "/"})[0]
}

// beside is another worker on the same store.
func (w *world) beside() *world {
	other := *w
	other.activities = activities.New(storesOf(w.store), w.archive, w.fetcher, w.flows, w.settings, slog.New(slog.DiscardHandler))
	w.t.Cleanup(other.activities.Close)
	return &other
}

func (w *world) fetchWith(page crawl.PageRef, visit int, permit crawl.Permit) contract.FetchOut {
	w.t.Helper()
	return w.fetched(try(w, contract.Fetch, contract.FetchIn{Page: page, Visit: visit, Permit: permit, Plans: true}))
}

// Acquire begins the permit of a page that is alone at its host, and Fetch makes its
// request, once.
func TestAcquireBeginsForFetch(t *testing.T) {
	t.Parallel()
	w, s, page := newAtOnce(t)
	t.Cleanup(w.activities.Close)
	permit := w.permit(page, 1)
	if !w.host(page).InFlight {
		t.Fatal("Acquire did not begin the permit")
	}
	if again := w.permit(page, 1); again != permit {
		t.Errorf("asked again: permit %+v, want %+v", again, permit)
	}
	if out := w.fetchWith(page, 1, permit); out.Plan == nil || w.host(page).InFlight {
		t.Errorf("fetched %+v, want it recorded and the permit given back", out)
	}
	if out := w.fetchWith(page, 1, permit); !out.Recorded {
		t.Errorf("fetched again: %+v", out)
	}
	s.wantRequests(t, "/")
}

// A Fetch in another process makes no request with a permit that this one has begun. Once
// the permit is given back, it may.
func TestLostHandoverMakesNoRequest(t *testing.T) {
	t.Parallel()
	w, s, page := newAtOnce(t)
	other := w.beside()
	permit := w.permit(page, 1)
	if out := other.fetchWith(page, 1, permit); !out.NotBegun {
		t.Errorf("fetched elsewhere: %+v, want it not begun", out)
	}
	s.wantRequests(t)
	w.activities.Close()
	if w.host(page).InFlight || !slices.Equal(w.flows.turned, []string{page.URL}) {
		t.Errorf("after the worker has stopped: in flight %t, turned %q", w.host(page).InFlight, w.flows.turned)
	}
	if out := other.fetchWith(page, 1, permit); out.Outcome != crawl.OutcomeGone {
		t.Errorf("fetched elsewhere: %+v", out)
	}
	s.wantRequests(t, "/")
	if w.permit(page, 2); w.host(page).InFlight {
		t.Error("a worker that has stopped begins permits")
	}
}

// A page whose Fetch ran elsewhere, and so made no request, asks again and at once gets a
// permit that has not begun: it does not go around in circles until the permit is given
// back by itself.
func TestWhoeverAsksAgainMayFetchAnywhere(t *testing.T) {
	t.Parallel()
	w, s, page := newAtOnce(t)
	t.Cleanup(w.activities.Close)
	other := w.beside()
	permit := w.permit(page, 1)
	if out := other.fetchWith(page, 1, permit); !out.NotBegun {
		t.Fatalf("fetched elsewhere: %+v, want it not begun", out)
	}
	permit = w.permit(page, 1)
	if out := other.fetchWith(page, 1, permit); out.Outcome != crawl.OutcomeGone {
		t.Errorf("fetched elsewhere with a new permit: %+v", out)
	}
	if len(w.flows.turned) > 0 {
		t.Errorf("%q were turned; whoever asks needs no turn", w.flows.turned)
	}
	s.wantRequests(t, "/")
}

// A permit for which no Fetch comes is given back by itself, and for a while no other
// begins before its Fetch.
func TestForgottenHandoverIsGivenBack(t *testing.T) {
	t.Parallel()
	w, s, page := newAtOnce(t)
	t.Cleanup(w.activities.Close)
	permit := w.permit(page, 1)
	for w.host(page).InFlight {
		if err := t.Context().Err(); err != nil {
			t.Fatal(err)
		}
	}
	if out := w.fetchWith(page, 1, permit); out.Outcome != crawl.OutcomeGone {
		t.Errorf("the late fetch: %+v", out)
	}
	if w.permit(page, 2); w.host(page).InFlight {
		t.Error("the next permit has begun before its Fetch")
	}
	s.wantRequests(t, "/")
}

// A worker that stops, or has no room, gives a begun permit back without a request.
func TestHandoverThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	w, s, page := newAtOnce(t)
	t.Cleanup(w.activities.Close)
	permit := w.permit(page, 1)
	close(w.stopping)
	if out := w.fetchWith(page, 1, permit); !out.NotBegun || w.host(page).InFlight {
		t.Errorf("while the worker stops: %+v, in flight %t", out, w.host(page).InFlight)
	}
	s.wantRequests(t)
}

// A robots.txt that is not cached is read before anything begins, and one that forbids
// the page is obeyed.
func TestAtOnceObeysRobots(t *testing.T) {
	t.Parallel()
	w := newWorld(t, atOnce)
	t.Cleanup(w.activities.Close)
	s := serve(t, func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			answering(200, "User-agent: *\nDisallow: /private", "Content-Type: text/plain")(rw, r)
			return
		}
		answering(410, "")(rw, r)
	})
	opened := w.open([]string{s.url + "/", s.url + "/private"})
	run(w, contract.Admit, contract.AdmitIn{CrawlID: opened.CrawlID, Limit: 100})
	page, private := w.page(s.url+"/").PageRef, w.page(s.url+"/private").PageRef
	robots := w.acquire(page, 1)
	if robots.Answer != contract.AnswerRobots || w.host(page).InFlight {
		t.Fatalf("answered %+v", robots)
	}
	run(w, contract.RefreshRobots, contract.RefreshRobotsIn{Page: page, Visit: 1, Permit: robots.Permit})
	w.fetchWith(page, 1, w.permit(page, 1))
	for range 2 {
		if got := w.acquire(private, 1); got.Answer != contract.AnswerExcluded || w.host(page).InFlight {
			t.Errorf("the forbidden page was answered %+v; in flight %t", got, w.host(page).InFlight)
		}
	}
	if w.permit(page, 2); !w.host(page).InFlight {
		t.Error("the allowed page's next permit was not begun at once")
	}
	s.wantRequests(t, "/robots.txt", "/")
}

// Nothing begins by a spec that another worker has replaced meanwhile: the page may be outside of
// the scope now.
func TestAtOnceObeysTheNewestScope(t *testing.T) {
	t.Parallel()
	w, s := newWorld(t, atOnce), serve(t, answering(410, ""))
	t.Cleanup(w.activities.Close)
	pages := w.living([]string{s.url + "/new", s.url + "/old/a"}, rejecting(s, ""))
	w.fetchWith(pages[0], 1, w.permit(pages[0], 1)) // it knows the first spec
	w.beside().open([]string{s.url + "/new"}, rejecting(s, "/old/"))
	if got := w.acquire(pages[1], 1); got.Answer != contract.AnswerExcluded || w.host(pages[1]).InFlight {
		t.Errorf("answered %+v, in flight %t; want the page excluded", got, w.host(pages[1]).InFlight)
	}
	s.wantRequests(t, "/new")
}
