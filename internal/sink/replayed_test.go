package sink

import (
	"errors"
	"testing"
)

func TestReplayed(t *testing.T) {
	t.Parallel()
	refused, silence := &Refused{Reason: "400 Bad Request"}, errors.New("no route")
	for _, c := range []struct {
		answers []error
		left    int // when the time is over
		words   string
		failed  bool
	}{
		{[]error{nil, nil}, 0, "2 of 2 undelivered changes are delivered", false},
		{[]error{refused, nil, refused}, 0, "1 of 3 undelivered changes are delivered, 2 refused (change 1: 400 Bad Request)", true},
		{[]error{ErrNotUndelivered, nil}, 0, "1 of 1 undelivered changes are delivered", false},
		{[]error{ErrNotUndelivered}, 0, "change 1 is not among the undelivered: `starter sinks failed` lists them", true},
		{[]error{nil, ErrNotKept}, 0, "1 of 2 undelivered changes are delivered, 1 no longer kept (change 2 is no longer kept, or its page was forgotten)", true},
		{[]error{nil, silence}, 3, "1 of 5 undelivered changes are delivered, 4 not sent, since the receiver takes nothing now (change 2: no route)", true},
		{[]error{nil, &Later{Reason: "503"}}, 0, "1 of 2 undelivered changes are delivered, 1 not sent, since the receiver takes nothing now (change 2: 503)", true},
		{[]error{nil}, 3, "1 of 4 undelivered changes are delivered, 3 not yet: the same command goes on", false},
	} {
		var r Replayed
		for i, err := range c.answers {
			r = r.With(int64(i+1), err)
		}
		r.Left += c.left
		if r.Words() != c.words || r.Failed() != c.failed || r.Through != int64(len(c.answers)) {
			t.Errorf("%v: %q, failed %v, want %q, %v", c.answers, r.Words(), r.Failed(), c.words, c.failed)
		}
	}
	both := Replayed{Delivered: 2, Refused: 1, Left: 7, Through: 3, Problem: "change 1: 400"}.Then(Replayed{Delivered: 7, Through: 10})
	if got, want := both.Words(), "9 of 10 undelivered changes are delivered, 1 refused (change 1: 400)"; got != want || both.Through != 10 {
		t.Errorf("%q, want %q", got, want)
	}
}
