package trap

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"recrawl/internal/urlkey"
)

const (
	// A number with a page of it looks like a year with a month (thread-2031-1.html). Of
	// numbers, minFirst is the least share that has one of its first pages, as numbered
	// items do, and maxEach the most pages that each has on average. A calendar has twelve
	// months a year.
	minFirst = 0.9
	maxEach  = 6
)

var (
	// paddedRE finds a month or a day that is written with two digits, as no number is.
	paddedRE = regexp.MustCompile(`\D0[1-9]`)
	numberRE = regexp.MustCompile(`\d+`)
)

// dateForm is the dates of one spelling below a path that are far ahead.
type dateForm struct {
	dates map[date]bool
	// named: a parameter says that it is a year; padded: a month or a day has two digits.
	named, padded bool
	// numbers is how many other URLs are spelled like the dates, with a number that is no year.
	numbers int
}

// calendars finds paths below which dates go on too far.
func calendars(host string, pages []Page, year int) []Finding {
	type place struct {
		path  []string
		forms map[string]*dateForm
	}
	places, forms := map[string]*place{}, map[string]*dateForm{}
	first := year + yearsAhead + 1
	for _, p := range pages {
		d, ok := dateIn(p.URL)
		if !ok || d.year < first {
			continue
		}
		path := pathShapes(p.URL)[:d.at]
		key := strings.Join(path, "/")
		if places[key] == nil {
			places[key] = &place{path, map[string]*dateForm{}}
		}
		text := d.text(p.URL)
		spelled := key + " " + withoutDigits(text) // no URL has a blank
		form := forms[spelled]
		if form == nil {
			form = &dateForm{dates: map[date]bool{}, named: text == ""}
			places[key].forms[spelled], forms[spelled] = form, form
		}
		form.dates[d] = true
		form.padded = form.padded || paddedRE.MatchString(text)
	}
	countNumbers(pages, forms)
	var found []Finding
	for _, key := range slices.Sorted(maps.Keys(places)) {
		at, dates := places[key], 0
		for _, form := range at.forms {
			if !form.counts() {
				dates += len(form.dates)
			}
		}
		if dates >= minDates {
			found = append(found, Finding{
				Pattern: Pattern{Kind: KindDates, Host: host, Path: at.path, Year: first}, Reason: ReasonDates,
				Detail: fmt.Sprintf("%d dates from %d on", dates, first),
			})
		}
	}
	return found
}

// countNumbers counts for each form the pages that are spelled like it, but with a number
// that is no year: of /topic/2031/2 those like /topic/812/2. Those like /topic/2031/32 may
// be weeks.
func countNumbers(pages []Page, forms map[string]*dateForm) {
	if len(forms) == 0 {
		return
	}
	for _, p := range pages {
		if _, ok := dateIn(p.URL); ok {
			continue
		}
		for _, spelled := range spellings(p.URL) {
			if form := forms[spelled]; form != nil {
				form.numbers++
			}
		}
	}
}

// spellings are the names of the forms that a URL would have if one of its numbers were a
// year. Numbers that are one are left out.
func spellings(u urlkey.URL) []string {
	segments, shapes := u.Segments(), pathShapes(u)
	var all []string
	add := func(path []string, text string) {
		if number := numberRE.FindString(text); number != "" && !yearRE.MatchString(number) {
			all = append(all, strings.Join(path, "/")+" "+withoutDigits(text))
		}
	}
	for i, s := range segments {
		add(shapes[:i], s)
		if i+1 < len(segments) {
			add(shapes[:i], s+"/"+segments[i+1])
		}
	}
	for _, param := range u.Params() {
		add(shapes, "?"+param)
	}
	return all
}

// counts reports whether the dates are numbers of items that only look like dates.
func (f dateForm) counts() bool {
	if f.named {
		return false
	}
	if f.numbers >= len(f.dates) {
		return true
	}
	years, firsts, days := map[int]bool{}, map[int]bool{}, map[date]bool{}
	for d := range f.dates {
		years[d.year] = true
		days[date{month: d.month, day: d.day}] = true
		if d.month <= 2 { // the first page may have no number
			firsts[d.year] = true
		}
	}
	return !f.padded && len(years) > len(days) && len(f.dates) <= maxEach*len(years) && float64(len(firsts)) >= minFirst*float64(len(years))
}
