package sitemap

import (
	"regexp"
	"strings"
	"sync"
	"time"
)

// dateLayouts are W3C dates in all their precisions (https://www.w3.org/TR/NOTE-datetime)
// with sites' variants of them, and after them the dates of RSS, without the day of the
// week. Fractions of a second are read wherever there are seconds.
var dateLayouts = []string{
	"2006-01-02T15:04:05Z07:00", "2006-01-02", "2006-01-02T15:04Z07:00", "2006-01", "2006",
	"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02T15:04:05-0700", "2006-01-02T15:04-0700", "2006-01-02T15:04:05 -0700",
	"2006-01-02T15:04:05Z07",
	"2 Jan 2006 15:04:05 -0700", "2 Jan 2006 15:04 -0700", "2 Jan 06 15:04:05 -0700", "2 Jan 06 15:04 -0700",
	"2 Jan 2006 15:04:05", "2 Jan 2006 15:04", "2 Jan 2006",
	"2 January 2006 15:04:05 -0700", "2 January 2006",
}

// zones are those that RFC 822 names.
var zones = map[string]string{
	"UT": "+0000", "UTC": "+0000", "GMT": "+0000", "Z": "+0000",
	"EST": "-0500", "EDT": "-0400", "CST": "-0600", "CDT": "-0500",
	"MST": "-0700", "MDT": "-0600", "PST": "-0800", "PDT": "-0700",
}

// ParseDate reads the date of a sitemap or feed. A date without a time zone is UTC;
// a date without a time is its first moment, so that the change happened then or
// later. It reports false for anything but a date since 1970.
func ParseDate(text string) (time.Time, bool) {
	if len(text) > maxDate {
		return time.Time{}, false
	}
	text = normalDate(text)
	for _, layout := range dateLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), t.Unix() > 0 && t.Year() < 10_000
		}
	}
	return time.Time{}, false
}

// timed reports whether a readable date has a time of day. Midnight is none: generators of
// feeds write it for articles of which they know the day only.
func timed(date string) bool {
	for _, field := range strings.FieldsFunc(normalDate(date), func(r rune) bool { return r == ' ' || r == 'T' }) {
		if clock, is := clockOf(field); is {
			return strings.Trim(clock, "0:") != ""
		}
	}
	return false
}

// clockOf returns the time of day that a part of a date begins with, without fractions of a
// second and zone.
func clockOf(field string) (clock string, is bool) {
	end := strings.IndexFunc(field, func(r rune) bool { return r != ':' && (r < '0' || r > '9') })
	if end < 0 {
		end = len(field)
	}
	return field[:end], strings.Contains(field[:end], ":")
}

// namedOffset matches a date whose zone is given by its offset, and after that by its name, as Go
// writes it, or in a comment, as RFC 5322 allows.
var namedOffset = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(.* [+-]\d{4}) (?:[A-Z]+|\([A-Z]+\))$`)
})

// normalDate brings habitual variants into one form: the day of the week, the names
// of zones, a space or a small letter in a W3C date.
func normalDate(text string) string {
	if day, rest, ok := strings.Cut(text, ","); ok && !strings.ContainsAny(day, "0123456789") {
		text = rest
	}
	if offset := namedOffset().FindStringSubmatch(strings.TrimSpace(text)); offset != nil {
		text = offset[1]
	}
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return ""
	}
	if last := len(fields) - 1; last > 0 {
		if offset, ok := zones[strings.ToUpper(fields[last])]; ok {
			fields[last] = offset
		}
	}
	if len(fields) > 1 && len(fields[0]) == len("2006-01-02") && fields[0][4] == '-' {
		fields = append([]string{fields[0] + "T" + fields[1]}, fields[2:]...)
	}
	if len(fields) == 1 {
		fields[0] = strings.ToUpper(fields[0])
	}
	return strings.Join(fields, " ")
}
