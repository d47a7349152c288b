// Command mirror keeps the table pages of an SQLite database up to date with a crawl:
//
//	mirror CRAWL DATABASE
//
// Each change is committed together with its cursor, so it may be killed at any moment.
package main

import (
	"database/sql"
	"encoding/json"
	"log"
	"os"
	"os/exec"

	_ "modernc.org/sqlite"
)

const schema = `CREATE TABLE IF NOT EXISTS place (one INTEGER PRIMARY KEY, cursor TEXT);
	CREATE TABLE IF NOT EXISTS pages (id INTEGER PRIMARY KEY, url TEXT, state TEXT, version INTEGER, sha256 TEXT)`

type line struct {
	Cursor string
	Page   *struct {
		ID         int64
		URL, State string
	}
	Version struct {
		Seq    int
		SHA256 string
	}
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: mirror CRAWL DATABASE")
	}
	db := must(sql.Open("sqlite", os.Args[2]+"?_pragma=busy_timeout(10000)"))
	must(db.Exec(schema))
	code := follow(db, os.Args[1])
	for ; code == 4; code = follow(db, os.Args[1]) { // the changes after the cursor are no longer kept
		must(db.Exec(`DELETE FROM place`))
	}
	os.Exit(code)
}

// follow reads changes until they end, and returns the exit code of starter.
func follow(db *sql.DB, crawl string) int {
	args := []string{"changes", crawl, "--output", "json", "--follow", "--snapshot"}
	tx, cursor := must(db.Begin()), ""
	if tx.QueryRow(`SELECT cursor FROM place`).Scan(&cursor) == nil {
		args = append(args[:5], "--after", cursor)
	} else {
		must(tx.Exec(`DELETE FROM pages`))
	}
	cmd := exec.Command("starter", args...)
	cmd.Stderr = os.Stderr
	lines := json.NewDecoder(must(cmd.StdoutPipe()))
	must(0, cmd.Start())
	for l := (line{}); lines.Decode(&l) == nil; l = (line{}) {
		if p := l.Page; p != nil && p.URL != "" {
			must(tx.Exec(`INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?, ?)`, p.ID, p.URL, p.State, l.Version.Seq, l.Version.SHA256))
		} else if p != nil { // forgotten
			must(tx.Exec(`DELETE FROM pages WHERE id = ?`, p.ID))
		}
		if l.Cursor != "" { // all of a snapshot, or one change
			must(tx.Exec(`INSERT OR REPLACE INTO place VALUES (1, ?)`, l.Cursor))
			must(0, tx.Commit())
			tx = must(db.Begin())
		}
	}
	must(0, tx.Rollback())
	_ = cmd.Wait() // its exit code says how it ended
	return cmd.ProcessState.ExitCode()
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}
