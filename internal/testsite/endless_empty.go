package testsite

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// emptyText is a page of a trap that says next to nothing.
type emptyText struct {
	text  string
	links []string
}

// emptyPage is a page of the traps that only lead on: an agenda into the future and
// into the past, people who know people, and the time (Bouras et al., "home?time=101").
// No address of these says by itself that there is no end.
func emptyPage(trap string, u *url.URL) (emptyText, bool) {
	switch trap {
	case "agenda":
		month, err := time.Parse("/agenda/January-2006", u.Path)
		if err != nil {
			return emptyText{}, false
		}
		before, after := month.AddDate(0, -1, 0), month.AddDate(0, 1, 0)
		return emptyText{
			month.Format("January 2006") + ": nothing is planned.",
			[]string{agenda(before.Year(), before.Month()), agenda(after.Year(), after.Month()), "/"},
		}, true
	case "names":
		name := strings.Join(strings.Split(strings.TrimPrefix(u.Path, "/people/"), "-"), " ")
		p := emptyText{text: name + " knows these people:", links: []string{"/"}}
		for n := range 3 {
			p.links = append(p.links, person(friend(name, n)))
		}
		return p, true
	case "home":
		n, err := strconv.Atoi(u.Query().Get("time"))
		return emptyText{fmt.Sprintf("It is %d now.", n), []string{fmt.Sprintf("/home?time=%d", n+1)}}, err == nil
	}
	return emptyText{}, false
}

func agenda(year int, month time.Month) string {
	return time.Date(year, month, 1, 0, 0, 0, 0, time.UTC).Format("/agenda/January-2006")
}

func person(name string) string {
	return "/people/" + strings.ToLower(strings.ReplaceAll(name, " ", "-"))
}

// friend names somebody whom a person knows.
func friend(name string, n int) string {
	const first, last = "Ada Bea Cleo Dan Eva Finn Gus Hal Ida Jan Kim Leo", "Abel Berg Cole Dorn Ek Fink Gray Hahn Jung Koch Lund Mohr"
	rng := rngOf(uint64(n), "friend", name)
	firsts, lasts := strings.Fields(first), strings.Fields(last)
	return firsts[rng.IntN(len(firsts))] + " " + lasts[rng.IntN(len(lasts))] + " " + lasts[rng.IntN(len(lasts))] + " " + strconv.Itoa(rng.IntN(10))
}
