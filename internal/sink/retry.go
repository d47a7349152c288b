package sink

import (
	"errors"
	"fmt"
	"time"
)

// Codes of troubles between a sink and its receiver. They are stored. A sender's Stop has a
// code of its own.
const (
	// CodePerson: a person paused the sink. It is store.SinkPausedByPerson.
	CodePerson = "person"
	// CodeUnreachable: the receiver took nothing for GiveUp.
	CodeUnreachable = "unreachable"
	// CodeRefused: the tries in a row that Standing counts were refused. That does not
	// pause the sink.
	CodeRefused = "refused"
)

const (
	// firstRetry and longestRetry bound the pause between two tries of a receiver that does
	// not answer; each pause is twice the one before.
	firstRetry   = 5 * time.Second
	longestRetry = time.Hour
	// longestAsked is the longest pause that a receiver may ask for.
	longestAsked = 24 * time.Hour
	// GiveUp is the time for which a receiver may take nothing before its sink is paused.
	GiveUp = 5 * 24 * time.Hour
)

// refusedRetries are the pauses after each refusal of an event but the last: five tries
// within an hour, since the receiver may be under repair.
var refusedRetries = []time.Duration{10 * time.Second, time.Minute, 8 * time.Minute, 40 * time.Minute}

// RefusedTries is how often an event is refused before it counts as undelivered.
const RefusedTries = 5

// Standing is the state between a sink and its receiver.
type Standing struct {
	Paused bool
	Code   string
	// Problem says why the last try failed. Since is when the first of the failed tries in
	// a row failed, Tries the number of them of the same kind, and NextAt the time of the
	// next one.
	Problem string
	Since   time.Time
	Tries   int
	NextAt  time.Time
}

// Step says what becomes of an event after a try.
type Step int

// The steps.
const (
	Move  Step = iota // it is delivered: the next one
	Again             // try it again at NextAt
	Pass              // it is undelivered: the next one
	Halt              // the sink is paused
)

// Judgement is the consequence of a try.
type Judgement struct {
	Standing
	Step   Step
	Reason string
	Tried  int // how often a passed event was refused
}

// Judge decides what follows from a try to send an event: err is the result of Send.
func Judge(s Standing, err error, now time.Time) Judgement {
	var stop *Stop
	var refused *Refused
	switch {
	case err == nil:
		return Judgement{Step: Move, Reason: "delivered"}
	case errors.As(err, &stop):
		return s.failed(stop.Code, stop.Reason, now).halt()
	case errors.As(err, &refused):
		return s.refused(refused, now)
	}
	return s.later(err, now)
}

// failed returns the standing after another failed try, with the code of its kind.
func (s Standing) failed(code, problem string, now time.Time) Standing {
	if s.Code != code {
		s.Tries = 0
	}
	if s.Since.IsZero() {
		s.Since = now
	}
	s.Paused, s.Code, s.Problem = false, code, problem
	s.Tries++
	return s
}

func (s Standing) halt() Judgement {
	s.Paused, s.NextAt = true, time.Time{}
	return Judgement{Standing: s, Step: Halt, Reason: "paused: " + s.Problem}
}

func (s Standing) refused(r *Refused, now time.Time) Judgement {
	s = s.failed(CodeRefused, r.Reason, now)
	if s.Tries >= RefusedTries || r.Final {
		return Judgement{Step: Pass, Reason: fmt.Sprintf("undelivered after %d refusals: %s", s.Tries, r.Reason), Tried: s.Tries}
	}
	pause := refusedRetries[s.Tries-1]
	s.NextAt = now.Add(pause)
	return Judgement{Standing: s, Step: Again, Reason: fmt.Sprintf("refused %d of %d times, again in %s: %s", s.Tries, RefusedTries, pause, r.Reason)}
}

// later judges a receiver that is to be asked again, because it said so or does not answer.
// All kinds of failures count for the five days.
func (s Standing) later(err error, now time.Time) Judgement {
	problem, asked := err.Error(), time.Duration(0)
	var later *Later
	if errors.As(err, &later) {
		problem, asked = later.Reason, later.After
	}
	s = s.failed("", problem, now)
	if now.Sub(s.Since) >= GiveUp {
		s.Code, s.Problem = CodeUnreachable, "it took nothing for five days: "+problem
		return s.halt()
	}
	pause := min(firstRetry<<min(s.Tries-1, 20), longestRetry)
	pause = max(pause, min(asked, longestAsked))
	s.NextAt = now.Add(pause)
	return Judgement{Standing: s, Step: Again, Reason: fmt.Sprintf("try %d failed, again in %s: %s", s.Tries, pause, problem)}
}
