package store

import (
	"context"
	"time"
)

// WorkerSeen is how long a worker's note is valid. A worker that makes no requests repeats
// it more often than that.
const WorkerSeen = 3 * time.Minute

// Workers knows which workers make no requests, and why.
type Workers interface {
	// NoteWorker records that a worker makes no requests, and why in words; "" means that it
	// makes requests. Repeat that, too, every few hours: notes of killed workers are
	// eventually removed.
	NoteWorker(ctx context.Context, name, held string) error
	// RemoveWorker removes the note of a worker that ends.
	RemoveWorker(ctx context.Context, name string) error
	// HeldWorkers lists, by name, the workers that reported during the last WorkerSeen that
	// they make no requests.
	HeldWorkers(ctx context.Context) ([]HeldWorker, error)
	// KnownWorkers lists the names of the workers that have a note, held or not, by name:
	// those that work, and some that were killed.
	KnownWorkers(ctx context.Context) ([]string, error)
}

// HeldWorker is a worker that makes no requests.
type HeldWorker struct {
	Name   string
	Since  time.Time
	Reason string
}
