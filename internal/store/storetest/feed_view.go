package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

// viewColumns are the columns of the view recrawl_changes that people rely on, in their
// order.
const viewColumns = `id, cursor, crawl, kind, at, page_id, url, host, title, visit, status, location, version, version_before, returned_to, was, state, data`

// RunFeedView compares the view for people who use SQL with what programs read: its columns
// are stable, and it knows all kinds.
func RunFeedView(t *testing.T, e sqlstore.Engine) {
	s := sqlstore.New(e, sqlstore.Options{})
	c := newCollection(t, s)
	c.fillFeed(e)
	changes := c.followFrom(must(s.FeedEnds(c.ctx))(c).Oldest, store.ChangesParams{})
	var rows []string
	err := e.Read(c.ctx, func(tx sqlstore.Tx) error {
		rows = nil
		// Texts, so that one scan does for both engines.
		text := strings.ReplaceAll(viewColumns, ", ", " AS TEXT), ''), COALESCE(CAST(")
		query := `SELECT COALESCE(CAST(` + text + ` AS TEXT), '') FROM recrawl_changes ORDER BY id`
		return tx.Query(c.ctx, query, nil, func(row sqlstore.Row) error {
			fields := make([]string, len(strings.Split(viewColumns, ", ")))
			into := make([]any, len(fields))
			for i := range fields {
				into[i] = &fields[i]
			}
			err := row.Scan(into...)
			rows = append(rows, strings.Join(fields, "|"))
			return err
		})
	})
	c.check(err)
	want(c, "rows", len(rows), len(changes))
	kinds := map[feed.Kind]bool{}
	for i, one := range changes {
		kinds[one.Kind] = true
		want(c, one.Kind.String(), rows[i], c.viewRow(one))
	}
	want(c, "kinds", len(kinds), len(feed.Kinds()))
}

// fillFeed writes changes of all kinds: those of a page with usual and with other data,
// and the rest as separate rows, for which there is no page.
func (c *collection) fillFeed(e sqlstore.Engine) {
	c.Helper()
	c.open()
	page := c.admitted(1, 1)[0].PageID
	first := c.visitContent(page, content(1), nil)
	c.visitContent(page, content(2), nil)
	c.back(page, first, time.Time{}, store.Retention{})
	_, err := c.s.RecordVisit(c.ctx, store.RecordParams{Visit: store.VisitRecord{
		PageID: page, Visit: 4, Outcome: crawl.OutcomeRedirected, State: crawl.Redirect, Status: 301, Location: "https://b.test/",
	}})
	c.check(err)
	c.check(c.s.SetPageState(c.ctx, page, crawl.Stopped))
	must(c.s.SetBlocked(c.ctx, c.host(1), true))(c)
	must(c.s.SetCrawlState(c.ctx, c.name, crawl.CrawlPaused))(c)
	c.forgetURL(c.known(2, 1)[0].URL)
	for _, kind := range append(feed.Kinds(), feed.VersionOnly) { // the last is not in it
		for _, data := range []string{"", `{"was":"excluded","state":"redirect","from":7,"returned_to":3}`} {
			c.check(e.Write(c.ctx, func(tx sqlstore.Tx) error {
				_, err := tx.Exec(c.ctx, `INSERT INTO changes (crawl_id, page_id, at, visit, seq, kind, data) VALUES ($1, 0, $2, 0, 9, $3, $4)`,
					c.id, int64(1e15), int64(kind), data)
				return err
			}))
		}
	}
}

// viewRow is the view's row for a change.
func (c *collection) viewRow(one feed.Change) string {
	c.Helper()
	number := func(n int64) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprint(n)
	}
	state := func(s crawl.PageState) string {
		if s == 0 {
			return ""
		}
		return s.String()
	}
	crawlName, url, host, title, status, location := c.name, "", "", "", "", ""
	if one.CrawlID == 0 {
		crawlName, host = "", c.host(1)
	}
	if p, err := c.s.Page(c.ctx, one.PageID); err == nil {
		url, host = p.URL, p.Host
		if one.Visit > 0 {
			v := must(c.s.Visit(c.ctx, one.PageID, one.Visit))(c)
			status, location = number(int64(v.Status)), v.Location
		}
		if one.Seq > 0 {
			title = must(c.s.Version(c.ctx, one.PageID, one.Seq))(c).Title
		}
	}
	data := one.Data.Encode(one.Kind, one.Seq)
	return strings.Join([]string{
		number(one.ID), feed.Cursor{Epoch: must(c.s.FeedEnds(c.ctx))(c).Oldest.Epoch, ID: one.ID}.String(), crawlName, one.Kind.String(),
		one.At.UTC().Truncate(time.Second).Format("2006-01-02T15:04:05Z"), number(one.PageID), url, host, title, number(int64(one.Visit)), status, location,
		number(int64(one.Seq)), number(int64(one.Data.From)), number(int64(one.Data.ReturnedTo)), state(one.Data.Was), state(one.Data.State), data,
	}, "|")
}
