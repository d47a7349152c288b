package testsite

import (
	"fmt"
	"html"
	"maps"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Endless is a web of sites with a part that has no end, each beside a clean part
// that has one: a binary tree of pages of which every one leads into the trap too.
// It is a handler of any names under localhost, and counts what is fetched.
//
// Every address has words of its own, except copied hosts, which all say the same, and the
// pages of agenda, names and home, which say next to nothing: only these give themselves
// away by their contents.
type Endless struct {
	clean int // pages of each clean part
	year  int // with which the calendar begins

	mu      sync.Mutex
	fetched map[string]int             // addresses in the trap, by its name
	seen    map[string]bool            // addresses that were answered
	reached map[string]map[string]bool // clean pages, by the trap's name
	answers int
}

// EndlessTraps returns the names of the traps. The site of each is NAME.localhost.
func EndlessTraps() []string {
	return []string{"calendar", "loop", "session", "shop", "wild", "agenda", "names", "home"}
}

// NewEndless returns a web with clean clean pages at each site; calendars begin in the
// year.
func NewEndless(clean, year int) *Endless {
	return &Endless{clean: clean, year: year, fetched: map[string]int{}, seen: map[string]bool{}, reached: map[string]map[string]bool{}}
}

// Fetched returns the number of different addresses of each trap that were answered.
// Repeated visits do not count.
func (e *Endless) Fetched() map[string]int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.fetched)
}

// Reached returns the number of different clean pages of a trap's site that were answered.
func (e *Endless) Reached(trap string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.reached[trap])
}

// ServeHTTP implements http.Handler.
func (e *Endless) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, port := splitHost(r.Host)
	labels := strings.Split(name, ".")
	if len(labels) < 2 || r.URL.Path == robotsPath {
		http.NotFound(w, r)
		return
	}
	trap := labels[len(labels)-2]
	links, clean := e.cleanLinks(trap, r.URL.Path)
	clean = clean && len(labels) == 2
	answer := e.count(trap, r, clean)
	text := paragraph(rngOf(1, name, r.URL.RequestURI()))
	switch {
	case clean:
		// Contents do not depend on the path to them.
		text = paragraph(rngOf(1, trap, r.URL.Path)) + paragraph(rngOf(2, trap, r.URL.Path))
		links = append(links, e.into(trap, port, answer))
		if trap == "session" {
			links = withSession(links, answer)
		}
	case trap == "wild":
		text = paragraph(rngOf(1, "nothing is here"))
		links = []string{e.into(trap, port, 2*answer), e.into(trap, port, 2*answer+1)}
	default:
		links = e.trapped(trap, r)
		if said, empty := emptyPage(trap, r.URL); empty {
			text, links = said.text, said.links
		}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, "<!doctype html><html lang=en><title>%s</title><main><p>%s</p>", html.EscapeString(trap), text)
	for _, link := range links {
		fmt.Fprintf(w, "<p><a href=\"%s\">on</a></p>", html.EscapeString(link))
	}
	fmt.Fprint(w, "</main></html>\n")
}

// count notes an answer and returns its number.
func (e *Endless) count(trap string, r *http.Request, clean bool) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.answers++
	address, path := r.Host+r.URL.RequestURI(), r.URL.Path
	again := e.seen[address]
	e.seen[address] = true
	if !clean && !again {
		e.fetched[trap]++
	}
	if !clean || again {
		return e.answers
	}
	if e.reached[trap] == nil {
		e.reached[trap] = map[string]bool{}
	}
	if trap == "session" && e.reached[trap][path] {
		e.fetched[trap]++ // the same page again, under another id
	}
	e.reached[trap][path] = true
	return e.answers
}

var cleanPath = regexp.MustCompile(`^/(?:page/(\d+))?$`)

// cleanLinks returns the clean links of a clean page: two further pages.
func (e *Endless) cleanLinks(trap, path string) ([]string, bool) {
	m := cleanPath.FindStringSubmatch(path)
	if m == nil || trap == "" {
		return nil, false
	}
	n, _ := strconv.Atoi(m[1])
	var links []string
	for _, child := range []int{2*n + 1, 2*n + 2} {
		if child < e.clean {
			links = append(links, fmt.Sprintf("/page/%d", child))
		}
	}
	return links, n < e.clean
}

// into returns the link that leads into a trap.
func (e *Endless) into(trap, port string, answer int) string {
	switch trap {
	case "calendar":
		return fmt.Sprintf("/calendar/%d/01", e.year)
	case "loop":
		return "/files/"
	case "shop":
		return "/shop"
	case "agenda":
		return agenda(e.year, 5)
	case "names":
		return person("Ada Berg")
	case "home":
		return "/home?time=101"
	case "wild":
		return fmt.Sprintf("%s/", origin(fmt.Sprintf("x%d.wild.localhost", answer), port))
	}
	return "/"
}

// trapped returns the links of a page of a trap.
func (e *Endless) trapped(trap string, r *http.Request) []string {
	switch trap {
	case "calendar":
		var year, month int
		if n, _ := fmt.Sscanf(r.URL.Path, "/calendar/%d/%d", &year, &month); n < 2 {
			return nil
		}
		return []string{fmt.Sprintf("/calendar/%d/%02d", year+month/12, month%12+1)}
	case "loop":
		return []string{"loop/", "readme.html"}
	case "shop":
		var links []string
		for _, name := range []string{"colour", "size", "brand", "sort", "price"} {
			for value := 1; value <= 2 && !r.URL.Query().Has(name); value++ {
				query := r.URL.Query()
				query.Set(name, strconv.Itoa(value))
				links = append(links, "/shop?"+query.Encode())
			}
		}
		return links
	}
	return nil
}

// withSession gives links the id of a new session.
func withSession(links []string, answer int) []string {
	for i := range links {
		links[i] += fmt.Sprintf("?PHPSESSID=%016xa1b2", uint64(answer+1)*0x9E3779B97F4A7C15)
	}
	return links
}
