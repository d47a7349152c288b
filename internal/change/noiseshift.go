package change

import (
	"slices"
	"strings"
	"time"
)

// A site whose machines stand in several time zones shows all its dates moved by the
// same amount, now and then. That is noise if it can be nothing else: there are several
// dates, each in a separate line or part of a line; all of them moved by the same amount;
// all of them are past, for a postponed event has a day to come; and none of them is where
// another one was, for a list of the last days moves on by itself, and says something new.
const (
	// leastMoved is how many dates must have moved.
	leastMoved = 3
	// mostMoved is how far the time zones of the world are apart, and zoneStep divides
	// the distance of any two.
	mostMoved, zoneStep = 26 * time.Hour, 15 * time.Minute
	// pastBy is how old a date must be at least.
	pastBy = 48 * time.Hour
)

// shift is by how much the dates of a text moved against those of another.
type shift struct {
	by     []time.Duration // the possible shifts: nobody knows which number of 3/4/2026 is the day
	moved  int
	stayed bool // a date did not move
	// from and to are the dates before and after. A list of the last days moves by one
	// each day, and then some of its dates are in both.
	from, to map[time.Time]bool
}

// takes reports whether two words that differ are dates that moved as those before them.
func (s *shift) takes(a, b string, prev, next time.Time) bool {
	var by []time.Duration
	for _, from := range readingsOf(a) {
		for _, to := range readingsOf(b) {
			d := to.at.Sub(from.at)
			past := !prev.IsZero() && !next.IsZero() && prev.Sub(from.at) >= pastBy && next.Sub(to.at) >= pastBy
			if from.order != to.order || from.clock != to.clock || !past || !canBeZone(d, from.clock) {
				continue
			}
			if s.moved == 0 || slices.Contains(s.by, d) {
				by = append(by, d)
				s.note(from.at, to.at)
			}
		}
	}
	s.by = by
	s.moved++
	return len(by) > 0 && !s.stayed
}

// note keeps a date that moved.
func (s *shift) note(from, to time.Time) {
	if s.from == nil {
		s.from, s.to = map[time.Time]bool{}, map[time.Time]bool{}
	}
	s.from[from], s.to[to] = true, true
}

// overlaps reports whether a date is on both sides.
func (s *shift) overlaps() bool {
	for at := range s.to {
		if s.from[at] {
			return true
		}
	}
	return false
}

// canBeZone reports whether a time that moved by d may be the same in another zone.
func canBeZone(d time.Duration, clock bool) bool {
	if !clock {
		return d.Abs() == 24*time.Hour
	}
	return d != 0 && d.Abs() <= mostMoved && d%zoneStep == 0
}

// stays records a word that is the same in both texts.
func (s *shift) stays(word string) {
	s.stayed = s.stayed || strings.HasPrefix(word, clockMark) && len(readingsOf(word)) > 0
}

// holds reports whether the moves are noise.
func (s *shift) holds() bool {
	return s.moved == 0 || s.moved >= leastMoved && !s.stayed && !s.overlaps()
}

// reading is one way to read a date.
type reading struct {
	at    time.Time
	order string // of year, month and day
	clock bool   // with a time of day
}

// readingsOf returns the ways to read a clock's word as a full date.
func readingsOf(word string) []reading {
	if !strings.HasPrefix(word, clockMark) {
		return nil
	}
	var s scanner
	said := s.readClock(word)
	if !said.valid {
		return nil
	}
	return said.readings()
}

// readings returns the ways to read a time as a full date.
func (c clockTime) readings() []reading {
	var all []reading
	for _, order := range [...]string{"ymd", "dmy", "mdy"} {
		year, month, day, ok := c.inOrder(order)
		if !ok {
			continue
		}
		if at := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC); at.Day() == day {
			all = append(all, reading{at.Add(c.timeOfDay), order, c.clock != nil})
		}
	}
	return all
}

// timeOfDay is the time since midnight that tokens state, 0 if they state none; false
// if it is no time.
func (s *scanner) timeOfDay(said saidTime) (time.Duration, bool) {
	if said.clock == nil {
		return 0, true
	}
	hours, minutes, seconds := said.clock[0], said.clock[1], 0
	if said.seconds {
		seconds = said.clock[2]
	}
	for _, t := range s.tokens {
		switch {
		case slices.Contains(afternoon, t.lower) && hours < 12:
			hours += 12
		case slices.Contains(morning, t.lower) && hours == 12:
			hours = 0
		}
	}
	clock := time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute + time.Duration(seconds)*time.Second
	return clock, hours < 24 && minutes < 60 && seconds <= 60
}

// The halves of a day, where its hours are counted twice.
var (
	morning   = []string{"am", "午前", "上午", "오전"}
	afternoon = []string{"pm", "午後", "下午", "오후"}
)

// inOrder reads the numbers of a date in one order; false if they cannot be that.
func (said *saidTime) inOrder(order string) (year, month, day int, ok bool) {
	numbers := said.numbers
	switch {
	case said.month == otherMonth:
		return 0, 0, 0, false
	case said.month > 0 && len(numbers) == 2 && order == "dmy": // "4 March 2026", "March 4, 2026"
		year, month, day = numbers[1], said.month, numbers[0]
	case said.month > 0 && len(numbers) == 2 && order == "ymd":
		year, month, day = numbers[0], said.month, numbers[1]
	case said.month > 0 || len(numbers) != 3:
		return 0, 0, 0, false
	case order == "ymd":
		year, month, day = numbers[0], numbers[1], numbers[2]
	case order == "dmy":
		year, month, day = numbers[2], numbers[1], numbers[0]
	case order == "mdy":
		year, month, day = numbers[2], numbers[0], numbers[1]
	}
	return year, month, day, isYear(year) && month >= 1 && month <= 12 && day >= 1
}
