package activities_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// pictureSite is a page that changes, and a picture.
func pictureSite(t *testing.T, edition *atomic.Int64, body string) *site {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, ".png"):
			w.Header().Set("Content-Type", "image/png")
			w.Header().Set("ETag", `"a"`)
			if r.Header.Get("If-None-Match") == `"a"` {
				w.WriteHeader(http.StatusNotModified)
				return
			}
			_, _ = io.WriteString(w, "a picture")
		case r.URL.Path == "/":
			html(w, fmt.Sprintf("<p>Edition %d of this page.%s", edition.Load(), body))
		default:
			http.NotFound(w, r)
		}
	})
}

func keepRequisites(spec *crawl.Spec) { spec.Documents.Requisites = true }

// registering has links registered by DetectChange, as workflows do.
var registering = contract.DetectIn{Register: true}

// TestRequisitesAreWoken: a picture is requested once, and again when its time is over and
// a new version of a page needs it. A mark tells workflows that it is stopped.
func TestRequisitesAreWoken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var edition atomic.Int64
	s := pictureSite(t, &edition, "<img src=/a.png>")
	picture := s.url + "/a.png"
	page := w.living([]string{s.url + "/"}, keepRequisites)[0]
	w.visitAnd(page, 1, registering)
	found := w.page(picture)
	if found.Kind != crawl.KindRequisite || found.State != crawl.Known {
		t.Fatalf("a picture is %s, %s", found.Kind, found.State)
	}
	plan := w.visitAnd(w.admitted(picture), 1, registering)
	if plan.Outcome != crawl.OutcomeNew || plan.State != crawl.Stopped || !plan.Kept {
		t.Errorf("plan of the picture: %+v", plan)
	}
	kept := w.page(picture)
	if rest := kept.NextAt.Sub(kept.LastAt); kept.State != crawl.Kept || rest != 30*24*time.Hour || kept.Last.ContentType != "image/png" {
		t.Errorf("the picture is %s for %s, %+v", kept.State, rest, kept.Last)
	}
	if again := w.acquire(kept.PageRef, 1); again.Answer != contract.AnswerRecorded || !again.Recorded.Kept {
		t.Errorf("asked again for a visit that was recorded: %+v", again)
	}

	edition.Add(1)
	w.visitAnd(page, 2, registering)
	if state := w.page(picture).State; state != crawl.Kept {
		t.Fatalf("a picture with a copy of today is %s after a new version of its page", state)
	}
	// The next visit says that its time is over at once.
	w.setPage(picture, crawl.Active)
	_, err := w.store.RecordVisit(t.Context(), store.RecordParams{Visit: store.VisitRecord{PageID: kept.PageID, Visit: 2, Outcome: crawl.OutcomeUnchanged, State: crawl.Kept}})
	if err != nil {
		t.Fatal(err)
	}
	edition.Add(1)
	w.visitAnd(page, 3, registering)
	if state := w.page(picture).State; state != crawl.Known {
		t.Fatalf("a picture with an old copy is %s after a new version of its page", state)
	}
	if plan := w.visitAnd(w.admitted(picture), 3, registering); plan.Outcome != crawl.OutcomeUnchanged || !plan.Kept {
		t.Errorf("plan of a picture that has not changed: %+v", plan)
	}
	s.wantRequests(t, "/", "/a.png", "/", "/", "/a.png")
}

// setPage sets the state of a page outside a visit.
func (w *world) setPage(url string, state crawl.PageState) {
	w.t.Helper()
	if err := w.store.SetPageState(w.t.Context(), w.page(url).PageID, state); err != nil {
		w.t.Fatal(err)
	}
}

// TestRequisitesAreJudged: the scope's type excludes no requisite; its rules do. If a page
// also links to an address, its extension decides whether it is a page.
func TestRequisitesAreJudged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var edition atomic.Int64
	other := pictureSite(t, &edition, "")
	s := pictureSite(t, &edition, fmt.Sprintf(`<img src=%s/other.png><img src=%s/ads/advert.png><a href=/full.png><img src=/full.png></a><a href=/about>About</a><img src=/about>`, other.url, other.url))
	page := w.living([]string{s.url + "/"}, keepRequisites, wholeMachine, func(spec *crawl.Spec) {
		spec.Scope.Rules = []crawl.ScopeRule{{Name: "adverts", Reject: &crawl.FilterSpec{Prefix: crawl.Texts{other.url + "/ads/"}}}}
	})[0]
	w.visitAnd(page, 1, registering)
	for path, kind := range map[string]crawl.PageKind{other.url + "/other.png": crawl.KindRequisite, s.url + "/full.png": crawl.KindRequisite, s.url + "/about": crawl.KindPage} {
		if got := w.page(path).Kind; got != kind {
			t.Errorf("%s is a %s, want a %s", path, got, kind)
		}
	}
	if _, known := w.find(other.url + "/ads/advert.png"); known {
		t.Error("an advert is a requisite, though a rule rejects it")
	}
}

// TestNoRequisites: a crawl that keeps none finds none, and one that no longer keeps any
// requests none.
func TestNoRequisites(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var edition atomic.Int64
	s := pictureSite(t, &edition, "<img src=/a.png>")
	seeds := []string{s.url + "/"}
	page := w.living(seeds)[0]
	w.visitAnd(page, 1, registering)
	if _, known := w.find(s.url + "/a.png"); known {
		t.Fatal("a crawl that keeps no requisites knows a picture")
	}
	w.open(seeds, keepRequisites)
	edition.Add(1)
	w.visitAnd(page, 2, registering)
	picture := w.admitted(s.url + "/a.png")
	w.open(seeds)
	got := w.acquire(picture, 1)
	if got.Answer != contract.AnswerExcluded || got.Rule != "documents.requisites is off" {
		t.Errorf("a picture that is not wanted any more: %+v", got)
	}
	s.wantRequests(t, "/", "/")
}

// TestRequisitesMayNotBeKept: a page whose body may not be kept needs nothing, and a
// picture that forbids it is not kept either.
func TestRequisitesMayNotBeKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var edition atomic.Int64
	s := pictureSite(t, &edition, `<meta name=robots content=noarchive><img src=/a.png>`)
	w.visitAnd(w.living([]string{s.url + "/"}, keepRequisites)[0], 1, registering)
	if _, known := w.find(s.url + "/a.png"); known {
		t.Error("a page that may not be kept brings a picture")
	}
}

// TestReservedPictures: a page that reserves its pictures from the crawl's purpose, in an
// element or a header, is kept without them; its styles and fonts are. A page without the
// mark brings the same picture.
func TestReservedPictures(t *testing.T) {
	t.Parallel()
	const shows = `<p>Some words<link rel=stylesheet href=/a.css><img src=/a.png srcset="/b.png 2x"><style>@font-face{src:url(/f.woff2)}p{background:url(/c.png)}</style>`
	for _, c := range []struct {
		name, element, header string
		purpose               []crawl.Use
		pictures              bool
	}{
		{"no purpose", "<meta name=robots content=noimageai>", "noimageai", nil, true},
		{"another purpose", "<meta name=robots content=noimageai>", "noimageai", []crawl.Use{crawl.UseSearch, crawl.UseArchive}, true},
		{"nothing said", "", "", []crawl.Use{crawl.UseAITrain}, true},
		{"element", "<meta name=robots content=noimageai>", "", []crawl.Use{crawl.UseAITrain}, false},
		{"header", "", "noimageai", []crawl.Use{crawl.UseSearch, crawl.UseAIInput}, false},
		{"element for others", "<meta name=otherbot content=noimageai>", "otherbot: noimageai", []crawl.Use{crawl.UseAITrain}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/":
					if c.header != "" {
						w.Header().Set("X-Robots-Tag", c.header)
					}
					html(w, c.element+shows)
				case "/open":
					html(w, "<p>Other words<img src=/a.png>")
				default:
					http.NotFound(w, r)
				}
			})
			pages := w.living([]string{s.url + "/", s.url + "/open"}, keepRequisites, aim(c.purpose...))
			if err := w.store.SaveTerms(t.Context(), store.SaveTermsParams{Origin: s.url, Expires: time.Hour}); err != nil {
				t.Fatal(err)
			}
			if plan := w.visitAnd(pages[0], 1, registering); plan.Outcome != crawl.OutcomeNew || !w.kept(c.element+shows) {
				t.Fatalf("the page: %+v", plan)
			}
			for path, want := range map[string]bool{"/a.css": true, "/f.woff2": true, "/a.png": c.pictures, "/b.png": c.pictures, "/c.png": c.pictures} {
				if _, known := w.find(s.url + path); known != want {
					t.Errorf("%s is known: %t, want %t", path, known, want)
				}
			}
			refused := map[bool]int{true: 0, false: 3}[c.pictures]
			if n := w.rejected("noimageai"); n != refused {
				t.Errorf("%d are rejected, want %d", n, refused)
			}
			w.visitAnd(pages[1], 1, registering)
			if _, known := w.find(s.url + "/a.png"); !known {
				t.Error("a page without the mark does not bring the picture")
			}
		})
	}
}
