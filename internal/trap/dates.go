package trap

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"recrawl/internal/urlkey"
)

// date is a month, or a day, that a URL names.
type date struct {
	year, month, day int
	// at is how many segments stand before it: all of the path if it is in the query.
	at int
}

var (
	yearRE  = regexp.MustCompile(`^(1[5-9]|2[0-4])\d\d$`)
	monthRE = regexp.MustCompile(`^(0?[1-9]|1[0-2])$`)
	dayRE   = regexp.MustCompile(`^(0?[1-9]|[12]\d|3[01])$`)
	// wholeRE is a month or a day in one piece, with what may stand around it.
	wholeRE = regexp.MustCompile(`^(?:[a-z]*[-_.])?((?:1[5-9]|2[0-4])\d\d)[-_.](0?[1-9]|1[0-2])(?:[-_.](0?[1-9]|[12]\d|3[01]))?(?:\.[a-z]+)?$`)
)

// dateIn finds a date: /2031/05/, /2031/05/17, /2031-05-17.html, ?month=2031-05,
// ?year=2031&month=5. A year alone is no date, and neither are eight digits, which
// are usually numbers of items.
func dateIn(u urlkey.URL) (date, bool) {
	segments := u.Segments()
	for i, s := range segments {
		if d, ok := whole(s); ok {
			d.at = i
			return d, true
		}
		if i+1 < len(segments) && yearRE.MatchString(s) && monthRE.MatchString(segments[i+1]) {
			d := date{year: number(s), month: number(segments[i+1]), at: i}
			if i+2 < len(segments) && dayRE.MatchString(segments[i+2]) {
				d.day = number(segments[i+2])
			}
			return d, true
		}
	}
	d := date{at: len(segments)}
	for _, p := range u.Params() {
		name, value := cutParam(p)
		if found, ok := whole(value); ok {
			found.at = d.at
			return found, true
		}
		switch {
		case (name == "year" || name == "y" || name == "yr") && yearRE.MatchString(value):
			d.year = number(value)
		case (name == "month" || name == "m" || name == "mon" || name == "mo") && monthRE.MatchString(value):
			d.month = number(value)
		case (name == "day" || name == "d") && dayRE.MatchString(value):
			d.day = number(value)
		}
	}
	return d, d.year > 0 && d.month > 0
}

// text is the part of a URL that is the date, at least its year and month; "" if
// parameters name these.
func (d date) text(u urlkey.URL) string {
	segments := u.Segments()
	if d.at < len(segments) {
		if _, ok := whole(segments[d.at]); ok {
			return segments[d.at]
		}
		return segments[d.at] + "/" + segments[d.at+1]
	}
	for _, p := range u.Params() {
		if _, value := cutParam(p); value != "" {
			if _, ok := whole(value); ok {
				return "?" + p
			}
		}
	}
	return ""
}

// viewRE finds the value of a parameter that says how much of a calendar a page shows:
// month, dayGridWeek, list.
var viewRE = regexp.MustCompile(`(?i)^[a-z]*(?:day|week|month|year|list|agenda|grid)(?:ly)?$`)

// onlyDate finds a date that nothing follows, and no other parameters than those of its view.
func onlyDate(u urlkey.URL) (date, bool) {
	if !strings.ContainsAny(u.Target(), "0123456789") {
		return date{}, false
	}
	d, ok := dateIn(u)
	if !ok {
		return date{}, false
	}
	segments := u.Segments()
	params := slices.DeleteFunc(u.Params(), func(p string) bool {
		_, value := cutParam(p)
		return viewRE.MatchString(value)
	})
	if d.at == len(segments) {
		return d, !slices.ContainsFunc(params, func(p string) bool { return !isDatePart(p) })
	}
	pieces := 2
	if _, ok := whole(segments[d.at]); ok {
		pieces = 1
	} else if d.day > 0 {
		pieces = 3
	}
	return d, d.at+pieces == len(segments) && len(params) == 0
}

// isDatePart reports whether a parameter is a date or a part of one.
func isDatePart(param string) bool {
	name, value := cutParam(param)
	if _, ok := whole(value); ok {
		return true
	}
	return slices.Contains([]string{"year", "y", "yr", "month", "m", "mon", "mo", "day", "d"}, name)
}

func whole(s string) (date, bool) {
	m := wholeRE.FindStringSubmatch(s)
	if m == nil {
		return date{}, false
	}
	return date{year: number(m[1]), month: number(m[2]), day: number(m[3])}, true
}

// number reads digits; "" is 0.
func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// cutParam splits a parameter into its name, in lower case, and its value.
func cutParam(p string) (name, value string) {
	name, value, _ = strings.Cut(p, "=")
	return strings.ToLower(name), value
}
