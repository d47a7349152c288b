package report

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

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

type notTakenLine struct {
	URL    string `json:"url"`
	Crawl  string `json:"crawl"`
	State  string `json:"state"` // rejected
	Reason string `json:"reason"`
	Detail orNull `json:"detail"`
	From   orNull `json:"from"`
	At     stamp  `json:"at"`
}

// maxRejected is how many examples of a crawl are looked through for one URL: those of
// a hundred reasons.
const maxRejected = 100 * store.RejectedKept

// ExplainRejected writes why a URL that is no page was not taken, by the examples that
// are kept of rejected links, and reports whether any crawl has one. "" is all crawls.
func (r Reporter) ExplainRejected(ctx context.Context, url, crawlName string) (bool, error) {
	crawls, err := r.Store.ListCrawls(ctx)
	if err != nil {
		return false, err
	}
	now, err := r.Store.Now(ctx)
	if err != nil {
		return false, err
	}
	found := false
	for _, c := range crawls {
		if crawlName != "" && c.Spec.Name != crawlName {
			continue
		}
		links, err := r.Store.ListRejected(ctx, store.RejectedFilter{CrawlID: c.ID, Limit: maxRejected})
		if err != nil {
			return found, err
		}
		for _, l := range links {
			if l.URL != url {
				continue
			}
			found = true
			if err := r.notTaken(c.Spec.Name, l, now); err != nil {
				return found, err
			}
		}
	}
	return found, nil
}

func (r Reporter) notTaken(crawlName string, l store.RejectedLink, now time.Time) error {
	if r.Format == JSON {
		return writeJSON(r.Out, notTakenLine{l.URL, crawlName, "rejected", l.Reason, orNull(l.Detail), orNull(l.From), stamp(l.At)})
	}
	text := fmt.Sprintf("%s is no page of crawl %s: rejected %s (%s)", l.URL, crawlName, when(l.At, now), l.Reason)
	if l.Detail != "" {
		text += ": " + l.Detail
	}
	if l.From != "" {
		text += ", found on " + l.From
	}
	_, err := fmt.Fprintln(r.Out, strings.Map(printable, text))
	return err
}
