package trap

import (
	"fmt"
	"testing"
)

// pagesOf are known pages of a host.
func pagesOf(t *testing.T, each func(add func(format string, args ...any))) []Page {
	t.Helper()
	var pages []Page
	each(func(format string, args ...any) {
		pages = append(pages, Page{URL: canonical(t, "http://h.example"+fmt.Sprintf(format, args...)), Waits: true})
	})
	return pages
}

// TestNumberedItemsAreNoCalendar, although a number can be a year, and the number of a page
// a month: all of a site's items, those whose numbers could be years, and the first few.
func TestNumberedItemsAreNoCalendar(t *testing.T) {
	t.Parallel()
	type adder = func(format string, args ...any)
	for name, item := range map[string]func(add adder, n, pages int){
		"threads of Discuz": func(add adder, n, pages int) {
			for p := range pages {
				add("/thread-%d-%d-1.html", n, p+1)
			}
		},
		"threads whose first page has no number": func(add adder, n, pages int) {
			add("/thread-%d.html", n)
			for p := 1; p < pages; p++ {
				add("/thread-%d-%d.html", n, p+1)
			}
		},
		"topics in folders": func(add adder, n, pages int) {
			add("/topic/%d", n)
			for p := 1; p < pages; p++ {
				add("/topic/%d/%d", n, p+1)
			}
		},
		"topics below a name": func(add adder, n, pages int) {
			for p := range pages {
				add("/topic/%d/%d/what-was-said", n, p+1)
			}
		},
		"in a parameter": func(add adder, n, pages int) {
			for p := range pages {
				add("/show?t=%d-%d", n, p+1)
			}
		},
	} {
		for _, among := range []struct{ from, to, step int }{{1, 3000, 1}, {1990, 2060, 1}, {2400, 2700, 1}, {900, 3000, 97}} {
			pages := pagesOf(t, func(add func(string, ...any)) {
				for n := among.from; n < among.to; n += among.step {
					item(add, n, 1+n*7%5)
				}
			})
			if found := Look(pages, year, nil); len(found) > 0 {
				t.Errorf("%s, %+v: %+v", name, among, found)
			}
		}
	}
	// Two numbers of which neither is that of a page.
	pages := pagesOf(t, func(add func(string, ...any)) {
		for n := range 3000 {
			add("/p/%d-%d", n+1, 1+n*7%40)
		}
	})
	if found := Look(pages, year, nil); len(found) > 0 {
		t.Errorf("%+v", found)
	}
}

// TestCalendarsOfAnySpelling are found, whatever in them leads on.
func TestCalendarsOfAnySpelling(t *testing.T) {
	t.Parallel()
	type adder = func(format string, args ...any)
	for name, c := range map[string]struct {
		formats []string // of a year and a month
		walk    func(add func(year, month int))
	}{
		"from month to month": {
			[]string{"/cal/%d/%d", "/cal/%d/%02d", "/cal/%d-%d", "/cal/%d-%02d.html", "/cal/month-%d-%d", "/cal?month=%d-%d", "/cal?year=%d&month=%d", "/cal/%d/%d/17", "/%d/%d", "/cal/%d-%02d-01"},
			func(add func(year, month int)) {
				for n := range 60 {
					add(2026+n/12, 1+n%12)
				}
			},
		},
		"a list of years in each November": {
			[]string{"/cal/%d/%d", "/cal/%d-%d", "/cal?month=%d-%d", "/cal?year=%d&month=%d"},
			func(add func(year, month int)) {
				for n := range 30 {
					add(2026+n, 11)
				}
			},
		},
		"a list of years in each month": {
			[]string{"/cal/%d/%d", "/cal/%d-%d", "/cal?month=%d-%d"},
			func(add func(year, month int)) {
				for n := range 30 * 12 {
					add(2026+n/12, 1+n%12)
				}
			},
		},
		"a list of years alone": {
			[]string{"/cal/%d/%02d", "/cal/%d-%02d-01", "/cal?year=%d&month=%d"},
			func(add func(year, month int)) {
				for n := range 30 {
					add(2026+n, 1)
				}
			},
		},
		"weeks": {
			[]string{"/week/%d-%d", "/week/%d/%d"},
			func(add func(year, month int)) {
				for n := range 6 * 52 {
					add(2026+n/52, 1+n%52)
				}
			},
		},
	} {
		for _, format := range c.formats {
			pages := pagesOf(t, func(add adder) {
				add("/")
				for n := range 200 { // what else the site has
					add("/news/%d", n)
					add("/news/%d/%d", n, n%4)
				}
				c.walk(func(year, month int) { add(format, year, month) })
			})
			found := Dates(pages, year)
			if len(found) != 1 || found[0].Reason != ReasonDates {
				t.Errorf("%s, %s: %+v", name, format, found)
			}
		}
	}
}
