package schedule

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"recrawl/internal/change"
	"recrawl/internal/crawl"
	"recrawl/internal/robots/directive"
)

// Words puts reasons into plain words, separated by commas. A reason with its own Text
// is worded with it. An unknown code is shown as it is, with its numbers, so that
// reasons of a later version remain readable.
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

// Word puts one reason into plain words.
func Word(r crawl.Reason) string {
	if words, ok := change.Word(r); ok && r.Text != "" {
		return words // which has more than the text
	}
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
	case CodeTold:
		return number(n) + " of them on the server's word (304)"
	case CodeRounds:
		if n == 1 {
			return "every round of " + span(r)
		}
		return "every " + number(n) + " rounds of " + span(r)
	case CodeInternal:
		return "not every " + number(n) + " rounds because " + percent(r.Num["share"]) + " of the pages it links to changed"
	case CodeRefresh:
		return "refresh time " + rough(r) + " after " + roughly(r.Num["from"]) + ", " + percent(r.Num["p"]) + " of the looks found changes"
	case CodeSelective:
		return percent(r.Num["share"]) + " of the pages it links to changed, " + percent(r.Num["at"]) + " make a visit"
	case CodeMin:
		return "not before min_interval " + span(r)
	case CodeMax:
		return "not after max_interval " + span(r)
	case CodeJitter:
		return fmt.Sprintf("jitter %+.1f %%", 100*r.Num["share"])
	case CodeProbe:
		return "looked at again every " + span(r)
	case CodeSecondLook:
		return "looked at again after " + rough(r) + " already, before it counts"
	case CodeComeBack:
		return "looked at again after " + rough(r) + ", in case it comes back"
	case CodeFailed:
		return "failed" + inARow(n)
	case CodeThrottled:
		return "the host asked for quiet" + inARow(n)
	case CodeRetryAfter:
		return "not before the " + span(r) + " it asked for"
	case CodeRest:
		return "left alone for " + rough(r) + " because its host was held on its account"
	case CodeLifted:
		return "the rule that excluded it no longer holds: asked for again after " + rough(r)
	case CodeKept:
		return "kept, and asked for again when a new version of a page needs it after " + span(r)
	case CodeNoCopy:
		return "no copy, and asked for again when a new version of a page needs it after " + span(r)
	}
	if words, ok := budgetWords(r); ok {
		return words
	}
	if words, ok := plainWords[r.Code]; ok {
		return words
	}
	return foreign(r)
}

var plainWords = map[string]string{
	CodeRedirected:  "answers with a redirect",
	CodeRespelled:   "its server wants the address spelled otherwise: asked for again at once",
	CodeDoubted:     "the server's 304 names another version than the one asked about: asked for whole the next time",
	CodeGone:        "gone",
	CodeExcluded:    "excluded by robots, scope or purpose",
	CodeUnsupported: "content type not wanted",
	CodeTooLarge:    "over the size limit",
	CodeDuplicate:   "same content as another page",
	CodeTrapped:     "part of a trap",
}

// budgetWords words the reasons of the budgeted policies and of moves of thresholds and
// prices. It reports false for other codes.
func budgetWords(r crawl.Reason) (string, bool) {
	num := func(name string) string { return strconv.FormatFloat(r.Num[name], 'g', 3, 64) }
	switch r.Code {
	case CodeBelief:
		return "changes about every " + spread(r), true
	case CodePrior:
		return "pages like it change about every " + spread(r), true
	case CodeNoisy:
		return "changed at each of the last " + num("n") + " looks, once after " + rough(r) + " only: noise, or faster than it may be visited", true
	case CodeAged:
		return rough(r) + " since it last changed by itself, or was found: " + num("x") + " of its usual rate", true
	case CodeSite:
		return percent(r.Num["share"]) + " of its site's pages changed at once: no change of its own", true
	case CodeHourly, CodeDaily, CodeWeekdays:
		return timetableWords(r), true
	case CodeSqrt:
		return "√λ share: every " + rough(r) + " at θ " + num("theta"), true
	case CodeFresh:
		return "freshness share: every " + rough(r) + " at θ " + num("theta"), true
	case CodeAge:
		return "age share: every " + rough(r) + " at θ " + num("theta"), true
	case CodeHarmonic:
		return "harmonic share: every " + rough(r) + " at θ " + num("theta"), true
	case CodeNever:
		return "changes too often to be worth a visit at θ " + num("theta"), true
	case CodeOwn:
		return "θ is that of an unknown page visited every " + span(r), true
	case CodeExplore:
		return "looked at within " + rough(r) + " to learn how often it changes", true
	case CodeEarly:
		return "looked at after " + rough(r) + " already: a change by its turn is sure and tells nothing of how often", true
	case CodeRare:
		return "looked at after " + rough(r) + " all the same, since it may change less often by then", true
	case CodePrice:
		return "its host is full: θ " + num("price") + " instead of " + num("theta"), true
	case CodeQueue:
		return rough(r) + " sooner, as long as it waits for its host", true
	case CodeWeight:
		return "weight " + num("w"), true
	case CodeIndex:
		return "index " + num("v") + " now, due at " + num("theta"), true
	case CodeUnchanged:
		return "then after " + rough(r) + " if the next visit finds no change", true
	case CodeChanged:
		return "then after " + rough(r) + " if the next visit finds a change", true
	case CodeHeavier:
		return "after " + rough(r) + " if its weight were twice as large", true
	case CodeHostFree:
		return "after " + rough(r) + " if its host had room", true
	case CodeUnbound:
		return "after " + rough(r) + " without min_interval and max_interval", true
	case CodeEngine:
		return "Temporal and the workers make about " + visits(r.Num["visits"]) + " visits a day, of the " + visits(r.Num["asked"]) + " that are asked for", true
	case CodeStretched:
		return "times " + num("times") + " because the engine does not make more visits", true
	case CodePlanned:
		return num("visits") + " visits a day were planned, the budget leaves " + num("budget"), true
	case CodeSpacing:
		return "the budget has a visit of each page every " + rough(r) + " instead of every " + roughly(r.Num["from"]), true
	case CodeThreshold:
		return thresholdWords(num("from"), num("to")), true
	}
	return "", false
}

// timetableWords says when a page changes by the clock: "changes daily at about 06:10 UTC".
func timetableWords(r crawl.Reason) string {
	at := time.Duration(r.Num["s"]) * time.Second
	clock := fmt.Sprintf("%02d:%02d UTC", at/time.Hour, at%time.Hour/time.Minute)
	var words string
	switch r.Code {
	case CodeHourly:
		words = fmt.Sprintf("changes hourly at about %d minutes past", at/time.Minute)
	case CodeDaily:
		words = "changes daily at about " + clock
	default:
		words = "changes from Mondays to Fridays at about " + clock
	}
	if r.Num["learns"] != 0 {
		words += " (± " + Rough(time.Duration(r.Num["within"])*time.Second) + "): visited to learn when exactly"
	}
	return words
}

// visits is a number of visits a day, to three digits.
func visits(n float64) string {
	unit := math.Pow10(max(0, int(math.Log10(max(n, 1)))-2))
	return strconv.FormatFloat(math.Round(n/unit)*unit, 'f', 0, 64)
}

// thresholdWords says how a threshold has moved.
func thresholdWords(from, to string) string {
	switch from {
	case to:
		return "θ stays at " + to
	case "0":
		return "θ starts at " + to
	}
	return "θ moved from " + from + " to " + to
}

// Summary puts a decision into one line: "revisit in 2d 1h: changed in 10 of the last
// 20 visits, every 2 rounds of 1d".
func Summary(interval time.Duration, reasons []crawl.Reason) string {
	line := "revisit in " + Rough(interval)
	if words := Words(reasons); words != "" {
		line += ": " + words
	}
	return line
}

// Rough writes a duration in its two largest units, the smaller one rounded down: "3d
// 4h", "12m", "850ms". The sign is dropped.
func Rough(d time.Duration) string {
	if d < 0 {
		d = max(-d, -(d + 1)) // the least Duration has no positive
	}
	if d < time.Second {
		return d.Truncate(time.Millisecond).String()
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

// span returns a reason's number of seconds as an exact duration with units.
func span(r crawl.Reason) string {
	return crawl.FormatDuration(duration(r.Num["s"] / day.Seconds()).Round(time.Millisecond))
}

// rough returns a reason's number of seconds in two units.
func rough(r crawl.Reason) string { return roughly(r.Num["s"]) }

func roughly(seconds float64) string { return Rough(duration(seconds / day.Seconds())) }

// spread returns a belief's time between two changes with its 90 % interval.
func spread(r crawl.Reason) string {
	return Every(r.Num["mean"]) + " (90 %: " + Every(r.Num["high"]) + " to " + Every(r.Num["low"]) + ")"
}

// Every is the time between two changes at a rate in changes a day, in words: "3d 4h".
func Every(rate float64) string {
	const year = 365.0
	switch days := 1 / rate; {
	case days >= 100*year:
		return "100 years and more"
	case days >= 2*year:
		return strconv.FormatFloat(days/year, 'f', 0, 64) + " years"
	case days >= 10:
		return strconv.FormatFloat(days, 'f', 0, 64) + "d"
	default:
		return Rough(duration(days))
	}
}

func percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 0, 64) + " %" }

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
	if words, ok := directive.Word(r); ok {
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
