package exclude

import (
	"strings"
	"time"
)

// maxDateWords is the most words of a date: "Fri 25 Jun 2010 15:00:00 PST".
const maxDateWords = 6

// layouts are the dates of RFC 822, RFC 850, RFC 9110 and ISO 8601 as sites
// write them, without commas, day of the week and, mostly, time zone.
var layouts = []string{
	"2 Jan 2006 15:04:05", "2 Jan 2006 15:04", "2 Jan 2006",
	"2 January 2006 15:04:05", "2 January 2006",
	"2 Jan 06 15:04:05", "2 Jan 06 15:04",
	"2-Jan-2006 15:04:05", "2-Jan-2006 15:04", "2-Jan-2006",
	"2-Jan-06 15:04:05", "2-Jan-06 15:04",
	"Jan 2 15:04:05 2006", "Jan 2 2006 15:04:05", "Jan 2 2006", "January 2 2006",
	"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z07:00",
	"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02",
	"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05", "2006-01-02 15:04",
	"20060102T150405Z0700", "20060102",
}

// zones are the time zones of RFC 822, in hours, and some more that are not
// ambiguous. Go's own parser takes an unknown abbreviation for UTC.
var zones = map[string]int{
	"UT": 0, "UTC": 0, "GMT": 0, "Z": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7,
	"WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "JST": 9, "AEST": 10, "AEDT": 11,
}

// date reads the date at the start of words, and says how many of them it has.
// As no separator ends it, the longest one counts.
func date(words []word) (time.Time, int) {
	var texts []string
	for _, w := range words[:min(len(words), maxDateWords)] {
		texts = append(texts, strings.ToUpper(w.text))
	}
	for n := len(texts); n > 0; n-- {
		if t, ok := parseDate(texts[:n]); ok {
			return t, n
		}
	}
	return time.Time{}, 0
}

// parseDate reads a date that is all of the words. Without a time zone it is
// UTC.
func parseDate(words []string) (time.Time, bool) {
	if isWeekday(words[0]) {
		words = words[1:]
	}
	var ahead time.Duration
	if n := len(words) - 1; n > 0 {
		if offset, ok := zone(words[n]); ok {
			words, ahead = words[:n], offset
		}
	}
	text := strings.Join(words, " ")
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			t = t.Add(-ahead).UTC().Truncate(time.Second)
			return t, t.Year() >= 1 && t.Year() <= 9999 // what can be written again
		}
	}
	return time.Time{}, false
}

// zone is how far a time zone is ahead of UTC.
func zone(name string) (time.Duration, bool) {
	if hours, ok := zones[name]; ok {
		return time.Duration(hours) * time.Hour, true
	}
	for _, layout := range []string{"-0700", "-07:00"} {
		if t, err := time.Parse(layout, name); err == nil {
			_, seconds := t.Zone()
			return time.Duration(seconds) * time.Second, true
		}
	}
	return 0, false
}

// isWeekday reports whether a word is a day of the week, whole or its first
// letters.
func isWeekday(word string) bool {
	for day := time.Sunday; day <= time.Saturday; day++ {
		if len(word) >= 3 && strings.HasPrefix(strings.ToUpper(day.String()), word) {
			return true
		}
	}
	return false
}
