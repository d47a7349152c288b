package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// Identity says which store this is, and where its workflows live.
type Identity interface {
	// ID is the store's identity, a UUID that is made once, with the store, and that
	// every copy of it keeps. "" is a store that nobody has opened for writing since
	// stores have one.
	ID() string
	// Home returns where the store's workflows live; the zero Home if nobody has said.
	Home(ctx context.Context) (Home, error)
	// SetHome says where the store's workflows live, if nobody has or if move is set,
	// and returns what holds then.
	SetHome(ctx context.Context, home Home, move bool) (Home, error)
}

// Home is where a store's workflows live. A copy of the store has it too, and so tells
// that it is a copy where another namespace is.
type Home struct {
	Namespace   string `json:"namespace"` // its name
	NamespaceID string `json:"namespace_id"`
	TaskQueue   string `json:"task_queue"`
	// Ended are the stores that are no more, of which there are still workflows.
	Ended []string `json:"ended,omitempty"`
}

// IsZero reports whether nobody has said where the home is.
func (h Home) IsZero() bool { return h.NamespaceID == "" }

// HasEnded reports whether a store is said to be no more.
func (h Home) HasEnded(id string) bool { return slices.Contains(h.Ended, id) }

// String names the place.
func (h Home) String() string {
	return fmt.Sprintf("namespace %s (id %s), task queue %s", h.Namespace, cmp.Or(h.NamespaceID, "unknown"), h.TaskQueue)
}
