package folder

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/document"
	"recrawl/internal/export"
	"recrawl/internal/export/exporttest"
	"recrawl/internal/feed"
	"recrawl/internal/sink"
)

var errKilled = errors.New("killed")

// world is a crawl in memory with its feed: the source of the folder and of exports.
type world struct {
	exporttest.Memory                           // only its bodies
	pages             map[int64]export.Exchange // the newest version of each, Seq 0 for none
	last              int64                     // page id
	feed              []feed.Event
	secrets           []string // words of pages that were forgotten
	upper             bool     // texts are made differently
	silent            bool     // some changes are not in the feed
	now               time.Time
}

func newWorld() *world {
	return &world{pages: map[int64]export.Exchange{}, now: exporttest.Start}
}

// Exchanges implements export.Source.
func (w *world) Exchanges(_ context.Context, q export.Query) iter.Seq2[export.Exchange, error] {
	return func(yield func(export.Exchange, error) bool) {
		for _, page := range slices.Sorted(maps.Keys(w.pages)) {
			if x := w.pages[page]; page > q.After && x.Version.Seq > 0 && !yield(x, nil) {
				return
			}
		}
	}
}

// Text implements export.Source: some bodies have none.
func (w *world) Text(ctx context.Context, x export.Exchange) (string, error) {
	text, err := w.Memory.Text(ctx, x)
	if len(text)%5 == 0 {
		text = ""
	}
	if w.upper {
		text = strings.ToLower(text)
	}
	return text, err
}

// Read implements export.Source: those without text have no document.
func (w *world) Read(ctx context.Context, x export.Exchange) (document.Document, error) {
	return exporttest.Document(x, func() (string, error) { return w.Text(ctx, x) })
}

func (w *world) Document(_ context.Context, page int64) (export.Exchange, bool, error) {
	x := w.pages[page]
	return x, x.Stands && x.Version.Seq > 0, nil
}

func (w *world) Documents(ctx context.Context, after int64, _ int) (found []export.Exchange, through int64, more bool, err error) {
	through = after
	looked := 0
	for _, page := range slices.Sorted(maps.Keys(w.pages)) {
		if page <= after {
			continue
		}
		if looked++; looked > 3 {
			break
		}
		through = page
		if x, ok, _ := w.Document(ctx, page); ok {
			found = append(found, x)
		}
	}
	return found, through, looked > 0, nil
}

func (w *world) tell(kind feed.Kind, page int64) {
	w.feed = append(w.feed, feed.Event{ID: fmt.Sprint("e-", len(w.feed)), Kind: kind, Page: &feed.EventPage{ID: page}})
}

var types = []string{"text/html; charset=utf-8", "text/html", "text/html", "application/pdf", "text/plain"}

// happen makes one random event happen.
func (w *world) happen(r *rand.Rand) {
	urls := exporttest.URLs()
	ids := slices.Sorted(maps.Keys(w.pages))
	if len(ids) == 0 || r.IntN(3) == 0 {
		w.register(urls[r.IntN(len(urls))], r)
		return
	}
	page := ids[r.IntN(len(ids))]
	x := w.pages[page]
	switch r.IntN(8) {
	case 0, 1, 2:
		w.change(page, r)
	case 3:
		x.Stands = false
		w.pages[page] = x
		w.tell([]feed.Kind{feed.PageGone, feed.PageMoved, feed.PageExcluded, feed.PageDuplicate, feed.PageEvicted, feed.PageStopped}[r.IntN(6)], page)
	case 4:
		x.Stands = true
		x.TextAt = exporttest.Start.Add(time.Duration(r.IntN(1e6)) * time.Second) // with its old version
		w.pages[page] = x
		w.tell(feed.PageBack, page)
	case 5: // may not be kept any more
		x.Version.Digest = ""
		w.pages[page] = x
		w.tell(feed.PageChanged, page)
	case 6:
		if r.IntN(2) == 0 {
			w.forget(page)
		}
	default: // the spec excludes many pages: one event
		for _, id := range ids {
			if x := w.pages[id]; id%2 == 0 {
				x.Stands = false
				w.pages[id] = x
			}
		}
		w.feed = append(w.feed, feed.Event{ID: fmt.Sprint("e-", len(w.feed)), Kind: feed.CrawlSpec})
	}
	if w.silent && r.IntN(3) == 0 {
		told := len(w.feed)
		if quiet := ids[r.IntN(len(ids))]; w.pages[quiet].Page == quiet {
			w.change(quiet, r)
		}
		w.feed = w.feed[:told]
	}
}

func (w *world) register(url string, r *rand.Rand) int64 {
	for _, x := range w.pages {
		if x.URL == url {
			return x.Page
		}
	}
	w.last += 1 + r.Int64N(150)
	w.pages[w.last] = export.Exchange{Page: w.last, URL: url, Stands: true}
	w.change(w.last, r)
	return w.last
}

func (w *world) change(page int64, r *rand.Rand) {
	x := w.pages[page]
	body := fmt.Appendf(nil, "secret%dof%d %s", page, r.IntN(1e9), bytes.Repeat([]byte("word "), r.IntN(5)))
	x.Visit++
	x.At, x.Outcome = exporttest.Start.Add(time.Duration(x.Visit)*time.Hour), crawl.OutcomeChanged
	x.Version = export.Version{
		Seq: x.Version.Seq + 1, Visit: x.Visit, At: x.At, Fetched: x.At, Digest: w.Put(body), Bytes: int64(len(body)), ContentType: types[r.IntN(len(types))],
	}
	x.TextAt = x.At
	w.pages[page] = x
	w.tell(feed.PageChanged, page)
}

func (w *world) forget(page int64) {
	delete(w.Bodies, w.pages[page].Version.Digest)
	delete(w.pages, page)
	w.secrets = append(w.secrets, fmt.Sprintf("secret%dof", page))
	w.tell(feed.PageForgotten, page)
}

// sender makes the sender of a folder; fault ends it like a kill.
func (w *world) sender(t testing.TB, root string, format export.Format, fault func() error) *Sender {
	t.Helper()
	rendering := "lower"
	if !w.upper {
		rendering = "plain"
	}
	s, err := New(crawl.SinkSpec{Kind: "folder", To: "docs/news", Format: string(format)}, map[string]string{"docs": root},
		Collection{Store: "s1", Crawl: "news", Source: w, Rendering: rendering, Now: func() time.Time { return w.now }})
	if err != nil {
		t.Fatal(err)
	}
	s.fault = fault
	return s
}

// fill calls Fill until all pages are there, as the deliverer of a new sink does.
func fill(ctx context.Context, s *Sender) error {
	for {
		if more, err := s.Fill(ctx); err != nil || !more {
			return err
		}
	}
}

// files reads a folder, by slashed names.
func files(t testing.TB, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == folder {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		if name = filepath.ToSlash(name); e.IsDir() {
			all[name+"/"] = ""
			return nil
		}
		text, err := os.ReadFile(path)
		all[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// check compares the folder with a fresh export: the same files and folders, byte for byte,
// and in the index each page of the export's index with its file.
func (w *world) check(t testing.TB, root string, format export.Format) {
	t.Helper()
	done, err := export.Export(t.Context(), w, t.TempDir(), export.Options{Format: format, Crawl: "news", At: exporttest.Start.Add(1e6 * time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	want := files(t, done.Folder)
	paths := map[string]string{}
	for line := range strings.Lines(want["index.jsonl"]) {
		var e struct{ URL, Path string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.Path != "" {
			paths[e.URL] = e.Path
		}
	}
	delete(want, "index.jsonl")
	delete(want, "export.json")
	got := files(t, filepath.Join(root, "news"))
	for name, text := range got {
		for _, secret := range w.secrets {
			if strings.Contains(strings.ToLower(text), secret) {
				t.Errorf("%s still has the words of a page that was forgotten", name)
			}
		}
		if !strings.HasPrefix(name, ownFolder+"/") {
			continue
		}
		delete(got, name)
		if !strings.HasPrefix(name, indexFolder+"/") || strings.HasSuffix(name, "/") {
			continue
		}
		for line := range strings.Lines(text) {
			var e entry
			if err := json.Unmarshal([]byte(line), &e); err != nil || paths[e.URL] != e.Path || e.Digest == "" || len(e.Old) > 0 {
				t.Errorf("the index has %s (%v), the export %s", line, err, paths[e.URL])
			}
			delete(paths, e.URL)
		}
	}
	if len(paths) > 0 {
		t.Errorf("not in the index: %v", paths)
	}
	if !maps.Equal(got, want) {
		t.Errorf("the folder has %q,\nthe export %q", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
}

// Whatever happens, however it is batched, repeated and cut off, the folder ends up equal
// to a fresh export.
func TestEqualsFreshExport(t *testing.T) {
	t.Parallel()
	runs := 12
	if testing.Short() {
		runs = 4
	}
	for _, format := range Formats() {
		t.Run(string(format), func(t *testing.T) {
			t.Parallel()
			kills := 0
			for seed := range runs {
				w, root, r := newWorld(), t.TempDir(), rand.New(rand.NewPCG(uint64(seed), 7))
				for range r.IntN(30) { // before the sink was there: the feed of it is trimmed
					w.happen(r)
				}
				w.silent = seed%2 == 1
				told := len(w.feed)
				for range 12 {
					for range r.IntN(6) {
						w.happen(r)
					}
					if w.silent {
						w.now = w.now.Add(lookMax)
					}
					kills += w.deliver(t, r, root, format, &told)
					if told = len(w.feed); r.IntN(3) == 0 && !w.silent {
						w.check(t, root, format)
					}
				}
				if w.now = w.now.Add(lookMax); w.silent {
					if err := fill(t.Context(), w.sender(t, root, format, nil)); err != nil {
						t.Fatal(err)
					}
				}
				if w.check(t, root, format); t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
			if kills < runs {
				t.Errorf("only %d kills", kills)
			}
		})
	}
}

// deliver brings the folder up to date with the feed: events after told, and some before,
// each again until it is acknowledged.
func (w *world) deliver(t *testing.T, r *rand.Rand, root string, format export.Format, told *int) (kills int) {
	t.Helper()
	try := func(do func(*Sender) error) {
		for {
			left := r.IntN(60)
			s := w.sender(t, root, format, func() error {
				if left--; left == 0 {
					return errKilled
				}
				return nil
			})
			err := do(s)
			if err == nil {
				return
			}
			if !errors.Is(err, errKilled) {
				t.Fatal(err)
			}
			if kills++; r.IntN(4) == 0 { // the world goes on meanwhile
				w.happen(r)
			}
		}
	}
	if r.IntN(2) == 0 || !w.opened(root) {
		try(func(s *Sender) error { return fill(t.Context(), s) })
	}
	for n := max(0, *told-r.IntN(4)); n < len(w.feed); n++ {
		if r.IntN(6) == 0 {
			upto := min(n+r.IntN(5), len(w.feed))
			d := sink.Digest{Events: w.feed[n:upto]}
			if w.silent { // and for all other missed changes
				d.Left = r.IntN(2)
			}
			try(func(s *Sender) error { return s.SendDigest(t.Context(), d) })
		}
		try(func(s *Sender) error { return s.Send(t.Context(), w.feed[n]) })
	}
	try(func(s *Sender) error { return fill(t.Context(), s) }) // what the events left
	return kills
}

// An event that concerns all pages is accepted at once, and begins a look at them. A look at many takes
// longer than a delivery may: it would be cut off, and begin again with each try.
func TestEventOfAllPages(t *testing.T) {
	t.Parallel()
	w, root, r := newWorld(), t.TempDir(), rand.New(rand.NewPCG(17, 17))
	for n := range 7 { // a step looks at three
		w.register(fmt.Sprintf("https://example.com/%d/", n), r)
	}
	s := w.sender(t, root, export.HTML, nil)
	if err := fill(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	ids := slices.Sorted(maps.Keys(w.pages))
	short, cancel := context.WithCancel(t.Context())
	cancel()
	for _, page := range []int64{ids[5], ids[0]} { // the second one when a step has passed it
		x := w.pages[page]
		x.Stands = false
		w.pages[page] = x
		if err := s.Send(short, feed.Event{Kind: feed.CrawlSpec}); err != nil {
			t.Error(err)
		}
		if more, err := s.Fill(t.Context()); err != nil || !more {
			t.Errorf("there is no look: %t, %v", more, err)
		}
	}
	if err := fill(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	w.check(t, root, export.HTML)
}

func (w *world) opened(root string) bool {
	_, err := os.Stat(filepath.Join(root, "news", markerName))
	return err == nil
}

// After a kill at any change of the disk, the folder goes on from there, and a takedown
// right after the kill leaves nothing of the page.
func TestForgottenAfterKill(t *testing.T) {
	t.Parallel()
	for n := 1; ; n++ {
		w, root, r := newWorld(), t.TempDir(), rand.New(rand.NewPCG(5, 5))
		page := w.register("https://example.com/a/b/c", r)
		if err := fill(t.Context(), w.sender(t, root, export.HTML, nil)); err != nil {
			t.Fatal(err)
		}
		w.check(t, root, export.HTML)
		x := w.pages[page]
		x.Version.ContentType = "application/pdf" // so that its file has another name
		x.Version.Digest = w.Put([]byte("secret" + fmt.Sprint(page) + "of as a PDF"))
		w.pages[page] = x
		left := n
		err := w.sender(t, root, export.HTML, func() error {
			if left--; left == 0 {
				return errKilled
			}
			return nil
		}).Send(t.Context(), w.feed[0])
		if err == nil {
			if n < 8 {
				t.Errorf("only %d changes of the disk", n)
			}
			return
		}
		w.forget(page)
		for _, e := range w.feed {
			if err := w.sender(t, root, export.HTML, nil).Send(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
		if w.check(t, root, export.HTML); t.Failed() {
			t.Fatalf("killed at change %d", n)
		}
	}
}

// A change that is not in the feed comes with the next look at all pages.
func TestLooksAgain(t *testing.T) {
	t.Parallel()
	w, root, r := newWorld(), t.TempDir(), rand.New(rand.NewPCG(13, 13))
	page := w.register("https://example.com/a", r)
	s := w.sender(t, root, export.HTML, nil)
	if err := fill(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	before := files(t, filepath.Join(root, "news"))
	w.change(page, r)
	w.now = w.now.Add(lookMin - time.Second)
	if more, err := s.Fill(t.Context()); more || err != nil || !maps.Equal(files(t, filepath.Join(root, "news")), before) {
		t.Errorf("before it is time: %v, %v", more, err)
	}
	w.now = w.now.Add(time.Second)
	if err := fill(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	w.check(t, root, export.HTML)
}

// A large folder is looked at once a day, a small one more often.
func TestLookAfter(t *testing.T) {
	t.Parallel()
	for pages, want := range map[int]time.Duration{0: time.Minute, 600: time.Minute, 6000: 10 * time.Minute, 864_000: 24 * time.Hour, 1 << 62: 24 * time.Hour} {
		if got := lookAfter(export.Markdown, pages); got != want {
			t.Errorf("%d pages: %s, want %s", pages, got, want)
		}
	}
	if got := lookAfter(export.Mirror, 600); got != 20*time.Minute {
		t.Errorf("600 pages of a mirror: %s", got)
	}
	w, root, r := newWorld(), t.TempDir(), rand.New(rand.NewPCG(15, 15))
	for _, url := range []string{"https://example.com/1", "https://example.com/2", "https://example.com/3", "https://example.com/4", "https://example.com/5"} {
		w.register(url, r)
	}
	for range 2 {
		if err := fill(t.Context(), w.sender(t, root, export.HTML, nil)); err != nil {
			t.Fatal(err)
		}
		var m marker
		text, err := os.ReadFile(filepath.Join(root, "news", markerName))
		if err != nil || json.Unmarshal(text, &m) != nil || m.Pages != 5 || m.Counted != 0 {
			t.Errorf("%v: %s", err, text)
		}
		w.now = w.now.Add(lookMin)
	}
}

// If texts are made differently, the folder is written anew, even if that is cut off.
func TestRendering(t *testing.T) {
	t.Parallel()
	w, root, r := newWorld(), t.TempDir(), rand.New(rand.NewPCG(6, 6))
	for range 40 {
		w.happen(r)
	}
	if err := fill(t.Context(), w.sender(t, root, export.Text, nil)); err != nil {
		t.Fatal(err)
	}
	w.check(t, root, export.Text)
	w.upper = true
	for left, err := 10, errKilled; err != nil; left += 10 {
		n := left
		err = fill(t.Context(), w.sender(t, root, export.Text, func() error {
			if n--; n == 0 {
				return errKilled
			}
			return nil
		}))
	}
	w.check(t, root, export.Text)
}

// Files that somebody removed or replaced by accident are back after the next look at them.
func TestHeals(t *testing.T) {
	t.Parallel()
	w, root, r := newWorld(), t.TempDir(), rand.New(rand.NewPCG(8, 8))
	w.register("https://example.com/a/b", r)
	s := w.sender(t, root, export.HTML, nil)
	if err := fill(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(root, "news", "example.com")); err != nil {
		t.Fatal(err)
	}
	if err := s.Send(t.Context(), w.feed[0]); err != nil {
		t.Fatal(err)
	}
	w.check(t, root, export.HTML)
}

// Only selected pages are in it.
func TestSelects(t *testing.T) {
	t.Parallel()
	w, root, r := newWorld(), t.TempDir(), rand.New(rand.NewPCG(9, 9))
	w.register("https://example.com/docs/a", r)
	w.register("https://example.com/blog/b", r)
	s, err := New(crawl.SinkSpec{To: "docs"}, map[string]string{"docs": root}, Collection{
		Crawl: "news", Source: w, Now: time.Now, Selects: func(url string) bool { return strings.HasPrefix(url, "https://example.com/docs/") },
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range w.feed {
		if err := s.Send(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	got := files(t, root)
	maps.DeleteFunc(got, func(name, _ string) bool { return strings.HasPrefix(name, ownFolder) || strings.HasSuffix(name, "/") })
	if len(got) != 1 || !strings.HasPrefix(slices.Collect(maps.Keys(got))[0], "example.com/docs/a/@page") {
		t.Errorf("%q", got)
	}
}

// far is a crawl whose archive is so far away that the time of a call is over after one body.
type far struct {
	*world
	room int
	over bool
}

func (f *far) Body(ctx context.Context, digest string) (io.ReadCloser, error) {
	if f.over = f.room == 0; f.over {
		return nil, context.DeadlineExceeded
	}
	f.room--
	return f.world.Body(ctx, digest)
}

// callTo is the context of a call to it.
type callTo struct {
	context.Context
	far *far
}

func (c callTo) Err() error {
	if c.far.over {
		return context.DeadlineExceeded
	}
	return c.Context.Err()
}

// A step for which the time does not last goes on where it was.
func TestStepThatTakesTooLong(t *testing.T) {
	t.Parallel()
	for _, format := range []export.Format{export.HTML, export.Mirror} {
		w, root, r := newWorld(), t.TempDir(), rand.New(rand.NewPCG(13, 13))
		for _, url := range exporttest.URLs() {
			w.register(url, r)
		}
		f := &far{world: w}
		s, err := New(crawl.SinkSpec{Kind: "folder", To: "docs/news", Format: string(format)}, map[string]string{"docs": root},
			Collection{Store: "s1", Crawl: "news", Source: f, Now: func() time.Time { return w.now }})
		if err != nil {
			t.Fatal(err)
		}
		calls := 0
		for more := true; more; calls++ {
			if calls > 2*len(w.pages) {
				t.Fatalf("%s: it never ends", format)
			}
			f.room, f.over = 1, false
			if more, err = s.Fill(callTo{t.Context(), f}); err != nil {
				t.Fatalf("%s: %v", format, err)
			}
		}
		if calls < len(w.pages) {
			t.Errorf("%s: %d pages in %d calls", format, len(w.pages), calls)
		}
		w.check(t, root, format)
		f.room, f.over = 0, false
		if _, err := s.Fill(callTo{t.Context(), f}); err != nil {
			t.Errorf("%s: once it is filled: %v", format, err)
		}
	}
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	w, root, r := newWorld(), t.TempDir(), rand.New(rand.NewPCG(10, 10))
	w.register("https://example.com/", r)
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT} {
		err := w.sender(t, root, export.HTML, func() error { return &fs.PathError{Op: "write", Path: "x", Err: full} }).Send(t.Context(), w.feed[0])
		var later *sink.Later
		if !errors.As(err, &later) || !strings.Contains(err.Error(), "is full") {
			t.Errorf("%v", err)
		}
	}
	if err := w.sender(t, root, export.HTML, nil).Send(t.Context(), w.feed[0]); err != nil {
		t.Fatal(err)
	}
	w.check(t, root, export.HTML)
}

// One process writes at a time; the other comes later.
func TestBusy(t *testing.T) {
	t.Parallel()
	w, root, r := newWorld(), t.TempDir(), rand.New(rand.NewPCG(11, 11))
	w.register("https://example.com/", r)
	tried := false
	err := w.sender(t, root, export.HTML, func() error {
		if tried || !w.opened(root) {
			return nil
		}
		tried = true
		err := w.sender(t, root, export.HTML, nil).Send(t.Context(), w.feed[0])
		var later *sink.Later
		if !errors.As(err, &later) {
			t.Errorf("a second one at the same time: %v", err)
		}
		return nil
	}).Send(t.Context(), w.feed[0])
	if err != nil || !tried {
		t.Fatal(err)
	}
	w.check(t, root, export.HTML)
}

// A page whose body is damaged is left out, as an export leaves it out, and does not keep
// the folder from the others. Once the body is back, so is the page.
func TestDamagedBody(t *testing.T) {
	t.Parallel()
	for _, format := range Formats() {
		t.Run(string(format), func(t *testing.T) {
			t.Parallel()
			w, root, r := newWorld(), t.TempDir(), rand.New(rand.NewPCG(12, 12))
			for n := range 7 {
				w.register(fmt.Sprintf("https://example.com/%d/", n), r)
			}
			s := w.sender(t, root, format, nil)
			if err := fill(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			told := len(w.feed)
			ids := slices.Sorted(maps.Keys(w.pages))
			w.change(ids[2], r)
			w.change(ids[4], r)
			w.register("https://example.com/new/", r)
			damaged := w.pages[ids[2]].Version.Digest
			body := w.Bodies[damaged]
			w.Bodies[damaged] = []byte("something else")
			for _, e := range w.feed[told:] {
				if err := s.Send(t.Context(), e); err != nil {
					t.Fatal(err)
				}
			}
			w.check(t, root, format)
			fresh := t.TempDir()
			if err := fill(t.Context(), w.sender(t, fresh, format, nil)); err != nil {
				t.Fatal(err)
			}
			w.check(t, fresh, format)
			w.Bodies[damaged] = body
			w.now = w.now.Add(lookMax)
			if err := fill(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			w.check(t, root, format)
		})
	}
}
