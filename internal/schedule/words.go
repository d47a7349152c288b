package schedule

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"recrawl/internal/change"
	"recrawl/internal/crawl"
	"recrawl/internal/exclude"
)

// Codes of reasons, with their numbers. They are stored: never change the
// meaning of one. Durations are seconds ("s").
const (
	CodeFirst       = "first"       // nothing to compare with yet
	CodeChanges     = "changes"     // n changes of the last "of" comparisons
	CodeEvery       = "every"       // one visit every s
	CodeRounds      = "rounds"      // one visit every n rounds of s
	CodeMin         = "min"         // raised to min_interval
	CodeMax         = "max"         // cut to max_interval
	CodeProbe       = "probe"       // looked at again every s
	CodeFailed      = "failed"      // n visits in a row failed
	CodeThrottled   = "throttled"   // the host asked for quiet, n visits in a row
	CodeRetryAfter  = "retry_after" // the host asked for s of quiet
	CodeRedirected  = "redirected"  // the page answers with a redirect
	CodeGone        = "gone"        // 404 or 410
	CodeExcluded    = "excluded"    // robots or scope forbid it
	CodeUnsupported = "unsupported" // content type not wanted
	CodeTooLarge    = "too_large"   // body over the limit
	CodeDuplicate   = "duplicate"   // same content as another page
)

// Words says reasons in plain words, as one phrase. A reason that brings its own
// Text is said with it; an unknown code is shown as it is, with its numbers, so
// that reasons of a later version can still be read.
func Words(reasons []crawl.Reason) string {
	var b strings.Builder
	for i, r := range reasons {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(Word(r))
	}
	return b.String()
}

// Word says one reason in plain words.
func Word(r crawl.Reason) string {
	if r.Text != "" {
		return r.Text
	}
	switch n := r.Num["n"]; r.Code {
	case CodeFirst:
		return "first copy, nothing to compare with yet"
	case CodeChanges:
		return changes(n, r.Num["of"])
	case CodeEvery:
		return "every " + span(r)
	case CodeRounds:
		if n == 1 {
			return "every round of " + span(r)
		}
		return "every " + number(n) + " rounds of " + span(r)
	case CodeMin:
		return "not before min_interval " + span(r)
	case CodeMax:
		return "not after max_interval " + span(r)
	case CodeProbe:
		return "looked at again every " + span(r)
	case CodeFailed:
		return "failed" + inARow(n)
	case CodeThrottled:
		return "the host asked for quiet" + inARow(n)
	case CodeRetryAfter:
		return "not before the " + span(r) + " it asked for"
	}
	if words, ok := plainWords[r.Code]; ok {
		return words
	}
	return foreign(r)
}

var plainWords = map[string]string{
	CodeRedirected:  "answers with a redirect",
	CodeGone:        "gone",
	CodeExcluded:    "excluded by robots or scope",
	CodeUnsupported: "content type not wanted",
	CodeTooLarge:    "over the size limit",
	CodeDuplicate:   "same content as another page",
}

// Summary says a decision in one line: "revisit in 2d 1h: changed in 10 of the
// last 20 visits, every 2 rounds of 1d".
func Summary(d Decision) string {
	line := "revisit in " + Rough(d.Interval)
	if words := Words(d.Reasons); words != "" {
		line += ": " + words
	}
	return line
}

// Rough says a duration in its two largest units, the smaller one rounded down:
// "3d 4h", "12m", "850ms". A negative duration is said as its size.
func Rough(d time.Duration) string {
	if d < 0 {
		d = max(-d, -(d + 1)) // the least Duration has no positive
	}
	if d < time.Second {
		return d.Truncate(max(time.Millisecond, 1)).String()
	}
	for i, u := range roughUnits[:len(roughUnits)-1] {
		if d >= u.size {
			small := roughUnits[i+1]
			text := strconv.FormatInt(int64(d/u.size), 10) + u.name
			if rest := d % u.size / small.size; rest > 0 {
				text += " " + strconv.FormatInt(int64(rest), 10) + small.name
			}
			return text
		}
	}
	return strconv.FormatInt(int64(d/time.Second), 10) + "s"
}

var roughUnits = []struct {
	size time.Duration
	name string
}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}}

// withBound appends the bound that held, if one did, to the reasons.
func (p Parameters) withBound(bound string, reasons ...crawl.Reason) []crawl.Reason {
	switch bound {
	case CodeMin:
		return append(reasons, crawl.Reason{Code: CodeMin, Num: map[string]float64{"s": p.Floor().Seconds()}})
	case CodeMax:
		return append(reasons, crawl.Reason{Code: CodeMax, Num: map[string]float64{"s": p.Max.Seconds()}})
	}
	return reasons
}

// span is a reason's number of seconds as a duration with units.
func span(r crawl.Reason) string {
	return crawl.FormatDuration(time.Duration(r.Num["s"] * float64(time.Second)).Round(time.Millisecond))
}

func changes(n, of float64) string {
	switch {
	case of == 1 && n == 1:
		return "changed since the last visit"
	case of == 1:
		return "unchanged since the last visit"
	case n == 0:
		return "unchanged in the last " + number(of) + " visits"
	}
	return "changed in " + number(n) + " of the last " + number(of) + " visits"
}

func inARow(n float64) string {
	if n <= 1 {
		return ""
	}
	return " " + number(n) + " times in a row"
}

func number(n float64) string { return strconv.FormatFloat(n, 'g', -1, 64) }

func foreign(r crawl.Reason) string {
	if words, ok := change.Word(r); ok {
		return words
	}
	if words, ok := exclude.Word(r); ok {
		return words
	}
	if len(r.Num) == 0 {
		return r.Code
	}
	parts := make([]string, 0, len(r.Num))
	for _, k := range slices.Sorted(maps.Keys(r.Num)) {
		parts = append(parts, k+"="+number(r.Num[k]))
	}
	return r.Code + " (" + strings.Join(parts, " ") + ")"
}
