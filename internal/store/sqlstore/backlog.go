package sqlstore

import (
	"context"
	"fmt"
	"time"

	"recrawl/internal/store"
)

// settingBacklog is the row of settings that holds the last note of the backlog.
const settingBacklog = "backlog"

// backlogNote is that note as stored, in microseconds.
type backlogNote struct {
	Tasks int   `json:"tasks"`
	Age   int64 `json:"age"`
	At    int64 `json:"at"`
}

// NoteBacklog implements store.Backlogs.
func (s *Store) NoteBacklog(ctx context.Context, tasks int, age time.Duration) error {
	_, err := write(ctx, s, func(tx Tx) (struct{}, error) {
		now, err := tx.Now(ctx)
		if err != nil {
			return struct{}{}, err
		}
		if err := writeSetting(ctx, tx, settingBacklog, jsonText(backlogNote{tasks, spanMicros(age), now})); err != nil {
			return struct{}{}, err
		}
		return struct{}{}, s.measure(ctx, tx, fromMicros(now), age)
	})
	if err != nil {
		return fmt.Errorf("note the backlog: %w", err)
	}
	return nil
}

// readBacklog reads the last note, unless it is too old.
func readBacklog(ctx context.Context, tx Tx, now int64) (store.BacklogRecord, error) {
	note, err := readNote[backlogNote](ctx, tx, settingBacklog)
	if err != nil {
		return store.BacklogRecord{}, err
	}
	if now-note.At >= spanMicros(store.BacklogSeen) {
		return store.BacklogRecord{}, nil
	}
	return store.BacklogRecord{Tasks: note.Tasks, Age: span(note.Age), At: fromMicros(note.At)}, nil
}
