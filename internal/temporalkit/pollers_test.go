package temporalkit

import (
	"slices"
	"testing"
	"time"
)

// A process polls for workflow tasks and for activities. It is one poller, and its last
// poll is the later of the two.
func TestNewestPolls(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	p := func(name string, ago time.Duration) Poller { return Poller{Name: name, At: at.Add(-ago)} }
	for _, c := range []struct {
		what      string
		all, want []Poller
	}{
		{"nobody", nil, nil},
		{"two processes", []Poller{p("1@a", 0), p("2@a", 0)}, []Poller{p("1@a", 0), p("2@a", 0)}},
		{"the second is later", []Poller{p("1@a", time.Millisecond), p("2@a", 0), p("1@a", 0)}, []Poller{p("1@a", 0), p("2@a", 0)}},
		{"the first is later", []Poller{p("1@a", 0), p("1@a", time.Minute)}, []Poller{p("1@a", 0)}},
	} {
		if got := newestPolls(c.all); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}
