package report

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"recrawl/internal/store"
)

// StatusAll writes every crawl in numbers: in JSON a line for each, in text one
// table.
func (r Reporter) StatusAll(ctx context.Context) error {
	crawls, err := r.Store.ListCrawls(ctx)
	if err != nil {
		return err
	}
	now, err := r.Store.Now(ctx)
	if err != nil {
		return err
	}
	if r.Format == Text {
		return r.statusTable(ctx, crawls, now)
	}
	for _, c := range crawls {
		if err := r.status(ctx, c, now); err != nil {
			return err
		}
	}
	return nil
}

func (r Reporter) statusTable(ctx context.Context, crawls []store.CrawlRecord, now time.Time) error {
	if len(crawls) == 0 {
		if _, err := fmt.Fprintln(r.Out, "no crawls yet: start one with `starter crawl NAME URL`"); err != nil {
			return err
		}
		return r.heldWorkers(ctx, now)
	}
	t := newTable(r.Out, "CRAWL", "STATE", "PAGES", "VISITS", "LAST HOUR", "WAITING", "OVERDUE", "NEXT DUE")
	for _, c := range crawls {
		s, err := r.Store.Status(ctx, c.ID)
		if err != nil {
			return err
		}
		pages := 0
		for _, n := range s.Pages {
			pages += n
		}
		t.row(c.Spec.Name, c.State.String(), strconv.Itoa(pages), strconv.Itoa(s.Visits), strconv.Itoa(s.LastHour),
			strconv.Itoa(s.Waiting), overdueCount(s.Overdue, s.OverdueMore), nextDue(c.State, s).words(now))
	}
	if err := t.flush(); err != nil {
		return err
	}
	if err := r.pausedSinks(ctx, crawls, now); err != nil {
		return err
	}
	if err := r.firstPasses(ctx, crawls); err != nil {
		return err
	}
	var backlog store.BacklogRecord
	for _, c := range crawls {
		troubles, waiting, err := r.troubles(ctx, c, now)
		if err != nil {
			return err
		}
		backlog = waiting // the same for all
		for _, t := range troubles {
			if _, err := fmt.Fprintf(r.Out, "crawl %s, %s: %s\n", c.Spec.Name, troublePart(t.Part), troubleWords(t, now)); err != nil {
				return err
			}
		}
	}
	if err := r.overAsked(ctx, crawls); err != nil {
		return err
	}
	if words := backlogWords(backlog); backlog.Age >= backlogOld {
		if _, err := fmt.Fprintln(r.Out, "backlog: "+words); err != nil {
			return err
		}
	}
	return r.heldWorkers(ctx, now)
}

// overAsked writes which crawls ask for more visits than are made.
func (r Reporter) overAsked(ctx context.Context, crawls []store.CrawlRecord) error {
	for _, c := range crawls {
		steering, err := r.Store.Steering(ctx, c.ID, false)
		if err != nil {
			return err
		}
		if words := overAsked(c, steering); words != "" {
			if _, err := fmt.Fprintf(r.Out, "crawl %s: %s\n", c.Spec.Name, words); err != nil {
				return err
			}
		}
	}
	return nil
}

// firstPasses writes the progress of crawls with pages that were never visited.
func (r Reporter) firstPasses(ctx context.Context, crawls []store.CrawlRecord) error {
	for _, c := range crawls {
		_, first, err := r.Progress(ctx, c)
		if err != nil {
			return err
		}
		if first == nil {
			continue
		}
		if _, err := fmt.Fprintf(r.Out, "crawl %s: %s %s\n", c.Spec.Name, first.Bar(), first); err != nil {
			return err
		}
	}
	return nil
}
