package e2e

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"
)

// closedPort is an address where nobody listens: privileged and unassigned.
const closedPort = "127.0.0.1:2"

// mistake is a command that cannot work.
type mistake struct {
	name string
	args []string
	env  []string
	code int
	want string // in the one line on stderr
}

func (m mistake) check(t *testing.T, program string) {
	t.Helper()
	env := append(cleanEnv(t), append([]string{"RECRAWL_TEMPORAL_CLI=" + programs.temporal}, m.env...)...)
	var stdout, stderr string
	var code int
	(&dev{t: t, out: &syncBuffer{}}).await(m.name+" is told", func() bool { // the mistake may be that Temporal does not answer
		stdout, code, stderr = runEnv(t, env, program, m.args...)
		return strings.Contains(stderr, m.want) || !tooBusy(stderr)
	})
	if code != m.code || stdout != "" {
		t.Errorf("%s: exit %d with output %q, want %d and none", m.name, code, stdout, m.code)
	}
	if strings.Contains(stderr, "hunter2") {
		t.Errorf("%s: stderr has the password: %q", m.name, stderr)
	}
	if strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, m.want) {
		t.Errorf("%s: stderr %q, want one line with %q", m.name, stderr, m.want)
	}
}

// write makes a file with its folders.
func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestMistakes: each is one clear line with the designed exit code, and leaves
// nothing behind.
func TestMistakes(t *testing.T) {
	sideBySide(t, 15)
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	spec := write(t, filepath.Join(dir, "spec", "spec.yaml"), "name: news\nseeds: [http://127.0.0.1/]\npoliteness: {dealy: 5s}\n")
	foreign := filepath.Join(dir, "photos")
	write(t, filepath.Join(foreign, "holiday.jpg"), "not ours")
	otherDB := filepath.Join(dir, "other.db")
	foreignDatabase(t, otherDB)
	text := write(t, filepath.Join(dir, "text.db"), strings.Repeat("not a database ", 100))
	elsewhere := []string{"--store", "sqlite:" + filepath.Join(dir, "none.db"), "--address", closedPort}
	for _, m := range []mistake{
		{name: "unknown spec field", args: []string{"crawl", "--spec", spec}, code: 2, want: "politeness.dealy"},
		{name: "malformed URL", args: []string{"dev", "--data", data, "http://[::1"}, code: 2, want: `"http://[::1" is not a URL`},
		{name: "URL without a scheme", args: []string{"dev", "--data", data, "example.com"}, code: 2, want: "give an absolute http or https URL"},
		{name: "negative duration", args: []string{"dev", "--data", data, "http://127.0.0.1/", "--delay", "-5s"}, code: 2, want: "--delay"},
		{name: "negative time to run", args: []string{"dev", "--data", data, "--for", "-1s"}, code: 2, want: "--for"},
		{name: "nothing to do", args: []string{"pages", "--data", data}, code: 2, want: "<name>"},
		{name: "no contact", args: []string{"dev", "--data", data, "https://example.com/"}, code: 2, want: "contact"},
		{name: "wrong variable", args: []string{"status"}, env: []string{"RECRAWL_CONCURRENCY=many"}, code: 2, want: "RECRAWL_CONCURRENCY"},
		{name: "no store", args: []string{"status", "--data", data}, code: 2, want: "no store"},
		{name: "Temporal out of reach", args: append([]string{"crawl", "news", "http://127.0.0.1/"}, elsewhere...), code: 1, want: closedPort},
		{name: "Postgres out of reach", args: []string{"status", "--store", "postgres://recrawl@" + closedPort + "/recrawl"}, code: 1, want: closedPort},
		{name: "password on the command line", args: []string{"status", "--store", "postgres://recrawl:hunter2@" + closedPort + "/recrawl"}, code: 2, want: "RECRAWL_STORE, or keep the password in the file that PGPASSFILE names"},
		{name: "password in the variable", args: []string{"status"}, env: []string{"RECRAWL_STORE=postgres://recrawl:hunter2@" + closedPort + "/recrawl"}, code: 1, want: closedPort},
		{name: "password cut by its own sign", args: []string{"status"}, env: []string{"RECRAWL_STORE=postgres://recrawl:hunter2@x@" + closedPort + "/recrawl"}, code: 2, want: "%40"},
		{name: "store missing", args: []string{"status", "--store", "sqlite:" + filepath.Join(dir, "none.db")}, code: 3, want: "none.db"},
		{name: "another program's database", args: []string{"status", "--store", "sqlite:" + otherDB}, code: 1, want: "other.db"},
		{name: "no database at all", args: []string{"status", "--store", "sqlite:" + text}, code: 1, want: "text.db"},
		{name: "foreign folder", args: []string{"dev", "--data", foreign}, code: 1, want: "holiday.jpg"},
		{name: "a file as the folder", args: []string{"dev", "--data", spec}, code: 2, want: "spec.yaml"},
	} {
		m.check(t, programs.starter)
	}
	for _, m := range []mistake{
		{name: "worker without a store", code: 2, want: "RECRAWL_STORE"},
		{name: "worker on a task queue of no name", code: 2, want: "RECRAWL_TASK_QUEUE", env: []string{"RECRAWL_STORE=sqlite:x", "RECRAWL_ARCHIVE=x", "RECRAWL_TASK_QUEUE=my queue"}},
		{name: "worker that is given a key itself", code: 2, want: "a key itself is not taken", env: []string{"RECRAWL_STORE=sqlite:x", "RECRAWL_ARCHIVE=x", "RECRAWL_ENCRYPTION_KEYS=k=c2VjcmV0"}},
		{name: "worker with a wrong store", code: 2, want: "RECRAWL_STORE", env: []string{"RECRAWL_STORE=mysql://x", "RECRAWL_ARCHIVE=x"}},
	} {
		m.check(t, programs.worker)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		switch e.Name() {
		case "spec", "photos", "other.db", "text.db":
		default:
			t.Errorf("%s was left behind", e.Name())
		}
	}
}

func foreignDatabase(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE songs (title TEXT)"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestLockedDataFolder: a second owner is refused, and the first one does not
// notice.
func TestLockedDataFolder(t *testing.T) {
	sideBySide(t, 10)
	s := serve(t, tree(3))
	data := filepath.Join(t.TempDir(), "data")
	d := startDev(t, data, crawlArgs(s, "10ms")...)
	mistake{name: "second owner", args: []string{"dev", "--data", data}, code: 1, want: "is in use by another recrawl (pid "}.check(t, programs.starter)
	d.await("the first owner goes on", d.crawled("t", 3, 1))
	d.stop()
}

// TestBadInputFromTheTemporalCLI: the crawl's workflow fails with a line that
// says what is wrong, and no crawl is made.
func TestBadInputFromTheTemporalCLI(t *testing.T) {
	sideBySide(t, 25)
	d := startDev(t, filepath.Join(t.TempDir(), "data"))
	for input, want := range map[string]string{
		`{"name":"cli","seeds":["http://127.0.0.1:2/"],"limits":{"max_pgaes":5}}`:                  `limits.max_pgaes`,
		`{"name":"cli","seeds":["nonsense"]}`:                                                      `seeds[0]`,
		`{"name":"cli","seeds":["http://127.0.0.1:2/"],"politeness":{"delay":"-5s"}}`:              `politeness.delay`,
		`{"name":"other","seeds":["http://127.0.0.1:2/"]}`:                                         `crawl/other`,
		`{"name":"cli","seeds":["https://example.com/"]}`:                                          `contact`,
		`{"name":"cli","seeds":["http://127.0.0.1:2/"],"revisit":{"default_interval":"tomorrow"}}`: `default_interval`,
	} {
		stdout, code, _ := insist(t, "temporal workflow execute", func() (string, int, string) {
			return run(t, programs.temporal, "workflow", "execute", "--address", d.state().Address, "--task-queue", "recrawl",
				"--type", "Crawl", "--workflow-id", "crawl/cli", "--input", input)
		})
		if code == 0 || !strings.Contains(stdout, want) {
			t.Errorf("%s: exit %d with %q, want a failure with %q", input, code, stdout, want)
		}
	}
	// Only the worker can refuse this spec: the starter says so, although it only starts a
	// workflow.
	spec := write(t, filepath.Join(t.TempDir(), "spec.json"), `{"name":"odd","seeds":["http://127.0.0.1:99999/"]}`)
	mistake{name: "refused by the worker", args: []string{"crawl", "--spec", spec, "--data", d.data}, code: 2, want: "seeds["}.check(t, programs.starter)
	if out, _, _ := d.starter("--output", "json", "status"); strings.TrimSpace(out) != "" {
		t.Errorf("crawls were made: %s", out)
	}
	d.await("nothing is left of the refused crawl", func() bool {
		return !strings.Contains(d.temporal("workflow", "list", "--query", `WorkflowId = "crawl/odd"`), "crawl/odd")
	})
	// Inputs of updates that are of another form are refused in one line.
	d.must("crawl", "typed", "http://127.0.0.1:2/")
	d.await("the page's workflow runs", func() bool {
		return strings.Contains(d.temporal("workflow", "list", "--query", `WorkflowId = "page/typed/http://127.0.0.1:2/"`), "page/typed")
	})
	for update, want := range map[[2]string]string{
		{"crawl/typed", "add-seeds"}:                       `seeds: 5: give {"seeds": ["https://example.com/"]}`,
		{"crawl/typed", "set-spec"}:                        `give a JSON object`,
		{"page/typed/http://127.0.0.1:2/", "snooze"}:       `"5" is not a duration`,
		{"page/typed/http://127.0.0.1:2/", "set-interval"}: `"5" is not a duration`,
	} {
		stdout, code, stderr := insist(t, "temporal workflow update", func() (string, int, string) {
			return run(t, programs.temporal, "workflow", "update", "execute", "--address", d.state().Address,
				"--workflow-id", update[0], "--name", update[1], "--input", "5")
		})
		if said := strings.ReplaceAll(stdout+stderr, `\"`, `"`); code == 0 || !strings.Contains(said, want) || strings.Contains(said, "decode") {
			t.Errorf("%v: exit %d with %q, want a failure with %q", update, code, said, want)
		}
	}
	d.stop()
}
