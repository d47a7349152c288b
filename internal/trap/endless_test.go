package trap

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"recrawl/internal/urlkey"
)

// rng draws numbers that depend on the parts only.
func rng(parts ...any) *rand.Rand {
	return rand.New(rand.NewPCG(hash(canonicalOrZero("http://h/"+url.PathEscape(fmt.Sprint(parts...)))), 1))
}

var stock = strings.Fields(`market harbour river council budget school winter engine signal garden library minister
	question answer morning evening report number street village bridge letter window paper music season weather
	record history island station valley forest doctor teacher opens closes carries follows holds brings leaves
	reaches keeps moves turns shows meets quiet early narrow broad recent distant common double silver northern
	the a some every another this that its their over under after before without between`)

// prose is different text for each of the parts: words of a small stock.
func prose(words int, parts ...any) string {
	r := rng(parts...)
	var b strings.Builder
	for range words {
		b.WriteString(stock[r.IntN(len(stock))] + " ")
	}
	return b.String()
}

var firstNames = strings.Fields("Ada Bea Cleo Dora Eva Finn Gus Hal Ida Jan Kim Leo Mia Ned Ola Pia Quin Rolf Sue Tom Una Vic Wim Xen Yul Zoe")

var lastNames = strings.Fields("Abel Berg Cole Dorn Ek Fink Gray Hahn Ibsen Jung Koch Lund Mohr Nash Ott Pohl Quist Roth Stein Thal Uhl Voss Wolf Yates Zorn")

// people are names that depend on a name.
func people(of string, n int) []string {
	r := rng(of)
	names := make([]string, n)
	for i := range names {
		names[i] = firstNames[r.IntN(len(firstNames))] + " " + lastNames[r.IntN(len(lastNames))] + fmt.Sprintf(" of %c%c%c", 'a'+r.IntN(26), 'e'+r.IntN(9), 'a'+r.IntN(26)) + " " + lastNames[r.IntN(len(lastNames))]
	}
	return names
}

func slug(name, with string) string { return strings.ToLower(strings.ReplaceAll(name, " ", with)) }

// endless is a part of a site without an end, by the way into it and its pages.
type endless struct {
	// into is the link from the n-th clean page.
	into func(n int) string
	// page is a page of it, or not.
	page func(u urlkey.URL) (place, bool)
}

// monthsOf is a calendar by month: address and title say which.
func monthsOf(address func(m time.Time) string, parse func(u urlkey.URL) (time.Time, bool), text func(m time.Time) string) endless {
	return endless{
		func(int) string { return address(time.Date(year, 3, 1, 0, 0, 0, 0, time.UTC)) },
		func(u urlkey.URL) (place, bool) {
			m, ok := parse(u)
			if !ok {
				return place{}, false
			}
			return place{text(m), []string{"/", address(m.AddDate(0, -1, 0)), address(m.AddDate(0, 1, 0))}}, true
		},
	}
}

func byLayout(prefix, layout string) (func(time.Time) string, func(u urlkey.URL) (time.Time, bool)) {
	return func(m time.Time) string { return prefix + strings.ToLower(m.Format(layout)) }, func(u urlkey.URL) (time.Time, bool) {
		rest, ok := strings.CutPrefix(u.Target(), prefix)
		m, err := time.Parse(strings.ToLower(layout), rest)
		if err != nil {
			m, err = time.Parse(layout, rest)
		}
		return m, ok && err == nil
	}
}

func grid(m time.Time) string {
	var b strings.Builder
	b.WriteString(m.Format("January 2006") + "\nMon\nTue\nWed\nThu\nFri\nSat\nSun\n")
	for d := m; d.Month() == m.Month(); d = d.AddDate(0, 0, 1) {
		if d.Weekday() == time.Monday {
			_, week := d.ISOWeek()
			fmt.Fprintf(&b, "W%d\n", week)
		}
		fmt.Fprintf(&b, "%d\n", d.Day())
	}
	return b.String() + "No events this month."
}

// names is people who lead to people.
func names(address func(name string) string, parse func(u urlkey.URL) (string, bool), friends int, text func(name string) string) endless {
	return endless{
		func(n int) string { return address(people(fmt.Sprint("entry ", n), 1)[0]) },
		func(u urlkey.URL) (place, bool) {
			name, ok := parse(u)
			if !ok {
				return place{}, false
			}
			p := place{text(name), []string{"/"}}
			for _, friend := range people(name, friends) {
				p.links = append(p.links, address(friend))
			}
			return p, true
		},
	}
}

func below(prefix string) (func(string) string, func(u urlkey.URL) (string, bool)) {
	return func(name string) string { return prefix + slug(name, "-") }, func(u urlkey.URL) (string, bool) {
		rest, ok := strings.CutPrefix(u.Target(), prefix)
		return rest, ok && strings.Contains(rest, "-of-")
	}
}

func counter(prefix string, text func(n int) string) endless {
	return endless{
		func(int) string { return prefix + "101" },
		func(u urlkey.URL) (place, bool) {
			rest, ok := strings.CutPrefix(u.Target(), prefix)
			n, err := strconv.Atoi(rest)
			return place{text(n), []string{prefix + strconv.Itoa(n+1)}}, ok && err == nil
		},
	}
}

// counterWith is a counter of which each page has more links.
func counterWith(prefix string, more func(n int) []string) endless {
	of := counter(prefix, func(n int) string { return fmt.Sprint(n) })
	return endless{of.into, func(u urlkey.URL) (place, bool) {
		p, ok := of.page(u)
		n, _ := strconv.Atoi(strings.TrimPrefix(u.Target(), prefix))
		p.links = append(p.links, more(n)...)
		return p, ok
	}}
}

// mutual adds links back: to a page that another led to.
func mutual(of endless) endless {
	finder := map[string]string{}
	return endless{of.into, func(u urlkey.URL) (place, bool) {
		p, ok := of.page(u)
		for _, link := range p.links {
			if finder[link] == "" {
				finder[link] = u.Target()
			}
		}
		return place{p.own, append(p.links, finder[u.Target()])}, ok
	}}
}

func endlessParts() map[string]endless {
	pathMonths, parsePath := byLayout("/calendar/", "2006/01")
	queryMonths, parseQuery := byLayout("/cal?month=", "2006-01")
	wordMonths, parseWords := byLayout("/agenda/", "Jan-2006")
	days, parseDays := byLayout("/day?d=", "02.01.2006")
	friend, parseFriend := below("/people/")
	root, parseRoot := below("/")
	param, parseParam := below("/who?name=")
	bare := func(time.Time) string { return "No events" }
	parts := map[string]endless{
		"months":            monthsOf(pathMonths, parsePath, grid),
		"months in a query": monthsOf(queryMonths, parseQuery, func(m time.Time) string { return m.Format("January 2006") + "\nNothing planned." }),
		"months in words":   monthsOf(wordMonths, parseWords, bare),
		"boilerplate":       monthsOf(wordMonths, parseWords, func(m time.Time) string { return m.Format("January 2006") + "\n" + prose(600, "same") }),
		"names":             names(friend, parseFriend, 3, func(name string) string { return name + "\nKnows these people:" }),
		"names, one each":   names(friend, parseFriend, 1, func(name string) string { return name + " knows somebody" }),
		"names with many":   names(friend, parseFriend, 8, func(string) string { return "" }),
		"names at the root": names(root, parseRoot, 3, func(name string) string { return "Who knows " + name + "?" }),
		"names with a town": names(param, parseParam, 2, func(name string) string {
			return "Lives in " + lastNames[rng(name).IntN(20)] + " and is " + fmt.Sprint(rng(name).IntN(90)) + " years old."
		}),
		"time":                  counter("/home?time=", func(n int) string { return fmt.Sprintf("It is %d o'clock.", n) }),
		"time in a path":        counter("/tick/", func(n int) string { return fmt.Sprintf("%d\n%d visitors", n, n*7919%1000) }),
		"time without any text": counter("/t/", func(int) string { return "" }),
	}
	parts["days"] = endless{
		func(int) string { return days(time.Date(year, 3, 1, 0, 0, 0, 0, time.UTC)) },
		func(u urlkey.URL) (place, bool) {
			d, ok := parseDays(u)
			return place{d.Format("Monday, 2 January 2006") + "\nFree", []string{days(d.AddDate(0, 0, 1)), days(d.AddDate(0, 0, -1)), days(d.AddDate(0, 1, 0)), days(d.AddDate(0, -1, 0))}}, ok
		},
	}
	parts["days in three views"] = daysInViews()
	years, parseYears := byLayout("/kalender/", "2006-01-02")
	parts["months and years"] = endless{
		func(int) string { return years(time.Date(year, 3, 1, 0, 0, 0, 0, time.UTC)) },
		func(u urlkey.URL) (place, bool) {
			m, ok := parseYears(u)
			return place{m.Format("January 2006"), []string{"/", years(m.AddDate(0, -1, 0)), years(m.AddDate(0, 1, 0)), years(m.AddDate(-1, 0, 0)), years(m.AddDate(1, 0, 0))}}, ok
		},
	}
	parts["texts that take turns"] = counter("/q/", func(n int) string {
		return fmt.Sprintf("Number %d\n%s", n, prose(30, "quotation", n%6))
	})
	parts["back to any clean page"] = counterWith("/n/", func(n int) []string { return []string{fmt.Sprintf("/n/%d", n-1), fmt.Sprintf("/page/%d", 1+n*7%24)} })
	parts["names that know who knows them"] = names(friend, parseFriend, 3, func(name string) string { return name })
	parts["names that know who knows them"] = mutual(parts["names that know who knows them"])
	parts["months with days"] = monthsWithDays()
	parts["names with a page beside"] = withLeaves(parts["names"])
	return parts
}

// daysInViews leads from each day to others near it, each in three views.
func daysInViews() endless {
	const layout = "/cal?date=2006-01-02"
	return endless{
		func(n int) string {
			return time.Date(year, time.Month(1+n%12), 1, 0, 0, 0, 0, time.UTC).Format(layout) + "&view=month"
		},
		func(u urlkey.URL) (place, bool) {
			date, view, _ := strings.Cut(u.Target(), "&view=")
			d, err := time.Parse(layout, date)
			p := place{own: d.Format("2 January 2006") + "\nNo events.\n" + view}
			for _, days := range []int{-31, -7, -1, 1, 7, 31} {
				for _, view := range []string{"month", "week", "day"} {
					p.links = append(p.links, d.AddDate(0, 0, days).Format(layout)+"&view="+view)
				}
			}
			return p, err == nil
		},
	}
}

// monthsWithDays leads from each month to its days, which lead nowhere.
func monthsWithDays() endless {
	address, parse := byLayout("/calendar/", "2006/01")
	day, parseDay := byLayout("/calendar/", "2006/01/02")
	months := monthsOf(address, parse, grid)
	return endless{months.into, func(u urlkey.URL) (place, bool) {
		if d, ok := parseDay(u); ok {
			return place{d.Format("Monday, 2 January 2006"), []string{address(d)}}, true
		}
		m, ok := parse(u)
		p, _ := months.page(u)
		for d := m; ok && d.Month() == m.Month(); d = d.AddDate(0, 0, 1) {
			p.links = append(p.links, day(d))
		}
		return p, ok
	}}
}

// withLeaves gives each page another beside it that leads nowhere.
func withLeaves(of endless) endless {
	return endless{of.into, func(u urlkey.URL) (place, bool) {
		if rest, ok := strings.CutSuffix(u.String(), "/photo"); ok {
			return place{"Photo", []string{rest}}, true
		}
		p, ok := of.page(u)
		p.links = append(p.links, u.Path()+"/photo")
		return p, ok
	}}
}

// TestEndlessPartsAreContained within 60 fetches, beside clean pages that all are
// reached and of which each leads into the endless part.
func TestEndlessPartsAreContained(t *testing.T) {
	t.Parallel()
	const clean, most = 25, 60
	isClean := func(u urlkey.URL) bool { return u.Path() == "/" || strings.HasPrefix(u.Path(), "/page/") }
	for name, part := range endlessParts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := crawlSite(t, "http://h.example/", 600, func(u urlkey.URL) place {
				if !isClean(u) {
					p, ok := part.page(u)
					if !ok {
						t.Errorf("%s is no page", u)
					}
					return p
				}
				n, _ := strconv.Atoi(strings.TrimPrefix(u.Path(), "/page/"))
				p := place{prose(90, "clean", n), []string{"/", part.into(n)}}
				for _, child := range []int{2*n + 1, 2*n + 2} {
					if child < clean {
						p.links = append(p.links, fmt.Sprintf("/page/%d", child))
					}
				}
				return p
			})
			inside := w.fetched - w.seen(isClean)
			t.Logf("%d fetches, %d held, %+v", inside, w.held, w.found)
			if got := w.seen(isClean); got != clean {
				t.Errorf("%d of %d clean pages were reached", got, clean)
			}
			if inside > most {
				t.Errorf("%d fetches in the endless part, want at most %d", inside, most)
			}
			if w.held == 0 {
				t.Error("nothing is held")
			}
		})
	}
}
