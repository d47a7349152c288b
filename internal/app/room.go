package app

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"recrawl/internal/config"
	"recrawl/internal/room"
	"recrawl/internal/store"
)

const (
	// roomEvery is how often a worker checks whether there is room; its note in the
	// store is repeated every noteEvery while it is paused for room, else every restNoteEvery.
	roomEvery     = time.Second
	noteEvery     = time.Minute
	restNoteEvery = 6 * time.Hour
	// noteLimit bounds a note: on a full disk the store may not take it.
	noteLimit = 5 * time.Second
)

func newKeeper(dsn, archiveURL string, cfg config.Config) *room.Keeper {
	return room.New(room.Options{Folders: config.LocalFolders(dsn, archiveURL), Reserve: int64(cfg.Reserve)})
}

// roomWatch reports in the log and in the store when a worker can keep nothing, for lack of
// room or because the archive refuses, and wakes its pages when there is room again.
type roomWatch struct {
	keeper *room.Keeper
	// refused, unless nil, says why the archive takes nothing; "" if it does.
	refused func() string
	store   store.Workers
	name    string // of the worker
	wake    func(ctx context.Context)
	log     *slog.Logger

	said        string // in the log; "" when not paused
	saidRefused string // in the log, of the archive
	noted       string // in the store
	when        time.Time
}

// workerName distinguishes the workers of a store, and shows people where each is.
func workerName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%d@%s", os.Getpid(), host)
}

// start watches until stop is called.
func (w *roomWatch) start(ctx context.Context) (stop func()) { return owned(ctx, w.run) }

// owned runs something beside the worker until stop is called.
func owned(ctx context.Context, run func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		run(ctx)
	}()
	return func() { cancel(); <-done }
}

func (w *roomWatch) run(ctx context.Context) {
	w.note(ctx, "")
	ticker := time.NewTicker(roomEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			w.look(ctx)
		case <-ctx.Done():
			ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteLimit)
			defer cancel()
			if err := w.store.RemoveWorker(ending, w.name); err != nil {
				w.log.Debug("the worker's note was not removed", "error", err)
			}
			return
		}
	}
}

// look acts once on a change since the last look.
func (w *roomWatch) look(ctx context.Context) {
	shortage, is := w.keeper.Trouble()
	switch {
	case is && w.said == "":
		w.log.Warn("no request is made until there is room", "reason", shortage.Reason)
	case !is && w.said != "":
		w.log.Warn("there is room again: visits go on")
		w.wake(ctx)
	}
	w.said = shortage.Reason
	w.lookAtArchive()
	held, every := cmp.Or(w.said, w.saidRefused), noteEvery
	if held == "" {
		every = restNoteEvery
	}
	if (w.noted == "") != (held == "") || time.Since(w.when) >= every {
		w.note(ctx, held)
	}
}

// lookAtArchive logs when the archive begins to refuse, and when it takes contents again.
func (w *roomWatch) lookAtArchive() {
	if w.refused == nil {
		return
	}
	reason := w.refused()
	switch {
	case reason != "" && w.saidRefused == "":
		w.log.Warn("visits wait for the archive", "reason", reason)
	case reason == "" && w.saidRefused != "":
		w.log.Warn("the archive takes contents again: visits go on")
	}
	w.saidRefused = reason
}

// note records in the store why the worker is paused. If there is no room for that
// either, the next look tries again.
func (w *roomWatch) note(ctx context.Context, why string) {
	ctx, cancel := context.WithTimeout(ctx, noteLimit)
	defer cancel()
	if err := w.store.NoteWorker(ctx, w.name, why); err != nil {
		w.log.Debug("the worker's state was not noted", "error", err)
		return
	}
	w.noted, w.when = why, time.Now()
}
