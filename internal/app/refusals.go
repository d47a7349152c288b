package app

import (
	"context"
	"errors"
	"strings"
	"sync"
	"syscall"
	"time"

	"recrawl/internal/archive"
)

const (
	// refusedFor is how long an archive must have taken nothing before people are told: an
	// answer that is lost now and then is no trouble.
	refusedFor = 10 * time.Second
	// refusedAgain is the time within which a refused upload is tried again, at the latest.
	refusedAgain = 2 * time.Minute
)

// refusals is an archive that knows whether it takes contents, and why not. The pages wait
// meanwhile, and nobody else would tell the operator. That it has no room is the keeper's to say.
type refusals struct {
	archive.Store

	mu          sync.Mutex
	reason      string // "" while it takes contents
	since, last time.Time
	commit      bool // a complete content was refused
}

// trouble says in words why the archive takes no contents; "" if it does.
func (r *refusals) trouble() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reason == "" || time.Since(r.since) < refusedFor {
		return ""
	}
	return r.reason
}

// Create implements archive.Store.
func (r *refusals) Create(ctx context.Context) (archive.Writer, error) {
	begun := time.Now()
	w, err := r.Store.Create(ctx)
	if err != nil {
		r.refused(err, begun, false)
		return nil, err
	}
	r.begun()
	return refusingWriter{w, r}, nil
}

type refusingWriter struct {
	archive.Writer
	of *refusals
}

// Commit implements archive.Writer.
func (w refusingWriter) Commit() (digest string, size int64, err error) {
	begun := time.Now()
	digest, size, err = w.Writer.Commit()
	if err != nil {
		w.of.refused(err, begun, true)
	} else {
		w.of.taken()
	}
	return digest, size, err
}

// refused notes an error of a call that began at a time.
func (r *refusals) refused(err error, begun time.Time, commit bool) {
	now := time.Now()
	why := refusalWords(err, now.Sub(begun))
	if why == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reason == "" {
		r.since, r.commit = begun, false
	}
	r.reason, r.last, r.commit = why, now, r.commit || commit
}

// refusalWords say in a line why the archive took nothing; "" if that is the caller's fault, or a
// full disk's.
func refusalWords(err error, after time.Duration) string {
	for _, other := range []error{context.Canceled, archive.ErrFull, archive.ErrTooLarge, archive.ErrClosed, syscall.ENOSPC, syscall.EDQUOT} {
		if errors.Is(err, other) {
			return ""
		}
	}
	text := strings.Join(strings.Fields(err.Error()), " ")
	switch {
	case errors.Is(err, context.DeadlineExceeded) && after < refusedFor:
		return "" // most of the time went elsewhere
	case errors.Is(err, context.DeadlineExceeded):
		text = "no answer within " + after.Round(time.Second).String()
	case errors.Is(err, archive.ErrUnavailable):
		return text
	}
	return archive.ErrUnavailable.Error() + ": " + strings.TrimPrefix(text, "archive: ")
}

// begun notes that a content was begun. Where complete ones were refused that proves
// little, until no other was refused for a while.
func (r *refusals) begun() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.commit || time.Since(r.last) > refusedAgain {
		r.reason = ""
	}
}

func (r *refusals) taken() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reason = ""
}
