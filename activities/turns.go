package activities

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"recrawl/internal/polite"
	"recrawl/internal/store"
)

const (
	// keptMost is how far ahead a kept turn may be. Later ones are signalled at once, and the
	// page sets a timer.
	keptMost = 30 * time.Second
	// recallEvery is how often a worker looks for lost turns, and recallHosts bounds
	// the hosts of one such search.
	recallEvery = 10 * time.Second
	recallHosts = 100
	// farewellTurns bounds the time in which an ending worker signals the turns that it
	// kept.
	farewellTurns = 5 * time.Second
)

// keptTurns are turns that are signalled only when their page should come. A page that is
// signalled at once must set a timer for the rest, and that is five events more. They are
// lost with the process; see store.Gate.Recall.
type keptTurns struct {
	mu      sync.Mutex
	open    bool
	turns   []keptTurn // the first one first
	changed chan struct{}
}

type keptTurn struct {
	store.Turn
	at time.Time // when it is signalled
}

// keep keeps a turn, unless it is too near or too far ahead or there is nobody to
// signal it.
func (k *keptTurns) keep(turn store.Turn, now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.open || turn.In <= polite.Lead || turn.In > keptMost {
		return false
	}
	kept := keptTurn{turn, now.Add(turn.In - polite.Lead)}
	i, _ := slices.BinarySearchFunc(k.turns, kept, func(a, b keptTurn) int {
		return cmp.Or(a.at.Compare(b.at), -1) // behind its equals
	})
	k.turns = slices.Insert(k.turns, i, kept)
	if i == 0 {
		select {
		case k.changed <- struct{}{}:
		default: // it looks again anyway
		}
	}
	return true
}

// begin opens it, and returns the channel that announces earlier turns.
func (k *keptTurns) begin() <-chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.open, k.changed = true, make(chan struct{}, 1)
	return k.changed
}

// take removes the turns that are due, and returns the time of the next one, zero if
// there is none.
func (k *keptTurns) take(now time.Time) (due []store.Turn, next time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.turns) > 0 && !k.turns[0].at.After(now) {
		turn := k.turns[0].Turn
		turn.In = polite.Lead
		due, k.turns = append(due, turn), k.turns[1:]
	}
	if len(k.turns) > 0 {
		next = k.turns[0].at
	}
	return due, next
}

// end closes it, and returns the remaining turns.
func (k *keptTurns) end(now time.Time) []store.Turn {
	k.mu.Lock()
	defer k.mu.Unlock()
	rest := make([]store.Turn, len(k.turns))
	for i, kept := range k.turns {
		rest[i] = kept.Turn
		rest[i].In = kept.at.Sub(now) + polite.Lead
	}
	k.open, k.turns = false, nil
	return rest
}

// KeepTurns signals turns when their pages should come, and looks for lost ones, until ctx
// ends. Then it signals all that it kept. Without it turns are signalled at once.
func (a *Activities) KeepTurns(ctx context.Context) {
	changed := a.kept.begin()
	recall := time.NewTicker(recallEvery)
	defer recall.Stop()
	for {
		due, next := a.kept.take(time.Now())
		a.carryOut(ctx, store.GateEffects{Turns: due})
		if err := a.untilNext(ctx, changed, recall.C, next); err != nil {
			break
		}
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewellTurns)
	defer cancel()
	a.carryOut(ending, store.GateEffects{Turns: a.kept.end(time.Now())})
}

// untilNext waits for the next turn, an earlier one, or the time to look for lost ones.
func (a *Activities) untilNext(ctx context.Context, changed <-chan struct{}, recall <-chan time.Time, next time.Time) error {
	var due <-chan time.Time
	if !next.IsZero() {
		timer := time.NewTimer(time.Until(next))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-changed:
	case <-due:
	case <-recall:
		a.recall(ctx)
	}
	return nil
}

// recall moves on the hosts at which a called page did not come.
func (a *Activities) recall(ctx context.Context) {
	effects, err := a.stores.Gate.Recall(ctx, recallHosts)
	if err != nil && !errors.Is(err, context.Canceled) {
		a.log.Debug("lost turns could not be looked for", "error", err)
	}
	a.carryOut(ctx, effects)
}
