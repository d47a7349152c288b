package reader_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/archive"
	"recrawl/internal/archive/archivetest"
	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/feed/reader"
	"recrawl/internal/store"
	"recrawl/internal/store/storetest/crawltest"
)

// world is a crawl in a real store, with its archive.
type world struct {
	*testing.T
	ctx   context.Context
	s     store.Store
	files archive.Store
	crawl store.CrawlRecord
}

func newWorld(t *testing.T) *world {
	t.Helper()
	made := crawltest.New(t)
	return &world{T: t, ctx: t.Context(), s: made.Store, files: made.Files, crawl: made.Record}
}

func (w *world) check(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) open(name string) store.CrawlRecord {
	w.Helper()
	spec := crawl.DefaultSpec()
	spec.Name = name
	record, err := w.s.OpenCrawl(w.ctx, spec)
	w.check(err)
	return record
}

// page makes a page of a crawl and returns its id.
func (w *world) page(c store.CrawlRecord, url, host string) int64 {
	w.Helper()
	return crawltest.Page(w.T, w.s, c, store.NewURL{URL: url, Host: host}).PageID
}

// finds records a visit that finds a text.
func (w *world) finds(page int64, title, text string) {
	w.Helper()
	body := fmt.Appendf(nil, "<!DOCTYPE html><html lang=en><title>%s</title><body><main>%s</main>", title, text)
	digest := archivetest.Put(w.T, w.files, body)
	record, err := w.s.Page(w.ctx, page)
	w.check(err)
	_, err = w.s.SaveVersion(w.ctx, store.SaveVersionParams{Version: store.VersionRecord{
		PageID: page, Visit: record.Visits + 1, Digest: digest, TextDigest: digest, Bytes: int64(len(body)), ContentType: "text/html; charset=utf-8", Title: title, Language: "en",
	}})
	w.check(err)
	w.visit(page, store.VisitRecord{Outcome: crawl.OutcomeChanged, State: crawl.Active, Status: 200}, store.Retention{})
}

func (w *world) visit(page int64, v store.VisitRecord, r store.Retention) {
	w.Helper()
	record, err := w.s.Page(w.ctx, page)
	w.check(err)
	v.PageID, v.Visit = page, record.Visits+1
	_, err = w.s.RecordVisit(w.ctx, store.RecordParams{Visit: v, Retention: r})
	w.check(err)
}

// events returns all events that a query selects, from the feed's beginning.
func (w *world) events(q reader.Query) []feed.Event {
	w.Helper()
	if q.After == (feed.Cursor{}) {
		ends, err := w.s.FeedEnds(w.ctx)
		w.check(err)
		q.After = ends.Oldest
	}
	var all []feed.Event
	w.check(reader.New(w.s, w.files).Follow(w.ctx, q, reader.Following{Take: func(b reader.Batch) error {
		all = append(all, b.Events...)
		return nil
	}}))
	for i, e := range all {
		if e.V != 1 || e.Cursor.ID == 0 || e.ID != fmt.Sprintf("%s.%d", e.Cursor.Epoch, e.Cursor.ID) || e.At.IsZero() {
			w.Errorf("event %d: %+v", i, e)
		}
	}
	return all
}

func kinds(events []feed.Event) (list []string) {
	for _, e := range events {
		list = append(list, e.Kind.String())
	}
	return list
}

var pages = []feed.Kind{feed.PageNew, feed.PageChanged, feed.PageGone, feed.PageBack, feed.PageMoved, feed.PageForgotten}

// Where the store groups hosts, a page's host is the name of the group.
func TestGroupedHosts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, host := range []string{"www.one.test", "shop.one.test"} {
		w.finds(w.page(w.crawl, "https://"+host+"/", "one.test"), host, "<p>Welcome.")
	}
	for host, want := range map[string]int{"www.one.test": 1, "shop.one.test": 1, "one.test": 2, "none.test": 0} {
		if got := w.events(reader.Query{CrawlID: w.crawl.ID, Hosts: []string{host}}); len(got) != want {
			t.Errorf("%s: %v, want %d", host, kinds(got), want)
		}
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.page(w.crawl, "https://example.com/prices", "example.com")
	w.finds(id, "Prices", "<p>Welcome to all who come here.<p>A ticket costs 10 euros.<p>Children are free.")
	w.finds(id, "New prices", "<p>Welcome to all who come here.<p>A ticket costs 12 euros.<p>Dogs are free.")
	w.visit(id, store.VisitRecord{Outcome: crawl.OutcomeGone, State: crawl.Gone, Status: 404, Problem: "not found"}, store.Retention{})
	w.visit(id, store.VisitRecord{Outcome: crawl.OutcomeRedirected, State: crawl.Redirect, Status: 301, Location: "https://example.com/new"}, store.Retention{})

	got := w.events(reader.Query{CrawlID: w.crawl.ID, Kinds: pages, Diff: true})
	if want := []string{"page.new", "page.changed", "page.gone", "page.moved"}; !slices.Equal(kinds(got), want) {
		t.Fatalf("%v, want %v", kinds(got), want)
	}
	found, changed, gone, moved := got[0], got[1], got[2], got[3]
	if found.Version.Seq != 1 || found.Before != nil || found.Diff != nil || found.Crawl != "news" || found.Visit != 1 || found.Status != 200 {
		t.Errorf("new: %+v", found)
	}
	if p := changed.Page; p.ID != id || p.URL != "https://example.com/prices" || p.Host != "example.com" || p.Title != "New prices" || p.State != crawl.Active {
		t.Errorf("page: %+v", p)
	}
	if v, b := changed.Version, changed.Before; v.Seq != 2 || v.Title != "New prices" || b.Seq != 1 || b.Title != "Prices" || b.Digest == v.Digest || len(v.Digest) != 64 || v.Language != "en" || v.Bytes == 0 {
		t.Errorf("versions: %+v, %+v", v, b)
	}
	d := changed.Diff
	if d == nil || !slices.Equal(d.Removed, []string{"A ticket costs 10 euros.", "Children are free."}) || !slices.Equal(d.Added, []string{"A ticket costs 12 euros.", "Dogs are free."}) ||
		d.WordsAdded != 2 || d.WordsRemoved != 2 || d.Cut {
		t.Errorf("diff: %+v", d)
	}
	if gone.Status != 404 || gone.Problem != "not found" || gone.Page.State != crawl.Gone || gone.Page.Was != crawl.Active || gone.Diff != nil {
		t.Errorf("gone: %+v", gone)
	}
	if moved.Location != "https://example.com/new" || moved.Page.State != crawl.Redirect {
		t.Errorf("moved: %+v", moved)
	}
	for _, e := range w.events(reader.Query{CrawlID: w.crawl.ID}) {
		if e.Diff != nil {
			t.Errorf("%s has a diff that nobody asked for", e.Kind)
		}
	}
	over := []feed.Change{{ID: 9, CrawlID: w.crawl.ID, Kind: feed.PageChanged, PageID: id, Seq: 2, Data: feed.Data{From: 1}}}
	again, err := reader.New(w.s, w.files).Events(w.ctx, "ab", over, true)
	w.check(err)
	if len(again) != 1 || again[0].ID != "ab.9" || again[0].Diff == nil || again[0].Diff.WordsAdded != 2 {
		t.Errorf("events of changes: %+v", again)
	}
}

// Requisites change too, and their changes are read only by those who ask for them.
func TestRequisitesAreAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.page(w.crawl, "https://example.com/", "example.com")
	w.finds(page, "Home", "<p>Welcome to all who come here.")
	url := "https://cdn.example.com/photo.png"
	_, err := w.s.RegisterLinks(w.ctx, store.RegisterParams{
		CrawlID: w.crawl.ID, From: page, URLs: []store.NewURL{{URL: url, Host: "cdn.example.com", Kind: crawl.KindRequisite, Looks: true, Hops: 1}},
	})
	w.check(err)
	found, err := w.s.FindPages(w.ctx, url, "news")
	w.check(err)
	_, err = w.s.Admit(w.ctx, store.AdmitParams{CrawlID: w.crawl.ID, Admit: []int64{found[0].PageID}})
	w.check(err)
	_, err = w.s.SaveVersion(w.ctx, store.SaveVersionParams{Version: store.VersionRecord{PageID: found[0].PageID, Visit: 1, ContentType: "image/png"}})
	w.check(err)
	w.visit(found[0].PageID, store.VisitRecord{Outcome: crawl.OutcomeNew, State: crawl.Kept, Status: 200}, store.Retention{})
	if got := w.events(reader.Query{CrawlID: w.crawl.ID, Kinds: pages}); len(got) != 1 || got[0].Page.ID != page {
		t.Errorf("events of pages: %+v", got)
	}
	got := w.events(reader.Query{CrawlID: w.crawl.ID, Kinds: pages, Requisites: true})
	if len(got) != 2 || got[1].Kind != feed.PageNew || got[1].Page.Source != crawl.KindRequisite || got[1].Page.State != crawl.Kept {
		t.Errorf("events with requisites: %+v", got)
	}
	_, err = reader.New(w.s, nil).Snapshot(w.ctx, reader.Query{CrawlID: w.crawl.ID}, func(some []feed.SnapshotPage) error {
		for _, p := range some {
			if p.Page.ID != page {
				t.Errorf("snapshot of %s", p.Page.URL)
			}
		}
		return nil
	})
	w.check(err)
}

// A snapshot says which of its pages are read for links and dates only, as events do.
func TestSnapshotOfSources(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	want := map[int64]crawl.PageKind{w.page(w.crawl, "https://example.com/", "example.com"): crawl.KindPage}
	for url, kind := range map[string]crawl.PageKind{"https://example.com/sitemap.xml": crawl.KindSitemap, "https://example.com/news.rss": crawl.KindFeed} {
		want[crawltest.Page(t, w.s, w.crawl, store.NewURL{URL: url, Host: "example.com", Kind: kind}).PageID] = kind
	}
	for page := range want {
		w.finds(page, "", "Some words of it.")
	}
	_, err := reader.New(w.s, nil).Snapshot(w.ctx, reader.Query{CrawlID: w.crawl.ID}, func(some []feed.SnapshotPage) error {
		for _, p := range some {
			kind, is := want[p.Page.ID]
			if !is || p.Page.Source != kind {
				t.Errorf("%s is a %s, want %s", p.Page.URL, p.Page.Source, kind)
			}
			delete(want, p.Page.ID)
			line, err := json.Marshal(p)
			if w.check(err); strings.Contains(string(line), `"source"`) != kind.IsSource() {
				t.Errorf("the line is %s", line)
			}
		}
		return nil
	})
	w.check(err)
	if len(want) > 0 {
		t.Errorf("not in the snapshot: %v", want)
	}
}

func TestWhatIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kept := w.page(w.crawl, "https://example.com/kept", "example.com")
	gone := w.page(w.crawl, "https://example.com/gone", "example.com")
	for i := range 4 {
		w.finds(kept, fmt.Sprintf("Kept %d", i), fmt.Sprintf("<p>Something that is said %d times.", i))
	}
	w.visit(kept, store.VisitRecord{Outcome: crawl.OutcomeUnchanged, State: crawl.Active, Status: 200}, store.Retention{Versions: 1})
	w.finds(gone, "Gone", "<p>Nobody may read this any more.")
	_, err := w.s.Forget(w.ctx, store.ForgetParams{Target: store.Target{URL: "https://example.com/gone"}})
	w.check(err)

	got := w.events(reader.Query{CrawlID: w.crawl.ID, Kinds: pages, Diff: true})
	if want := []string{"page.new", "page.changed", "page.changed", "page.changed", "page.new", "page.forgotten"}; !slices.Equal(kinds(got), want) {
		t.Fatalf("%v, want %v", kinds(got), want)
	}
	if v := got[1].Version; *v != (feed.EventVersionOf{Seq: 2}) || *got[1].Before != (feed.EventVersionOf{Seq: 1}) || got[1].Diff != nil {
		t.Errorf("versions that are not kept: %+v, %+v", v, got[1])
	}
	if last := got[3]; last.Version.Digest == "" || last.Before.Digest != "" || last.Diff != nil {
		t.Errorf("the last version: %+v, before %+v", last.Version, last.Before)
	}
	if p := *got[4].Page; p != (feed.EventPage{ID: gone, Was: p.Was, State: p.State}) || got[4].Status != 0 {
		t.Errorf("a change of a page that was forgotten since: %+v", got[4])
	}
	if f := got[5]; f.Page.ID != gone || f.Page.URL != "" || len(f.URLHash) != 64 || f.Crawl != "news" {
		t.Errorf("forgotten: %+v", f)
	}
	for _, e := range got[4:] {
		if text := marshal(t, e); strings.Contains(text, "gone\"") && strings.Contains(text, "example.com") || strings.Contains(text, "Gone") {
			t.Errorf("the event says what was taken down: %s", text)
		}
	}
	// Whoever follows one host must hear of it.
	if got := kinds(w.events(reader.Query{CrawlID: w.crawl.ID, Hosts: []string{"elsewhere.test"}})); !slices.Equal(got, []string{"page.forgotten"}) {
		t.Errorf("of another host: %v", got)
	}
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// An event stays within what receivers take, whatever a site sends.
func TestEventsAreSmall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	url := "https://example.com/" + strings.Repeat("a", 8000)
	id := w.page(w.crawl, url, "example.com")
	// Many lines, long lines, quotes, and characters that JSON and terminals know.
	text := func(n int) string {
		var b strings.Builder
		for i := range 300 {
			fmt.Fprintf(&b, "<p>%d %d \"\\\" \u202e \u2028 &#1; &lt;&amp;&gt; %s", n, i, strings.Repeat("long words ", 5*i))
		}
		return b.String()
	}
	w.finds(id, strings.Repeat("<\"\\>", 120), text(1))
	w.finds(id, strings.Repeat("<\"\\>", 120), text(2))
	w.visit(id, store.VisitRecord{Outcome: crawl.OutcomeFailed, State: crawl.Failing, Status: 500, Problem: strings.Repeat("\"\x1b[2J ", 9000), Location: strings.Repeat("/x", 6000)}, store.Retention{})
	got := w.events(reader.Query{Kinds: []feed.Kind{feed.PageChanged, feed.PageFailing}, Diff: true})
	if len(got) != 2 || got[0].Diff == nil {
		t.Fatalf("%v", got)
	}
	for _, e := range got {
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		w.check(enc.Encode(e))
		if b.Len() >= reader.MaxEvent {
			t.Errorf("%s has %d bytes", e.Kind, b.Len())
		}
		if strings.ContainsAny(b.String(), "\u202e\u2028\x1b") {
			t.Errorf("%s has characters that turn a text", e.Kind)
		}
	}
	if d := got[0].Diff; !d.Cut || len(d.Added) < 5 || len(d.Removed) < 5 || len(d.Added) > 20 || len(d.Removed) > 20 || d.WordsAdded != 300 || d.WordsRemoved != 300 || d.LinesAdded != 300 || d.LinesRemoved != 300 {
		t.Errorf("%d and %d of %d and %d lines, %d and %d words, cut %v", len(d.Added), len(d.Removed), d.LinesAdded, d.LinesRemoved, d.WordsAdded, d.WordsRemoved, d.Cut)
	}
	if got[1].Location != "" || got[1].Problem == "" {
		t.Errorf("location %q, problem %q", got[1].Location, got[1].Problem)
	}
}

func TestQueries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	docs := w.open("docs")
	for i := range 3 {
		w.finds(w.page(w.crawl, fmt.Sprintf("https://a.test/%d", i), "a.test"), "A", "<p>One.")
		w.finds(w.page(w.crawl, fmt.Sprintf("https://b.test/%d", i), "b.test"), "B", "<p>Two.")
		w.finds(w.page(docs, fmt.Sprintf("https://a.test/%d", i), "a.test"), "C", "<p>Three.")
	}
	of := func(q reader.Query) string {
		q.Kinds = pages
		n := map[string]int{}
		for _, e := range w.events(q) {
			n[e.Crawl+" "+e.Page.Host]++
		}
		return fmt.Sprint(n)
	}
	for _, c := range []struct {
		q    reader.Query
		want string
	}{
		{reader.Query{}, "map[docs a.test:3 news a.test:3 news b.test:3]"},
		{reader.Query{CrawlID: docs.ID}, "map[docs a.test:3]"},
		{reader.Query{Hosts: []string{"b.test"}}, "map[news b.test:3]"},
		{reader.Query{CrawlID: w.crawl.ID, Hosts: []string{"a.test", "c.test"}}, "map[news a.test:3]"},
		{reader.Query{CrawlID: docs.ID, Hosts: []string{"b.test"}}, "map[]"},
	} {
		if got := of(c.q); got != c.want {
			t.Errorf("%+v: %s, want %s", c.q, got, c.want)
		}
	}
	listed := 0
	cursor, err := reader.New(w.s, nil).Snapshot(w.ctx, reader.Query{Hosts: []string{"a.test"}}, func(pages []feed.SnapshotPage) error {
		for _, p := range pages {
			if listed++; p.V != 1 || p.Kind != "snapshot" || p.Page.Host != "a.test" || p.Version.Seq != 1 || len(p.Version.Digest) != 64 {
				t.Errorf("%+v, version %+v", p, p.Version)
			}
		}
		return nil
	})
	w.check(err)
	if listed != 6 {
		t.Errorf("a snapshot of %d pages, want 6", listed)
	}
	w.page(w.crawl, "https://a.test/unvisited", "a.test")
	if got := w.events(reader.Query{After: cursor}); len(got) != 0 {
		t.Errorf("after the snapshot: %v", kinds(got))
	}
}

// flaky is a store that sometimes does not answer.
type flaky struct {
	store.Store
	fail []error // of the next calls
}

func (f *flaky) Changes(ctx context.Context, p store.ChangesParams) (store.ChangesPage, error) {
	if len(f.fail) > 0 {
		err := f.fail[0]
		f.fail = f.fail[1:]
		if err != nil {
			return store.ChangesPage{}, err
		}
	}
	return f.Store.Changes(ctx, p)
}

// A follower outlasts a store that does not answer, and says so once.
func TestFollow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.page(w.crawl, "https://a.test/", "a.test")
	w.finds(id, "A", "<p>One.")
	down := fmt.Errorf("dial: %w", store.ErrUnavailable)
	f := &flaky{Store: w.s, fail: []error{nil, down, down, nil, down}}
	ends, err := w.s.FeedEnds(w.ctx)
	w.check(err)
	ctx, cancel := context.WithCancel(w.ctx)
	defer cancel()
	ticks := make(chan time.Time, 8)
	ticks <- time.Time{}
	var got []string
	looks, troubles := 0, 0
	err = reader.New(f, nil).Follow(ctx, reader.Query{After: ends.Oldest, Kinds: pages}, reader.Following{
		Ticks: ticks,
		Take: func(b reader.Batch) error {
			got = append(got, kinds(b.Events)...)
			switch looks++; looks {
			case 2:
				w.visit(id, store.VisitRecord{Outcome: crawl.OutcomeGone, State: crawl.Gone, Status: 404}, store.Retention{})
			case 3:
				cancel()
				return nil
			}
			ticks <- time.Time{}
			return nil
		},
		Trouble: func(error) {
			troubles++
			ticks <- time.Time{}
			ticks <- time.Time{}
		},
	})
	if err != nil || !slices.Equal(got, []string{"page.new", "page.gone"}) || troubles != 2 || looks != 3 {
		t.Errorf("%v: %v, %d looks, %d troubles", err, got, looks, troubles)
	}
	for _, first := range []error{down, fmt.Errorf("no: %w", store.ErrDenied)} {
		f.fail = []error{first}
		if err := reader.New(f, nil).Follow(w.ctx, reader.Query{After: ends.Oldest}, reader.Following{Ticks: ticks, Take: func(reader.Batch) error { return nil }}); !errors.Is(err, first) {
			t.Errorf("a store that is not there at first: %v", err)
		}
	}
	if err := reader.New(w.s, nil).Follow(w.ctx, reader.Query{After: feed.Cursor{Epoch: "other", ID: 1}}, reader.Following{Ticks: ticks}); !errors.Is(err, feed.ErrEpoch) {
		t.Errorf("a cursor of another store: %v", err)
	}
}

// docs/changes.md describes what is printed: each field of these events, which have nearly
// all fields there are, stands in one of its tables.
func TestDocsDescribeWhatIsPrinted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.page(w.crawl, "https://example.com/", "example.com")
	w.finds(id, "One", "<p>One thing.")
	w.finds(id, "Two", "<p>Two things.")
	w.visit(id, store.VisitRecord{Outcome: crawl.OutcomeRedirected, State: crawl.Redirect, Status: 301, Location: "https://example.com/new", Problem: "a problem"}, store.Retention{})
	_, err := w.s.SetCrawlState(w.ctx, "news", crawl.CrawlPaused)
	w.check(err)
	events := w.events(reader.Query{Diff: true})
	_, err = w.s.Forget(w.ctx, store.ForgetParams{Target: store.Target{URL: "https://example.com/"}})
	w.check(err)
	events = append(events, w.events(reader.Query{Diff: true})...)
	docs, err := os.ReadFile("../../../docs/changes.md")
	w.check(err)
	printed := map[string]bool{}
	var names func(prefix string, object map[string]any)
	names = func(prefix string, object map[string]any) {
		for name, value := range object {
			printed[prefix+name] = true
			if inner, ok := value.(map[string]any); ok {
				names(prefix+name+".", inner)
			}
		}
	}
	for _, e := range events {
		var object map[string]any
		w.check(json.Unmarshal([]byte(marshal(t, e)), &object))
		names("", object)
	}
	for name := range printed {
		if !strings.Contains(string(docs), "`"+name+"`") {
			t.Errorf("docs/changes.md does not describe %s", name)
		}
	}
	for _, name := range []string{
		"v", "id", "cursor", "kind", "at", "crawl", "page.url", "page.was", "page.title", "url_sha256", "visit", "status", "location",
		"problem", "version.sha256", "before.at", "diff.words_added", "diff.added", "diff.removed", "state", "generation",
	} {
		if !printed[name] {
			t.Errorf("no event has %s", name)
		}
	}
}

// A body that is damaged makes no difference known, like one that is gone, and keeps nobody
// from the other changes.
func TestDamagedBody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var damaged string
	for n := range 3 {
		page := w.page(w.crawl, fmt.Sprintf("https://example.com/%d", n), "example.com")
		w.finds(page, "A", fmt.Sprintf("<p>One %d.", n))
		if n == 1 {
			record, err := w.s.Page(w.ctx, page)
			w.check(err)
			damaged = record.Last.Digest
		}
		w.finds(page, "A", fmt.Sprintf("<p>Two %d.", n))
	}
	w.files = archivetest.Damaged{Store: w.files, Digest: damaged}
	events := w.events(reader.Query{Kinds: []feed.Kind{feed.PageChanged}, Diff: true})
	if len(events) != 3 {
		t.Fatalf("%v", kinds(events))
	}
	r := reader.New(w.s, w.files)
	for i, e := range events {
		if (e.Diff == nil) != (i == 1) {
			t.Errorf("change %d has the difference %+v", i, e.Diff)
		}
		diff, err := r.DiffOf(w.ctx, e)
		if err != nil || (diff == nil) != (i == 1) {
			t.Errorf("the difference of change %d: %+v, %v", i, diff, err)
		}
	}
	changes, err := w.s.Changes(w.ctx, store.ChangesParams{After: feed.Cursor{Epoch: events[0].Cursor.Epoch}, Kinds: []feed.Kind{feed.PageChanged}})
	w.check(err)
	for i, c := range changes.Changes {
		if _, _, known, err := r.Texts(w.ctx, c); err != nil || known != (i != 1) {
			t.Errorf("texts of change %d: known %v, %v", i, known, err)
		}
	}
}
