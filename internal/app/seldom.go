package app

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// saidMost is how many records with the same message are written in each saidFor. The others
	// are counted: while the store is away, each page that is due says so again and again.
	saidMost = 20
	saidFor  = time.Minute
)

// seldom is a handler that drops records whose message has been written often.
type seldom struct {
	slog.Handler
	said *said
}

func newSeldom(h slog.Handler) seldom { return seldom{h, &said{to: h, records: map[string]int{}}} }

// said are the records of the current minute, by message.
type said struct {
	to slog.Handler // for the counts

	mu      sync.Mutex
	since   time.Time
	records map[string]int
}

// Handle implements slog.Handler.
func (h seldom) Handle(ctx context.Context, r slog.Record) error {
	write, dropped := h.said.note(r.Message, r.Time)
	for _, text := range slices.Sorted(maps.Keys(dropped)) {
		words := fmt.Sprintf("%d more like this in a minute are not shown: %s", dropped[text], text)
		if err := h.said.to.Handle(ctx, slog.NewRecord(r.Time, slog.LevelWarn, words, 0)); err != nil {
			return err
		}
	}
	if !write {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// note counts a record and reports whether it is written. When a minute is over it returns what was
// dropped in it.
func (s *said) note(message string, now time.Time) (write bool, dropped map[string]int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.since) >= saidFor {
		for text, n := range s.records {
			if n > saidMost {
				if dropped == nil {
					dropped = map[string]int{}
				}
				dropped[text] = n - saidMost
			}
		}
		s.since = now
		clear(s.records)
	}
	message = withoutNumbers(message)
	s.records[message]++
	return s.records[message] <= saidMost, dropped
}

// withoutNumbers leaves out words with digits: some of the SDK's messages name the task. The
// number of a problem, in brackets, stays.
func withoutNumbers(message string) string {
	words := strings.Fields(message)
	words = slices.DeleteFunc(words, func(word string) bool {
		return strings.ContainsAny(word, "0123456789") && !strings.HasPrefix(word, "[")
	})
	return strings.Join(words, " ")
}

// WithAttrs implements slog.Handler.
func (h seldom) WithAttrs(attrs []slog.Attr) slog.Handler {
	return seldom{h.Handler.WithAttrs(attrs), h.said}
}

// WithGroup implements slog.Handler.
func (h seldom) WithGroup(name string) slog.Handler {
	return seldom{h.Handler.WithGroup(name), h.said}
}
