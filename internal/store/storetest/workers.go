package storetest

import (
	"fmt"
	"time"

	"recrawl/internal/store"
)

func workerCases() []collectionCase {
	return []collectionCase{{"HeldWorkersSayWhy", heldWorkers}, {"BacklogIsNoted", backlogNoted}}
}

// backlogNoted has the store for itself.
func backlogNoted(c *collection) {
	backlog := func() store.BacklogRecord {
		c.Helper()
		care, err := c.s.Care(c.ctx, c.id)
		c.check(err)
		return care.Backlog
	}
	c.open()
	want(c, "no note", backlog(), store.BacklogRecord{})
	c.check(c.s.NoteBacklog(c.ctx, 2236, 28*time.Second))
	first := backlog()
	want(c, "tasks", first.Tasks, 2236)
	want(c, "the oldest task's age", first.Age, 28*time.Second)
	c.check(c.s.NoteBacklog(c.ctx, 0, 0))
	last := backlog()
	want(c, "tasks when it is gone", last.Tasks, 0)
	want(c, "age when it is gone", last.Age, 0)
	if last.At.Before(first.At) {
		c.Errorf("noted at %s, and before that at %s", last.At, first.At)
	}
}

// heldWorkers has the store for itself.
func heldWorkers(c *collection) {
	held := func(what, expected string) []store.HeldWorker {
		c.Helper()
		workers, err := c.s.HeldWorkers(c.ctx)
		c.check(err)
		text := []string{}
		for _, w := range workers {
			text = append(text, w.Name+": "+w.Reason)
			now, err := c.s.Now(c.ctx)
			c.check(err)
			if w.Since.After(now) {
				c.Errorf("%s is held since %s", w.Name, w.Since)
			}
		}
		want(c, what, fmt.Sprint(text), expected)
		return workers
	}
	held("at first", "[]")
	c.check(c.s.NoteWorker(c.ctx, "2@b", ""))
	c.check(c.s.NoteWorker(c.ctx, "1@a", "no room here"))
	held("one of two", "[1@a: no room here]")
	known, err := c.s.KnownWorkers(c.ctx)
	c.check(err)
	want(c, "the workers that have a note", fmt.Sprint(known), "[1@a 2@b]")
	c.check(c.s.NoteWorker(c.ctx, "2@b", "no room there"))
	first := held("both", "[1@a: no room here 2@b: no room there]")
	c.check(c.s.NoteWorker(c.ctx, "1@a", "less room here"))
	if again := held("said again", "[1@a: less room here 2@b: no room there]"); !again[0].Since.Equal(first[0].Since) {
		c.Errorf("held since %s, then since %s", first[0].Since, again[0].Since)
	}
	c.check(c.s.NoteWorker(c.ctx, "1@a", ""))
	held("one goes on", "[2@b: no room there]")
	c.check(c.s.RemoveWorker(c.ctx, "2@b"))
	c.check(c.s.RemoveWorker(c.ctx, "2@b"))
	held("the other has ended", "[]")
	c.check(c.s.NoteWorker(c.ctx, "1@a", "again"))
	if again := held("again", "[1@a: again]"); !again[0].Since.After(first[0].Since) {
		c.Errorf("held again since %s, the time before since %s", again[0].Since, first[0].Since)
	}
	c.check(c.s.RemoveWorker(c.ctx, "1@a"))
	known, err = c.s.KnownWorkers(c.ctx)
	c.check(err)
	want(c, "the workers when all have ended", fmt.Sprint(known), "[]")
}
