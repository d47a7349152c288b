package report

import (
	"context"
	"fmt"
	"strconv"

	"recrawl/internal/store"
)

// RejectedQuery asks for the links that a crawl did not take.
type RejectedQuery struct {
	Crawl  string
	Reason string // "" is all
	Limit  int    // of the URLs; 0 is all that are kept
}

type rejectedLine struct {
	Reason string `json:"reason"`
	URL    string `json:"url"`
	Detail string `json:"detail,omitempty"`
	From   orNull `json:"from"`
	At     stamp  `json:"at"`
}

// Rejected writes how many links were rejected for each reason, which in JSON is
// in the status, and examples of them.
func (r Reporter) Rejected(ctx context.Context, q RejectedQuery) error {
	record, now, err := r.open(ctx, q.Crawl)
	if err != nil {
		return err
	}
	counts, err := r.Store.Rejections(ctx, record.ID)
	if err != nil {
		return err
	}
	limit := q.Limit
	if limit == 0 {
		limit = max(1, len(counts)) * store.RejectedKept
	}
	links, err := r.Store.ListRejected(ctx, store.RejectedFilter{CrawlID: record.ID, Reason: q.Reason, Limit: limit})
	if err != nil {
		return err
	}
	if r.Format == JSON {
		for _, l := range links {
			line := rejectedLine{Reason: l.Reason, URL: l.URL, Detail: l.Detail, From: orNull(l.From), At: stamp(l.At)}
			if err := writeJSON(r.Out, line); err != nil {
				return err
			}
		}
		return nil
	}
	if len(counts) == 0 {
		_, err := fmt.Fprintln(r.Out, "no link has been rejected")
		return err
	}
	t := newTable(r.Out, "LINKS", "REASON")
	for _, c := range counts {
		if q.Reason == "" || q.Reason == c.Reason {
			t.row(strconv.Itoa(c.Links), c.Reason)
		}
	}
	if err := t.flush(); err != nil || len(links) == 0 {
		return err
	}
	fmt.Fprintln(r.Out)
	t = newTable(r.Out, "REASON", "WHEN", "URL", "FOUND ON", "DETAIL")
	for _, l := range links {
		t.row(l.Reason, when(l.At, now), l.URL, some(l.From), some(l.Detail))
	}
	return t.flush()
}
