package polite

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// httpDates are the three forms of a date in HTTP (RFC 9110, 5.6.7), and others that servers
// send: a host that asks for patience gets it, however it writes that.
var httpDates = []string{
	"Mon, 2 Jan 2006 15:04:05 GMT", // a day of one digit, too
	"Monday, 2-Jan-06 15:04:05 GMT",
	"Mon Jan _2 15:04:05 2006",
	"Mon, 2 Jan 2006 15:04:05 UTC",
	"Mon, 2 Jan 2006 15:04:05 -0700",
	"Mon, 2-Jan-2006 15:04:05 GMT", // as in cookies
	"Mon, 2-Jan-06 15:04:05 GMT",
	time.RFC3339,
}

// ParseRetryAfter reads a Retry-After header. That is a number, of seconds or of the unit behind it
// ("2 minutes"), which is rounded up, or a date, which is compared with now. It reports false for
// anything else, an empty header included, and for a date in the past: somebody forgot it there,
// and it says nothing about now.
func ParseRetryAfter(header string, now time.Time) (time.Duration, bool) {
	text := strings.TrimSpace(header)
	number, unit := cutUnit(text)
	if whole, fraction, cut := strings.Cut(number, "."); unit > 0 && isDigits(whole) && (!cut || isDigits(fraction)) {
		wait := parseNumber(whole, unit)
		if strings.Trim(fraction, "0") != "" {
			wait = min(wait, math.MaxInt64-unit) + unit
		}
		return wait, true
	}
	for _, layout := range httpDates {
		// Go reads "GMT" as the UTC it is.
		if at, err := time.Parse(layout, text); err == nil {
			wait := max(at.Sub(now), 0)
			return wait, wait > 0
		}
	}
	return 0, false
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// cutUnit parts a number from its unit, which is a second if there is none and 0 if nobody
// knows it.
func cutUnit(text string) (number string, unit time.Duration) {
	end := strings.LastIndexAny(text, "0123456789.") + 1
	switch name := strings.ToLower(strings.TrimSpace(text[end:])); {
	case name == "", name == "s", strings.HasPrefix(name, "sec"):
		unit = time.Second
	case name == "m", strings.HasPrefix(name, "min"):
		unit = time.Minute
	case name == "h", strings.HasPrefix(name, "hour"):
		unit = time.Hour
	case name == "d", strings.HasPrefix(name, "day"):
		unit = 24 * time.Hour
	}
	return text[:end], unit
}

// parseNumber reads digits; a number of units that is too large for a duration becomes the longest
// one.
func parseNumber(digits string, unit time.Duration) time.Duration {
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n > math.MaxInt64/int64(unit) {
		return math.MaxInt64
	}
	return time.Duration(n) * unit
}
