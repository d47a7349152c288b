package search_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"recrawl/internal/archive/archivetest"
	"recrawl/internal/crawl"
	"recrawl/internal/export/source"
	"recrawl/internal/feed"
	index "recrawl/internal/search"
	"recrawl/internal/search/fts"
	"recrawl/internal/search/tsvector"
	"recrawl/internal/sink"
	"recrawl/internal/sink/search"
	"recrawl/internal/sink/sinktest"
	"recrawl/internal/store"
	"recrawl/internal/store/storetest/crawltest"
	"recrawl/internal/store/storetest/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// engine is the kind of index.
type engine struct {
	name  string
	fresh func(t *testing.T) (at string)
	open  func(ctx context.Context, at, store string) (index.Index, error)
}

var (
	inFiles = engine{
		"SQLite", func(t *testing.T) string { return filepath.Join(t.TempDir(), fts.Name) },
		func(ctx context.Context, at, store string) (index.Index, error) {
			return fts.Open(ctx, at, fts.Options{Store: store})
		},
	}
	inPostgres = engine{
		"Postgres", func(t *testing.T) string { return pgtest.DSN(t) },
		func(ctx context.Context, at, store string) (index.Index, error) {
			return tsvector.Open(ctx, at, tsvector.Options{Store: store})
		},
	}
)

// world is a crawl in a real store and archive, with its index.
type world struct {
	engine
	at string // where its index is

	*crawltest.Crawl
	t      *testing.T
	r      *rand.Rand
	cursor feed.Cursor
	seen   map[feed.Kind]int
	now    time.Time
}

func (w *world) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func newWorld(t *testing.T, e engine) *world {
	t.Helper()
	w := &world{engine: e, at: e.fresh(t), Crawl: crawltest.New(t), t: t, r: rand.New(rand.NewPCG(5, 6)), seen: map[feed.Kind]int{}, now: time.Now()}
	ends, err := w.Store.FeedEnds(t.Context())
	w.check(err)
	w.cursor = ends.Newest
	return w
}

func (w *world) setSpec(change func(*crawl.Spec)) {
	w.t.Helper()
	spec := crawl.DefaultSpec()
	spec.Name = "news"
	change(&spec)
	var err error
	w.Record, err = w.Store.OpenCrawl(w.t.Context(), spec)
	w.check(err)
}

// sink opens the sink of an index.
func (w *world) sink(at string, change ...func(*search.Collection)) *search.Sender {
	w.t.Helper()
	x, err := w.open(w.t.Context(), at, w.Store.ID())
	w.check(err)
	src, err := source.New(w.Store, w.Files, w.Record)
	w.check(err)
	c := search.Collection{Crawl: w.Record.ID, Source: src, Rendering: "r" + src.Rules(), Now: func() time.Time { return w.now }}
	for _, do := range change {
		do(&c)
	}
	return search.New(x, c)
}

// words are the vocabulary of pages; each has some.
var words = []string{"kiwi", "lemon", "東京都", "retry policy", "straße", "melon", "grape", "plum"}

// visit makes the next visit of a page, of a random kind.
func (w *world) visit(url string) {
	w.t.Helper()
	p, ok := w.Find(store.NewURL{URL: url})
	if !ok {
		return
	}
	v := store.VisitRecord{PageID: p.PageID, Visit: p.Visits + 1, Outcome: crawl.OutcomeUnchanged, State: crawl.Active}
	switch n := w.r.IntN(10); {
	case n < 5:
		v.Outcome = crawl.OutcomeChanged
		w.version(v)
	case n < 9:
		v = sinktest.Fruitless(v, n-5)
	}
	_, err := w.Store.RecordVisit(w.t.Context(), store.RecordParams{Interval: time.Hour, Visit: v})
	w.check(err)
}

// visitFirst makes the next visits of the first n pages.
func (w *world) visitFirst(n int) {
	w.t.Helper()
	for i := range n {
		w.visit(fmt.Sprintf("https://host.test/%d", i))
	}
}

func (w *world) version(v store.VisitRecord) {
	w.t.Helper()
	text := fmt.Sprintf("<html><title>%s</title><h2>%s</h2><p>The words of page %d are %s and %s.</p><p style=\"display: none\">concealed</p></html>",
		words[w.r.IntN(len(words))], words[w.r.IntN(len(words))], w.r.IntN(5), words[w.r.IntN(len(words))], words[w.r.IntN(len(words))])
	record := store.VersionRecord{PageID: v.PageID, Visit: v.Visit, Bytes: int64(len(text)), ContentType: "text/html; charset=utf-8", TextDigest: fmt.Sprint(w.r.Int()), Title: "Page"}
	if w.r.IntN(8) > 0 { // else its body may not be kept
		record.Digest = archivetest.Put(w.t, w.Files, []byte(text))
	}
	_, err := w.Store.SaveVersion(w.t.Context(), store.SaveVersionParams{Version: record})
	w.check(err)
}

// follow sends the feed's changes since the last call. Each send may be cut off, and is
// then repeated.
func (w *world) follow(s *search.Sender) {
	w.t.Helper()
	w.cursor = sinktest.Follow(w.t, w.Store, w.Record, w.cursor, func(e feed.Event) {
		w.seen[e.Kind]++
		if w.r.IntN(3) == 0 {
			cut, cancel := context.WithCancel(w.t.Context())
			cancel()
			if err := s.Send(cut, e); err == nil {
				w.t.Fatal("a send that was cut off is acknowledged")
			}
		}
		w.check(s.Send(w.t.Context(), e))
	})
}

func (w *world) fill(s *search.Sender) {
	w.t.Helper()
	for more := true; more; {
		var err error
		more, err = s.Fill(w.t.Context())
		w.check(err)
	}
}

// answers returns what an index holds and finds.
func (w *world) answers(at string) map[string]string {
	w.t.Helper()
	x, err := w.open(w.t.Context(), at, w.Store.ID())
	w.check(err)
	defer x.Close()
	all := map[string]string{}
	held, err := x.Held(w.t.Context(), w.Record.ID, 0, 1<<60)
	w.check(err)
	for page, h := range held {
		all[fmt.Sprint(page)] = fmt.Sprint(h)
	}
	for _, q := range append(words, "東京", "policy page", "page 3", "words") {
		r, err := x.Query(w.t.Context(), index.Query{Crawl: w.Record.ID, Words: q, Limit: 100})
		w.check(err)
		all[q] = fmt.Sprint(r)
	}
	if r, err := x.Query(w.t.Context(), index.Query{Crawl: w.Record.ID, Words: "concealed", Limit: 1}); err != nil || len(r.Hits) > 0 {
		w.t.Errorf("words that nobody sees are found: %v, %v", r, err)
	}
	return all
}

// compare compares an index with one that is filled anew.
func (w *world) compare(what string) {
	w.t.Helper()
	fresh := w.fresh(w.t)
	s := w.sink(fresh)
	w.fill(s)
	w.check(s.Close())
	got, want := w.answers(w.at), w.answers(fresh)
	if !maps.Equal(got, want) {
		for _, key := range slices.Sorted(maps.Keys(want)) {
			if got[key] != want[key] {
				w.t.Errorf("%s: %s is %s, of an index that is filled anew %s", what, key, got[key], want[key])
			}
		}
		w.t.Fatalf("%s: %d entries, want %d", what, len(got), len(want))
	}
	if len(want) < 20 {
		w.t.Fatalf("%s: only %d entries", what, len(want))
	}
}

// The feed of a real store is enough, in whatever pieces and however often it comes: the
// index ends up equal to one that is filled anew, takedowns included.
func TestFollowsTheStore(t *testing.T) {
	t.Parallel()
	for _, e := range []engine{inFiles, inPostgres} {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			followsTheStore(t, e)
		})
	}
}

func followsTheStore(t *testing.T, e engine) {
	w := newWorld(t, e)
	url := func() string { return fmt.Sprintf("https://host.test/%d", w.r.IntN(60)) }
	for range 80 { // before the sink is there
		w.visit(url())
	}
	ends, err := w.Store.FeedEnds(t.Context())
	w.check(err)
	w.cursor = ends.Newest
	s := w.sink(w.at)
	w.fill(s)
	w.compare("filled")
	for round := range 8 {
		for range 20 {
			w.visit(url())
		}
		_, err := w.Store.Forget(t.Context(), store.ForgetParams{Target: store.Target{URL: fmt.Sprintf("https://host.test/%d", round)}, Limit: 10})
		w.check(err)
		w.follow(s)
		w.compare(fmt.Sprintf("round %d", round))
	}
	for _, k := range []feed.Kind{feed.PageNew, feed.PageChanged, feed.PageGone, feed.PageBack, feed.PageMoved, feed.PageExcluded, feed.PageForgotten} {
		if w.seen[k] == 0 {
			t.Errorf("no %s was seen", k)
		}
	}
	w.check(s.Rebuild(t.Context(), func(int) {}))
	w.compare("rebuilt")
	w.check(s.Close())
}

// A page whose body is damaged is not found, and does not keep the index from the others.
func TestDamagedBody(t *testing.T) {
	t.Parallel()
	w := newWorld(t, inFiles)
	damaged := ""
	for n := range 4 {
		p := w.Page(store.NewURL{URL: fmt.Sprintf("https://host.test/%d", n)})
		text := fmt.Sprintf("<p>kiwi %d", n)
		digest := archivetest.Put(t, w.Files, []byte(text))
		_, err := w.Store.SaveVersion(t.Context(), store.SaveVersionParams{Version: store.VersionRecord{PageID: p.PageID, Visit: 1, Digest: digest, Bytes: int64(len(text)), ContentType: "text/html"}})
		w.check(err)
		_, err = w.Store.RecordVisit(t.Context(), store.RecordParams{Visit: store.VisitRecord{PageID: p.PageID, Visit: 1, Outcome: crawl.OutcomeNew, State: crawl.Active}})
		w.check(err)
		if n == 1 {
			damaged = digest
		}
	}
	src, err := source.New(w.Store, archivetest.Damaged{Store: w.Files, Digest: damaged}, w.Record)
	w.check(err)
	s := w.sink(w.at, func(c *search.Collection) { c.Source = src })
	w.follow(s)
	w.fill(s)
	w.check(s.Close())
	x, err := w.open(t.Context(), w.at, w.Store.ID())
	w.check(err)
	defer x.Close()
	found, err := x.Query(t.Context(), index.Query{Crawl: w.Record.ID, Words: "kiwi", Limit: 10})
	if err != nil || len(found.Hits) != 3 {
		t.Errorf("%d pages are found, %v", len(found.Hits), err)
	}
}

// All pages are looked at again when the feed had a gap, the rules change, and once a day;
// only differences are written.
func TestLooksAtAllAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, inFiles)
	w.visitFirst(40)
	s := w.sink(w.at)
	w.fill(s)
	silently := func() { // the feed is not told
		w.visitFirst(40)
	}
	for _, because := range []struct {
		what  string
		again func()
	}{
		{"a gap", func() { w.check(s.Send(t.Context(), feed.Event{Kind: feed.FeedGap})) }},
		{"a spec", func() { w.check(s.Send(t.Context(), feed.Event{Kind: feed.CrawlSpec})) }},
		{"a digest", func() { w.check(s.SendDigest(t.Context(), sink.Digest{Left: 1})) }},
		{"a day", func() { w.now = w.now.Add(25 * time.Hour) }},
		{"no cursor", func() { w.check(s.Rebuild(t.Context(), func(int) {})) }},
		{"other rules", func() {
			w.check(s.Close())
			w.setSpec(func(spec *crawl.Spec) { spec.Content.IgnoreSelectors = []string{"h2"} })
			s = w.sink(w.at)
		}},
	} {
		silently()
		because.again()
		w.fill(s)
		w.compare(because.what)
	}
	w.check(s.Close())
}

// counting is an index that counts puts and documents.
type counting struct {
	index.Index
	puts, documents *int
}

func (c counting) Together(ctx context.Context, crawl int64, do func(index.Index) error) error {
	return c.Index.Together(ctx, crawl, func(x index.Index) error { return do(counting{x, c.puts, c.documents}) })
}

func (c counting) Put(ctx context.Context, documents []index.Document) error {
	*c.puts++
	*c.documents += len(documents)
	return c.Index.Put(ctx, documents)
}

// The pages of one step are put at once: one by one, each costs the engine as much as many.
func TestPutsTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t, inFiles)
	w.visitFirst(60)
	x, err := w.open(t.Context(), w.at, w.Store.ID())
	w.check(err)
	src, err := source.New(w.Store, w.Files, w.Record)
	w.check(err)
	var puts, documents int
	s := search.New(counting{x, &puts, &documents}, search.Collection{Crawl: w.Record.ID, Source: src, Now: func() time.Time { return w.now }})
	w.fill(s)
	if puts != 1 || documents < 20 {
		t.Errorf("%d documents were put by %d calls", documents, puts)
	}
	w.check(s.Close())
}

// large is a source whose bodies are large, and that says early that it has no more pages.
type large struct{ search.Source }

func (l large) Records(ctx context.Context, after int64, limit int) (found []store.PageRecord, through int64, more bool, err error) {
	found, through, _, err = l.Source.Records(ctx, after, limit)
	for i := range found {
		found[i].Last.Bytes = 9 << 20
	}
	return found, through, false, err
}

// A step that reads no further because of the bodies' size leaves pages, whatever the source says.
func TestLargeBodiesInSteps(t *testing.T) {
	t.Parallel()
	w := newWorld(t, inFiles)
	w.visitFirst(20)
	src, err := source.New(w.Store, w.Files, w.Record)
	w.check(err)
	held := func(from search.Source) int {
		x, err := w.open(t.Context(), w.fresh(t), w.Store.ID())
		w.check(err)
		s := search.New(x, search.Collection{Crawl: w.Record.ID, Source: from, Now: func() time.Time { return w.now }})
		w.fill(s)
		pages, err := x.Held(t.Context(), w.Record.ID, 0, 1<<60)
		w.check(err)
		w.check(s.Close())
		return len(pages)
	}
	if all, some := held(src), held(large{src}); all < 3 || some != all {
		t.Errorf("%d pages are in the index, and %d if their bodies are large", all, some)
	}
}

// Only pages that the sink's spec chooses are in the index.
func TestSelects(t *testing.T) {
	t.Parallel()
	w := newWorld(t, inFiles)
	w.visitFirst(30)
	s := w.sink(w.at)
	w.fill(s)
	w.check(s.Close())
	s = w.sink(w.at, func(c *search.Collection) { c.Selects = func(url string) bool { return url == "https://host.test/1" } })
	w.check(s.Send(t.Context(), feed.Event{Kind: feed.CrawlSpec}))
	w.fill(s)
	w.check(s.Close())
	x, err := w.open(t.Context(), w.at, w.Store.ID())
	w.check(err)
	defer x.Close()
	if held, err := x.Held(t.Context(), w.Record.ID, 0, 1<<60); err != nil || len(held) > 1 {
		t.Errorf("%v, %v", held, err)
	}
}

// Errors of an index delay the sink, or stop it for a person.
func TestErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t, inFiles)
	s := w.sink(w.at)
	w.check(s.Check(t.Context()))
	w.check(s.Close())
	var later *sink.Later
	if err := search.Judge(fmt.Errorf("x: %w", index.ErrBusy)); !errors.As(err, &later) {
		t.Errorf("busy: %v", err)
	}
	var stop *sink.Stop
	_, err := w.open(t.Context(), w.at, "another")
	if err := search.Judge(err); !errors.As(err, &stop) || stop.Code != search.CodeForeign {
		t.Errorf("of another store: %v", err)
	}
	if err := search.Judge(nil); err != nil {
		t.Error(err)
	}
}
