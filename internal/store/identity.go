package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// Identity says which store this is, and where its workflows live.
type Identity interface {
	// ID is the store's identity: a UUID that is made with the store and that every copy
	// keeps. It is "" if nobody has opened the store for writing since identities exist.
	ID() string
	// Home returns where the store's workflows live, or the zero Home if it is not set.
	Home(ctx context.Context) (Home, error)
	// SetHome sets where the store's workflows live, if it is not set or if move is set,
	// and returns the home that results.
	SetHome(ctx context.Context, home Home, move bool) (Home, error)
}

// Home is where a store's workflows live. A copy of the store has the same home, so in
// another namespace it can see that it is a copy.
type Home struct {
	Namespace   string `json:"namespace"` // its name
	NamespaceID string `json:"namespace_id"`
	TaskQueue   string `json:"task_queue"`
	// Ended are stores that no longer exist but still have workflows.
	Ended []string `json:"ended,omitempty"`
}

// IsZero reports whether the home is not set.
func (h Home) IsZero() bool { return h.NamespaceID == "" }

// HasEnded reports whether a store was declared to no longer exist.
func (h Home) HasEnded(id string) bool { return slices.Contains(h.Ended, id) }

// String names the place.
func (h Home) String() string {
	return fmt.Sprintf("namespace %s (id %s), task queue %s", h.Namespace, cmp.Or(h.NamespaceID, "unknown"), h.TaskQueue)
}
