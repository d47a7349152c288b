package activities

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"recrawl/internal/contract"
)

// A long task works its part of the time, and ends in time.
func TestPace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		oneIn        int
		worked, took time.Duration
	}{
		"a fifth": {aFifth, 12 * time.Second, 56 * time.Second},
		"a tenth": {aTenth, 6 * time.Second, 51 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began, worked := time.Now(), time.Duration(0)
				p := newPace(c.oneIn, time.Minute)
				for goOn := true; goOn; {
					time.Sleep(time.Second) // work
					worked += time.Second
					var err error
					if goOn, err = p.next(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				if took := time.Since(began); worked != c.worked || took != c.took {
					t.Errorf("worked for %s in %s, want %s in %s", worked, took, c.worked, c.took)
				}
			})
		})
	}
}

// A batch that waited for others does not rest for long.
func TestPaceRestsForSecondsAtMost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPace(aFifth, 0)
		time.Sleep(time.Hour) // work
		ended := time.Now()
		if goOn, err := p.next(t.Context()); !goOn || err != nil || time.Since(ended) != longestRest {
			t.Errorf("%v, %v after %s", goOn, err, time.Since(ended))
		}
	})
}

func TestPaceIsCutOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		p := newPace(aFifth, time.Hour)
		time.Sleep(500 * time.Millisecond) // work
		if goOn, err := p.next(ctx); goOn || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, %v", goOn, err)
		}
	})
}

// Each step's time is taken down; the answer has those that took long.
func TestStepsAreTimed(t *testing.T) {
	t.Parallel()
	var told []string
	a := New(Stores{}, nil, nil, nil, Settings{Maintained: func(step string, took time.Duration) {
		told = append(told, fmt.Sprintf("%s %s", step, took))
	}}, slog.New(slog.DiscardHandler))
	var out contract.MaintainOut
	a.took(&out, "lines", 10*time.Millisecond)
	if out.Seconds != nil {
		t.Errorf("a short step is in the answer: %v", out.Seconds)
	}
	a.took(&out, "duplicates", 61234*time.Millisecond)
	if want := []string{"lines 10ms", "duplicates 1m1.234s"}; !slices.Equal(told, want) || len(out.Seconds) != 1 || out.Seconds["duplicates"] != 61.2 {
		t.Errorf("told %q, want %q; answered %v", told, want, out.Seconds)
	}
}
