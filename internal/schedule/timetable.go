package schedule

import (
	"fmt"
	"strings"
	"time"
)

// Timetable says when a page changes by the clock, judged by its looks: "daily,
// between 05:50 and 06:10 UTC". The zero Timetable is that of a page without one, or
// whose times are not known.
//
// Times are counted in slots of five minutes since a Monday, in UTC. A page that keeps
// local time moves by an hour twice a year; so it keeps a timetable in UTC and now and
// then breaks with it, as any page may.
type Timetable struct {
	// Period is the number of a period in periods, 0 for no timetable.
	Period uint8 `json:"p,omitempty"`
	// By is the slot, counted from the beginning of the period, by the end of which a
	// change has appeared.
	By uint16 `json:"by,omitempty"`
	// Within is the number of slots up to By, at least 1, in which the change appears.
	Within uint16 `json:"in,omitempty"`
	// Doubtful says that the next visit tests the timetable: it comes before the time.
	Doubtful bool `json:"doubt,omitempty"`
}

// period is a length of time after which a page may change again.
type period struct {
	slots    int64
	weekdays bool // slots is a day; no change on Saturdays and Sundays
}

const (
	slotTime      = 5 * time.Minute
	hour, daySlot = int64(time.Hour / slotTime), int64(day / slotTime)
)

// periods are those of clocks and calendars. Other periods are not tried: the more there
// are to choose from, the more often chance resembles one of them. Weeks are too long:
// pages that change every eight or nine days were taken for weekly ones, and that cost
// more than weekly ones gained.
var periods = [...]period{1: {slots: hour}, 2: {slots: daySlot}, 3: {slots: daySlot, weekdays: true}}

// monday is how long before the beginning of Unix time, a Thursday, slots begin.
const monday = 3 * day

// slotOf returns the slot of a time after 1970.
func slotOf(at time.Time) int64 {
	return (at.UnixMilli() + monday.Milliseconds()) / slotTime.Milliseconds()
}

// slotStart returns when a slot begins.
func slotStart(slot int64) time.Time {
	return time.UnixMilli(slot*slotTime.Milliseconds() - monday.Milliseconds())
}

// upTo counts the times of a period, at a slot after its beginning, from the first Monday
// up to and including a slot.
func (p period) upTo(slot, phase int64) int64 {
	n := (slot - phase + p.slots) / p.slots // rounded down: no slot is before a first period
	if p.weekdays {
		return n/7*5 + min(n%7, 5)
	}
	return n
}

// next returns the n-th time (≥ 1) of a period after a slot.
func (p period) next(slot, phase, n int64) int64 {
	n += p.upTo(slot, phase) - 1 // counted from 0
	if p.weekdays {
		n = n/5*7 + n%5
	}
	return n*p.slots + phase
}

// days returns the mean number of days between two times.
func (p period) days() float64 {
	d := float64(p.slots) / float64(daySlot)
	if p.weekdays {
		d *= 7. / 5
	}
	return d
}

// between returns how many times of the timetable come after one slot and up to another; 0
// without a timetable.
func (t Timetable) between(from, to int64) int64 {
	if t.Period == 0 {
		return 0
	}
	p := periods[t.Period]
	return p.upTo(to, int64(t.By)) - p.upTo(from, int64(t.By))
}

func (t Timetable) valid() bool {
	if t.Period == 0 {
		return t == Timetable{}
	}
	return int(t.Period) < len(periods) && int64(t.By) < periods[t.Period].slots && t.Within > 0 && int64(t.Within) <= periods[t.Period].slots
}

// recalled is how many of a page's last looks its timetable is fitted to, and longest the
// longest time, in slots, between two of them.
const (
	recalled = 32
	longest  = 1<<11 - 1
)

// Times has a page's last looks in few bytes, as it is stored: two characters for each
// look, which hold the slots since the look before in their upper eleven bits, and in the
// last whether it found a change. The zero Times has none.
type Times struct {
	n     uint8
	codes [recalled]uint16
}

// digits has the characters of stored times.
const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// MarshalText implements encoding.TextMarshaler.
func (t Times) MarshalText() ([]byte, error) {
	text := make([]byte, 0, 2*t.n)
	for _, code := range t.codes[:t.n] {
		text = append(text, digits[code>>6], digits[code&63])
	}
	return text, nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *Times) UnmarshalText(text []byte) error {
	*t = Times{}
	if len(text)%2 != 0 || len(text) > 2*recalled {
		return fmt.Errorf("%d characters are no times of looks", len(text))
	}
	for i := 0; i < len(text); i += 2 {
		high, low := strings.IndexByte(digits, text[i]), strings.IndexByte(digits, text[i+1])
		if high < 0 || low < 0 {
			return fmt.Errorf("%q is no time of a look", text[i:i+2])
		}
		t.add(uint16(high<<6 | low))
	}
	return nil
}

// addLook adds a look at a slot, and the one before at another.
func (t *Times) addLook(from, at int64, changed bool) {
	t.add(uint16(at-from)<<1 | uint16(bit(changed)))
}

// add adds a look, in the place of the first if there are too many.
func (t *Times) add(code uint16) {
	if t.n == recalled {
		t.drop()
	}
	t.codes[t.n] = code
	t.n++
}

// drop forgets the first look.
func (t *Times) drop() {
	copy(t.codes[:], t.codes[1:t.n])
	t.n--
	t.codes[t.n] = 0
}

// timedLooks are a page's last looks.
type timedLooks struct {
	n       int
	at      [recalled + 1]int64 // slots; at[0] is the look before the first
	changed [recalled]bool
}

// looks returns the looks, the last of which was at a slot.
func (t *Times) looks(last int64) timedLooks {
	l := timedLooks{n: int(t.n)}
	l.at[l.n] = last
	for i := l.n - 1; i >= 0; i-- {
		l.at[i], l.changed[i] = l.at[i+1]-int64(t.codes[i]>>1), t.codes[i]&1 == 1
	}
	return l
}

// keepTime records a look and judges the timetable by it. Only looks since the last long
// gap are kept, and of these none before the first that found a change: a page that
// never changes costs nothing.
//
// ago is how long before the look the page changed, 0 if unknown, and before when it had
// changed last, in milliseconds of Unix time. A look at a page whose changes come at known
// and regular times is kept as two: one soon after the change, and one that found nothing.
func (b Belief) keepTime(seen Observation, ago time.Duration, before int64) Belief {
	if seen.At.IsZero() || seen.Gap <= 0 {
		b.Times, b.Dated = Times{}, 0
		return b
	}
	from, at, changed := slotOf(seen.At.Add(-seen.Gap)), slotOf(seen.At), seen.Outcome.Changed()
	if changed {
		b.Dated = b.countDates(seen, ago, before)
	}
	switch {
	case at-from > longest:
		b.Times = Times{}
		if !changed {
			b.Timetable = Timetable{} // several times have passed without a change
		}
		return b
	case b.Times.n == 0 && !changed:
		if b.Timetable.between(from, at) > 0 {
			b.Timetable = Timetable{} // nothing is left of what spoke for it
		}
		return b
	}
	then := at
	if changed && b.Dated == regular {
		then = min(max(slotOf(seen.At.Add(-ago))+loose, from+1), at)
	}
	b.Times.addLook(from, then, changed)
	if then < at {
		b.Times.addLook(then, at, false)
	}
	for b.Times.n > 0 && b.Times.codes[0]&1 == 0 {
		b.Times.drop()
	}
	if changed && then == at && b.Timetable.between(from, at) > 1 {
		return b // as expected, whenever the times are
	}
	looks, known := b.Times.looks(at), b.Timetable
	if b.Dated == regular {
		known.Within = uint16(periods[known.Period].slots) // the dates tell where the time is now
	}
	b.Timetable = looks.judge(known)
	if b.Timetable.Period != 0 && b.Dated == regular {
		// Dates need no search for the time, and show at once when it moves.
		b.Timetable.Within, b.Timetable.Doubtful = 1, false
	}
	return b
}

const (
	// loose is by how many slots the changes of a page may come sooner or later and still be
	// regular.
	loose = 2
	// regular is how many changes in a row must be.
	regular = 5
)

// countDates returns the new value of [Belief.Dated] after a change.
func (b Belief) countDates(seen Observation, ago time.Duration, before int64) uint8 {
	if ago <= 0 || ago >= seen.Gap {
		return 0
	}
	apart := slotOf(seen.At.Add(-ago)) - slotOf(time.UnixMilli(before))
	if b.Dated == 0 || offBeat(apart, daySlot) > loose && offBeat(apart, hour) > loose/2 {
		return 1
	}
	return min(b.Dated+1, regular)
}

// offBeat returns by how many slots a time misses the nearest multiple of a period.
func offBeat(slots, period int64) int64 {
	rest := (slots%period + period) % period
	return min(rest, period-rest)
}
