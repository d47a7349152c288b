package care

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"recrawl/internal/temporalkit"
)

// backlogNotes records the notes.
type backlogNotes struct{ notes []string }

func (n *backlogNotes) NoteBacklog(_ context.Context, tasks int, age time.Duration) error {
	n.notes = append(n.notes, fmt.Sprintf("%d for %s", tasks, age))
	return nil
}

// TestBacklogWatch: a backlog is noted as long as it lasts, and once that it is gone.
func TestBacklogWatch(t *testing.T) {
	t.Parallel()
	notes := &backlogNotes{}
	var is temporalkit.Backlog
	var failure error
	watch := &backlogWatch{store: notes, ask: func(context.Context) (temporalkit.Backlog, error) { return is, failure }}
	look := func(what string, want ...string) {
		t.Helper()
		notes.notes = nil
		if err := watch.look(t.Context()); !errors.Is(err, failure) {
			t.Errorf("%s: %v", what, err)
		}
		if !slices.Equal(notes.notes, want) {
			t.Errorf("%s: noted %q, want %q", what, notes.notes, want)
		}
	}
	look("nothing waits")
	is = temporalkit.Backlog{Tasks: 2236, Age: 28 * time.Second}
	look("some wait", "2236 for 28s")
	is.Age = 48 * time.Second
	look("they still wait", "2236 for 48s")
	failure = errors.New("no answer")
	look("nobody knows")
	failure, is = nil, temporalkit.Backlog{}
	look("they are gone", "0 for 0s")
	look("and stay so")
}
