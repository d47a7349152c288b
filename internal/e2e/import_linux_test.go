package e2e

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// measureInto names the variable with the file that runMeasured writes.
const measureInto = "E2E_MEASURE_INTO"

// TestImportMillion imports a long list in bounded memory: in the long form a million URLs
// over 10 000 hosts, when its speed is compared with that of SQLite's own .import of the
// rows of the table pages, with their indexes.
func TestImportMillion(t *testing.T) {
	sideBySide(t, 20)
	const mostMemory = 200 << 20 // however long the list is; a quiet process has half of it
	n, hosts := 20_000, 200
	if long() {
		n, hosts = 1_000_000, 10_000
	}
	folder := t.TempDir()
	db := filepath.Join(folder, "data", "recrawl.db")
	d := startDev(t, filepath.Dir(db), "http://localhost:18999/", "--name", "t")
	d.await("the crawl is open", func() bool { _, code, _ := d.starter("status", "t"); return code == 0 })
	d.stop()
	list := filepath.Join(folder, "urls.txt")
	file, err := os.Create(list)
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewWriter(file)
	for i := range n {
		fmt.Fprintf(out, "https://www.host-%d.example/a/page/of/usual/length/%d.html\n", i%hosts, i)
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	file.Close()

	took, memory := measured(t, programs.starter, "--store", "sqlite:"+db, "import", "t", list)
	t.Logf("import: %.0f URLs/s, %d MiB", float64(n)/took.Seconds(), memory>>20)
	if memory > mostMemory {
		t.Errorf("%d MiB of memory, want at most %d", memory>>20, mostMemory>>20)
	}
	if long() {
		compareWithSQLite(t, db, n, took)
	}
}

// compareWithSQLite reports how many times as long the import took as SQLite takes for the
// rows alone.
func compareWithSQLite(t *testing.T, db string, n int, took time.Duration) {
	t.Helper()
	folder := t.TempDir()
	rows, bare := filepath.Join(folder, "pages.csv"), filepath.Join(folder, "bare.db")
	sqliteShell(t, db, ".mode csv", ".output "+rows, "SELECT id, crawl_id, hex(url_hash), url, host_id, level, found_at, found_from, hops, kind FROM pages;")
	sqliteShell(t, bare, "PRAGMA journal_mode = WAL;", `CREATE TABLE pages (id INTEGER PRIMARY KEY AUTOINCREMENT, crawl_id INTEGER NOT NULL, url_hash BLOB NOT NULL,
		url TEXT NOT NULL, host_id INTEGER NOT NULL, level INTEGER NOT NULL, found_at INTEGER NOT NULL, found_from INTEGER NOT NULL,
		hops INTEGER NOT NULL, kind INTEGER NOT NULL, UNIQUE (crawl_id, url_hash));`)
	plain, _ := measured(t, "sqlite3", bare, ".mode csv", ".import "+rows+" pages")
	if got := strings.TrimSpace(sqliteShell(t, bare, "SELECT COUNT(*) FROM pages;")); got != fmt.Sprint(n+1) {
		t.Fatalf("SQLite imported %s rows", got)
	}
	t.Logf(".import of the rows of pages: %.0f/s: %.1f times as fast", float64(n)/plain.Seconds(), took.Seconds()/plain.Seconds())
}

// measured runs a program and returns how long it took and its largest memory in bytes.
//
// The kernel counts as a process's own the memory that its parent had when it was started
// (the address space that it leaves at exec). So this program, which may have half a
// gigabyte, has another copy of itself start it, which has next to nothing.
func measured(t *testing.T, program string, args ...string) (took time.Duration, memory int64) {
	t.Helper()
	largest := filepath.Join(t.TempDir(), "memory")
	cmd := exec.Command(os.Args[0], append([]string{program}, args...)...)
	cmd.Env = append(cleanEnv(t), asUsersDo, "RECRAWL_CONTACT=ops@example.org", measureInto+"="+largest)
	begun := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v: %s", program, args, err, out)
	}
	took = time.Since(begun)
	text, err := os.ReadFile(largest)
	if err != nil {
		t.Fatal(err)
	}
	if memory, err = strconv.ParseInt(string(text), 10, 64); err != nil {
		t.Fatal(err)
	}
	return took, memory
}

// runMeasured runs a program in the place of the tests and writes its largest memory, in
// bytes, into a file.
func runMeasured(into string, args []string) int {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	memory := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	if err := os.WriteFile(into, []byte(strconv.FormatInt(memory, 10)), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func init() {
	if into := os.Getenv(measureInto); into != "" {
		os.Exit(runMeasured(into, os.Args[1:]))
	}
}

// sqliteShell runs commands of SQLite's own program.
func sqliteShell(t *testing.T, db string, commands ...string) string {
	t.Helper()
	out, err := exec.Command("sqlite3", append([]string{db}, commands...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("sqlite3 %q: %v: %s", commands, err, out)
	}
	return string(out)
}
