package app

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"recrawl/internal/archive/archivetest"
	"recrawl/internal/config"
	"recrawl/internal/crawl"
	"recrawl/internal/sink"
	"recrawl/internal/sink/mail"
	"recrawl/internal/store"
	"recrawl/internal/store/storetest/crawltest"
)

// The sender of a folder is made for the crawl as it is now, and fills it from the store and
// the archive.
func TestFolderSender(t *testing.T) {
	t.Parallel()
	ctx, root := t.Context(), t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	c := crawltest.New(t)
	s := c.Store
	const body = "<html><p>The words of the page.</p></html>"
	digest := archivetest.Put(t, c.Files, []byte(body))
	for _, path := range []string{"docs", "blog"} {
		page := c.Page(store.NewURL{URL: "https://host.test/" + path}).PageID
		_, err := s.SaveVersion(ctx, store.SaveVersionParams{Version: store.VersionRecord{PageID: page, Visit: 1, Digest: digest, Bytes: int64(len(body)), ContentType: "text/html"}})
		must(err)
		_, err = s.RecordVisit(ctx, store.RecordParams{Interval: time.Hour, Visit: store.VisitRecord{PageID: page, Visit: 1, Outcome: crawl.OutcomeNew, State: crawl.Active}})
		must(err)
	}
	selects := func(name string, spec crawl.SinkSpec) func(string) bool {
		return func(url string) bool { return name == "copy" && url == spec.Prefix[0] }
	}
	sender, err := folderSender(map[string]string{"docs": root}, s, c.Files, selects)(ctx, "news", "copy",
		crawl.SinkSpec{Kind: "folder", To: "docs", Format: "text", Prefix: crawl.Texts{"https://host.test/docs"}})
	must(err)
	for more := true; more; {
		more, err = sender.(sink.Filler).Fill(ctx)
		must(err)
	}
	if text, err := os.ReadFile(filepath.Join(root, "host.test", "docs", "@page.txt")); err != nil || string(text) != "The words of the page.\n" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(root, "host.test", "blog")); err == nil {
		t.Error("a page that is not selected is there")
	}
	if _, err := folderSender(nil, s, c.Files, selects)(ctx, "other", "copy", crawl.SinkSpec{}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a crawl that is not there: %v", err)
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
