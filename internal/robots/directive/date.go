package directive

import (
	"strings"
	"time"
	"unicode"
)

const (
	// maxDateWords is the most words of a date: "Fri June 25 2010 3:00:00 PM PST".
	maxDateWords = 7
	// maxDateWord is more bytes than any of them has.
	maxDateWord = 40
)

// layouts are the dates of RFC 822, RFC 850, RFC 9110 and ISO 8601 as sites
// write them, without commas, day of the week and, mostly, time zone, by their
// number of words.
var layouts = map[int][]string{
	1: {
		"2-Jan-2006", "2-Jan-06", "2006-01-02", "2006/01/02", "20060102", "20060102T150405Z0700",
		"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04",
	},
	2: {
		"2-Jan-2006 15:04:05", "2-Jan-2006 15:04", "2-Jan-06 15:04:05", "2-Jan-06 15:04",
		"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006/01/02 15:04:05", "2006/01/02 15:04",
	},
	3: {"2 Jan 2006", "2 January 2006", "Jan 2 2006", "January 2 2006"},
	4: {
		"2 Jan 2006 15:04:05", "2 Jan 2006 15:04", "2 January 2006 15:04:05", "2 January 2006 15:04", "2 Jan 06 15:04:05", "2 Jan 06 15:04",
		"Jan 2 15:04:05 2006", "Jan 2 2006 15:04:05", "Jan 2 2006 15:04", "January 2 2006 15:04:05", "January 2 2006 15:04",
	},
	5: {"Jan 2 2006 3:04:05 PM", "Jan 2 2006 3:04 PM", "January 2 2006 3:04:05 PM", "January 2 2006 3:04 PM"},
}

// zones are the time zones of RFC 822, in hours, and some more that are not
// ambiguous. Go's own parser takes an unknown abbreviation for UTC.
var zones = map[string]int{
	"UT": 0, "UTC": 0, "GMT": 0, "Z": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7,
	"WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "JST": 9, "AEST": 10, "AEDT": 11,
}

// date reads the next date and passes over it; zero if none can be read. As dates
// contain commas and spaces, the longest one counts.
func (in *reader) date() time.Time {
	words, ends := dateWords(in.text)
	for n := len(words); n > 0; n-- {
		if t, ok := parseDate(words[:n]); ok {
			in.text = in.text[ends[n-1]:]
			return t
		}
	}
	in.value(isNothing)
	return time.Time{}
}

// dateWords splits the head of a text into possible words of a date, in capitals,
// and returns where each ends.
func dateWords(text string) (words []string, ends []int) {
	start := -1 // of a word
	for i, r := range text {
		m := markOf(r)
		between := r == ',' || r == '，' || unicode.IsSpace(r)
		switch {
		case start < 0 && m == inWord:
			start = i
		case start >= 0 && (between || m == space || m == itemEnd):
			words, ends, start = append(words, dateWord(text[start:i])), append(ends, i), -1
		}
		if len(words) == maxDateWords || start >= 0 && i-start > maxDateWord || m == itemEnd && !between || m == space && !between && len(words) > 0 {
			return words, ends
		}
	}
	if start >= 0 {
		words, ends = append(words, dateWord(text[start:])), append(ends, len(text))
	}
	return words, ends
}

// dateWord writes a word of a date as layouts have it: "25th" as "25".
func dateWord(word string) string {
	word = strings.ToUpper(word)
	for _, ordinal := range []string{"ST", "ND", "RD", "TH"} {
		if number, ok := strings.CutSuffix(word, ordinal); ok && len(number) <= 2 && strings.Trim(number, "0123456789") == "" {
			return number
		}
	}
	return word
}

// parseDate reads a date that consists of all the words. Without a time zone it is
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
	for _, layout := range layouts[len(words)] {
		if t, err := time.Parse(layout, text); err == nil {
			t = t.Add(-ahead).UTC().Truncate(time.Second)
			return t, t.Year() >= 1 && t.Year() <= 9999 // a date that can be written again
		}
	}
	return time.Time{}, false
}

// zone is how far a time zone is ahead of UTC.
func zone(name string) (time.Duration, bool) {
	if hours, ok := zones[name]; ok {
		return time.Duration(hours) * time.Hour, true
	}
	if len(name) > 3 && (strings.HasPrefix(name, "GMT") || strings.HasPrefix(name, "UTC")) {
		name = name[3:]
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
