package testsite

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

var href = regexp.MustCompile(`href="([^"]+)"`)

func TestEndless(t *testing.T) {
	t.Parallel()
	e := NewEndless(7, 2030)
	get := func(url string) []string {
		w := httptest.NewRecorder()
		e.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))
		if w.Code != http.StatusOK {
			return nil
		}
		var links []string
		for _, m := range href.FindAllStringSubmatch(w.Body.String(), -1) {
			links = append(links, strings.ReplaceAll(m[1], "&amp;", "&"))
		}
		return links
	}
	for url, want := range map[string]string{
		"http://calendar.localhost:81/":                 "/page/1 /page/2 /calendar/2030/01",
		"http://calendar.localhost:81/page/3":           "/calendar/2030/01",
		"http://calendar.localhost:81/calendar/2030/12": "/calendar/2031/01",
		"http://loop.localhost:81/files/loop/":          "loop/ readme.html",
		"http://shop.localhost:81/shop?size=1&colour=2": "/shop?brand=1&colour=2&size=1 /shop?brand=2&colour=2&size=1 /shop?colour=2&size=1&sort=1 /shop?colour=2&size=1&sort=2 /shop?colour=2&price=1&size=1 /shop?colour=2&price=2&size=1",
		"http://agenda.localhost:81/page/3":             "/agenda/May-2030",
		"http://agenda.localhost:81/agenda/May-2030":    "/agenda/April-2030 /agenda/June-2030 /",
		"http://names.localhost:81/page/3":              "/people/ada-berg",
		"http://home.localhost:81/home?time=101":        "/home?time=102",
		"http://calendar.localhost:81/robots.txt":       "",
		"http://calendar.localhost:81/page/7":           "",
	} {
		if got := strings.Join(get(url), " "); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
	if friends := get("http://names.localhost:81/people/ada-berg"); len(friends) != 4 || friends[1] == friends[2] {
		t.Errorf("Ada knows %v", friends)
	}
	first, second := get("http://session.localhost:81/"), get("http://session.localhost:81/")
	if len(first) != 3 || first[0] == second[0] {
		t.Errorf("sessions %v and %v", first, second)
	}
	if got := e.Fetched()["session"]; got != 0 {
		t.Errorf("a page that is visited again counts as %d of the trap", got)
	}
	get("http://session.localhost:81" + first[0])
	get("http://session.localhost:81" + second[0]) // the same page under another id
	if a, b := get("http://x1.wild.localhost:81/"), get("http://x2.wild.localhost:81/"); len(a) != 2 || a[0] == b[0] {
		t.Errorf("hosts %v and %v", a, b)
	}
	if got := e.Fetched(); got["calendar"] != 2 || got["session"] != 1 || got["wild"] != 2 || got["loop"] != 1 || e.Reached("calendar") != 2 || e.Reached("session") != 2 {
		t.Errorf("fetched %v", got)
	}
}
