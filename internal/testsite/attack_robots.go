package testsite

import (
	"fmt"
	"net/http"
	"strings"
)

const (
	// LongPages is the number of pages with long addresses on a host whose robots.txt is
	// slow to match.
	LongPages = 12
	// longPath is nearly as long as an address may be.
	longPath = 8000
)

// robotsAttacks returns hosts whose robots.txt costs its reader time, or forbids less than
// a hasty reader thinks.
func robotsAttacks() []Attack {
	long := make([]string, LongPages)
	for i := range long {
		long[i] = fmt.Sprintf("/%d/%s", i, strings.Repeat("a", longPath))
	}
	return []Attack{
		// Each rule fails only at its last character, after all ways to share out the a's.
		{Name: "stars", Handler: withRobots(plainText(starRules(1995, "*a", 118)), linkedPages(long...))},
		{Name: "more-stars", Handler: withRobots(plainText(starRules(2000, "*aa", 67)), linkedPages(long...))},
		{Name: "bare-stars", Handler: withRobots(plainText(starRules(2000, "*", 100)), linkedPages(long...))},
		// Rules for other crawlers do not concern us.
		{Name: "others", Handler: withRobots(plainText(othersRules(40, 60)), linkedPages("/about", "/forum", "/forum?sid=1"))},
		{Name: "partial", Handler: withRobots(statusOnly(http.StatusPartialContent), linkedPages("/about"))},
		{Name: "unmodified", Handler: withRobots(statusOnly(http.StatusNotModified), linkedPages("/about"))},
		{Name: "endless-robots", Handler: withRobots(repeats("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nUser-agent: *\n", "Disallow: /*a*a$\n"), linkedPages("/about"))},
		{Name: "dripping-robots", Handler: withRobots(drips("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n", "#"), linkedPages("/about"))},
	}
}

// starRules returns a robots.txt of n rules, each of a repeated piece, which match nothing.
func starRules(n int, piece string, times int) string {
	return "User-agent: *\n" + numbered(n, "Disallow: /"+strings.Repeat(piece, times)+"*Z%d\n")
}

// othersRules returns a robots.txt with a group of rules for each of n other crawlers and
// one rule for everybody.
func othersRules(n, rules int) string {
	var b strings.Builder
	for i := range n {
		// A token ends at the first digit.
		fmt.Fprintf(&b, "User-agent: other%s\n%s\n", strings.Repeat("r", i), numbered(rules, "Disallow: /*private%d*$\n"))
	}
	return b.String() + "User-agent: *\nDisallow: /*?sid=\n"
}

func statusOnly(status int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
}
