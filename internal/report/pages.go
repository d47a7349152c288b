package report

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// PagesQuery asks for the pages of a crawl; zero fields choose all.
type PagesQuery struct {
	Crawl        string
	States       []crawl.PageState
	Host         string
	ChangedSince time.Time
	// ChangedWithin is the same, counted back from the store's clock.
	ChangedWithin time.Duration
	Limit         int
}

// PageLine is a page in a list.
type PageLine struct {
	URL       string          `json:"url"`
	Host      string          `json:"host"`
	State     crawl.PageState `json:"state"`
	HostState HostState       `json:"host_state"`
	Level     int             `json:"level"`
	Visits    int             `json:"visits"`
	Changes   int             `json:"changes"`
	LastVisit stamp           `json:"last_visit"`
	NextVisit stamp           `json:"next_visit"` // the earliest possible time; null if that is not known
	nextLine
	Due       stamp `json:"due"` // by its policy
	Backlinks int   `json:"backlinks"`
	// Type and Bytes are those of the last version, null and 0 if there is none.
	Type  orNull `json:"content_type"`
	Bytes int64  `json:"bytes"`
	// AsInVersion is the earlier version to which the page has returned, if it has.
	AsInVersion int `json:"as_in_version,omitempty"`
}

// Pages writes the pages of a crawl in the order in which they were found.
func (r Reporter) Pages(ctx context.Context, q PagesQuery) error {
	record, now, err := r.open(ctx, q.Crawl)
	if err != nil {
		return err
	}
	filter := store.PageFilter{CrawlID: record.ID, States: q.States, Host: q.Host, ChangedSince: q.ChangedSince}
	if q.ChangedWithin > 0 {
		filter.ChangedSince = now.Add(-q.ChangedWithin)
	}
	ex := r.excluder(record.Spec)
	done := 0
	for filter.Limit = take(q.Limit, done); filter.Limit > 0; filter.Limit = take(q.Limit, done) {
		pages, err := r.Store.ListPages(ctx, filter)
		if err != nil {
			return err
		}
		if len(pages) == 0 {
			break
		}
		o, err := r.outlook(ctx, record, pages, ex, now)
		if err != nil {
			return err
		}
		if err := r.pageBatch(ctx, pages, o, done == 0); err != nil {
			return err
		}
		done += len(pages)
		filter.After = pages[len(pages)-1].PageID
	}
	if done == 0 && r.Format == Text {
		fmt.Fprintln(r.Out, "no such pages")
	}
	return nil
}

// open finds a crawl and the time.
func (r Reporter) open(ctx context.Context, name string) (store.CrawlRecord, time.Time, error) {
	record, err := r.Store.Crawl(ctx, name)
	if err != nil {
		return store.CrawlRecord{}, time.Time{}, err
	}
	now, err := r.Store.Now(ctx)
	return record, now, err
}

// openAt is open for a list of one host, "" for all. For a host that the store keeps under the name
// of its group it returns store.ErrGrouped: the list would be empty, and not say why.
func (r Reporter) openAt(ctx context.Context, name, host string) (store.CrawlRecord, time.Time, error) {
	record, now, err := r.open(ctx, name)
	if err == nil && host != "" {
		_, err = r.Store.ListPages(ctx, store.PageFilter{CrawlID: record.ID, Host: host, Limit: 1})
	}
	return record, now, err
}

// asInVersion returns the earlier version that a page shows again, 0 for none.
func asInVersion(p store.PageRecord) int {
	if p.Last.Back == 0 {
		return 0
	}
	return p.Last.Seq
}

func (r Reporter) pageBatch(ctx context.Context, pages []store.PageRecord, o outlook, head bool) error {
	var header []string
	if head && r.Format == Text {
		header = []string{"STATE", "HOST", "LEVEL", "VISITS", "CHANGES", "LAST VISIT", "NEXT VISIT", "BACKLINKS", "SIZE", "TYPE", "URL"}
	}
	t := newTable(r.Out, header...)
	for _, p := range pages {
		is, err := o.of(ctx, p, Live{})
		if err != nil {
			return err
		}
		if r.Format == Text {
			t.row(p.State.String(), string(is.state), strconv.Itoa(p.Level), strconv.Itoa(p.Visits), strconv.Itoa(p.Changes),
				when(p.LastAt, o.now), is.words(o.now), strconv.Itoa(p.Backlinks), sizeOf(p.Last), some(essence(p.Last.ContentType)), p.URL)
			continue
		}
		if err := writeJSON(r.Out, pageLineOf(p, is)); err != nil {
			return err
		}
	}
	return t.flush()
}

func pageLineOf(p store.PageRecord, is prospect) PageLine {
	return PageLine{
		URL: p.URL, Host: p.Host, State: p.State, HostState: is.state, Level: p.Level, Visits: p.Visits, Changes: p.Changes,
		LastVisit: stamp(p.LastAt), NextVisit: stamp(is.At), nextLine: nextLineOf(is.Next), Due: stamp(p.NextAt), Backlinks: p.Backlinks,
		Type: orNull(p.Last.ContentType), Bytes: p.Last.Bytes,
		AsInVersion: asInVersion(p),
	}
}

// sizeOf writes the size of a version, if there is one.
func sizeOf(v store.VersionRecord) string {
	if v.ID == 0 {
		return some("")
	}
	return size(v.Bytes)
}
