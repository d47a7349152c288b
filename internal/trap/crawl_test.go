package trap

import (
	"fmt"
	"strings"
	"testing"

	"recrawl/internal/urlkey"
)

func canonicalOrZero(raw string) urlkey.URL {
	u, _ := urlkey.Canonical(raw)
	return u
}

// site answers with a content's name and links.
type site func(u urlkey.URL, fetches int) (content string, links []string)

// crawled is the result of crawling a site with a guard.
type crawled struct {
	fetches int
	reached map[string]bool // contents
	reasons map[string]bool
	held    int
}

// crawlWith crawls as the product does, in the order in which pages are found:
// links of copies on the same host are not followed, and the guard looks after
// every 16 fetches, a window's worth.
func crawlWith(t *testing.T, s site, seed string, most int) crawled {
	t.Helper()
	c := crawled{reached: map[string]bool{}, reasons: map[string]bool{}}
	first := canonical(t, seed)
	pages := []Page{{URL: first, Waits: true}}
	known := map[urlkey.URL]bool{first: true}
	bases := map[urlkey.URL]bool{first: true}
	var patterns []Pattern
	hold := func(f Finding) { c.reasons[f.Reason] = true; patterns = append(patterns, f.Pattern) }
	heldBy := func(u urlkey.URL) bool {
		for _, p := range patterns {
			if p.Covers(u) {
				return true
			}
		}
		if f, ok := Shaped(u); ok {
			c.reasons[f.Reason] = true
			return true
		}
		if base, f, ok := Session(u); ok {
			if bases[base] {
				c.reasons[f.Reason] = true
				return true
			}
			bases[base] = true
		}
		return false
	}
	contentOn := map[string]string{} // host of the first page with the content
	for at := 0; at < len(pages) && c.fetches < most; at++ {
		if !pages[at].Waits || heldByAny(patterns, pages[at].URL) {
			c.held++
			continue
		}
		u := pages[at].URL
		content, links := s(u, c.fetches)
		c.fetches++
		host, seen := contentOn[content]
		pages[at].Waits, pages[at].Content, pages[at].Copy = false, true, seen
		if !seen {
			contentOn[content] = u.HostKey()
			c.reached[content] = true
		}
		if !seen || host != u.HostKey() {
			for _, link := range links {
				to, err := urlkey.Resolve(u, link)
				if err != nil || known[to] {
					continue
				}
				known[to] = true
				if heldBy(to) {
					c.held++
					continue
				}
				pages = append(pages, Page{URL: to, Waits: true})
			}
		}
		if c.fetches%16 == 0 {
			for _, f := range Look(pages, year, func(host string) bool { return host == first.HostKey() }) {
				hold(f)
			}
		}
	}
	return c
}

func heldByAny(patterns []Pattern, u urlkey.URL) bool {
	for _, p := range patterns {
		if p.Covers(u) {
			return true
		}
	}
	return false
}

// cleanPart is a tree of pages with different contents, and the way into a trap
// from every tenth.
const cleanPages = 120

func cleanPart(u urlkey.URL, trap string) (string, []string, bool) {
	if u.Path() == "/" {
		return "clean 0", []string{"/page/1", "/page/2", trap}, true
	}
	var n int
	if _, err := fmt.Sscanf(u.Path(), "/page/%d", &n); err != nil {
		return "", nil, false
	}
	links := []string{trap}
	for _, child := range []int{2*n + 1, 2*n + 2} {
		if child < cleanPages {
			links = append(links, fmt.Sprintf("/page/%d", child))
		}
	}
	return fmt.Sprintf("clean %d", n), links, true
}

// session is a new id for each answer.
func session(n int) string { return fmt.Sprintf("%08xa1b2c3d4e5f6%04x", 0x9e3779b9*uint32(n+1), n) }

// traps are the sites without an end. Each says within how many fetches, besides
// those of the clean part, it must be contained, and by what.
var traps = map[string]struct {
	site   site
	within int
	reason string
}{
	// Every month is another page, with a link to the next and its days.
	"calendar": {func(u urlkey.URL, _ int) (string, []string) {
		if content, links, ok := cleanPart(u, "/calendar/2026/01"); ok {
			return content, links
		}
		d, _ := dateIn(u)
		next := fmt.Sprintf("/calendar/%04d/%02d", d.year+d.month/12, d.month%12+1)
		return "calendar " + u.Path(), []string{next}
	}, 60, ReasonDates},
	"calendar by query": {func(u urlkey.URL, _ int) (string, []string) {
		if content, links, ok := cleanPart(u, "/cal?year=2026&month=1"); ok {
			return content, links
		}
		d, _ := dateIn(u)
		return "calendar " + u.Target(), []string{fmt.Sprintf("/cal?year=%d&month=%d", d.year+d.month/12, d.month%12+1)}
	}, 60, ReasonDates},
	// A folder that contains itself; each page says where it is, so none is a copy.
	"symbolic link": {func(u urlkey.URL, _ int) (string, []string) {
		if content, links, ok := cleanPart(u, "/files/"); ok {
			return content, links
		}
		return "in " + u.Path(), []string{"readme.html", "loop/", "other/loop/"}
	}, 60, ReasonRepeats},
	// Each answer brings links with a new id.
	"session ids": {func(u urlkey.URL, n int) (string, []string) {
		content, links, ok := cleanPart(canonicalOrZero(u.Origin()+u.Path()), "/page/1")
		if !ok {
			return "not found", nil
		}
		for i := range links {
			links[i] += "?PHPSESSID=" + session(n)
		}
		return content, links
	}, 2, ReasonSession},
	// Four filters with four values each, which each page adds to.
	"combined parameters": {func(u urlkey.URL, _ int) (string, []string) {
		if content, links, ok := cleanPart(u, "/shop"); ok {
			return content, links
		}
		var links []string
		for _, name := range []string{"colour", "size", "brand", "price", "sort"} {
			if strings.Contains(u.Query(), name) {
				continue
			}
			for value := range 4 {
				query := fmt.Sprintf("%s=%d", name, value)
				if u.Query() != "" {
					query = u.Query() + "&" + query
				}
				links = append(links, "/shop?"+query)
			}
		}
		return "shop " + u.Target(), links
	}, 400, ReasonParams},
	// Any name answers, with a page that leads to two more.
	"hosts": {func(u urlkey.URL, n int) (string, []string) {
		if u.HostKey() == "www.wild.example" {
			if content, links, ok := cleanPart(u, "http://a.wild.example/"); ok {
				return content, links
			}
		}
		return "nothing is here", []string{fmt.Sprintf("http://x%d.wild.example/", 2*n), fmt.Sprintf("http://x%d.wild.example/", 2*n+1)}
	}, 60, ReasonHosts},
	// A link that no rule recognises by its look, to pages that are all the same
	// except for links that keep them from being copies: they are found by their
	// contents.
	"copies": {func(u urlkey.URL, n int) (string, []string) {
		if content, links, ok := cleanPart(u, fmt.Sprintf("/go/%d", n)); ok {
			for i := range 20 {
				links = append(links, fmt.Sprintf("/go/%d-%d", n, i))
			}
			return content, links
		}
		return "the same", nil
	}, 60, ReasonCopies},
}

func TestTrapsAreContained(t *testing.T) {
	t.Parallel()
	for name, c := range traps {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := crawlWith(t, c.site, "http://www.wild.example/", 5000)
			clean := 0
			for content := range got.reached {
				if strings.HasPrefix(content, "clean ") {
					clean++
				}
			}
			t.Logf("%d fetches, %d beyond the clean part; %d held; reasons %v", got.fetches, got.fetches-clean, got.held, got.reasons)
			if clean != cleanPages {
				t.Errorf("%d of %d clean pages were reached", clean, cleanPages)
			}
			if beyond := got.fetches - clean; beyond > c.within {
				t.Errorf("%d fetches in the trap, want at most %d", beyond, c.within)
			}
			if !got.reasons[c.reason] {
				t.Errorf("held for %v, want %s", got.reasons, c.reason)
			}
		})
	}
}
