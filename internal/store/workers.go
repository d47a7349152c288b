package store

import (
	"context"
	"time"
)

// WorkerSeen is how long a worker's note holds: it is repeated more often than that
// while the worker is held.
const WorkerSeen = 3 * time.Minute

// Workers knows which workers make no request, and why.
type Workers interface {
	// NoteWorker notes that a worker makes no request, and why in words, or, with "",
	// that it does; that too is to be repeated every few hours, since the notes of
	// workers that were killed are removed in the end.
	NoteWorker(ctx context.Context, name, held string) error
	// RemoveWorker removes the notes of a worker that ends.
	RemoveWorker(ctx context.Context, name string) error
	// HeldWorkers lists the workers that make no request, by name, as far as they said
	// so in the last WorkerSeen.
	HeldWorkers(ctx context.Context) ([]HeldWorker, error)
	// KnownWorkers lists the names of the workers that have a note, held or not, by name:
	// those that work, and some that were killed.
	KnownWorkers(ctx context.Context) ([]string, error)
}

// HeldWorker is a worker that makes no request.
type HeldWorker struct {
	Name   string
	Since  time.Time
	Reason string
}
