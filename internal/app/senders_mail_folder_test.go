package app

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"recrawl/internal/archive"
	"recrawl/internal/archive/archivetest"
	"recrawl/internal/config"
	"recrawl/internal/crawl"
	"recrawl/internal/sink"
	"recrawl/internal/sink/mail"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlite"
)

// The sender of a folder is made for the crawl's present state, and fills it from the store
// and the archive.
func TestFolderSender(t *testing.T) {
	t.Parallel()
	ctx, root := t.Context(), t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	s, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), "store.db"), sqlite.Options{Owner: true})
	must(err)
	t.Cleanup(func() { _ = s.Close() })
	files, err := archive.OpenDir(t.TempDir())
	must(err)
	spec := crawl.DefaultSpec()
	spec.Name = "news"
	record, err := s.OpenCrawl(ctx, spec)
	must(err)
	const body = "<html><p>The words of the page.</p></html>"
	digest := archivetest.Put(t, files, []byte(body))
	for _, path := range []string{"docs", "blog"} {
		url := "https://host.test/" + path
		_, err := s.RegisterLinks(ctx, store.RegisterParams{CrawlID: record.ID, URLs: []store.NewURL{{URL: url, Host: "host.test"}}})
		must(err)
		found, err := s.FindPages(ctx, url, "news")
		must(err)
		_, err = s.Admit(ctx, store.AdmitParams{CrawlID: record.ID, Admit: []int64{found[0].PageID}})
		must(err)
		_, err = s.SaveVersion(ctx, store.SaveVersionParams{Version: store.VersionRecord{PageID: found[0].PageID, Visit: 1, Digest: digest, Bytes: int64(len(body)), ContentType: "text/html"}})
		must(err)
		_, err = s.RecordVisit(ctx, store.RecordParams{Interval: time.Hour, Visit: store.VisitRecord{PageID: found[0].PageID, Visit: 1, Outcome: crawl.OutcomeNew, State: crawl.Active}})
		must(err)
	}
	selects := func(name string, spec crawl.SinkSpec) func(string) bool {
		return func(url string) bool { return name == "copy" && url == spec.Prefix[0] }
	}
	sender, err := folderSender(map[string]string{"docs": root}, s, files, selects)(ctx, "news", "copy",
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
	if _, err := folderSender(nil, s, files, selects)(ctx, "other", "copy", crawl.SinkSpec{}); !errors.Is(err, store.ErrNotFound) {
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
