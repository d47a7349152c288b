package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"recrawl/internal/robots"
	"recrawl/internal/urlkey"
)

// Each command's calls of the backend, and its answers.
func TestPageCommands(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args  string
		calls []string
		out   string
	}{
		{"snooze https://example.com/ 3d", []string{"snooze news https://example.com/ 3d"}, "snooze"},
		{"snooze https://example.com/ 0", []string{"snooze news https://example.com/ 0s"}, "snooze"},
		{"stop-page https://EXAMPLE.com/", []string{"stop news https://example.com/ "}, "stop"},
		{"set-interval https://EXAMPLE.com/ 2h", []string{"set-interval news https://example.com/ 2h"}, "set-interval"},
		{"retry news --host example.com", []string{"ask https://example.com/?[failing],example.com,0001-01-01T00:00:00Z,500"}, "asked for 1 visit,"},
		{"retry news --host https://Example.com/a", []string{"ask https://example.com/?[failing],example.com,0001-01-01T00:00:00Z,500"}, "asked for 1 visit,"},
		{"retry news --state gone,failing", []string{"ask https://example.com/?[gone failing],,0001-01-01T00:00:00Z,500"}, "asked for 1 visit,"},
		{"hosts block https://Example.com/page", []string{"block example.com true in sqlite:x.db"}, "done"},
		{"hosts unblock example.com:8080", []string{"block example.com:8080 false in sqlite:x.db"}, "done"},
		{"hosts news", nil, "example.com"},
		{"hosts list news", nil, "example.com"},
		{"delete news", []string{"delete news dry=true keep=false"}, "would delete crawl news: 3 pages, for good; do it with --yes"},
		{"delete news --yes --keep-archive", []string{"delete news dry=false keep=true"}, "deleted crawl news: 3 pages, 2 contents, 1 workflow\nsomething is left"},
		{"forget https://example.com/", []string{"forget https://example.com/ dry=true"}, "would forget https://example.com/: 3 pages"},
		{"forget --host example.com --yes", []string{"forget host example.com dry=false"}, "forgot host example.com: 3 pages, 2 contents, 1 workflow"},
		{"adopt", []string{"adopt sqlite:x.db at , [] ended, dry=true"}, "would make namespace default the home of store A, instead of namespace old; do it with --yes"},
		{"adopt --ended B --ended C --yes", []string{"adopt sqlite:x.db at , [B C] ended, dry=false"}, "made namespace default the home of store A, instead of namespace old; workflows of store B, C end there"},
		{"forget --undo https://example.com/a", []string{"remember https://example.com/a"}, "may be found again"},
		{"check url HTTP://Example.com", nil, "http://example.com/\n  wrote the scheme in lower case"},
		{"check url https://example.com/", nil, "is canonical already"},
		{"check url https://EXAMPLE.com/?utm_source=x&a --crawl news", nil, "https://example.com/?a\n  wrote the host in lower case\n  removed the parameter utm_source (strip_params utm_*)\n"},
		{"check url https://example.com/?utm_source=x", nil, "is canonical already"},
		{"check scope https://example.com/?utm_source=x --crawl news", nil, "https://example.com/ belongs to crawl news"},
		{"check scope https://example.com/a --crawl news", nil, "belongs to crawl news"},
		{"check scope https://example.com/a --crawl news --nofollow", nil, "the link, or its page, says nofollow"},
		{"check scope https://example.com/print/7 --crawl news", nil, "new pages there are held: trap example.com/print/#"},
		{"check scope https://example.com/a --spec -", nil, "belongs to crawl piped"},
		{"traps news", nil, "example.com/print/#"},
		{"traps news --prefixes 3", nil, "93     example.com/print/"},
		{"traps news --release example.com/print/#", []string{"release example.com/print/# of news in sqlite:x.db"}, "released"},
		{"rejected news --reason host --limit 3", nil, "https://elsewhere.example/?host,3"},
		{"sources news --host Example.com --limit 3", nil, "https://elsewhere.example/map.xml?example.com,3"},
		{"rejected news", nil, "https://elsewhere.example/?,64"},
		{"check scope https://other.example/ --crawl news", nil, "is out of scope of crawl news"},
		{"check robots https://example.com/private/x", nil, "disallowed for recrawl"},
		{"check robots https://example.com/private/x", nil, `(group of line 1, "User-agent: *")`},
		{"check robots https://example.com/private/x --output json", nil, `"line":2,"group":"User-agent: *","group_line":1,"reason":`},
		{"check robots https://example.com/private --file - --agent piped", nil, "allowed for piped"},
		{"explain https://example.com/", nil, "a person set a visit every 2h"},
		{"explain https://example.com/ --output json", nil, `"doing":"sleeping"`},
		{"explain https://nowhere.example/ --crawl news", nil, "by the rules of today it is out of scope of the crawl, 1 link from a seed (host)"},
		{"explain https://nowhere.example/ --output json", nil, `"state":"unknown","reason":null,"detail":null,"from":null,"at":null,"today":{"accepted":false,"reason":"host"`},
	} {
		b := &fakeBackend{running: []string{"news"}}
		got := starter(t, b, strings.Fields(c.args)...)
		if got.code != ExitOK || !slices.Equal(b.calls, c.calls) || !strings.Contains(got.out, c.out) {
			t.Errorf("%s: %+v, asked %q; want %q and %q", c.args, got, b.calls, c.out, c.calls)
		}
	}
}

// An import says what became of its list, and fails if every entry was refused.
func TestImportOutcome(t *testing.T) {
	t.Parallel()
	const none = "imported 0 seeds into crawl news (a list of URLs): 0 new, 0 known; 2 refused\n  not an absolute http or https URL: 2, such as nowhere\n    elsewhere\n"
	for _, c := range []struct {
		list  string
		code  int
		out   string
		calls []string
	}{
		{"https://a.example/\nnowhere\n", ExitOK, "imported 1 seed into crawl news (a list of URLs): 1 new, 0 known; 1 refused\n", []string{"import https://a.example/", "seeds-imported news"}},
		{"# nothing\n", ExitOK, "imported 0 seeds into crawl news (a list of URLs): 0 new, 0 known\n", []string{"seeds-imported news"}},
		{"nowhere\nelsewhere\n", ExitFailed, none, nil},
	} {
		list := filepath.Join(t.TempDir(), "urls.txt")
		if err := os.WriteFile(list, []byte(c.list), 0o600); err != nil {
			t.Fatal(err)
		}
		b := &fakeBackend{running: []string{"news"}}
		got := starter(t, b, "import", "news", list, "--format", "urls")
		if got.code != c.code || !strings.HasPrefix(got.out, c.out) || !slices.Equal(b.calls, c.calls) {
			t.Errorf("%q: %+v, asked %q; want %d, %q and %q", c.list, got, b.calls, c.code, c.out, c.calls)
		}
		if c.code != ExitOK {
			checkLine(t, got.errOut, list+": nothing was imported: every entry was refused")
		}
	}
}

// The list of refused entries must not be the list: the import would empty it.
func TestImportRefusedIntoItsList(t *testing.T) {
	t.Parallel()
	const text = "https://a.example/\nnowhere\n"
	folder := t.TempDir()
	list, link := filepath.Join(folder, "urls.txt"), filepath.Join(folder, "link.txt")
	if err := errors.Join(os.WriteFile(list, []byte(text), 0o600), os.Symlink(list, link)); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{list, link, "-"} {
		stdin, err := os.Open(list)
		if err != nil {
			t.Fatal(err)
		}
		b := &fakeBackend{}
		var out, errOut strings.Builder
		code := Main(t.Context(), []string{"import", "news", from, "--refused", list}, Env{
			Stdin: stdin, Stdout: &out, Stderr: &errOut, Backend: b, Getenv: func(name string) string { return map[string]string{"RECRAWL_STORE": "sqlite:x.db"}[name] },
		})
		stdin.Close()
		if kept, err := os.ReadFile(list); code != ExitUsage || len(b.calls) > 0 || err != nil || string(kept) != text {
			t.Errorf("%s: exit code %d, asked %q; the list is %q, %v", from, code, b.calls, kept, err)
		}
		checkLine(t, errOut.String(), "--refused "+list+" is the list itself, which would be overwritten: name another file")
	}
}

func TestPageCommandMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"snooze https://example.com/ -3d", ExitUsage, "-3"},
		{"snooze https://example.com/", ExitUsage, "<for>"},
		{"set-interval https://example.com/ often", ExitUsage, "often"},
		{"set-interval https://nowhere.example/ 2h", ExitNotFound, "no crawl has the page"},
		{"retry other", ExitNotFound, `there is no crawl "other"`},
		{"retry news --state sleepy", ExitUsage, "--state sleepy"},
		{"retry news --host ///", ExitUsage, "is not a host"},
		{"hosts block", ExitUsage, "<host>"},
		{"hosts block not/a host", ExitUsage, "unexpected argument host"},
		{"hosts block exa_mple..com", ExitUsage, "is not a host"},
		{"delete other --yes", ExitNotFound, `there is no crawl "other"`},
		{"delete", ExitUsage, "<name>"},
		{"import other -", ExitNotFound, `there is no crawl "other"`},
		{"import news /no/such/list", ExitUsage, "cannot read the list"},
		{"import news - --format yaml", ExitUsage, "must be one of"},
		{"import news - --format csv --column 9", ExitUsage, "it has no column"},
		{"forget", ExitUsage, "give the URL of a page, or --host HOST"},
		{"forget https://example.com/ --host example.com", ExitUsage, "give the URL of a page, or --host HOST"},
		{"check url nonsense", ExitUsage, "nonsense"},
		{"check url https://example.com/ --crawl other", ExitNotFound, `there is no crawl "other"`},
		{"check robots", ExitUsage, "give a URL, or a file of URLs with --urls"},
		{"check robots https://example.com/ --urls -", ExitUsage, "give a URL, or a file of URLs with --urls"},
		{"check robots --urls - --file -", ExitUsage, "cannot both be standard input"},
		{"check robots --urls /nowhere --file /dev/null", ExitUsage, "--urls /nowhere: no such file"},
		{"check robots --urls / --file /dev/null", ExitUsage, "--urls /: read /: is a directory"},
		{"traps other", ExitNotFound, `there is no crawl "other"`},
		{"sources other", ExitNotFound, `there is no crawl "other"`},
		{"rejected other", ExitNotFound, `there is no crawl "other"`},
		{"check scope https://example.com/", ExitUsage, "name either a crawl with --crawl or a spec file with --spec"},
		{"check scope https://example.com/ --crawl other", ExitNotFound, `there is no crawl "other"`},
		{"check robots https://unknown.example/", ExitNotFound, "has not been fetched yet"},
		{"check robots https://example.com/ --file /nowhere", ExitUsage, "--file /nowhere"},
		{"explain https://example.com/two", ExitUsage, "choose one with --crawl"},
		{"completion tcsh", ExitUsage, "must be one of"},
	} {
		b := &fakeBackend{}
		got := starter(t, b, strings.Fields(c.args)...)
		if got.code != c.code || len(b.calls) > 0 {
			t.Errorf("%s: exit code %d, want %d; asked %q", c.args, got.code, c.code, b.calls)
		}
		checkLine(t, got.errOut, c.want)
	}
}

// A list is answered line by line, in its order, whatever single lines are.
func TestCheckRobotsOfAList(t *testing.T) {
	t.Parallel()
	file := func(text string) string {
		name := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	const (
		private = `{"url":"https://example.com/private/x","allowed":false,"agent":"recrawl","rule":"Disallow: /private","line":2,"group":"User-agent: *","group_line":1,"reason":"line 2 of robots.txt says \"Disallow: /private\""}`
		open    = `{"url":"https://example.com/","allowed":true,"agent":"recrawl","rule":"","line":0,"group":"User-agent: *","group_line":1,"reason":"no rule of robots.txt matches"}`
		unknown = `{"url":"https://unknown.example/","error":"https://unknown.example/robots.txt has not been fetched yet: crawl the site, or give the file with --file"}`
	)
	endless := strings.Repeat("x", 3*maxLine)
	cases := []struct {
		name, list string
		want       []string // beginnings of the lines
		code       int
		problem    string
	}{
		{"of one site", "https://example.com/private/x\r\n\n HTTPS://example.com:443 \nhttps://example.com/private/x", []string{private, open, private}, ExitOK, ""},
		{"empty", "\n \n", nil, ExitOK, ""},
		{"no robots.txt yet", "https://unknown.example/\nhttps://example.com/\n", []string{unknown, open}, ExitNotFound, "1 of the URLs are of sites whose robots.txt"},
		{"no URLs", "nonsense\nhttps://unknown.example/\nhttp://a b/\nhttps://example.com/\n", []string{`{"url":"nonsense","error":"nonsense: not a URL`, unknown, `{"url":"http://a b/","error":`, open}, ExitUsage, "2 of the lines are no URLs"},
		{"an endless line", endless + "\nhttps://example.com/", []string{`{"url":"xxx`, open}, ExitUsage, "1 of the lines are no URLs"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := starter(t, &fakeBackend{}, "check", "robots", "--urls", file(c.list))
			answers := slices.Collect(strings.Lines(got.out))
			if got.code != c.code || !strings.Contains(got.errOut, c.problem) || len(answers) != len(c.want) {
				t.Fatalf("exit code %d, %d lines, %.300s", got.code, len(answers), got.errOut)
			}
			for i, want := range c.want {
				if !strings.HasPrefix(answers[i], want) || strings.HasSuffix(want, "}") && answers[i] != want+"\n" {
					t.Errorf("line %d: %.300s, want %s", i+1, answers[i], want)
				}
			}
		})
	}
	robots := file("User-agent: foobot\nDisallow: /\n")
	got := starterEnv(t, &fakeBackend{}, nil, "check", "robots", "--urls", file("https://any.example/\nhttps://other.example/"), "--file", robots, "--agent", "FooBot")
	if got.code != ExitOK || strings.Count(got.out, `"allowed":false`) != 2 {
		t.Errorf("with a file and without a store: %+v", got)
	}
}

// Of a robots.txt on standard input that is too long, the line that is cut does not
// count, as it does not in a crawl.
func TestCheckRobotsOfALongFile(t *testing.T) {
	t.Parallel()
	const head, cut = "User-agent: *\n", "Disallow: /"
	filler := strings.Repeat("#", robots.MaxBytes-len(head)-len(cut)-1) + "\n"
	text, err := readFile("-", strings.NewReader(head+filler+cut+"private\n"))
	if err != nil {
		t.Fatal(err)
	}
	u, err := urlkey.Canonical("https://example.com/")
	if err != nil {
		t.Fatal(err)
	}
	if got := robots.Parse(text).Check("recrawl", u); !got.Allowed {
		t.Errorf("%+v", got)
	}
}

func TestDevDemo(t *testing.T) {
	t.Parallel()
	b := &fakeBackend{}
	got := starter(t, b, "dev", "--demo", "--delay", "1s", "--for", "90s")
	if got.code != ExitOK || !b.dev.Demo || !slices.Equal(b.calls, []string{"start demo"}) {
		t.Fatalf("%+v with %+v, asked %q", got, b.dev, b.calls)
	}
	spec := b.specs[0]
	if !slices.Equal(spec.Seeds, []string{"http://news.localhost:8042/"}) || spec.Politeness.Delay.String() != "1s" || spec.Revisit.MinInterval.String() != "1s" {
		t.Errorf("spec %+v", spec)
	}
	checkLine(t, starter(t, &fakeBackend{}, "dev", "--demo", "http://127.0.0.1/").errOut, "--demo brings its own site")
}

// A page's workflow that cannot be asked leaves the rest of the explanation.
func TestExplainWithoutTemporal(t *testing.T) {
	t.Parallel()
	got := starter(t, &fakeBackend{temporalErr: errDown}, "explain", "https://example.com/")
	if got.code != ExitOK || !strings.Contains(got.out, "unknown: temporal does not answer") {
		t.Errorf("%+v", got)
	}
}

// Every command and flag is offered, and bash accepts the script.
func TestCompletion(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		got := starter(t, &fakeBackend{}, "completion", shell)
		if got.code != ExitOK {
			t.Fatalf("%s: %+v", shell, got)
		}
		for _, word := range []string{"set-interval", "unblock", "state", "max-pages"} {
			if !strings.Contains(got.out, word) {
				t.Errorf("%s: %s is not offered", shell, word)
			}
		}
	}
	script := starter(t, &fakeBackend{}, "completion", "bash").out
	check := script + `
complete_line() { COMP_WORDS=($1); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _starter; echo "${COMPREPLY[@]}"; }
complete_line "starter hosts unb"
complete_line "starter hist"
complete_line "starter check rob"
`
	out, err := exec.CommandContext(t.Context(), "bash", "-euc", check).CombinedOutput()
	if err != nil || string(out) != "unblock\nhistory\nrobots\n" {
		t.Errorf("bash: %v: %s", err, out)
	}
}

func TestRepair(t *testing.T) {
	t.Parallel()
	got := starter(t, &fakeBackend{}, "repair", "news")
	want := "the crawl's workflow was terminated and was started anew; looked at 208 pages: 20 had no workflow, 12 were stuck (TMPRL1100), 32 started anew\n"
	if got.code != ExitOK || got.out != want {
		t.Errorf("%+v, want %q", got, want)
	}
	if got := starter(t, &fakeBackend{}, "repair", "nobody"); got.code != ExitNotFound {
		t.Errorf("%+v", got)
	}
}

// The help names every state that --state takes.
func TestHelpNamesAllStates(t *testing.T) {
	t.Parallel()
	got := starter(t, &fakeBackend{}, "pages", "--help")
	for _, state := range stateNames() {
		if !strings.Contains(got.out, state) {
			t.Errorf("pages --help does not name %s:\n%s", state, got.out)
		}
	}
}
