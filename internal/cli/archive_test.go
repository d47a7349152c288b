package cli

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"recrawl/internal/archive/gc"
	"recrawl/internal/report"
)

var placed = map[string]string{"RECRAWL_STORE": "sqlite:x.db", "RECRAWL_ARCHIVE": "/bytes"}

func TestArchiveCommands(t *testing.T) {
	t.Parallel()
	damage := []gc.Problem{
		{Digest: "00ff", Damage: gc.Missing, Pages: []string{"https://example.com/a", "https://example.com/b"}},
		{Digest: "01ff", Damage: gc.Corrupt},
	}
	down := errors.New("the archive is on fire")
	for _, c := range []struct {
		args    string
		damage  []gc.Problem
		err     error
		code    int
		calls   []string
		out     string
		problem string
	}{
		{args: "archive verify", calls: []string{"verify /bytes"}, out: "5 contents, 5.0 KiB, all intact\n"},
		{args: "archive verify --archive s3://pages/x", calls: []string{"verify s3://pages/x"}, out: "5 contents, 5.0 KiB, all intact\n"},
		{
			args: "archive verify", damage: damage, code: ExitFailed, calls: []string{"verify /bytes"},
			out: "missing 00ff of https://example.com/a, https://example.com/b\ncorrupt 01ff\n" +
				"3 contents, 5.0 KiB, intact; 1 missing, 1 corrupt, 0 unreadable\n",
			problem: "2 of 5 contents cannot be had: restore what is missing or damaged from a backup",
		},
		{
			args: "archive verify --output json", damage: damage, code: ExitFailed, calls: []string{"verify /bytes"},
			out: `{"digest":"00ff","problem":"missing","detail":null,"pages":["https://example.com/a","https://example.com/b"]}` + "\n" +
				`{"digest":"01ff","problem":"corrupt","detail":null,"pages":[]}` + "\n" +
				`{"contents":5,"bytes":5120,"missing":1,"corrupt":1,"unreadable":0}` + "\n",
			problem: "2 of 5 contents",
		},
		{args: "archive verify", err: down, code: ExitFailed, calls: []string{"verify /bytes"}, problem: "after 5 contents: the archive is on fire"},
		{
			args: "archive gc", calls: []string{"gc older than 24h0m0s dry=false"},
			out: "deleted 3 contents that no version has, 2.0 KiB; 2 more may be a visit's that is under way, younger than 1d\n",
		},
		{
			args: "archive gc --dry-run --older-than 7d", calls: []string{"gc older than 168h0m0s dry=true"},
			out: "would delete 3 contents that no version has, 2.0 KiB; 2 more may be a visit's that is under way, younger than 7d\n",
		},
		{
			args: "archive gc --output json --older-than 1h", calls: []string{"gc older than 1h0m0s dry=false"},
			out: `{"deleted":3,"bytes":2048,"kept":40,"young":2,"older_than":"1h","dry_run":false}` + "\n",
		},
		{args: "archive gc", err: down, code: ExitFailed, calls: []string{"gc older than 24h0m0s dry=false"}, problem: "after 3 contents were deleted: the archive is on fire"},
		{args: "archive gc --dry-run", err: gc.ErrForeign, code: ExitFailed, calls: []string{"gc older than 24h0m0s dry=true"}, problem: "is it the store's own?"},
		{args: "archive gc --older-than 59m", code: ExitUsage, problem: "at least 1h"},
		{args: "archive gc --older-than yesterday", code: ExitUsage, problem: "--older-than yesterday"},
		{args: "archive", code: ExitUsage, problem: "verify"},
	} {
		b := &fakeBackend{damage: c.damage, archiveErr: c.err}
		got := starterEnv(t, b, placed, strings.Fields(c.args)...)
		if got.code != c.code || got.out != c.out || !slices.Equal(b.calls, c.calls) {
			t.Errorf("%s: %+v, asked %q; want\n%s%q", c.args, got, b.calls, c.out, c.calls)
		}
		if c.problem != "" {
			checkLine(t, got.errOut, c.problem)
		}
	}
	b := &fakeBackend{}
	noArchive := starterEnv(t, b, map[string]string{"RECRAWL_STORE": "sqlite:x.db", "RECRAWL_DATA": t.TempDir()}, "archive", "gc")
	if checkLine(t, noArchive.errOut, "no archive: name"); noArchive.code != ExitUsage || len(b.calls) > 0 {
		t.Errorf("without an archive: %+v", noArchive)
	}
}

// On a terminal a line shows the progress, and is gone at the end.
func TestArchiveProgress(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	b := &fakeBackend{damage: []gc.Problem{{Digest: "00ff", Damage: gc.Missing}}}
	Main(t.Context(), []string{"archive", "verify"}, Env{
		Stdout: &out, Stderr: &bytes.Buffer{}, Terminal: true, Getenv: func(name string) string { return placed[name] }, Backend: b,
	})
	want := clearLine + noWrap + "50 %, 4 contents, 5.0 KiB" + wrap + clearLine + "missing 00ff\n4 contents, 5.0 KiB, intact; 1 missing, 0 corrupt, 0 unreadable\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// It stays one line, however narrow the terminal is and whatever is said of a workflow.
func TestProgressIsOneLine(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	env := Env{Terminal: true, Getenv: func(string) string { return "" }, screen: &out}
	line := progressLine{s: &session{env: env, global: global{Output: report.Text}}}
	line.write("looked at 1 page (panic:\n\tno\x1b[2J key)")
	if want := clearLine + noWrap + "looked at 1 page (panic:  no\uFFFD[2J key)" + wrap; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
