package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/archive"
	"recrawl/internal/archive/gc"
	"recrawl/internal/backup"
	"recrawl/internal/crawl"
	"recrawl/internal/export"
	"recrawl/internal/feed"
	"recrawl/internal/report"
	"recrawl/internal/seeds"
	"recrawl/internal/sink"
	"recrawl/internal/store"
)

// fakeBackend is a backend with one crawl, news, of one page.
type fakeBackend struct {
	// undelivered are the changes of the sink that are; nil is change 17. replayed answers a
	// replay of some, nil as a worker of an earlier release.
	undelivered []int64
	replayed    func(ids []int64) sink.Replayed

	storeErr, temporalErr error
	archiveErr            error
	damage                []gc.Problem     // of the archive
	running               []string         // crawls whose workflow runs
	state                 crawl.CrawlState // of news in the store; 0 is running
	calls                 []string         // the requests to Temporal
	specs                 []crawl.Spec
	dev                   *DevOptions
	web                   *WebOptions
	takes                 time.Duration // of long work, before its first progress
	webReady              string        // whom it asked
	replay                *ReplayOptions
	opened, closed        int
	temporal              TemporalOptions
	dsn                   string
	archiveDir            string // "" has none
	damaged               int64  // versions of exports
	version, earlier      store.VersionRecord
	content               *crawl.ContentSpec  // of the crawl, if not as by default
	visits                []store.VisitRecord // of news' page, newest first; nil is one
	copied                backup.Copied       // by a backup or restore
	sinks                 map[string]crawl.SinkSpec
	allDelivered          bool // nothing is undelivered
}

func (b *fakeBackend) Dev(ctx context.Context, o DevOptions) error {
	b.dev = &o
	if o.Ready == nil {
		return nil
	}
	var seeds []string
	if o.Demo {
		seeds = []string{"http://news.localhost:8042/"}
	}
	return o.Ready(ctx, &fakeStore{backend: b}, &fakeClient{b}, seeds)
}

func (b *fakeBackend) work() { time.Sleep(b.takes) }

func (b *fakeBackend) Web(_ context.Context, o WebOptions) error {
	b.web = &o
	return nil
}

func (b *fakeBackend) WebReady(_ context.Context, listen string) error {
	b.webReady = listen
	return errors.New("not ready; store: does not answer")
}

func (b *fakeBackend) Replay(_ context.Context, o ReplayOptions) error {
	b.replay = &o
	return nil
}

func (b *fakeBackend) OpenStore(_ context.Context, dsn string) (Opened, error) {
	if b.storeErr != nil {
		return Opened{}, b.storeErr
	}
	b.opened++
	b.dsn = dsn
	s := &fakeStore{backend: b}
	return Opened{Store: s, Seeds: s, Visits: s, Feed: s, Sinks: s, Requests: s, Closer: s}, nil
}

func (b *fakeBackend) OpenArchive(_ context.Context, url string) (archive.Store, error) {
	if b.archiveDir == "" {
		return nil, errors.New("archive " + url + ": permission denied")
	}
	return archive.OpenDir(b.archiveDir)
}

func (b *fakeBackend) Export(_ context.Context, at Target, out string, o export.Options) (export.Result, error) {
	format := string(o.Format)
	if o.Article {
		format += " of articles"
	}
	b.calls = append(b.calls, fmt.Sprintf("export %s as %s to %s until %s from %s", o.Crawl, format, out, o.At.Format(time.RFC3339), at.Archive))
	if o.Crawl != "news" {
		return export.Result{}, store.ErrNotFound
	}
	if o.Since.Epoch == "old" {
		return export.Result{}, fmt.Errorf("read the feed: %w", feed.ErrEpoch)
	}
	b.work()
	if o.Format == export.Mirror {
		o.Listing(2)
	}
	o.Progress(export.Counts{Pages: 1})
	done := export.Result{Folder: out + "/x", Counts: export.Counts{Pages: 2, Damaged: b.damaged}, Since: o.Since}
	if o.Since.ID > 0 {
		done.Cursor = feed.Cursor{Epoch: o.Since.Epoch, ID: o.Since.ID + 1}
	}
	return done, nil
}

func (b *fakeBackend) FindDuplicates(_ context.Context, at Target, crawl string) (FoundDuplicates, error) {
	b.calls = append(b.calls, "find duplicates of "+crawl+" in "+at.Store)
	return FoundDuplicates{}, nil
}

func (b *fakeBackend) RebuildIndex(_ context.Context, at Target, crawl string, progress func(int)) (int, error) {
	b.calls = append(b.calls, "rebuild the index of "+crawl+" from "+at.Archive)
	b.work()
	progress(1)
	return 2, nil
}

func (b *fakeBackend) SetBlocked(_ context.Context, at Target, host string, blocked bool) (string, error) {
	b.calls = append(b.calls, fmt.Sprintf("block %s %v in %s", host, blocked, at.Store))
	return "done", nil
}

func (b *fakeBackend) ChangeCrawl(ctx context.Context, at Target, crawl string, change Change) (string, error) {
	if b.temporalErr != nil {
		return "", b.temporalErr
	}
	b.temporal = at.Temporal
	return (&fakeClient{b}).ChangeCrawl(ctx, crawl, change)
}

func (b *fakeBackend) Repair(_ context.Context, _ Target, crawl string, progress func(Repaired)) (Repaired, error) {
	if crawl != "news" {
		return Repaired{}, store.ErrNotFound
	}
	progress(Repaired{Pages: 1})
	return Repaired{Crawl: "was terminated", Pages: 208, Missing: 20, Stuck: 12, Why: "TMPRL1100"}, nil
}

func (b *fakeBackend) RevivePage(_ context.Context, _ Target, page store.PageRecord) (store.PageRecord, error) {
	b.calls = append(b.calls, "revive "+page.URL)
	page.State = crawl.Active
	return page, nil
}

func (b *fakeBackend) ReleaseTrap(_ context.Context, at Target, crawl, trap string) (string, error) {
	b.calls = append(b.calls, fmt.Sprintf("release %s of %s in %s", trap, crawl, at.Store))
	return "released", nil
}

func (b *fakeBackend) Forget(_ context.Context, _ Target, what Takedown, o ForgetOptions) (Forgotten, error) {
	call := fmt.Sprintf("forget %s dry=%v", what, o.Dry)
	if o.Rewrite != nil {
		call += fmt.Sprintf(" rewrite=%v", *o.Rewrite)
	}
	b.calls = append(b.calls, call)
	o.Progress(ForgetProgress{Doing: "ending workflows", Pages: 1, Of: 3})
	return Forgotten{Pages: 3, Contents: 2, Workflows: 1, Left: []string{"something is left"}}, nil
}

func (b *fakeBackend) Remember(_ context.Context, _ Target, what Takedown) error {
	b.calls = append(b.calls, fmt.Sprintf("remember %s", what))
	return nil
}

func (b *fakeBackend) Delete(_ context.Context, _ Target, crawl string, o DeleteOptions) (Deleted, error) {
	if crawl != "news" {
		return Deleted{}, store.ErrNotFound
	}
	b.calls = append(b.calls, fmt.Sprintf("delete %s dry=%v keep=%v", crawl, o.Dry, o.KeepArchive))
	o.Progress(ForgetProgress{Doing: "deleting pages", Pages: 1, Of: 3})
	return Deleted{Pages: 3, Contents: 2, Workflows: 1, Left: []string{"something is left"}}, nil
}

func (b *fakeBackend) Import(ctx context.Context, _ Target, crawl string, o ImportOptions) (store.Import, error) {
	if crawl != "news" {
		return store.Import{}, store.ErrNotFound
	}
	i := seeds.Importer{Store: fakeSeeds{b}, CrawlID: 1, Source: o.Source, Refused: o.Refused, Progress: o.Progress, Judge: seeds.Judge{Contact: true}}
	return i.Run(ctx, o.List)
}

type fakeSeeds struct{ *fakeBackend }

// ImportSeeds takes all seeds for new ones.
func (b fakeSeeds) ImportSeeds(_ context.Context, p store.ImportParams) (store.ImportResult, error) {
	for _, seed := range p.Seeds {
		b.calls = append(b.calls, "import "+seed.URL)
	}
	p.Import.New += len(p.Seeds)
	return store.ImportResult{Import: p.Import}, nil
}

func (fakeSeeds) Import(context.Context, int64, string) (store.Import, error) {
	return store.Import{}, nil
}

func (fakeSeeds) EndImport(context.Context, int64, string) error { return nil }

func (b *fakeBackend) Adopt(_ context.Context, at Target, ended []string, dry bool) (Adopted, error) {
	b.calls = append(b.calls, fmt.Sprintf("adopt %s at %s, %v ended, dry=%v", at.Store, at.Temporal.Address, ended, dry))
	return Adopted{Store: "A", Place: "namespace default", Before: "namespace old", Ended: ended}, nil
}

func (b *fakeBackend) VerifyArchive(_ context.Context, at Target, o gc.VerifyOptions) (gc.Verified, error) {
	b.calls = append(b.calls, "verify "+at.Archive)
	found := gc.Verified{Contents: 5 - len(b.damage), Bytes: 5 << 10}
	for _, p := range b.damage {
		b.work()
		o.Progress(gc.Progress{Contents: found.Contents, Bytes: found.Bytes, Damaged: found.Damaged(), Part: 0.5})
		found.Contents++
		if p.Damage == gc.Missing {
			found.Missing++
		} else {
			found.Corrupt++
		}
		if err := o.Report(p); err != nil {
			return found, err
		}
	}
	return found, b.archiveErr
}

func (b *fakeBackend) CollectArchive(_ context.Context, _ Target, o gc.CollectOptions) (gc.Collected, error) {
	b.calls = append(b.calls, fmt.Sprintf("gc older than %s dry=%v", o.Age, o.Dry))
	b.work()
	o.Progress(gc.Progress{Contents: 500, Part: 1})
	return gc.Collected{Deleted: 3, Bytes: 2048, Kept: 40, Young: 2}, b.archiveErr
}

func (b *fakeBackend) Backup(_ context.Context, at Target, dir string, o BackupOptions) (backup.Made, error) {
	o.Progress("copying contents", 0.5)
	b.calls = append(b.calls, fmt.Sprintf("back up %s %s to %s, keep %d", at.Store, at.Archive, dir, o.Keep))
	return backup.Made{Manifest: fakeManifest, Copied: b.copied, Removed: 1, Pruned: 2}, nil
}

func (b *fakeBackend) BackupArchive(_ context.Context, at Target, dir string, _ backup.Progress) (backup.Copied, error) {
	b.calls = append(b.calls, fmt.Sprintf("back up %s to %s", at.Archive, dir))
	return b.copied, nil
}

func (b *fakeBackend) Restore(_ context.Context, dir string, o RestoreOptions) (backup.Restored, error) {
	if o.At == "none" {
		return backup.Restored{}, fmt.Errorf("%s: %w", dir, backup.ErrNone)
	}
	b.calls = append(b.calls, fmt.Sprintf("restore %s %q to store %q archive %q data %q", dir, o.At, o.Store, o.Archive, o.Data))
	return backup.Restored{Manifest: fakeManifest, Copied: b.copied}, nil
}

func (b *fakeBackend) RestoreArchive(_ context.Context, archive, dir string, _ backup.Progress) (backup.Copied, error) {
	b.calls = append(b.calls, fmt.Sprintf("restore %s to archive %q", dir, archive))
	return b.copied, nil
}

func (b *fakeBackend) Compact(_ context.Context, data string, begin func(string)) ([]Compacted, error) {
	b.calls = append(b.calls, fmt.Sprintf("compact %q", data))
	begin("temporal.db")
	done := []Compacted{{File: "temporal.db", Before: 4096, After: 1024}}
	switch data {
	case "none":
		return nil, fmt.Errorf("data folder: %w", fs.ErrNotExist)
	case "full":
		return done, errors.New("recrawl.db: disk full")
	}
	return done, nil
}

func (b *fakeBackend) UndoUpgrade(_ context.Context, o UndoOptions) (Undone, error) {
	b.calls = append(b.calls, fmt.Sprintf("undo %q %q", o.Store, o.Data))
	if o.Data == "new" {
		return Undone{}, fmt.Errorf("new: no copy: %w", store.ErrNotFound)
	}
	return Undone{Store: "old.db", Moved: "newer.db"}, nil
}

var fakeManifest = backup.Manifest{Name: "20261122T154500Z", Software: "recrawl/0.2.0", Bytes: 4096, Contents: 3, Lacking: 1}

func (b *fakeBackend) DialTemporal(_ context.Context, o TemporalOptions) (Client, error) {
	b.temporal = o
	if b.temporalErr != nil {
		return nil, b.temporalErr
	}
	b.opened++
	return &fakeClient{b}, nil
}

// fakeStore answers the commands' queries; anything else panics.
type fakeStore struct {
	store.Store
	backend *fakeBackend
}

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newsSpec() crawl.Spec {
	spec := crawl.DefaultSpec()
	spec.Name, spec.Seeds, spec.Identity.Contact = "news", []string{"https://example.com/"}, "ops@example.org"
	spec.Limits.MaxPages = 500
	spec.URLs.StripParams = []string{"utm_*"}
	return spec
}

func (*fakeStore) HeldWorkers(context.Context) ([]store.HeldWorker, error) { return nil, nil }

func (*fakeStore) Care(context.Context, int64) (store.CareRecord, error) {
	return store.CareRecord{}, nil
}

func (s *fakeStore) Now(context.Context) (time.Time, error) { return now, nil }

func (s *fakeStore) Close() error { s.backend.closed++; return nil }

func (s *fakeStore) Crawl(_ context.Context, name string) (store.CrawlRecord, error) {
	if name != "news" {
		return store.CrawlRecord{}, fmt.Errorf("crawl: %w", store.ErrNotFound)
	}
	spec := newsSpec()
	if c := s.backend.content; c != nil {
		spec.Content = *c
	}
	spec.Sinks = s.backend.sinks
	return store.CrawlRecord{ID: 1, Spec: spec, State: cmp.Or(s.backend.state, crawl.CrawlRunning)}, nil
}

func (s *fakeStore) ListCrawls(ctx context.Context) ([]store.CrawlRecord, error) {
	news, err := s.Crawl(ctx, "news")
	return []store.CrawlRecord{news}, err
}

func (s *fakeStore) Status(context.Context, int64) (store.StatusRecord, error) {
	return store.StatusRecord{Pages: map[crawl.PageState]int{crawl.Active: 1}}, nil
}

func (s *fakeStore) Rejections(context.Context, int64) ([]store.RejectionCount, error) {
	return []store.RejectionCount{{Reason: "host", Links: 7}, {Reason: "depth", Links: 2}}, nil
}

func (s *fakeStore) ListSources(_ context.Context, f store.SourceFilter) ([]store.SourceRecord, error) {
	if f.After > 0 {
		return nil, nil
	}
	url := fmt.Sprintf("https://elsewhere.example/map.xml?%s,%d", f.Host, f.Limit)
	return []store.SourceRecord{{PageRef: crawl.PageRef{PageID: 1, URL: url}, Kind: crawl.KindSitemap}}, nil
}

func (s *fakeStore) ListRejected(_ context.Context, f store.RejectedFilter) ([]store.RejectedLink, error) {
	return []store.RejectedLink{{
		RejectedPlace: store.RejectedPlace{Reason: "host"}, RejectedURL: store.RejectedURL{URL: fmt.Sprintf("https://elsewhere.example/?%s,%d", f.Reason, f.Limit)}, From: "https://example.com/",
	}}, nil
}

func (s *fakeStore) Traps(_ context.Context, f store.TrapFilter) ([]store.TrapRecord, error) {
	if f.After > 0 {
		return nil, nil
	}
	return []store.TrapRecord{{ID: 1, NewTrap: store.NewTrap{Name: "example.com/print/#", Reason: "copies", Pattern: []byte(`{"kind":"prefix","host":"example.com","path":["print","#"]}`)}, State: store.TrapHolding, Held: 77}}, nil
}

func (s *fakeStore) Dominating(_ context.Context, _ int64, limit int) ([]store.PrefixRecord, error) {
	return []store.PrefixRecord{{Host: "example.com", Prefix: "/print/", Pages: 90 + limit}}, nil
}

func (s *fakeStore) FindPages(_ context.Context, url, name string) ([]store.PageRecord, error) {
	page := func(id int64, name string) store.PageRecord {
		return store.PageRecord{PageRef: crawl.PageRef{CrawlID: id, Crawl: name, PageID: id, URL: url, Host: "example.com"}, State: crawl.Active, Last: s.backend.version}
	}
	switch {
	case url == "https://example.com/" && (name == "" || name == "news"):
		return []store.PageRecord{page(1, "news")}, nil
	case url == "https://example.com/two" && name == "":
		return []store.PageRecord{page(1, "news"), page(2, "docs")}, nil
	}
	return nil, nil
}

func (s *fakeStore) ListPages(_ context.Context, f store.PageFilter) ([]store.PageRecord, error) {
	if f.After > 0 {
		return nil, nil
	}
	s.backend.work()
	return []store.PageRecord{{
		PageRef: crawl.PageRef{PageID: 1, URL: fmt.Sprintf("https://example.com/?%v,%s,%s,%d", f.States, f.Host, f.ChangedSince.Format(time.RFC3339), f.Limit)},
		State:   crawl.Active,
	}}, nil
}

func (s *fakeStore) ListVisits(_ context.Context, _ int64, before, _ int) ([]store.VisitRecord, error) {
	if before > 0 {
		return nil, nil
	}
	if s.backend.visits != nil {
		return s.backend.visits, nil
	}
	return []store.VisitRecord{{Visit: 1, At: now, Outcome: crawl.OutcomeNew, Status: 200}}, nil
}

func (s *fakeStore) RecentVisits(context.Context, []int64, int) ([]store.VisitLook, error) {
	return nil, nil
}

func (s *fakeStore) ListVersions(_ context.Context, _ int64, before, _ int) ([]store.VersionRecord, error) {
	if before > 0 || s.backend.version.Seq == 0 {
		return nil, nil
	}
	return []store.VersionRecord{s.backend.version}, nil
}

func (s *fakeStore) Version(_ context.Context, _ int64, seq int) (store.VersionRecord, error) {
	for _, v := range []store.VersionRecord{s.backend.version, s.backend.earlier} {
		if v.Seq > 0 && v.Seq == seq {
			return v, nil
		}
	}
	return store.VersionRecord{}, store.ErrNotFound
}

func (s *fakeStore) ListDuplicates(context.Context, store.DuplicateFilter) ([]store.DuplicateRecord, error) {
	return nil, nil
}

func (s *fakeStore) Mirrors(context.Context, int64, int) ([]store.MirrorRecord, error) {
	return nil, nil
}

func (s *fakeStore) Steering(context.Context, int64, bool) (store.SteeringRecord, error) {
	return store.SteeringRecord{}, nil
}

func (s *fakeStore) Evictions(context.Context, int64, bool, int) ([]store.Eviction, error) {
	return nil, nil
}

func (s *fakeStore) Ranking(context.Context, int64) (store.RankingRecord, int, error) {
	return store.RankingRecord{}, 0, nil
}

func (s *fakeStore) ListHosts(_ context.Context, f store.HostFilter) ([]store.HostRecord, error) {
	if f.After != "" || f.IDs != nil {
		return nil, nil
	}
	return []store.HostRecord{{Host: "example.com", Delay: 10 * time.Second}}, nil
}

func (s *fakeStore) HostLoads(context.Context, int64, []int64) ([]store.HostLoad, error) {
	return nil, nil
}

func (s *fakeStore) Robots(_ context.Context, origin string) (store.RobotsRecord, error) {
	if origin != "https://example.com" {
		return store.RobotsRecord{}, fmt.Errorf("robots: %w", store.ErrNotFound)
	}
	return store.RobotsRecord{Origin: origin, State: store.RobotsParsed, Status: 200, Text: "User-agent: *\nDisallow: /private\n"}, nil
}

type fakeClient struct{ *fakeBackend }

func (c *fakeClient) note(format string, args ...any) string {
	c.calls = append(c.calls, fmt.Sprintf(format, args...))
	return c.calls[len(c.calls)-1]
}

func (c *fakeClient) runs(name string) error {
	for _, r := range c.running {
		if r == name {
			return nil
		}
	}
	return fmt.Errorf("no workflow: %w", store.ErrNotFound)
}

func (c *fakeClient) Running(_ context.Context, name string) (bool, error) {
	return c.runs(name) == nil, nil
}

func (c *fakeClient) StartCrawl(_ context.Context, spec crawl.Spec) error {
	c.specs = append(c.specs, spec)
	c.note("start %s", spec.Name)
	return nil
}

func (c *fakeClient) AddSeeds(_ context.Context, name string, seeds []string) (string, error) {
	return c.note("add to %s: %s", name, strings.Join(seeds, " ")), c.runs(name)
}

func (c *fakeClient) SetSpec(_ context.Context, spec crawl.Spec, _ int64) (string, error) {
	c.specs = append(c.specs, spec)
	return c.note("set %s", spec.Name), c.runs(spec.Name)
}

func (c *fakeClient) ChangeCrawl(_ context.Context, name string, change Change) (string, error) {
	return c.note("%s %s", change, name), c.runs(name)
}

func (c *fakeClient) ChangePage(_ context.Context, page store.PageRecord, change PageChange, arg string) (string, error) {
	return c.note("%s %s %s %s", change, page.Crawl, page.URL, arg), nil
}

func (c *fakeClient) AskVisit(_ context.Context, page store.PageRecord) error {
	c.note("ask %s", page.URL)
	return nil
}

func (c *fakeClient) Explain(_ context.Context, page store.PageRecord) (report.Live, error) {
	return report.Live{Doing: "sleeping", Due: now.Add(time.Hour), Reasons: []string{"a person set a visit every 2h"}}, nil
}

func (c *fakeClient) CommandSink(_ context.Context, rec store.CrawlRecord, name string, command SinkCommand, replay SinkReplay) (SinkAnswer, error) {
	said := SinkAnswer{Message: c.note("%s %s/%s %+v", command, rec.Spec.Name, name, replay)}
	if c.replayed != nil {
		r := c.replayed(replay.Changes)
		said = SinkAnswer{Message: r.Words(), Failed: r.Failed(), Replayed: &r}
	}
	return said, nil
}

func (s *fakeStore) ListSinks(context.Context, int64) ([]store.SinkRecord, error) {
	return []store.SinkRecord{{CrawlID: 1, Name: "team", After: feed.Cursor{Epoch: "5f2a9c01", ID: 40}, Sent: 38, LastSent: now.Add(-time.Hour), Paused: true, Code: "gone", Problem: "410 Gone"}}, nil
}

func (s *fakeStore) Changes(context.Context, store.ChangesParams) (store.ChangesPage, error) {
	return store.ChangesPage{Changes: []feed.Change{{ID: 41, At: now.Add(-time.Minute)}, {ID: 42, At: now}}}, nil
}

func (s *fakeStore) Undelivered(_ context.Context, _ int64, _ string, after int64, limit int) ([]store.UndeliveredRecord, error) {
	if ids := s.backend.undelivered; ids != nil {
		ids = slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return id <= after })
		var listed []store.UndeliveredRecord
		for _, id := range ids[:min(len(ids), limit)] {
			listed = append(listed, store.UndeliveredRecord{ChangeID: id})
		}
		return listed, nil
	}
	if after >= 17 || s.backend.allDelivered {
		return nil, nil
	}
	return []store.UndeliveredRecord{{ChangeID: 17, At: now.Add(-time.Hour), Tries: 5, Problem: "400 Bad Request"}}, nil
}

func (c *fakeClient) Close() { c.closed++ }

var errDown = errors.New("temporal does not answer at 127.0.0.1:7233 (connection refused):\n\tstart it")

type result struct {
	code        int
	out, errOut string
}

// starter runs one command in an empty data folder with the store of news.
func starter(t *testing.T, b *fakeBackend, args ...string) result {
	t.Helper()
	return starterEnv(t, b, map[string]string{"RECRAWL_STORE": "sqlite:x.db", "RECRAWL_DATA": t.TempDir()}, args...)
}

func starterEnv(t *testing.T, b *fakeBackend, env map[string]string, args ...string) result {
	t.Helper()
	var out, errOut bytes.Buffer
	code := Main(t.Context(), args, Env{
		Stdin: strings.NewReader("name: piped\nseeds: [https://example.com/]\n"), Stdout: &out, Stderr: &errOut,
		Getenv: func(name string) string { return env[name] }, Backend: b,
	})
	if b.opened != b.closed {
		t.Errorf("starter %s: %d opened and %d closed", strings.Join(args, " "), b.opened, b.closed)
	}
	return result{code, out.String(), errOut.String()}
}

func (s *fakeStore) TroubledHosts(context.Context, int64, int) ([]store.HostRecord, int, error) {
	return nil, 0, nil
}

func (s *fakeStore) Standings(context.Context, []int64) (map[int64]store.Standing, error) {
	return nil, nil
}
