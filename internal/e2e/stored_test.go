package e2e

import (
	"database/sql"
	"path/filepath"
	"time"

	"recrawl/internal/crawl"
)

// queryStore calls row with each row of a query to the store, which runs beside its owner.
// Tests ask the store where they wait, or read more than a few pages: each command starts a
// program, which costs more than most visits.
func (d *dev) queryStore(row func(scan func(into ...any) error) error, query string, args ...any) {
	d.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(filepath.Join(d.data, "recrawl.db"))+"?mode=ro&_pragma=busy_timeout(600000)")
	if err != nil {
		d.t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(query, args...)
	if err != nil {
		d.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			d.t.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		d.t.Fatal(err)
	}
}

// pages returns the pages of a crawl.
func (d *dev) pages(name string) (all []pageLine) {
	d.t.Helper()
	d.queryStore(func(scan func(into ...any) error) error {
		var p pageLine
		var state crawl.PageState
		err := scan(&p.URL, &state, &p.Visits, &p.Level)
		p.State = state.String()
		all = append(all, p)
		return err
	}, `SELECT url, frontier.state, visit, level FROM pages JOIN frontier ON page_id = pages.id
		JOIN crawls ON crawls.id = pages.crawl_id WHERE name = $1 ORDER BY pages.id`, name)
	return all
}

// stored returns the visits of a crawl's pages, by URL, the newest first.
func (d *dev) stored(name string) map[string][]visitLine {
	d.t.Helper()
	all := map[string][]visitLine{}
	d.queryStore(func(scan func(into ...any) error) error {
		var v visitLine
		var at int64
		var outcome crawl.Outcome
		err := scan(&v.URL, &v.Visit, &at, &outcome, &v.Status, &v.Problem)
		v.At, v.Outcome = time.UnixMicro(at), outcome.String()
		all[v.URL] = append(all[v.URL], v)
		return err
	}, `SELECT url, visit, visits.at, outcome, status, problem FROM visits JOIN pages ON pages.id = page_id
		JOIN crawls ON crawls.id = crawl_id WHERE name = $1 ORDER BY url, visit DESC`, name)
	return all
}

// visits returns the number of recorded visits to a URL.
func (d *dev) visits(url string) (n int) {
	d.t.Helper()
	d.queryStore(func(scan func(into ...any) error) error { return scan(&n) },
		"SELECT COUNT(*) FROM visits JOIN pages ON pages.id = page_id WHERE url = $1", url)
	return n
}
