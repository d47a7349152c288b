package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"recrawl/internal/archive"
	"recrawl/internal/archive/archivetest"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/store/storetest/crawltest"
)

// feedBackend is a backend with a real store and archive, in which crawl news has pages.
type feedBackend struct {
	*fakeBackend
	t    *testing.T
	made *crawltest.Crawl
	s    store.Store // of made
}

func newFeedBackend(t *testing.T) *feedBackend {
	t.Helper()
	made := crawltest.New(t, func(s *crawl.Spec) { *s = newsSpec() })
	return &feedBackend{fakeBackend: &fakeBackend{}, t: t, made: made, s: made.Store}
}

func (b *feedBackend) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *feedBackend) OpenStore(context.Context, string) (Opened, error) {
	return Opened{Store: b.s, Seeds: b.s, Visits: b.s, Feed: b.s, Closer: io.NopCloser(nil)}, nil
}

func (b *feedBackend) OpenArchive(context.Context, string) (archive.Store, error) {
	return b.made.Files, nil
}

// finds records a visit of a page that shows a text, and makes the page if it does not
// exist.
func (b *feedBackend) finds(url, text string) {
	b.t.Helper()
	ctx := b.t.Context()
	p, ok := b.made.Find(store.NewURL{URL: url})
	if !ok {
		b.t.Fatalf("%s is not taken", url)
	}
	digest := archivetest.Put(b.t, b.made.Files, []byte("<html><body><main><p>"+text+"</main>"))
	_, err := b.s.SaveVersion(ctx, store.SaveVersionParams{Version: store.VersionRecord{PageID: p.PageID, Visit: p.Visits + 1, Digest: digest, ContentType: "text/html", Title: "Title of " + text}})
	b.must(err)
	_, err = b.s.RecordVisit(ctx, store.RecordParams{Visit: store.VisitRecord{PageID: p.PageID, Visit: p.Visits + 1, Outcome: crawl.OutcomeChanged, State: crawl.Active, Status: 200}})
	b.must(err)
}

func (b *feedBackend) run(ctx context.Context, out io.Writer, args ...string) (int, string) {
	env := map[string]string{"RECRAWL_STORE": "sqlite:x.db", "RECRAWL_ARCHIVE": "files", "RECRAWL_DATA": b.t.TempDir()}
	var errOut bytes.Buffer
	code := Main(ctx, args, Env{
		Stdin: strings.NewReader(""), Stdout: out, Stderr: &errOut, Getenv: func(name string) string { return env[name] }, Backend: b,
	})
	return code, errOut.String()
}

// lines runs `starter changes` and returns its lines of JSON.
func (b *feedBackend) lines(args string) []changeLine {
	b.t.Helper()
	var out bytes.Buffer
	code, errOut := b.run(b.t.Context(), &out, append(strings.Fields("changes "+args), "--output", "json")...)
	if code != ExitOK {
		b.t.Fatalf("changes %s: %d, %s", args, code, errOut)
	}
	return decodeChanges(b.t, out.String())
}

type changeLine struct {
	V            int
	Kind, Cursor string
	Page         struct{ URL string }
	Version      struct{ Seq int }
	Diff         *struct {
		Added, Removed []string
	}
}

func decodeChanges(t *testing.T, out string) (lines []changeLine) {
	t.Helper()
	for line := range strings.Lines(out) {
		var l changeLine
		if err := json.Unmarshal([]byte(line), &l); err != nil || l.V != 1 {
			t.Fatalf("%v: %s", err, line)
		}
		lines = append(lines, l)
	}
	return lines
}

// said are kinds, pages and versions.
func said(lines []changeLine) string {
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "%s%s", l.Kind, strings.TrimPrefix(l.Page.URL, "https://example.com"))
		if l.Version.Seq > 0 {
			fmt.Fprint(&b, l.Version.Seq)
		}
		b.WriteByte(' ')
	}
	return strings.TrimSpace(b.String())
}

func TestChanges(t *testing.T) {
	t.Parallel()
	b := newFeedBackend(t)
	b.finds("https://example.com/a", "One thing")
	b.finds("https://example.com/b", "Another thing")
	first := b.lines("news --kinds page.*")
	if got, want := said(first), "page.new/a1 page.new/b1 cursor"; got != want {
		t.Fatalf("%s, want %s", got, want)
	}
	cursor := first[len(first)-1].Cursor
	b.finds("https://example.com/a", "Two things")
	for args, want := range map[string]string{
		"news --after " + cursor:                           "page.changed/a2 cursor",
		"--all --after " + cursor:                          "page.changed/a2 cursor",
		"news --since 1d --kinds page.new":                 "page.new/a1 page.new/b1 cursor",
		"news --since 2020-01-01 --kinds page.changed":     "page.changed/a2 cursor",
		"news --kinds page.new,page.changed --limit 2":     "page.new/a1 page.new/b1 cursor",
		"news --after now":                                 "cursor",
		"news --host elsewhere.test":                       "cursor",
		"news --host EXAMPLE.com --kinds page.*":           "page.new/a1 page.new/b1 page.changed/a2 cursor",
		"news --snapshot":                                  "snapshot/a2 snapshot/b1 cursor",
		"news --kinds page.new --after " + first[0].Cursor: "page.new/b1 cursor",
	} {
		if got := said(b.lines(args)); got != want {
			t.Errorf("changes %s: %s, want %s", args, got, want)
		}
	}
	limited := b.lines("news --kinds page.new --limit 1")
	if got := said(b.lines("news --after " + limited[1].Cursor + " --kinds page.new")); got != "page.new/b1 cursor" {
		t.Errorf("after the last line of a limited list: %s", got)
	}
	after := b.lines("news --snapshot")
	if got := said(b.lines("news --after " + after[2].Cursor)); got != "cursor" {
		t.Errorf("after a snapshot: %s", got)
	}
	if d := b.lines("news --kinds page.changed --diff")[0].Diff; d == nil || !slices.Equal(d.Added, []string{"Two things"}) || !slices.Equal(d.Removed, []string{"One thing"}) {
		t.Errorf("diff %+v", d)
	}
	var text bytes.Buffer
	if code, errOut := b.run(t.Context(), &text, strings.Fields("changes news --kinds page.* --diff")...); code != ExitOK {
		t.Fatal(code, errOut)
	}
	for _, want := range []string{"WHEN", "new", "changed: 2 words added, 2 removed", "Title of Two things", "    - One thing\n    + Two things\n", "what comes next: starter changes news --after c1."} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, text.String())
		}
	}
	text.Reset()
	if code, errOut := b.run(t.Context(), &text, strings.Fields("changes news --kinds page.gone")...); code != ExitOK || !strings.HasPrefix(text.String(), "no such changes\nwhat comes next: ") {
		t.Errorf("%d, %s%s", code, errOut, text.String())
	}
}

func TestChangesAsAtom(t *testing.T) {
	t.Parallel()
	b := newFeedBackend(t)
	for i := range 5 {
		b.finds("https://example.com/a", fmt.Sprintf("Text %d of this", i))
	}
	var out bytes.Buffer
	code, errOut := b.run(t.Context(), &out, strings.Fields("changes news --format atom --limit 2 --diff --kinds page.*")...)
	if code != ExitOK || strings.Count(out.String(), "<entry>") != 2 || !strings.Contains(out.String(), "+ Text 4 of this") || !strings.Contains(out.String(), "- Text 2 of this") ||
		strings.Contains(out.String(), "+ Text 2 of this") || !strings.HasPrefix(out.String(), "<?xml") {
		t.Errorf("%d, %s\n%s", code, errOut, out.String())
	}
}

// Feeds that choose differently are different feeds to news readers.
func TestAtomFeedsThatChoose(t *testing.T) {
	t.Parallel()
	b := newFeedBackend(t)
	b.finds("https://example.com/a", "Text of this")
	id := func(args string) string {
		t.Helper()
		var out bytes.Buffer
		if code, errOut := b.run(t.Context(), &out, strings.Fields("changes news --format atom "+args)...); code != ExitOK {
			t.Fatalf("%s: %d, %s", args, code, errOut)
		}
		_, rest, _ := strings.Cut(out.String(), "<id>")
		id, _, _ := strings.Cut(rest, "</id>")
		return id
	}
	all := map[string]string{}
	for _, args := range []string{"", "--kinds page.new", "--kinds page.new,page.gone", "--host example.com"} {
		if other, was := all[id(args)]; was {
			t.Errorf("%q has the id of %q", args, other)
		}
		all[id(args)] = args
	}
	if id("--kinds page.gone --kinds page.new") != id("--kinds page.new,page.gone") || id("--host https://Example.com/") != id("--host example.com") {
		t.Error("the same choice has two ids")
	}
	if got, want := id("--limit 1"), id(""); got != want {
		t.Errorf("the length makes another feed: %s, %s", got, want)
	}
}

func TestChangesMistakes(t *testing.T) {
	t.Parallel()
	b := newFeedBackend(t)
	b.finds("https://example.com/a", "One thing")
	cursor := b.lines("news")[0].Cursor
	epoch := strings.Split(cursor, ".")[1]
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"news --after c1." + epoch + ".99999", ExitGone, "starter: the cursor is newer than the newest change, so it is from another store: take a snapshot"},
		{"news --after c1.0123456789abcdef.1", ExitGone, "starter: the cursor is from before the store was restored, or from another store: take a snapshot"},
		{"news --follow --after c1.0123456789abcdef.1", ExitGone, "take a snapshot and follow from its cursor (starter changes NAME --snapshot)"},
		{"news --after yesterday", ExitUsage, `--after: "yesterday" is not a cursor`},
		{"news --since yesterday", ExitUsage, "--since yesterday: write a date (2026-03-01), a time"},
		{"news --since 7d --after " + cursor, ExitUsage, "--since"},
		{"news --snapshot --after " + cursor, ExitUsage, "--snapshot"},
		{"news --kinds page.newest", ExitUsage, `--kinds "page.newest" is no kind of change: use page.new, page.changed,`},
		{"news --snapshot --kinds page.new", ExitUsage, "--snapshot with --kinds"},
		{"news --format rss", ExitUsage, "--format must be one of"},
		{"news --format atom --follow", ExitUsage, "leave out --follow and --snapshot"},
		{"news --format atom --output json", ExitUsage, "give either --format atom, or --output json"},
		{"", ExitUsage, "give the NAME of a crawl, or --all"},
		{"news --all", ExitUsage, "give either the NAME"},
		{"nope", ExitNotFound, `there is no crawl "nope"`},
	} {
		var out bytes.Buffer
		code, errOut := b.run(t.Context(), &out, strings.Fields("changes "+c.args)...)
		if code != c.code || out.Len() > 0 {
			t.Errorf("changes %s: %d, want %d; %s", c.args, code, c.code, out.String())
		}
		checkLine(t, errOut, c.want)
	}
}

func TestChangesThatAreNotKept(t *testing.T) {
	t.Parallel()
	b := newFeedBackend(t)
	b.finds("https://example.com/a", "One thing")
	cursor := b.lines("news")[0].Cursor
	b.finds("https://example.com/b", "Another thing")
	now, err := b.s.Now(t.Context())
	b.must(err)
	_, err = b.s.TrimChanges(t.Context(), now.Add(time.Hour), 1000)
	b.must(err)
	for args, want := range map[string]string{
		"news --after " + cursor: "starter: the cursor is older than the changes that are kept: take a snapshot",
		"news --since 1d":        "starter: --since 1d: some of the changes since then are no longer kept: leave --since out",
	} {
		var out bytes.Buffer
		if code, errOut := b.run(t.Context(), &out, strings.Fields("changes "+args)...); code != ExitGone || out.Len() > 0 || !strings.HasPrefix(errOut, want) {
			t.Errorf("changes %s: %d, %s%s", args, code, errOut, out.String())
		}
	}
	if got := said(b.lines("news --snapshot")); got != "snapshot/a1 snapshot/b1 cursor" {
		t.Errorf("a snapshot: %s", got)
	}
	if got := said(b.lines("news")); got != "cursor" {
		t.Errorf("all that is kept: %s", got)
	}
}

// told is a command's output so far, in whole writes.
type told struct {
	mu     sync.Mutex
	text   bytes.Buffer
	wrote  chan struct{}
	broken bool // a write did not end with a line
}

func (o *told) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.broken = o.broken || !bytes.HasSuffix(p, []byte("\n"))
	n, err := o.text.Write(p)
	select {
	case o.wrote <- struct{}{}:
	default:
	}
	return n, err
}

func (o *told) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// A follower reports new changes, and ends cleanly when it is told to, with the cursor
// from which to go on.
func TestFollowChanges(t *testing.T) {
	t.Parallel()
	b := newFeedBackend(t)
	b.finds("https://example.com/a", "One thing")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &told{wrote: make(chan struct{}, 1)}
	ended := make(chan string, 1)
	go func() {
		code, errOut := b.run(ctx, out, "changes", "news", "--snapshot", "--follow", "--output", "json")
		ended <- fmt.Sprintf("%d %s", code, errOut)
	}()
	await := func(want string) {
		t.Helper()
		for said(decodeChanges(t, out.String())) != want {
			select {
			case <-out.wrote:
			case end := <-ended:
				t.Fatalf("it ended: %s", end)
			case <-t.Context().Done():
				t.Fatalf("%s, want %s", out, want)
			}
		}
	}
	await("snapshot/a1 cursor")
	b.finds("https://example.com/b", "Another thing")
	await("snapshot/a1 cursor page.new/b1")
	cancel()
	if end := <-ended; end != "0 " {
		t.Errorf("it ended with %q", end)
	}
	lines := decodeChanges(t, out.String())
	if got := said(lines); got != "snapshot/a1 cursor page.new/b1 cursor" || out.broken {
		t.Errorf("%s, broken %v", got, out.broken)
	}
	if last := lines[len(lines)-1].Cursor; said(b.lines("news --after "+last)) != "cursor" {
		t.Error("the last cursor is not behind what was said")
	}
}

// cutOff is an output after whose first write the command is interrupted.
type cutOff struct {
	bytes.Buffer
	cut func()
}

func (o *cutOff) Write(p []byte) (int, error) {
	o.cut()
	return o.Buffer.Write(p)
}

// Who reads half a snapshot must not take it for a whole one.
func TestInterruptedSnapshot(t *testing.T) {
	t.Parallel()
	b := newFeedBackend(t)
	b.finds("https://example.com/a", "One thing")
	ctx, cancel := context.WithCancel(t.Context())
	out := &cutOff{cut: cancel}
	code, errOut := b.run(ctx, out, "changes", "news", "--snapshot", "--output", "json")
	if got := said(decodeChanges(t, out.String())); code != ExitFailed || !strings.HasPrefix(errOut, "starter: interrupted: ") || got != "snapshot/a1" {
		t.Errorf("exit %d, %q after %s", code, errOut, got)
	}
}
