package activities_test

import (
	"fmt"
	"html/template"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"recrawl/internal/crawl"
)

// sentences are words of a small stock that depend on a page's name.
func sentences(words int, seed ...uint64) string {
	stock := strings.Fields("market harbour river council budget school winter engine signal garden library opens closes carries follows holds brings the some every another this before after without")
	rng := rand.New(rand.NewPCG(seed[0]+1, uint64(len(seed))))
	var b strings.Builder
	for range words {
		b.WriteString(stock[rng.IntN(len(stock))] + " ")
	}
	return strings.TrimSpace(b.String()) + "."
}

// shortSite answers addresses of a form, in which %d is a page's number, with its text
// and links.
type shortSite map[string]func(n int) (text string, links []string)

func (s shortSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for form, page := range s {
		m := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(form), "%d", `(\d+)`) + "$").FindStringSubmatch(r.URL.RequestURI())
		if m == nil {
			continue
		}
		n, _ := strconv.Atoi(m[len(m)-1])
		text, links := page(n)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><title>%s</title><nav><a href="/">Home</a> <a href="/about/0">About us</a></nav><main><h1>%[1]s</h1><p>%s</p><ul>`, template.HTMLEscapeString(r.URL.Path), text)
		for _, link := range links {
			fmt.Fprintf(w, `<li><a href="%s">%[1]s</a></li>`, template.HTMLEscapeString(link))
		}
		fmt.Fprint(w, "</ul></main><footer>© Example</footer>")
		return
	}
	http.NotFound(w, r)
}

// some are addresses of pages from one number to another, but none below 0.
func some(form string, from, to int) []string {
	var links []string
	for n := max(from, 0); n <= to; n++ {
		links = append(links, fmt.Sprintf(form, n))
	}
	return links
}

func about(int) (string, []string) { return sentences(30, 99), nil }

func home(links ...string) func(int) (string, []string) {
	return func(int) (string, []string) { return sentences(20, 7), links }
}

// TestShortPagesAreNotHeld: sites of short pages, with links to the next and the one
// before, are crawled completely.
func TestShortPagesAreNotHeld(t *testing.T) {
	t.Parallel()
	for name, site := range map[string]shortSite{
		"forum": {
			"/": home("/forum?page=0"), "/about/%d": about,
			"/forum?page=%d": func(n int) (string, []string) {
				return "Threads", append(some("/thread/%d", 12*n, 12*n+11), some("/forum?page=%d", n-1, n+1)...)
			},
			"/thread/%d": func(n int) (string, []string) { return sentences(14, uint64(n)), some("/thread/%d", n-1, n+1) },
		},
		"mailing list": {
			"/": home(some("/list/2019-0%d/", 1, 9)...), "/about/%d": about,
			"/list/2019-0%d/": func(n int) (string, []string) { return "Messages", some("/msg/%d.html", 20*n, 20*n+19) },
			"/msg/%d.html":    func(n int) (string, []string) { return sentences(12, uint64(n)), some("/msg/%d.html", n-1, n+1) },
		},
		"changelog": {
			"/": home("/v/400"), "/about/%d": about,
			"/v/%d": func(n int) (string, []string) { return sentences(20, uint64(n)), some("/v/%d", n-1, n+1) },
		},
		"categories": {
			"/": home("/category/0"), "/about/%d": about,
			"/category/%d": func(n int) (string, []string) {
				return "Pages in this category", append(some("/category/%d", 3*n+1, 3*n+3), some("/article/%d", 6*n, 6*n+5)...)
			},
			"/article/%d": func(n int) (string, []string) { return sentences(25, uint64(n)), some("/article/%d", n/2, n/2) },
		},
		"events": {
			"/": home("/month/60"), "/about/%d": about,
			"/month/%d": func(n int) (string, []string) {
				return "Events of the month", append(some("/month/%d", n-1, n+1), some("/event/%d", n, n+n%2-1)...)
			},
			"/event/%d": func(n int) (string, []string) { return sentences(20, uint64(n)), nil },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(site)
			t.Cleanup(server.Close)
			w := newWorld(t)
			seed := w.living([]string{server.URL + "/"})[0]
			const most = 70
			if visits := w.crawlAll(seed.CrawlID, most, seed); visits != most {
				t.Errorf("%d visits", visits)
			}
			w.maintain(false)
			if held := w.status().Pages[crawl.Held]; held > 0 || len(w.traps()) > 0 {
				t.Errorf("%d pages are held by %v", held, w.traps())
			}
		})
	}
}
