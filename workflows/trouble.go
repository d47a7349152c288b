package workflows

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"time"

	"go.temporal.io/sdk/temporal"

	"recrawl/internal/contract"
)

// trouble classifies an activity's error for a workflow.
type trouble int

const (
	troubleOther   trouble = iota // a bug or a passing fault: try again later
	troubleStore                  // the store does not answer: try again soon
	troubleMissing                // the crawl or page is no longer in the store
	troubleLost                   // no answer in time; nobody knows what happened
	troubleFailed                 // a Fetch failed and says how
	troubleCrowded                // the worker already has too much in flight: try again soon
	troubleForeign                // the worker has another store, or lacks a key: try again soon, elsewhere
)

// passes reports whether the trouble is a service that is away or full. It ends when the
// service is back.
func (t trouble) passes() bool {
	return t == troubleStore || t == troubleCrowded || t == troubleForeign
}

func troubleOf(err error) trouble {
	if app := applicationError(err); app != nil {
		if isLocked(app) {
			return troubleForeign
		}
		switch app.Type() {
		case contract.ErrTypeStoreUnavailable:
			return troubleStore
		case contract.ErrTypeCrowded:
			return troubleCrowded
		case contract.ErrTypeForeignStore:
			return troubleForeign
		case contract.ErrTypeNotFound:
			return troubleMissing
		case contract.ErrTypeFetchFailed:
			return troubleFailed
		}
		return troubleOther
	}
	var timeout *temporal.TimeoutError
	if errors.As(err, &timeout) {
		return troubleLost
	}
	return troubleOther
}

// isLocked reports whether an error or one of its causes says that the worker lacked a key.
func isLocked(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if app, ok := err.(*temporal.ApplicationError); ok && app.Type() == contract.ErrTypeLocked { //nolint:errorlint // each of the chain in turn
			return true
		}
	}
	return false
}

func applicationError(err error) *temporal.ApplicationError {
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		return app
	}
	return nil
}

// archiveTrouble says in words why the archive does not answer; "" if the error is another's.
func archiveTrouble(err error) string {
	var why string
	if app := applicationError(err); app == nil || app.Type() != contract.ErrTypeStoreUnavailable || !app.HasDetails() || app.Details(&why) != nil {
		return ""
	}
	return clip(why, maxWords)
}

// words is the error in words for people, without the wrapping that names ids of activities
// and workers.
func words(err error) string {
	if app := applicationError(err); app != nil {
		return clip(app.Message(), maxWords)
	}
	var timeout *temporal.TimeoutError
	if errors.As(err, &timeout) {
		return "no answer in time"
	}
	return clip(err.Error(), maxWords)
}

const (
	shortestPause     = 5 * time.Second
	longestStorePause = time.Minute // also if the worker has too much in flight, or another store
	longestOtherPause = time.Hour
)

// pauseFor is how long to sleep after an attempt that failed, given how many failed before it: 5 s
// at first, and longer with each attempt. A hash of the page spreads it, so that a million pages
// do not ask a recovering store within one second.
func pauseFor(tr trouble, id int64, tries int) time.Duration {
	longest := longestOtherPause
	if tr.passes() {
		longest = longestStorePause
	}
	ceiling := min(2*shortestPause<<min(max(tries, 0), 16), longest)
	span := uint64(ceiling - shortestPause)
	return shortestPause + time.Duration(hashOf(id, tries)%span).Truncate(time.Millisecond)
}

func hashOf(id int64, tries int) uint64 {
	h := fnv.New64a()
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(id))
	binary.BigEndian.PutUint64(b[8:], uint64(tries))
	_, _ = h.Write(b[:]) // a hash never fails
	return h.Sum64()
}
