package testsite

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
)

func TestLog(t *testing.T) {
	t.Parallel()
	s := play(Options{})
	s.to(30 * time.Second)
	s.get(News+"/private/drafts", "User-Agent", "rude/1")
	s.get(Busy+"/?q", "If-None-Match", `"x"`)
	s.get(Docs + "/")
	s.get(AdminHost + "/")
	at := epoch.Add(30 * time.Second)
	want := []Request{
		{Begin: at, End: at, Host: News, Path: "/private/drafts", Status: 200, UserAgent: "rude/1", Edition: 6, Forbidden: true},
		{Begin: at, End: at, Host: Busy, Path: "/?q", Status: 429, IfNoneMatch: `"x"`, RetryAfter: crawl.Duration(12 * time.Second)},
		{Begin: at, End: at, Host: Docs, Path: "/", Status: 200, CrawlDelay: crawl.Duration(time.Second)},
	}
	if got := s.Log(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	got, err := ReadLog(s.get(AdminHost + "/log").Body)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("from the admin host: %v %v", got, err)
	}
	got, err = ReadLog(s.get(AdminHost + "/log?host=" + Busy).Body)
	if err != nil || len(got) != 1 || got[0].Host != Busy {
		t.Errorf("of one host: %v %v", got, err)
	}
	if n := Count(s.Log(), News, "/private/drafts"); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// A busy machine notices late that a request was given up, when the next one may have begun.
func TestLogOfRequestsGivenUp(t *testing.T) {
	t.Parallel()
	const limit = 3 * time.Second
	for _, c := range []struct {
		name        string
		givenUp     bool
		limit, took time.Duration
		want        time.Duration
	}{
		{"answered", false, limit, 4 * time.Second, 4 * time.Second},
		{"given up, noticed late", true, limit, 4 * time.Second, limit / 2},
		{"given up at once", true, limit, time.Second, time.Second},
		{"given up by a client of unknown patience", true, 0, 4 * time.Second, 4 * time.Second},
	} {
		now := epoch
		j := &journal{limit: 10, clientLimit: c.limit, now: func() time.Time { return now }}
		entry := j.begin(Request{Host: News, Path: "/"})
		now = now.Add(c.took)
		j.end(entry, &answer{}, c.givenUp)
		if got := j.requests()[0].End.Sub(epoch); got != c.want {
			t.Errorf("%s: it ended after %s, want %s", c.name, got, c.want)
		}
	}
}

func TestReadLogOfNonsense(t *testing.T) {
	t.Parallel()
	if _, err := ReadLog(strings.NewReader(`{"host":"a"} nonsense`)); err == nil {
		t.Error("no error")
	}
}

func TestTruthOfAdmin(t *testing.T) {
	t.Parallel()
	s := play(Options{})
	s.to(30 * time.Second)
	var one PageTruth
	if err := json.Unmarshal(s.get(AdminHost+"/truth?host="+News+"&path=/live").Body.Bytes(), &one); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(one.Changes) != fmt.Sprint(s.Truth(News, "/live")) || len(one.Changes) != 6 || one.Script != "changes every 5 s; answers 304 when unchanged" {
		t.Errorf("%+v", one)
	}
	lines, pages := 0, 0
	for range scan(s.get(AdminHost + "/truth").Body) {
		lines++
	}
	for _, h := range s.Hosts() {
		pages += len(h.Pages)
	}
	if lines != pages {
		t.Errorf("%d lines, %d pages", lines, pages)
	}
}

func scan(b *bytes.Buffer) (lines []string) {
	for s := bufio.NewScanner(b); s.Scan(); {
		lines = append(lines, s.Text())
	}
	return lines
}

func TestIndex(t *testing.T) {
	t.Parallel()
	s := play(Options{})
	s.get(News + "/live")
	s.to(10 * time.Second)
	html := s.get(AdminHost + "/").Body.String()
	for _, want := range []string{
		`<a href="http://news.localhost:8042/live">/live</a></td><td>changes every 5 s; answers 304 when unchanged</td><td class="number">2</td><td class="number">1</td><td>200, 10s ago</td>`,
		"forbidden by robots.txt</span>; changes every 5 s",
		"asks for a Crawl-delay of 1 s",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the index lacks %q", want)
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		script(News, "/archive/1975"): "never changes; answers 304 when unchanged",
		script(News, "/markets"):      "changes at random, every 5 s on average; answers 304 when unchanged",
		script(News, "/stories/"):     "gains a link to a new page every 12 s; answers 304 when unchanged",
		script(News, "/clock"):        "never changes; its footer changes every 3 s",
		script(News, "/partner"):      "redirects (302) to docs.localhost/guide/install",
		script(Shop, "/offer"):        "never changes; answers 410 Gone for ever after 40 s; answers 304 when unchanged",
		script(Shop, "/umbrella"):     "never changes; answers 404 Not Found after 30 s for 20 s; answers 304 when unchanged",
		script(Shop, "/stock"):        "changes every 30 s; takes 2 s to answer",
		script(Shop, "/manual.pdf"):   "never changes; is application/pdf; answers 304 when unchanged",
		script(Shop, "/dump"):         "never changes; has 12MiB; answers 304 when unchanged",
		script(Flaky, "/broken"):      "never changes; answers 500 Internal Server Error always",
		script(Flaky, "/recovering"):  "changes every 15 s; answers 500 Internal Server Error after 20 s for 20 s, and again every 2 min",
		news().Words():                "robots.txt forbids /private/, names a sitemap (dates: true)",
		docs().Words():                "robots.txt asks for a Crawl-delay of 1 s",
		shop().Words():                "no robots.txt (404)",
		flaky().Words():               "robots.txt allows everything",
		busy().Words(): "robots.txt allows everything; every page answers 429 Too Many Requests after 25 s for 10 s, and again every 1 min, with Retry-After: 12 s; " +
			"every page answers 503 Service Unavailable after 1 min 10 s for 5 s, and again every 2 min, with Retry-After: 7 s",
		spell(90*time.Minute + 1500*time.Millisecond): "1 h 30 min 1 s 500 ms",
		spell(0): "no time",
	} {
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func script(host, path string) string {
	p, _ := New(Options{}).Script(host, path)
	return p.Words()
}
