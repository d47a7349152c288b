package cli

import (
	"slices"
	"strings"
	"testing"

	"recrawl/internal/crawl"
)

func TestSearch(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args      string
		code      int
		call      string
		says, err string
	}{
		{"search news", ExitUsage, "", "", "say what to look for: starter search news WORDS"},
		{"search", ExitUsage, "", "", "<name>"},
		{"search news retry policy", ExitNotFound, "", "", "crawl news: it has no search index: `starter crawl news --search` adds the sink that keeps one"},
		{"search old retry", ExitNotFound, "", "", "there is no crawl"},
		{"search news --rebuild --archive a", ExitOK, "rebuild the index of news from a", "the search index of crawl news is filled anew: 2 pages", ""},
		{"search news --rebuild --archive a --output json", ExitOK, "rebuild the index of news from a", `"message"`, ""},
		{"search news x --limit -1", ExitUsage, "", "", "--limit"},
	} {
		b := &fakeBackend{archiveDir: t.TempDir()}
		r := starterEnv(t, b, map[string]string{"RECRAWL_STORE": "sqlite:x.db", "RECRAWL_ARCHIVE": "b", "RECRAWL_DATA": t.TempDir()}, strings.Fields(tt.args)...)
		if r.code != tt.code || !strings.Contains(r.out, tt.says) || !strings.Contains(r.errOut, tt.err) || strings.Count(r.errOut, "\n") > 1 {
			t.Errorf("%s: %d, %q, %q", tt.args, r.code, r.out, r.errOut)
		}
		var want []string
		if tt.call != "" {
			want = []string{tt.call}
		}
		if !slices.Equal(b.calls, want) {
			t.Errorf("%s: asked %q, want %q", tt.args, b.calls, want)
		}
	}
}

// --search adds one sink, whatever there is.
func TestSearchFlag(t *testing.T) {
	t.Parallel()
	exec := crawl.SinkSpec{Kind: crawl.SinkExec, To: "x"}
	for _, c := range []struct {
		sinks map[string]crawl.SinkSpec
		want  string
	}{
		{nil, "search"},
		{map[string]crawl.SinkSpec{"a": exec}, "search"},
		{map[string]crawl.SinkSpec{"search": exec}, "search-index"},
		{map[string]crawl.SinkSpec{"words": {Kind: crawl.SinkSearch}}, "words"},
	} {
		s := crawl.DefaultSpec()
		s.Sinks = c.sinks
		before := len(c.sinks)
		specFlags{Search: true}.apply(&s)
		specFlags{Search: true}.apply(&s)
		if name, _, ok := s.SearchSink(); !ok || name != c.want || len(c.sinks) != before {
			t.Errorf("%v: %v", c.sinks, s.Sinks)
		}
	}
}
