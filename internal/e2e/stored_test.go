package e2e

import (
	"database/sql"
	"path/filepath"
	"time"

	"recrawl/internal/crawl"
)

// stored returns the visits in the store of a crawl's pages, by URL, the newest first. It
// replaces history for reading more than a few pages: each command starts a program, which
// costs more than the visit it reports.
func (d *dev) stored(name string) map[string][]visitLine {
	d.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(filepath.Join(d.data, "recrawl.db"))+"?mode=ro&_pragma=busy_timeout(10000)")
	if err != nil {
		d.t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(`SELECT url, visit, visits.at, outcome, status FROM visits JOIN pages ON pages.id = page_id
		JOIN crawls ON crawls.id = crawl_id WHERE name = $1 ORDER BY url, visit DESC`, name)
	if err != nil {
		d.t.Fatal(err)
	}
	defer rows.Close()
	all := map[string][]visitLine{}
	for rows.Next() {
		var v visitLine
		var at int64
		var outcome crawl.Outcome
		if err := rows.Scan(&v.URL, &v.Visit, &at, &outcome, &v.Status); err != nil {
			d.t.Fatal(err)
		}
		v.At, v.Outcome = time.UnixMicro(at), outcome.String()
		all[v.URL] = append(all[v.URL], v)
	}
	if err := rows.Err(); err != nil {
		d.t.Fatal(err)
	}
	return all
}
