package change

import (
	"strconv"
	"strings"
	"time"
)

// A time that may be that of the page's making is kept as one word with a mark. Whether it
// is, only a comparison can tell: an article of today has today's date too, and still has
// it tomorrow.
const (
	clockMark = "\x00"
	// thenMark begins the word. It is hashed with the text, and digests are stored.
	thenMark = clockMark + "then\x00"
)

// clockWord is the word for the time of some tokens.
func (s *scanner) clockWord(from, to int) string {
	return thenMark + strings.ReplaceAll(s.join(from, to), " ", clockMark)
}

// sameWord compares two words of texts that were fetched at prev and next. Clocks are the
// same if both show when their pages were made.
func (s *scanner) sameWord(a, b string, prev, next time.Time) (same, clocks bool) {
	if a == b {
		return true, false
	}
	if !strings.HasPrefix(a, clockMark) || !strings.HasPrefix(b, clockMark) {
		clocks = isEpoch(a, prev) && isEpoch(b, next)
		return clocks || looksSame(a, b), clocks
	}
	clocks = sameClock(s.readClock(a), s.readClock(b), prev, next)
	return clocks, clocks
}

// isEpoch reports whether a word is the time of a fetch in seconds or milliseconds since 1970, as
// programs write it.
func isEpoch(word string, at time.Time) bool {
	const seconds, millis = len("1700000000"), len("1700000000000")
	word = strings.TrimRight(word, ",")
	number, err := strconv.ParseInt(word, 10, 64)
	if err != nil || at.IsZero() || len(word) != seconds && len(word) != millis {
		return false
	}
	since := at.Sub(time.Unix(number, 0))
	if len(word) == millis {
		since = at.Sub(time.UnixMilli(number))
	}
	return since >= -fast && since <= dated
}

// clockTime holds the time that a clock's word says.
type clockTime struct {
	saidTime
	timeOfDay time.Duration // 0 if it has none
	valid     bool          // it is a time of day
}

// readClock scans the word anew.
func (s *scanner) readClock(word string) clockTime {
	s.scan(strings.ReplaceAll(strings.TrimPrefix(word, thenMark), clockMark, " "))
	said := s.readDate(0, len(s.tokens))
	clock, ok := s.timeOfDay(said)
	return clockTime{said, clock, ok}
}

const (
	// westmost and eastmost bound the time zones of the world, except for a few islands. They
	// are whole half hours from UTC, or Nepal's.
	westmost, eastmost = -11 * time.Hour, 13 * time.Hour
	halfHour, nepal    = 30 * time.Minute, 5*time.Hour + 45*time.Minute
	// dated and undated are the most time between a page's making and its fetch, for a clock
	// with its day and for a time of day alone, which is less sure to be the page's. fast is
	// how far ahead the clock of its server may be.
	dated, undated, fast = 15 * time.Minute, 3 * time.Minute, 3 * time.Minute
)

// sameClock reports whether two clocks show when their pages were made, which were fetched
// at prev and next: either in the same zone, or as machines note it. If it is not
// known when they were fetched, nothing shows that.
func sameClock(a, b clockTime, prev, next time.Time) bool {
	if prev.IsZero() || next.IsZero() {
		return false
	}
	if a.isNoted(prev) && b.isNoted(next) {
		return true
	}
	slack := time.Duration(0)
	if turnsClocks(prev, next) {
		slack = time.Hour
	}
	for _, one := range a.zones(prev) {
		for _, other := range b.zones(next) {
			if one.meets(span{other.from - slack, other.to + slack}) {
				return true
			}
		}
	}
	return false
}

// span is a stretch of distances from UTC, with its ends.
type span struct{ from, to time.Duration }

// meets reports whether a time zone is in both of two spans.
func (s span) meets(other span) bool {
	from, to := max(s.from, other.from), min(s.to, other.to)
	zone := from.Truncate(halfHour)
	if zone < from {
		zone += halfHour
	}
	return zone <= to || from <= nepal && nepal <= to
}

// zones returns the distances from UTC at which a clock shows the time of a fetch.
func (c clockTime) zones(at time.Time) []span {
	if !c.valid {
		return nil
	}
	var all []span
	midnight := at.UTC().Truncate(24 * time.Hour)
	for _, days := range [...]int{-1, 0, 1} {
		day := midnight.AddDate(0, 0, days)
		if c.hasDate() && !c.fits(day) {
			continue
		}
		begins := day.Sub(at)
		zone := span{begins, begins + 24*time.Hour - 1}
		switch {
		case c.clock != nil && c.hasDate():
			zone = span{begins + c.timeOfDay - fast, begins + c.timeOfDay + dated}
		case c.clock != nil:
			zone = span{begins + c.timeOfDay - fast, begins + c.timeOfDay + undated}
		}
		if zone = (span{max(zone.from, westmost), min(zone.to, eastmost)}); zone.from <= zone.to {
			all = append(all, zone)
		}
	}
	return all
}

// isNoted reports whether a clock says when a machine did something before the fetch: it has
// a day and a time to the second. People set round times, as the ends of auctions, and
// what is to come is no note.
func (c clockTime) isNoted(at time.Time) bool {
	if !c.hasDate() || !c.seconds || c.clock[2] == 0 || c.clock[1] == 59 && c.clock[2] == 59 {
		return false
	}
	all := c.readings()
	for _, r := range all {
		if r.at.Sub(at) <= eastmost {
			return true
		}
	}
	return len(all) == 0 // without a year, or in another calendar
}

// turnsClocks reports whether clocks may be put forward or back between two times: on a
// Sunday of the months in which this is done anywhere.
func turnsClocks(from, to time.Time) bool {
	const halfYear = 183 // days
	if from.After(to) {
		from, to = to, from
	}
	if to.Sub(from) >= halfYear*24*time.Hour {
		return true
	}
	for day := from.UTC().AddDate(0, 0, -1); !day.After(to.UTC().AddDate(0, 0, 1)); day = day.AddDate(0, 0, 1) {
		switch day.Month() {
		case time.March, time.April, time.September, time.October, time.November:
			if day.Weekday() == time.Sunday {
				return true
			}
		}
	}
	return false
}
