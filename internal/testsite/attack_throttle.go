package testsite

import (
	"fmt"
	"net/http"
)

// ThrottledPages is the number of pages of a host that answer, beside one that never does.
const ThrottledPages = 12

// throttleAttacks returns hosts that refuse one page for ever.
func throttleAttacks() []Attack {
	links := []string{"/refused"}
	for i := range ThrottledPages {
		links = append(links, fmt.Sprintf("/page/%d", i))
	}
	pages := linkedPages(links...)
	return []Attack{{Name: "throttle", Handler: withoutRobots(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/refused" {
			w.Header().Set("Retry-After", "1")
			http.Error(w, "Not now.", http.StatusTooManyRequests)
			return
		}
		pages.ServeHTTP(w, r)
	}))}}
}
