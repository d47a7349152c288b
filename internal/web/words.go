package web

import (
	"html/template"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"recrawl/internal/report"
	"recrawl/internal/schedule"
)

// timeElement writes a time for people: how long ago it was, or how long until then. A
// tooltip shows the time itself.
func timeElement(t any, now time.Time) template.HTML {
	at := asTime(t)
	if at.IsZero() {
		return "–"
	}
	utc := at.UTC()
	return template.HTML(`<time datetime="` + utc.Format("2006-01-02T15:04:05Z") + `" title="` + utc.Format("2006-01-02 15:04:05 UTC") + `">` +
		template.HTMLEscapeString(report.When(at, now)) + `</time>`)
}

// asTime converts the times of package report, which has its own types for JSON.
func asTime(v any) time.Time { return as[time.Time](v) }

func asDuration(v any) time.Duration { return as[time.Duration](v) }

// as converts between types that differ only in name. Anything else is a mistake in a
// template, which the tests of the views find.
func as[T any](v any) T {
	return reflect.ValueOf(v).Convert(reflect.TypeFor[T]()).Interface().(T)
}

// count writes a number with its noun: "1 page", "1 234 pages". A non-breaking space
// separates groups of digits.
func count(n any, noun string) string {
	text := grouped(reflect.ValueOf(n).Int())
	if noun == "" {
		return text
	}
	if text != "1" {
		noun += "s"
	}
	return text + " " + noun
}

func grouped(n int64) string {
	if n < 0 {
		return "-" + grouped(-n)
	}
	if n < 10_000 {
		return strconv.FormatInt(n, 10)
	}
	digits := strconv.FormatInt(n, 10)
	var groups []string
	for ; len(digits) > 3; digits = digits[:len(digits)-3] {
		groups = append([]string{digits[len(digits)-3:]}, groups...)
	}
	return strings.Join(append([]string{digits}, groups...), "\u202f")
}

// plural writes a number with the word for one, or for several.
func plural(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(int64(n)) + " " + several
}

// inDays writes a number of days in words.
func inDays(days float64) string {
	return schedule.Rough(time.Duration(days * 24 * float64(time.Hour)).Truncate(time.Second))
}

// upperFirst capitalises the first letter, to begin a sentence.
func upperFirst(text string) string {
	r, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(r)) + text[size:]
}
