package testsite

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"recrawl/internal/extract"
	"recrawl/internal/robots"
	"recrawl/internal/urlkey"
)

func TestAnswers(t *testing.T) {
	t.Parallel()
	cases := []struct {
		target string
		at     time.Duration
		status int
		header string // "Name: value"
	}{
		{News + "/", 0, 200, "Content-Type: text/html; charset=utf-8"},
		{News + "/ticker", 0, 200, "ETag: "},
		{News + "/ticker?from=here", 0, 200, ""},
		{News + "/nothing", 0, 404, ""},
		{News + "/private/drafts", 0, 200, ""},
		{News + "/partner", 0, 302, "Location: http://docs.localhost:8042/guide/install"},
		{News + "/stories/3", 0, 200, ""},
		{News + "/stories/4", 0, 404, ""},
		{News + "/stories/4", 12 * time.Second, 200, ""},
		{News + "/stories/5", 12 * time.Second, 404, ""},
		{News + "/stories/0", 0, 404, ""},
		{News + "/stories/03", 0, 404, ""},
		{News + "/sitemap.xml", 0, 200, "Content-Type: application/xml"},
		{Docs + "/sitemap.xml", 0, 404, ""},
		{Docs + "/old/install", 0, 301, "Location: /guide/install"},
		{Docs + "/chain/1", 0, 301, "Location: /chain/2"},
		{Docs + "/chain/3", 0, 308, "Location: /guide/operate"},
		{Shop + "/robots.txt", 0, 404, ""},
		{Shop + "/offer", 40*time.Second - 1, 200, ""},
		{Shop + "/offer", 40 * time.Second, 410, ""},
		{Shop + "/offer", time.Hour, 410, ""},
		{Shop + "/umbrella", 30*time.Second - 1, 200, ""},
		{Shop + "/umbrella", 30 * time.Second, 404, ""},
		{Shop + "/umbrella", 50 * time.Second, 200, ""},
		{Shop + "/manual.pdf", 0, 200, "Content-Type: application/pdf"},
		{Shop + "/loop/a", 0, 302, "Location: /loop/b"},
		{Shop + "/loop/b", 0, 302, "Location: /loop/a"},
		{Flaky + "/recovering", 19 * time.Second, 200, ""},
		{Flaky + "/recovering", 20 * time.Second, 500, "Retry-After: "},
		{Flaky + "/recovering", 40 * time.Second, 200, ""},
		{Flaky + "/recovering", 140 * time.Second, 500, ""},
		{Flaky + "/recovering", 160 * time.Second, 200, ""},
		{Flaky + "/hiccup", 44 * time.Second, 502, ""},
		{Flaky + "/broken", 0, 500, ""},
		{Busy + "/", 25*time.Second - 1, 200, ""},
		{Busy + "/", 25 * time.Second, 429, "Retry-After: 12"},
		{Busy + "/robots.txt", 85 * time.Second, 429, "Retry-After: 12"},
		{Busy + "/desk/1", 72 * time.Second, 503, "Retry-After: 7"},
		{Busy + "/desk/1", 75 * time.Second, 200, ""},
		{"other.localhost/", 0, 421, ""},
		{AdminHost + "/", 0, 200, "Content-Type: text/html; charset=utf-8"},
		{AdminHost + "/nothing", 0, 404, ""},
		{"127.0.0.1/", 0, 200, ""},
	}
	for _, c := range cases {
		t.Run(c.target+" at "+c.at.String(), func(t *testing.T) {
			t.Parallel()
			s := play(Options{Seed: 7})
			s.to(c.at)
			w := s.get(c.target)
			name, value, _ := strings.Cut(c.header, ": ")
			if w.Code != c.status || w.Header().Get(name) != value {
				t.Errorf("%d %v", w.Code, w.Header())
			}
		})
	}
}

func TestConditionalRequests(t *testing.T) {
	t.Parallel()
	s := play(Options{Seed: 3})
	changing, never := News+"/weather", Docs+"/glossary"
	first := s.get(changing)
	etag, modified := first.Header().Get("ETag"), first.Header().Get("Last-Modified")
	unchanged := s.get(never).Header().Get("Last-Modified")
	if w := s.get(changing, "If-None-Match", etag, "If-Modified-Since", modified); w.Code != http.StatusNotModified || w.Body.Len() > 0 {
		t.Errorf("unchanged: %d", w.Code)
	}
	s.to(15 * time.Second)
	if w := s.get(changing, "If-None-Match", etag); w.Code != http.StatusOK || w.Header().Get("ETag") == etag {
		t.Errorf("changed: %d %v", w.Code, w.Header())
	}
	if w := s.get(changing, "If-Modified-Since", modified); w.Code != http.StatusOK {
		t.Errorf("changed, by date: %d", w.Code)
	}
	if w := s.get(never, "If-Modified-Since", unchanged); w.Code != http.StatusNotModified {
		t.Errorf("never changes: %d", w.Code)
	}
	log := s.Log()
	if got := log[2]; got.IfNoneMatch != etag || got.IfModifiedSince != modified || got.Status != http.StatusNotModified {
		t.Errorf("log: %+v", got)
	}
	if log[3].Edition != 1 {
		t.Errorf("log: %+v", log[3])
	}
}

func TestSizeAndSlowness(t *testing.T) {
	t.Parallel()
	s := play(Options{})
	if n := s.get(Shop + "/catalogue").Body.Len(); n < 1<<20 {
		t.Errorf("the catalogue has %d bytes", n)
	}
	s.get(Shop + "/stock")
	if last := s.Log()[1]; last.End.Sub(last.Begin) != 2*time.Second {
		t.Errorf("%+v", last)
	}
}

func TestMethods(t *testing.T) {
	t.Parallel()
	s := play(Options{})
	for method, status := range map[string]int{http.MethodHead: 200, http.MethodPost: 405} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(method, "http://news.localhost/", nil))
		if w.Code != status || method == http.MethodHead && w.Body.Len() > 0 {
			t.Errorf("%s: %d", method, w.Code)
		}
	}
}

// TestRobots reads the files as the crawler does.
func TestRobots(t *testing.T) {
	t.Parallel()
	s := play(Options{})
	for _, h := range s.Hosts() {
		if h.Robots.Missing {
			continue
		}
		file := robots.Parse(s.get(h.Name + "/robots.txt").Body.Bytes())
		if got := file.CrawlDelay("recrawl"); got != h.Robots.CrawlDelay {
			t.Errorf("%s: Crawl-delay %s", h.Name, got)
		}
		if got := len(file.Sitemaps(urlkey.URL{})) > 0; got != h.Robots.Sitemap {
			t.Errorf("%s: sitemaps %v", h.Name, file.Sitemaps(urlkey.URL{}))
		}
		for _, p := range h.Pages {
			u := canonical(t, "http://"+h.Name+":8042"+p.Path)
			if got := file.Check("recrawl", u).Allowed; got == h.Robots.forbids(p.Path) {
				t.Errorf("%s is allowed: %v", u, got)
			}
		}
	}
}

// TestReachable follows links from the seeds as the crawler does and finds every page of
// the script except the one that only the sitemap has.
func TestReachable(t *testing.T) {
	t.Parallel()
	s := play(Options{})
	s.to(time.Minute)
	s.port = "8042"
	found := map[string]bool{}
	queue := s.Seeds()
	for len(queue) > 0 {
		u := canonical(t, queue[0])
		queue = queue[1:]
		if found[u.Hostname()+u.Path()] {
			continue
		}
		found[u.Hostname()+u.Path()] = true
		if p, _ := s.Script(u.Hostname(), u.Path()); p.Size > 0 {
			continue // big, and leads nowhere new
		}
		w := s.get(u.Hostname() + u.Path())
		if w.Code == http.StatusNotFound {
			t.Errorf("%s is linked and answers 404", u)
		}
		if strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			for _, link := range parse(t, w, u).Links {
				queue = append(queue, link.URL)
			}
		}
	}
	var missing []string
	for _, h := range s.Hosts() {
		for _, p := range h.Pages {
			if !found[h.Name+p.Path] {
				missing = append(missing, h.Name+p.Path)
			}
		}
	}
	if want := []string{"news.localhost/archive/1974"}; !slices.Equal(missing, want) {
		t.Errorf("no link leads to %v", missing)
	}
	if !strings.Contains(s.get(News+"/sitemap.xml").Body.String(), "http://news.localhost:8042/archive/1974") {
		t.Error("the sitemap does not know the page that no link leads to")
	}
}

func parse(t *testing.T, w *httptest.ResponseRecorder, u urlkey.URL) extract.Page {
	t.Helper()
	page, err := extract.Parse(extract.Source{Body: w.Body.Bytes(), ContentType: w.Header().Get("Content-Type"), URL: u}, extract.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func canonical(t *testing.T, raw string) urlkey.URL {
	t.Helper()
	u, err := urlkey.Canonical(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// A sitemap dates the pages as scripted: truly, or with lies.
func TestSitemapDates(t *testing.T) {
	t.Parallel()
	var pages []Page
	for i := range 6 {
		pages = append(pages, Page{Path: "/" + strconv.Itoa(i)})
	}
	pages[3].Text = Every(10 * time.Second)
	lastmod := regexp.MustCompile(`<loc>[^<]*/(\d)</loc><lastmod>([^<]+)</lastmod>`)
	for dates, lies := range map[Dates]int{NoDates: 0, TrueDates: 0, NowDates: 6, SlyDates: 3} {
		s := play(Options{Hosts: []Host{{Name: "a.localhost", Robots: Robots{Sitemap: true, Dates: dates}, Pages: pages}}})
		s.to(time.Minute + 500*time.Microsecond)
		found := lastmod.FindAllStringSubmatch(s.get("a.localhost/sitemap.xml").Body.String(), -1)
		if want := len(pages); len(found) != want && dates != NoDates {
			t.Fatalf("%s: %d of %d pages are dated", dates, len(found), want)
		}
		wrong := 0
		for _, m := range found {
			date, err := time.Parse(time.RFC3339Nano, m[2])
			if err != nil {
				t.Fatal(err)
			}
			truth := s.Truth("a.localhost", "/"+m[1])
			changed := date.After(s.StartedAt())
			if changed != (len(truth) > 0) || changed && truth[len(truth)-1].Sub(date).Abs() > time.Millisecond {
				wrong++
			}
		}
		if wrong != lies {
			t.Errorf("%s: %d dates are wrong, want %d", dates, wrong, lies)
		}
	}
}
