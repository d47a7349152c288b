package activities

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A long task works a fifth of the time, and ends in time.
func TestPace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began, worked := time.Now(), time.Duration(0)
		p := newPace(time.Minute)
		for goOn := true; goOn; {
			time.Sleep(2 * time.Second) // work
			worked += 2 * time.Second
			var err error
			if goOn, err = p.next(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); worked != 12*time.Second || took != 52*time.Second {
			t.Errorf("worked for %s in %s", worked, took)
		}
	})
}

// A batch that waited for others does not rest for long.
func TestPaceRestsForSecondsAtMost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPace(0)
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
		p := newPace(time.Hour)
		time.Sleep(500 * time.Millisecond) // work
		if goOn, err := p.next(ctx); goOn || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, %v", goOn, err)
		}
	})
}
