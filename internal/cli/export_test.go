package cli

import (
	"slices"
	"strings"
	"testing"
)

func TestExport(t *testing.T) {
	t.Parallel()
	env := map[string]string{"RECRAWL_STORE": "sqlite:x.db", "RECRAWL_ARCHIVE": "files", "RECRAWL_DATA": t.TempDir()}
	for _, c := range []struct {
		args  string
		code  int
		want  string
		calls []string
	}{
		{
			"export news out --format warc --at 2026-03-01T12:00:00+01:00", ExitOK, "exported 2 pages, 0 visits and 0 versions to out/x\n",
			[]string{"export news as warc to out until 2026-03-01T11:00:00Z from files"},
		},
		{"export nope out --format dir", ExitNotFound, `there is no crawl "nope"`, []string{"export nope as dir to out until 0001-01-01T00:00:00Z from files"}},
		{"export news out", ExitUsage, "missing flags: --format", nil},
		{"export news out --format zip", ExitUsage, "--format must be one of", nil},
		{"export news out --format text --article", ExitUsage, "--article is for --format markdown and chunks", nil},
		{"export news out --format chunks --article", ExitOK, "exported", []string{"export news as chunks of articles to out until 0001-01-01T00:00:00Z from files"}},
		{"export news --format dir", ExitUsage, `expected "<out>"`, nil},
		{"export news out --format dir --at yesterday", ExitUsage, "--at yesterday: write a time such as", nil},
		{"export news out --format dir --since yesterday", ExitUsage, `--since "yesterday" is not a cursor: give one as it was printed`, nil},
		{"export news out --format dir --since c1.ab.3 --at 2026-03-01T12:00:00Z", ExitUsage, "--since", nil},
		{"export news out --format jsonl --since c1.ab.3", ExitOK, "what changes from then on: --since c1.ab.4", []string{"export news as jsonl to out until 0001-01-01T00:00:00Z from files"}},
		{"export news out --format jsonl --since c1.old.3", ExitGone, "starter: the cursor is from before the store was restored", []string{"export news as jsonl to out until 0001-01-01T00:00:00Z from files"}},
		{"duplicates news", ExitOK, "no duplicates\n", nil},
		{"duplicates news --mirrors --find", ExitOK, "no mirrored hosts", []string{"find duplicates of news in sqlite:x.db"}},
		{"duplicates nope", ExitNotFound, `there is no crawl "nope"`, nil},
	} {
		b := &fakeBackend{}
		got := starterEnv(t, b, env, strings.Fields(c.args)...)
		if got.code != c.code || !strings.Contains(got.out+got.errOut, c.want) || !slices.Equal(b.calls, c.calls) {
			t.Errorf("starter %s: %d, %q, %q, calls %q", c.args, got.code, got.out, got.errOut, b.calls)
		}
	}
	got := starterEnv(t, &fakeBackend{damaged: 2}, env, "export", "news", "out", "--format", "dir")
	if want := "starter: the export lacks the bytes of 2 versions, which are damaged: `starter archive verify` names them; once they are back from a backup, delete out/x and export again\n"; got.code != ExitOK || got.errOut != want {
		t.Errorf("with damaged bodies: %d, %q", got.code, got.errOut)
	}
	if got := starter(t, &fakeBackend{}, "export", "news", "out", "--format", "dir"); got.code != ExitUsage || !strings.Contains(got.errOut, "no archive") {
		t.Errorf("without an archive: %d, %q", got.code, got.errOut)
	}
}
