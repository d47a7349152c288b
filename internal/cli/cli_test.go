package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// Every mistake is one line that names it, with the right code, and nothing is
// asked of Temporal.
func TestMistakes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	unknown := file("unknown.yaml", "name: news\nseeds: [https://example.com/]\npolitness: {delay: 5s}\n")
	nested := file("nested.json", `{"name":"news","seeds":["https://example.com/"],"limits":{"max_pgaes":5}}`)
	bare := file("bare.yaml", "name: news\nseeds: [https://example.com/]\npoliteness: {delay: 5}\n")
	for _, c := range []struct {
		name string
		args string
		code int
		want string // in the line
	}{
		{"no command", "", ExitUsage, "no command: give one of dev, crawl, import, status,"},
		{"unknown command after a flag", "--data x frobnicate", ExitUsage, `unknown command "frobnicate" (see ` + "`starter --help`)"},
		{"no command after a flag", "--data x", ExitUsage, "no command: give one of dev, crawl, "},
		{"text flag without its value", "report news --html", ExitUsage, "--html: give a value: --html=FILE (see `starter report --help`)"},
		{"number flag without its value", "report news --top", ExitUsage, "--top: give a value: --top=N (see `starter report --help`)"},
		{"flag instead of a value", "pages news --host --state failing", ExitUsage, "--host: give a value: --host=HOST, before --state (see `starter pages --help`)"},
		{"host that is none", "pages news --host a%20b..c", ExitUsage, `"a%20b..c" is not a host: write it as`},
		{"sources of a host that is none", "sources news --host a..b", ExitUsage, "--host: "},
		{"search at a host that is none", "search news --rebuild --host a..b", ExitUsage, "--host: "},
		{"changes of a host that is none", "changes news --host a..b", ExitUsage, "--host: "},
		{"empty value", "status --store=", ExitUsage, "--store is empty: give it a value, or leave it out (see `starter status --help`)"},
		{"unknown command", "frobnicate", ExitUsage, `unknown command "frobnicate" (see ` + "`starter --help`)"},
		{"unknown flag", "status --wacth", ExitUsage, "unknown flag --wacth"},
		{"unknown output", "status --output xml", ExitUsage, "--output must be one of"},
		{"missing argument", "pages", ExitUsage, "expected \"<name>\" (see `starter pages --help`)"},
		{"second crawl unknown", "report news docs", ExitNotFound, `there is no crawl "docs"`},
		{"budget that is none", "forecast news --budget 2", ExitUsage, `--budget: "2" is not a budget: write visits per time, such as 20000/day, or how many times the present one, such as 2×`},
		{"freshness that is none", "forecast news --fresh 100%", ExitUsage, `--fresh: "100%" is not a share that can be up to date`},
		{"forecast of an unknown crawl", "forecast nope", ExitNotFound, `there is no crawl "nope"`},
		{"surplus argument", "status a b", ExitUsage, "unexpected argument b"},
		{"negative duration", "crawl news https://example.com/ --delay -5s", ExitUsage, `--delay: "-5s" is not a duration (negative)`},
		{"negative duration with =", "crawl news https://example.com/ --delay=-5s", ExitUsage, "negative"},
		{"duration without unit", "crawl news https://example.com/ --min-interval 60", ExitUsage, "write a number with a unit"},
		{"not a number", "crawl news https://example.com/ --max-pages many", ExitUsage, "--max-pages"},
		{"negative number", "crawl news https://example.com/ --max-pages -1", ExitUsage, "limits.max_pages: is negative; 0 means unlimited"},
		{"number that is too large", "pages news --limit 18446744073709551615", ExitUsage, "--limit: 18446744073709551615 is too large"},
		{"huge feed", "changes news --format atom --limit 9223372036854775808", ExitUsage, "--limit: 9223372036854775808 is too large"},
		{"number below zero", "search news words --offset -1", ExitUsage, `--offset: "-1" is not a number from 0 on`},
		{"unknown policy", "crawl news https://example.com/ --policy often", ExitUsage, "revisit.policy: \"often\": use one of sqrt, fresh"},
		{"bad port", "crawl news https://example.com:25/", ExitUsage, "port 25 belongs to another protocol"},
		{"wrong purpose", "crawl news https://example.com/ --purpose search --purpose training", ExitUsage, "purpose[1]"},
		{"wrong network", "crawl news https://example.com/ --allow-network 10.0.0.1", ExitUsage, "fetch.allow_networks[0]"},
		{"wrong parameter", "crawl news https://example.com/ --strip-param utm_source=x", ExitUsage, "urls.strip_params[0]: \"utm_source=x\" has one of &=#"},
		{"wrong contact", "crawl news https://example.com/ --contact me", ExitUsage, "identity.contact"},
		{"malformed URL", "crawl news http://[::1", ExitUsage, `"http://[::1" is not a URL`},
		{"no scheme", "crawl news example.com", ExitUsage, "give an absolute http or https URL"},
		{"ftp", "visit ftp://example.com/", ExitUsage, "give an absolute http or https URL"},
		{"impossible host", "history http://exa_mple..com/", ExitUsage, "http://exa_mple..com/"},
		{"wrong name", "crawl News https://example.com/", ExitUsage, `"News" cannot name a crawl`},
		{"URL in the name's place", "crawl https://example.com/", ExitUsage, "cannot name a crawl"},
		{"no seeds for a new crawl", "crawl fresh", ExitUsage, "seeds: give at least one URL"},
		{"neither name nor spec", "crawl", ExitUsage, "give NAME and URLs, or --spec FILE"},
		{"both", "crawl news --spec x.yaml", ExitUsage, "give either NAME and URLs, or --spec FILE"},
		{"unreadable spec file", "crawl --spec " + filepath.Join(dir, "none.yaml"), ExitUsage, "cannot read the spec: open " + filepath.Join(dir, "none.yaml") + ": no such file"},
		{"spec file is a folder", "crawl --spec " + dir, ExitUsage, "is a directory"},
		{"unknown spec field", "crawl --spec " + unknown, ExitUsage, unknown + ": spec: politness: unknown field"},
		{"unknown nested spec field", "crawl --spec " + nested, ExitUsage, "max_pgaes: unknown field"},
		{"bare number in a spec", "crawl --spec " + bare, ExitUsage, `5 is not a duration`},
		{"not YAML", "crawl --spec " + file("broken.yaml", "name: [news\n"), ExitUsage, "not YAML: line"},
		{"a field twice", "crawl --spec " + file("twice.json", `{"name":"a","politeness":{"delay":"30s"},"politeness":{"delay":"1s"}}`), ExitUsage, "spec: politeness: given twice"},
		{"a field in other letters", "crawl --spec " + file("case.yaml", "Name: a\n"), ExitUsage, "spec: Name: the field is name"},
		{"empty spec", "crawl --spec " + file("empty.yaml", "# nothing\n"), ExitUsage, "spec: missing"},
		{"two documents", "crawl --spec " + file("two.yaml", "name: a\n---\nname: b\n"), ExitUsage, "more than one YAML document"},
		{"keys that are no texts", "crawl --spec " + file("keys.yaml", "1: 2\n"), ExitUsage, "the keys of a spec are texts"},
		{"no number", "crawl --spec " + file("nan.yaml", "name: a\npoliteness: {factor: .nan}\n"), ExitUsage, "spec: politeness.factor: NaN is not a number"},
		{"no number in a list", "crawl --spec " + file("inf.yaml", "content: {rules: [{}, {a: [1, -.inf]}]}\n"), ExitUsage, "spec: content.rules[1].a[1]: -Inf is not a number"},
		{"unknown crawl", "pages nope", ExitNotFound, "there is no crawl \"nope\": `starter status` lists the crawls"},
		{"unknown crawl's status", "status nope", ExitNotFound, `there is no crawl "nope"`},
		{"unknown crawl's hosts", "hosts nope", ExitNotFound, `there is no crawl "nope"`},
		{"unknown crawl to stop", "stop nope", ExitNotFound, `there is no crawl "nope"`},
		{"unknown page", "history https://example.com/none", ExitNotFound, "no crawl has the page https://example.com/none"},
		{"unknown page of a crawl", "visit https://example.com/ --crawl docs", ExitNotFound, `crawl "docs" does not have the page https://example.com/`},
		{"page of several crawls", "visit https://example.com/two", ExitUsage, "is in crawls docs, news: choose one with --crawl"},
		{"unknown state", "pages news --state dead", ExitUsage, "use known, active, failing"},
		{"unreadable time", "pages news --changed-since yesterday", ExitUsage, "write a date (2026-03-01)"},
		{"wrong store", "status --store mysql://x", ExitUsage, "write sqlite:PATH or postgres://"},
		{"settings without a crawl", "dev --delay 5s", ExitUsage, "give a URL, or the --name"},
		{"dev on another store", "dev --store sqlite:y.db", ExitUsage, "choose only its folder, with --data"},
		{"dev without contact", "dev http://localhost:2/ https://example.com/", ExitUsage, "to crawl https://example.com/ give --contact"},
		{"dev with a wrong setting", "dev http://localhost:2/ --window 0", ExitUsage, "limits.window: is 0"},
		{"dev with a file and a URL", "dev http://localhost:2/ --spec x.yaml", ExitUsage, "leave the URLs and --name away"},
		{"dev with no such file", "dev --spec /nowhere/x.yaml", ExitUsage, "/nowhere/x.yaml"},
		{"dev on an impossible port", "dev --temporal-port 70000", ExitUsage, "--temporal-port"},
		{"dev for a negative time", "dev --for -1s", ExitUsage, "negative"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := &fakeBackend{}
			got := starter(t, b, strings.Fields(c.args)...)
			if got.code != c.code {
				t.Errorf("exit code %d, want %d", got.code, c.code)
			}
			checkLine(t, got.errOut, c.want)
			if got.out != "" {
				t.Errorf("output %q, want none", got.out)
			}
			if c.code == ExitUsage && (b.dev != nil || len(b.specs) > 0) {
				t.Errorf("something was done: %v", b.calls)
			}
		})
	}
}

func checkLine(t *testing.T, errOut, want string) {
	t.Helper()
	if !strings.HasPrefix(errOut, "starter: ") || strings.Count(errOut, "\n") != 1 || !strings.HasSuffix(errOut, "\n") {
		t.Errorf("not exactly one line that starts with \"starter: \": %q", errOut)
	}
	if !strings.Contains(errOut, want) {
		t.Errorf("%q does not say %q", errOut, want)
	}
}

func TestOutOfReach(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, args, want string
		b                fakeBackend
	}{
		{"store", "status", "cannot open the store: dial tcp: refused", fakeBackend{storeErr: fmt.Errorf("dial tcp: refused")}},
		{"store unavailable", "pages news", "store unavailable", fakeBackend{storeErr: fmt.Errorf("busy: %w", store.ErrUnavailable)}},
		{"Temporal", "stop news", "temporal does not answer at 127.0.0.1:7233 (connection refused): start it", fakeBackend{temporalErr: errDown}},
		{"Temporal for a new crawl", "crawl fresh https://example.com/", "temporal does not answer", fakeBackend{temporalErr: errDown}},
	} {
		got := starter(t, &c.b, strings.Fields(c.args)...)
		if got.code != ExitFailed {
			t.Errorf("%s: exit code %d, want %d", c.name, got.code, ExitFailed)
		}
		checkLine(t, got.errOut, c.want)
	}
}

func TestNoStore(t *testing.T) {
	t.Parallel()
	got := starterEnv(t, &fakeBackend{}, map[string]string{"RECRAWL_DATA": t.TempDir()}, "status")
	if got.code != ExitUsage {
		t.Errorf("exit code %d, want %d", got.code, ExitUsage)
	}
	checkLine(t, got.errOut, "no store: run this in the folder of a `starter dev`")
}

// Without a store or an address, a command goes to Temporal's usual address. If nobody is
// there, the person is probably in another folder.
func TestNoTemporal(t *testing.T) {
	t.Parallel()
	const hint = "nor is there a `starter dev` in "
	for _, c := range []struct {
		env  map[string]string
		args string
		hint bool
	}{
		{nil, "stop news", true},
		{nil, "pause news", true},
		{nil, "crawl news https://example.com/", true},
		{nil, "stop news --address there:7233", false},
		{map[string]string{"TEMPORAL_ADDRESS": "there:7233"}, "stop news", false},
		{map[string]string{"RECRAWL_STORE": "sqlite:x.db"}, "stop news", false},
	} {
		data := filepath.Join(t.TempDir(), "data")
		got := starterEnv(t, &fakeBackend{temporalErr: errDown}, c.env, append(strings.Fields(c.args), "--data", data)...)
		if strings.Contains(got.errOut, hint+data) != c.hint || got.code != ExitFailed {
			t.Errorf("%s with %v: exit code %d, %q", c.args, c.env, got.code, got.errOut)
		}
		checkLine(t, got.errOut, "temporal does not answer")
	}
}

// A variable that is wrong is named, all of them on one line.
func TestWrongEnvironment(t *testing.T) {
	t.Parallel()
	got := starterEnv(t, &fakeBackend{}, map[string]string{"RECRAWL_LOG": "loud", "RECRAWL_OVERDUE": "60"}, "status")
	if got.code != ExitUsage {
		t.Errorf("exit code %d, want %d", got.code, ExitUsage)
	}
	checkLine(t, got.errOut, "RECRAWL_LOG")
	checkLine(t, got.errOut, "; RECRAWL_OVERDUE")
}

// The other commands find a running `starter dev` by its data folder.
func TestDataFolder(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	state := `{"pid":1,"store":"sqlite:/d/recrawl.db","temporal_address":"127.0.0.1:7777","temporal_namespace":"default"}`
	if err := os.WriteFile(filepath.Join(data, "recrawl.json"), []byte(state), 0o600); err != nil {
		t.Fatal(err)
	}
	b := &fakeBackend{running: []string{"news"}}
	got := starterEnv(t, b, nil, "--data", data, "visit", "https://EXAMPLE.com:443/#top")
	if got.code != ExitOK || b.dsn != "sqlite:/d/recrawl.db" || b.temporal != (TemporalOptions{Address: "127.0.0.1:7777", Namespace: "default", Store: "sqlite:/d/recrawl.db", Folder: data}) {
		t.Errorf("%+v with store %q and Temporal %+v", got, b.dsn, b.temporal)
	}
	if want := []string{"visit-now news https://example.com/ "}; !slices.Equal(b.calls, want) {
		t.Errorf("asked %q, want %q", b.calls, want)
	}
	b.temporalErr = errDown
	checkLine(t, starterEnv(t, b, nil, "--data", data, "visit", "https://example.com/").errOut, "this is where the last `starter dev` in "+data+" had it")
}

func TestCrawl(t *testing.T) {
	t.Parallel()
	const other = "https://example.org/"
	spec := filepath.Join(t.TempDir(), "news.yaml")
	if err := os.WriteFile(spec, []byte("name: news\nseeds:\n- https://example.org/\nlimits: {max_pages: 7}\nfetch: {max_body: 1MiB}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		args    string
		running bool
		call    string
		check   func(crawl.Spec) bool // of the spec that was sent
	}{
		{"new", "crawl fresh " + other, false, "start fresh", func(s crawl.Spec) bool {
			return slices.Equal(s.Seeds, []string{other}) && s.Limits.MaxPages == 0
		}},
		{
			"new with every setting", "crawl fresh " + other + " --delay 5s --factor 2.5 --scope domain --max-depth 3 --max-pages 100 --window 4" +
				" --policy fixed --budget 500/day --default-interval 2d --min-interval 10m --max-interval 30d --time-limit 10s" +
				" --strip-param utm_* --strip-param fbclid --allow-network 10.0.0.0/8 --allow-network fd00::/8 --contact ops@example.org --purpose search,ai-input --purpose archive --maintain-every 1m", false, "start fresh",
			func(s crawl.Spec) bool {
				want := crawl.DefaultSpec()
				want.Name, want.Seeds = "fresh", []string{other}
				want.Politeness.Delay, want.Politeness.Factor = crawl.Duration(5*time.Second), 2.5
				want.Scope.Type, want.Scope.MaxDepth = "domain", 3
				want.URLs.StripParams = []string{"utm_*", "fbclid"}
				want.Limits.MaxPages, want.Limits.Window = 100, 4
				want.Revisit = crawl.RevisitSpec{
					Policy: "fixed", Budget: "500/day", DefaultInterval: crawl.Duration(48 * time.Hour),
					MinInterval: crawl.Duration(10 * time.Minute), MaxInterval: crawl.Duration(720 * time.Hour),
					Rules: []crawl.RevisitRule{},
				}
				want.Fetch.TimeLimit, want.Fetch.AllowNetworks = crawl.Duration(10*time.Second), []string{"10.0.0.0/8", "fd00::/8"}
				want.Identity.Contact, want.MaintainEvery = "ops@example.org", crawl.Duration(time.Minute)
				want.Purpose = []crawl.Use{crawl.UseSearch, crawl.UseAIInput, crawl.UseArchive}
				return equal(s, want)
			},
		},
		{"zero is a setting", "crawl news --max-pages 0", true, "set news", func(s crawl.Spec) bool { return s.Limits.MaxPages == 0 }},
		{"more seeds", "crawl news " + other, true, "add to news: " + other, nil},
		{"more seeds and settings", "crawl news " + other + " --delay 1s", true, "set news", func(s crawl.Spec) bool {
			return s.Politeness.Delay == crawl.Duration(time.Second) && s.Limits.MaxPages == 500 && slices.Equal(s.Seeds, []string{"https://example.com/", other})
		}},
		{"a stopped crawl again", "crawl news", false, "start news", func(s crawl.Spec) bool { return equal(s, newsSpec()) }},
		{"a spec file", "crawl --spec " + spec, false, "start news", func(s crawl.Spec) bool {
			return s.Limits.MaxPages == 7 && s.Fetch.MaxBody == 1<<20 && slices.Equal(s.Seeds, []string{other})
		}},
		{"a spec file for a running crawl", "crawl --spec " + spec + " --max-pages 8", true, "set news", func(s crawl.Spec) bool {
			return s.Limits.MaxPages == 8 && slices.Equal(s.Seeds, []string{other})
		}},
		{"standard input", "crawl --spec -", false, "start piped", func(s crawl.Spec) bool { return s.Name == "piped" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := &fakeBackend{}
			if c.running {
				b.running = []string{"news"}
			}
			got := starter(t, b, strings.Fields(c.args)...)
			if got.code != ExitOK || got.errOut != "" || strings.TrimSpace(got.out) == "" {
				t.Fatalf("%+v", got)
			}
			if !slices.Equal(b.calls, []string{c.call}) {
				t.Errorf("asked %q, want %q", b.calls, c.call)
			}
			if c.check != nil && !c.check(b.specs[0]) {
				t.Errorf("spec %+v", b.specs[0])
			}
		})
	}
}

func equal(a, b crawl.Spec) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

// Without a store a crawl can be started and given seeds, but not changed: its
// settings so far are not known.
func TestCrawlWithoutStore(t *testing.T) {
	t.Parallel()
	env := map[string]string{"RECRAWL_DATA": t.TempDir()}
	b := &fakeBackend{running: []string{"news"}}
	if got := starterEnv(t, b, env, "crawl", "news", "https://example.org/"); got.code != ExitOK {
		t.Errorf("seeds: %+v", got)
	}
	if got := starterEnv(t, b, env, "crawl", "fresh", "https://example.org/"); got.code != ExitOK {
		t.Errorf("new: %+v", got)
	}
	got := starterEnv(t, b, env, "crawl", "news", "--delay", "1s")
	if got.code != ExitUsage {
		t.Errorf("settings: %+v", got)
	}
	checkLine(t, got.errOut, "needs its store")
}

func TestRunningCrawlWithNothingToDo(t *testing.T) {
	t.Parallel()
	got := starter(t, &fakeBackend{running: []string{"news"}}, "crawl", "news")
	if got.code != ExitUsage {
		t.Errorf("%+v", got)
	}
	checkLine(t, got.errOut, "give URLs to add or settings to change")
	got = starter(t, &fakeBackend{running: []string{"news"}, state: crawl.CrawlStopped}, "crawl", "news")
	if got.code != ExitFailed {
		t.Errorf("being closed: %+v", got)
	}
	checkLine(t, got.errOut, "is still being closed")
}

func TestAct(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, call string }{
		{"stop news", "stop news"},
		{"pause news", "pause news"},
		{"resume news", "resume news"},
		{"visit https://example.com", "visit-now news https://example.com/ "},
	} {
		b := &fakeBackend{running: []string{"news"}}
		if got := starter(t, b, strings.Fields(c.args)...); got != (result{ExitOK, c.call + "\n", ""}) {
			t.Errorf("%s: %+v", c.args, got)
		}
		if got := starter(t, b, append(strings.Fields(c.args), "--output", "json")...); got.out != `{"message":"`+c.call+`"}`+"\n" {
			t.Errorf("%s as JSON: %+v", c.args, got)
		}
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, want string }{
		{"status", "CRAWL"},
		{"status news", "news (running)"},
		{"hosts news", "example.com"},
		{"forecast news --budget 2x,20000/day --fresh 95%", "by policy sqrt: 1 page"},
		{"history HTTPS://example.com", "VISIT"},
		{"history https://example.com/ --crawl news --output json", `"outcome":"new"`},
		{"pages news --output json", `"url":"https://example.com/?[],,0001-01-01T00:00:00Z,500"`},
		{"pages news --state failing,gone --state known --host Example.com --limit 3", "?[failing gone known],example.com,0001-01-01T00:00:00Z,3"},
		{"pages news --changed-since 7d", ",2026-02-22T12:00:00Z,"},
		{"pages news --changed-since 2026-02-01", ",2026-02-01T00:00:00Z,"},
		{"pages news --changed-since 2026-02-01T01:02:03Z", ",2026-02-01T01:02:03Z,"},
	} {
		got := starter(t, &fakeBackend{}, strings.Fields(c.args)...)
		if got.code != ExitOK || got.errOut != "" || !strings.Contains(got.out, c.want) {
			t.Errorf("%s: %+v, want %q", c.args, got, c.want)
		}
	}
}

func TestDev(t *testing.T) {
	t.Parallel()
	b := &fakeBackend{}
	got := starter(t, b, "dev", "--temporal-port", "7300", "--ui-port", "8300", "--for", "1m")
	if got.code != ExitOK || b.dev.TemporalPort != 7300 || b.dev.UIPort != 8300 || b.dev.For != time.Minute || b.dev.Ready != nil {
		t.Errorf("without a URL: %+v and %+v", got, b.dev)
	}
	spec := filepath.Join(t.TempDir(), "watch.yaml")
	if err := os.WriteFile(spec, []byte("name: watch\nseeds: ['http://localhost:8000/prices']\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, call, seed string }{
		{"dev http://localhost:8000/ --delay 100ms", "start localhost-8000", "http://localhost:8000/"},
		{"dev http://127.0.0.1/ --name demo", "start demo", "http://127.0.0.1/"},
		{"dev https://www.example.com/ --contact ops@example.org", "start www.example.com", "https://www.example.com/"},
		{"dev http://[::1]:8000/", "start 1--8000", "http://[::1]:8000/"},
		{"dev --spec " + spec, "start watch", "http://localhost:8000/prices"},
	} {
		b := &fakeBackend{}
		got := starter(t, b, strings.Fields(c.args)...)
		if got.code != ExitOK || !slices.Equal(b.calls, []string{c.call}) || !slices.Equal(b.specs[0].Seeds, []string{c.seed}) {
			t.Errorf("%s: %+v, asked %q with %+v", c.args, got, b.calls, b.specs)
		}
	}
}

// A second `starter dev` with the same command line continues the crawl that is
// there, with its settings and its contact.
func TestDevAgain(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if err := os.WriteFile(filepath.Join(data, "recrawl.json"), []byte(`{"store":"sqlite:x.db"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	b := &fakeBackend{running: []string{"news"}}
	got := starterEnv(t, b, nil, "dev", "https://example.com/", "--name", "news", "--delay", "1s", "--data", data)
	if got.code != ExitOK || !slices.Equal(b.calls, []string{"set news"}) || b.specs[0].Identity.Contact != "ops@example.org" || b.specs[0].Limits.MaxPages != 500 {
		t.Errorf("%+v, asked %q with %+v", got, b.calls, b.specs)
	}
	got = starterEnv(t, b, nil, "dev", "https://example.net/", "--data", data)
	if got.code != ExitUsage {
		t.Errorf("a new crawl without contact: %+v", got)
	}
	checkLine(t, got.errOut, "give --contact")
}

func TestHelp(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, want string }{
		{"--help", "starter dev https://example.com/ --contact you@example.org"},
		{"crawl --help", "starter crawl --spec news.yaml"},
		{"dev --help", "Ctrl-C stops"},
		{"visit --help", "starter visit https://example.com/news"},
		{"pages --help", "--changed-since=WHEN"},
		{"--version", "recrawl "},
		{"--data elsewhere --version", "recrawl "},
		{"--version status", "recrawl "},
	} {
		got := starter(t, &fakeBackend{}, strings.Fields(c.args)...)
		if got.code != ExitOK || got.errOut != "" || !strings.Contains(got.out, c.want) {
			t.Errorf("%s: code %d, %q, %s", c.args, got.code, got.errOut, got.out)
		}
		for line := range strings.Lines(got.out) {
			if len([]rune(line)) > 110 {
				t.Errorf("%s: a line of %d characters: %s", c.args, len(line), line)
			}
		}
	}
}

// Who interrupts a command is told what that means, not what was under way. Whatever else went
// wrong is told as ever.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	cut := fmt.Errorf("archive: list: %w", context.Canceled)
	for want, err := range map[string]error{
		"starter: interrupted: the same command goes on, or begins again if it only reads\n": cut,
		"starter: after 5 contents: archive: list: context canceled; the disk is full\n":     errors.Join(cut, errors.New("the disk is full")),
	} {
		var errOut bytes.Buffer
		code := Main(ctx, []string{"archive", "verify"}, Env{
			Stdout: &bytes.Buffer{}, Stderr: &errOut, Getenv: func(name string) string { return placed[name] }, Backend: &fakeBackend{archiveErr: err},
		})
		if code != ExitFailed || errOut.String() != want {
			t.Errorf("exit %d: %q, want %q", code, errOut.String(), want)
		}
	}
}
