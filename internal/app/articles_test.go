package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/export"
	"recrawl/internal/sink"
)

// articlePage is a page with an article, and another text beside it that the main text has too.
var articlePage = "<html><body><div><div>" + strings.Repeat("<p>The river was high that winter, and the old bridge had to be closed for weeks, so that the people of the town took the ferry to their work and came home late.</p>", 6) +
	"</div><div><p>The editors of this paper welcome letters, which they may shorten, and do not answer each of them.</p></div></div></body></html>"

// TestArticles: exports and folders of documents hold only the article on request. A folder
// is rewritten when the setting changes.
func TestArticles(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	k := newKept(t)
	k.found("https://host.test/story", articlePage)
	check := func(what, path string, article bool) {
		t.Helper()
		text, err := os.ReadFile(path)
		k.must(err)
		if !strings.Contains(string(text), "the old bridge") || strings.Contains(string(text), "welcome letters") == article {
			t.Errorf("%s, article %t:\n%s", what, article, text)
		}
	}

	for format, name := range map[export.Format]string{export.Markdown: "@page.md", export.Chunks: "@page.jsonl"} {
		for _, article := range []bool{false, true} {
			done, err := Backend{}.Export(ctx, k.at, t.TempDir(), export.Options{Format: format, Crawl: "news", Article: article, At: time.Now().Add(time.Hour)})
			k.must(err)
			check(string(format), filepath.Join(done.Folder, "host.test", "story", name), article)
		}
	}

	root := t.TempDir()
	all := func(string, crawl.SinkSpec) func(string) bool { return nil }
	for _, article := range []bool{false, true, false} {
		sender, err := folderSender(map[string]string{"docs": root}, k.Store, k.Files, all)(ctx, "news", "copy", crawl.SinkSpec{Kind: "folder", To: "docs", Format: "markdown", Article: article})
		k.must(err)
		for more := true; more; {
			more, err = sender.(sink.Filler).Fill(ctx)
			k.must(err)
		}
		check("folder", filepath.Join(root, "host.test", "story", "@page.md"), article)
	}
}
