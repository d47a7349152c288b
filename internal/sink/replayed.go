package sink

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
)

// Replayed counts the results of sending undelivered changes again.
type Replayed struct {
	Delivered int `json:"delivered,omitempty"`
	Refused   int `json:"refused,omitempty"`
	// Lost are no longer kept, and Unlisted are not undelivered, or no longer.
	Lost     int `json:"lost,omitempty"`
	Unlisted int `json:"unlisted,omitempty"`
	// Left were not sent: the receiver takes nothing now (Halted), or the time was over.
	Left   int  `json:"left,omitempty"`
	Halted bool `json:"halted,omitempty"`
	// Through is the last change that was looked at, and Problem says what is wrong with the
	// first that failed.
	Through int64  `json:"through,omitempty"`
	Problem string `json:"problem,omitempty"`
}

// Errors about changes that cannot be sent again.
var (
	ErrNotUndelivered = errors.New("is not among the undelivered: `starter sinks failed` lists them")
	ErrNotKept        = errors.New("is no longer kept, or its page was forgotten")
)

// With returns r with one more change, whose sending ended with err. A refusal concerns only
// that change. Anything else that a receiver says, and its silence, concerns the next ones too.
func (r Replayed) With(id int64, err error) Replayed {
	r.Through = id
	problem := ""
	switch refused := new(Refused); {
	case err == nil:
		r.Delivered++
	case errors.Is(err, ErrNotUndelivered):
		r.Unlisted++
		return r
	case errors.Is(err, ErrNotKept):
		r.Lost++
		problem = fmt.Sprintf("change %d %v", id, err)
	case errors.As(err, &refused):
		r.Refused++
		problem = fmt.Sprintf("change %d: %v", id, err)
	default:
		r.Halted = true
		r.Left++
		problem = fmt.Sprintf("change %d: %v", id, err)
	}
	r.Problem = cmp.Or(r.Problem, problem)
	return r
}

// Then is r with a later part, which began with what r has left.
func (r Replayed) Then(next Replayed) Replayed {
	next.Delivered += r.Delivered
	next.Refused += r.Refused
	next.Lost += r.Lost
	next.Unlisted += r.Unlisted
	next.Problem = cmp.Or(r.Problem, next.Problem)
	return next
}

// Failed reports whether a change that was asked for was not delivered, though there was time.
func (r Replayed) Failed() bool {
	return r.Refused > 0 || r.Lost > 0 || r.Halted || r.nothing()
}

// nothing: none of the changes is undelivered.
func (r Replayed) nothing() bool {
	return r.Unlisted > 0 && r.Delivered+r.Refused+r.Lost+r.Left == 0
}

// Words describes the replay in one line.
func (r Replayed) Words() string {
	if r.nothing() {
		return fmt.Sprintf("change %d %v", r.Through, ErrNotUndelivered)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d undelivered changes are delivered", r.Delivered, r.Delivered+r.Refused+r.Lost+r.Left)
	if r.Refused > 0 {
		fmt.Fprintf(&b, ", %d refused", r.Refused)
	}
	if r.Lost > 0 {
		fmt.Fprintf(&b, ", %d no longer kept", r.Lost)
	}
	switch {
	case r.Halted:
		fmt.Fprintf(&b, ", %d not sent, since the receiver takes nothing now", r.Left)
	case r.Left > 0:
		fmt.Fprintf(&b, ", %d not yet: the same command goes on", r.Left)
	}
	if r.Problem != "" {
		b.WriteString(" (" + r.Problem + ")")
	}
	return b.String()
}
