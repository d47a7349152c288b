package app

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recrawl/internal/config"
	"recrawl/internal/crawl"
	"recrawl/internal/sink"
	"recrawl/internal/sink/mail"
	"recrawl/internal/store"
)

// The sender of a folder is made for the crawl's present state, and fills it from the store
// and the archive.
func TestFolderSender(t *testing.T) {
	t.Parallel()
	ctx, root := t.Context(), t.TempDir()
	k := newKept(t)
	for _, path := range []string{"docs", "blog"} {
		k.found("https://host.test/"+path, "<html><p>The words of the page.</p></html>")
	}
	selects := func(name string, spec crawl.SinkSpec) func(string) bool {
		return func(url string) bool { return name == "copy" && url == spec.Prefix[0] }
	}
	sender, err := folderSender(map[string]string{"docs": root}, k.Store, k.Files, selects)(ctx, "news", "copy",
		crawl.SinkSpec{Kind: "folder", To: "docs", Format: "text", Prefix: crawl.Texts{"https://host.test/docs"}})
	k.must(err)
	for more := true; more; {
		more, err = sender.(sink.Filler).Fill(ctx)
		k.must(err)
	}
	if text, err := os.ReadFile(filepath.Join(root, "host.test", "docs", "@page.txt")); err != nil || string(text) != "The words of the page.\n" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(root, "host.test", "blog")); err == nil {
		t.Error("a page that is not selected is there")
	}
	if _, err := folderSender(nil, k.Store, k.Files, selects)(ctx, "other", "copy", crawl.SinkSpec{}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a crawl that is not there: %v", err)
	}
}

// In a mirror of some pages, links to the others lead to the web: they have no file here.
func TestMirrorOfSomePages(t *testing.T) {
	t.Parallel()
	ctx, root := t.Context(), t.TempDir()
	k := newKept(t)
	k.found("https://host.test/docs/a", `<html><p>The words. <a href="b">b</a> <a href="/blog">blog</a>`)
	k.found("https://host.test/docs/b", "<html><p>More words.")
	k.found("https://host.test/blog", "<html><p>Other words.")
	sender, err := folderSender(map[string]string{"docs": root}, k.Store, k.Files, selectedBy)(ctx, "news", "copy",
		crawl.SinkSpec{Kind: "folder", To: "docs", Format: "mirror", Prefix: crawl.Texts{"https://host.test/docs/"}})
	k.must(err)
	for more := true; more; {
		more, err = sender.(sink.Filler).Fill(ctx)
		k.must(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "host.test", "docs", "a", "@page.html"))
	if want := `<a href="../b/@page.html">b</a> <a href="https://host.test/blog">blog</a>`; err != nil || !strings.Contains(string(text), want) {
		t.Errorf("%s, %v, want %s", text, err, want)
	}
	if _, err := os.Stat(filepath.Join(root, "host.test", "blog")); err == nil {
		t.Error("a page that is not selected is there")
	}
}

func TestMailSender(t *testing.T) {
	t.Parallel()
	sender, err := mailSender(config.SMTP{Host: "mail.example.org", Port: 587, From: "crawler@example.org", TLS: "starttls"}, slog.New(slog.DiscardHandler))(
		t.Context(), "news", "team", crawl.SinkSpec{Kind: "mail", To: "ann@example.com"})
	if err != nil || sender.Close() != nil {
		t.Fatal(err)
	}
	var stop *sink.Stop
	sender, err = mailSender(config.SMTP{}, slog.New(slog.DiscardHandler))(t.Context(), "news", "team", crawl.SinkSpec{Kind: "mail", To: "ann@example.com"})
	if !errors.As(err, &stop) || stop.Code != mail.CodeNoServer || sender != nil {
		t.Errorf("%v, %v", sender, err)
	}
}
