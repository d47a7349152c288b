package app

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// TestUnanswered: a command that nobody answers says so, and not "context deadline exceeded".
func TestUnanswered(t *testing.T) {
	t.Parallel()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	errOther := errors.New("another")
	if err := unanswered(t.Context(), over, context.DeadlineExceeded); !strings.Contains(err.Error(), "no answer within 30s: is a worker running") {
		t.Errorf("%v", err)
	}
	if err := unanswered(t.Context(), t.Context(), errOther); !errors.Is(err, errOther) {
		t.Errorf("answered with an error: %v", err)
	}
	if err := unanswered(over, over, context.Canceled); !errors.Is(err, context.Canceled) {
		t.Errorf("given up by the person: %v", err)
	}
	if err := unanswered(t.Context(), over, nil); err != nil {
		t.Errorf("answered: %v", err)
	}
}
