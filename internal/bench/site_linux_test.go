package bench

import (
	"io"
	"net/http"
	"net/url"
	"regexp"
	"testing"
)

func newSite(t *testing.T, o SiteOptions) *Site {
	t.Helper()
	s, err := NewSite(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func ask(t *testing.T, address, etag string) (status int, tag, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if etag != "" {
		req.Header.Set("If-None-Match", etag)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header.Get("ETag"), string(text)
}

var href = regexp.MustCompile(`href="([^"]+)"`)

// All pages are found from the first one, on all hosts.
func TestSiteIsConnected(t *testing.T) {
	t.Parallel()
	s := newSite(t, SiteOptions{Net: 200, Hosts: 3, Pages: 120})
	queue, known := []string{s.Seeds()[0]}, map[string]bool{s.Seeds()[0]: true}
	texts := map[string]bool{}
	for len(queue) > 0 {
		status, _, body := ask(t, queue[0], "")
		if status != http.StatusOK || texts[body] {
			t.Fatalf("%s: %d, or a text that another page has", queue[0], status)
		}
		texts[body] = true
		base, err := url.Parse(queue[0])
		if err != nil {
			t.Fatal(err)
		}
		queue = queue[1:]
		for _, m := range href.FindAllStringSubmatch(body, -1) {
			link, err := base.Parse(m[1])
			if err != nil {
				t.Fatal(err)
			}
			if !known[link.String()] {
				known[link.String()] = true
				queue = append(queue, link.String())
			}
		}
	}
	if got := s.Counts(); len(known) != s.Total() || got.Distinct != 360 || got.Answered != 360 || got.Other != 0 {
		t.Errorf("%d pages were found of %d: %+v", len(known), s.Total(), got)
	}
	last := s.LastNew()
	if ask(t, s.Seeds()[0], ""); !s.LastNew().Equal(last) {
		t.Error("a page that was asked for again is new")
	}
}

func TestSiteChanges(t *testing.T) {
	t.Parallel()
	s := newSite(t, SiteOptions{Net: 201, Hosts: 1, Pages: 20})
	page := s.Seeds()[0] + "p3.html"
	_, etag, before := ask(t, page, "")
	if status, _, _ := ask(t, page, etag); status != http.StatusNotModified {
		t.Errorf("asked with its ETag: %d", status)
	}
	s.Changing.Store(true)
	status, again, after := ask(t, page, etag)
	if status != http.StatusOK || again == etag || after == before {
		t.Errorf("while it changes: %d, %s", status, again)
	}
	links := func(text string) [][]string { return href.FindAllStringSubmatch(text, -1) }
	if a, b := links(before), links(after); len(a) != len(b) {
		t.Errorf("an edition has %d links, the first %d", len(b), len(a))
	}
	if status, _, _ := ask(t, page+"x", ""); status != http.StatusNotFound {
		t.Errorf("a page that there is not: %d", status)
	}
	if got := s.Counts(); got.Answered != 3 || got.Unchanged != 1 || got.Distinct != 1 || got.Other != 1 {
		t.Errorf("counts %+v", got)
	}
}
