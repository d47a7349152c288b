package maintain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

var errCutOff = errors.New("cut off")

// holdings is everything about a host's pages, in the store, in Temporal, in the archive
// and in the files of both databases, and the calls that removed it. A step that comes
// too early fails the test.
type holdings struct {
	t     *testing.T
	calls []string

	// failAt is the number of the call that fails, counted from 1: before it has done
	// anything or, with late, when it has.
	failAt int
	late   bool

	pages     []int64 // rows
	workflows map[int64]bool
	starting  []int64 // workflows that are started while rows are being removed
	histories bool    // of others, that name the pages
	mentioned int     // the page ids up to which others' records name the pages
	naming    bool    // so do the histories of these others
	contents  int     // that no version has
	claimed   int     // of others
	storeFile bool    // deleted data can be read in it
	server    bool    // likewise
	begun     bool    // the crawl is to be deleted
	row       bool    // the crawl's
	index     bool    // it is in the search index
}

func newHoldings(t *testing.T) *holdings {
	t.Helper()
	h := &holdings{t: t, workflows: map[int64]bool{}, histories: true, naming: true, storeFile: true, server: true, row: true, index: true, mentioned: 2 * mentionsBatch}
	for id := range int64(takedownBatch + 3) {
		h.pages = append(h.pages, id+1)
		h.workflows[id+1] = true
	}
	h.starting = []int64{2, takedownBatch + 1}
	return h
}

// step does something, unless it is the call that is cut off.
func (h *holdings) step(name string, do func()) error {
	h.calls = append(h.calls, name)
	cut := len(h.calls) == h.failAt
	if !cut || h.late {
		do()
	}
	if cut {
		return errCutOff
	}
	return nil
}

func (h *holdings) must(ok bool, what string) {
	h.t.Helper()
	if !ok {
		h.t.Errorf("%s, after %s", what, strings.Join(h.calls, ", "))
	}
}

func (h *holdings) Forget(_ context.Context, p store.ForgetParams) (res store.ForgetResult, err error) {
	for _, id := range h.pages {
		if id <= p.After || len(res.Pages) == p.Limit {
			continue
		}
		res.Pages = append(res.Pages, crawl.PageRef{PageID: id})
	}
	res.More = len(h.pages) > p.Limit
	if p.Dry {
		return res, h.step("list pages", func() {})
	}
	return res, h.step("rows", func() { h.removeRows(len(res.Pages)) })
}

func (h *holdings) ForgetMentions(ctx context.Context, _ store.Target, after int64, limit int, before func(context.Context, []crawl.PageRef) error) (int64, bool, error) {
	h.must(len(h.pages) == 0, "mentions are looked for too early")
	last := int(after)+limit >= h.mentioned
	if h.mentioned > 0 {
		if err := before(ctx, []crawl.PageRef{{PageID: after + 7}, {PageID: after + 8}}); err != nil {
			return after, true, err
		}
	}
	return after + int64(limit), !last, h.step("mentions", func() {
		if last {
			h.must(h.mentioned == 0 || !h.naming, "the records of who named the pages go before their histories")
			h.mentioned = 0
		}
	})
}

func (h *holdings) Naming(_ context.Context, pages []crawl.PageRef) ([]string, error) {
	return []string{fmt.Sprintf("page/%d", pages[0].PageID)}, h.step("histories of others", func() {
		if int(pages[0].PageID) > h.mentioned-mentionsBatch {
			h.naming = false
		}
	})
}

func (h *holdings) removeRows(n int) {
	for _, id := range h.pages[:n] {
		h.must(!h.workflows[id], fmt.Sprintf("the row of page %d goes before its workflow", id))
		if slices.Contains(h.starting, id) {
			h.workflows[id] = true
		}
	}
	h.pages = h.pages[n:]
	h.contents += n
}

func (h *holdings) Pages(_ context.Context, pages []crawl.PageRef) (n int, err error) {
	return len(pages), h.step("workflows", func() {
		for _, p := range pages {
			delete(h.workflows, p.PageID)
		}
	})
}

func (h *holdings) ListCrawls(context.Context) ([]store.CrawlRecord, error) {
	return []store.CrawlRecord{{Spec: crawl.Spec{Name: "news", Seeds: []string{"http://old.example/", "http://new.example/"}}}}, h.step("list crawls", func() {})
}

func (h *holdings) Finish(_ context.Context, crawls []string) ([]string, error) {
	h.must(slices.Equal(crawls, []string{"news"}) && len(h.pages) == 0, "histories are looked for too early")
	return []string{"crawl/news", "sink/news/team"}, h.step("histories", func() { h.histories = false })
}

func (h *holdings) Retention(context.Context) (time.Duration, error) {
	return 72 * time.Hour, h.step("retention", func() {})
}

func (h *holdings) sweep(context.Context) (int, error) {
	n := min(h.contents, contentsAtOnce)
	return n, h.step("contents", func() {
		h.must(len(h.pages) == 0, "contents go before the rows of all pages")
		h.contents -= n
	})
}

// contentsAtOnce is how many contents holdings sweeps.
const contentsAtOnce = 300

func (h *holdings) Waiting(context.Context) (int, error) {
	return h.contents + h.claimed, h.step("waiting", func() {})
}

func (h *holdings) Erase(_ context.Context, p store.EraseParams) error {
	return h.step("store's file", func() {
		h.must(len(h.pages) == 0 && h.mentioned == 0 && h.contents == 0 && !h.histories && p.Rewrite, "the store's file is erased too early")
		h.storeFile = false
	})
}

func (h *holdings) eraseServer(context.Context) error {
	return h.step("server's file", func() {
		h.must(!h.storeFile && !h.histories, "the server's file is erased too early")
		h.server = false
	})
}

func (h *holdings) takedown() Takedown {
	return Takedown{
		Target: store.Target{Host: "old.example"}, Store: h, Workflows: h, Sweep: h.sweep, EraseServer: h.eraseServer,
		OneFile: true, Rewrite: true, Of: len(h.pages), Progress: func(TakedownProgress) {},
	}
}

// again continues interrupted work: a new process, which knows nothing of it.
func (h *holdings) again() { h.calls, h.failAt = nil, 0 }

// gone fails the test unless nothing is left that a takedown removes.
func (h *holdings) gone() {
	h.t.Helper()
	if len(h.pages) > 0 || h.contents > 0 || h.histories || h.naming || h.storeFile || h.server {
		h.t.Errorf("left: %d pages, %d contents, histories %t, those of others %t, store's file %t, server's file %t", len(h.pages), h.contents, h.histories, h.naming, h.storeFile, h.server)
	}
}

// Each batch's workflows end before its rows are removed, and once more after them;
// bytes are removed after all rows, and the files of the databases are cleaned last, the
// server's at the very end.
func TestATakedownsOrder(t *testing.T) {
	t.Parallel()
	h := newHoldings(t)
	done, err := h.takedown().Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h.gone()
	if len(h.workflows) > 0 {
		t.Errorf("workflows of %v are left", h.workflows)
	}
	want := "list pages, workflows, rows, workflows, list pages, workflows, rows, workflows, " +
		"histories of others, mentions, histories of others, mentions, contents, waiting, list crawls, histories, retention, store's file, server's file"
	if got := strings.Join(slices.Compact(h.calls), ", "); got != want {
		t.Errorf("order\n%s, want\n%s", got, want)
	}
	const n = takedownBatch + 3
	if done.Pages != n || done.Contents != n || done.Workflows != 2*n {
		t.Errorf("removed %+v", done)
	}
	left := strings.Join(done.Left, "\n")
	for _, text := range []string{"discards its body when it ends", "run starter archive gc in a day", "crawl news still names the seed http://old.example/", "the history of crawl/news still names it", "the history of sink/news/team still names it, in an answer of its receiver", "2 of them, such as that of page/10007", "3d"} {
		if !strings.Contains(left, text) {
			t.Errorf("%q is not in what is said to be left:\n%s", text, left)
		}
	}
	if strings.Contains(left, "new.example") {
		t.Errorf("said to be left:\n%s", left)
	}
}

// At whatever call a takedown is cut off, before or after its effect, the same
// command goes on to the end, in the order that holdings insists on.
func TestATakedownGoesOn(t *testing.T) {
	t.Parallel()
	takedown := func(t *testing.T, h *holdings) error {
		_, err := h.takedown().Run(t.Context())
		return err
	}
	cutOffAtEachCall(t, takedown, func(t *testing.T, h *holdings) {
		h.again()
		if err := takedown(t, h); err != nil {
			t.Fatal(err)
		}
		h.gone()
		// A workflow that was started while rows were removed, and whose second end was
		// cut off, finds out by itself that its page is gone.
		for id := range h.workflows {
			if !slices.Contains(h.starting, id) {
				t.Errorf("the workflow of page %d is left", id)
			}
		}
	})
}

// cutOffAtEachCall runs a test once for each call, before or after the call's effect: the
// call fails, the run fails with it and makes no other call, and then check runs.
func cutOffAtEachCall(t *testing.T, run func(*testing.T, *holdings) error, check func(*testing.T, *holdings)) {
	t.Helper()
	whole := newHoldings(t)
	if err := run(t, whole); err != nil {
		t.Fatal(err)
	}
	for at := range len(whole.calls) {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d %s late=%t", at+1, whole.calls[at], late), func(t *testing.T) {
				t.Parallel()
				h := newHoldings(t)
				h.failAt, h.late = at+1, late
				if err := run(t, h); !errors.Is(err, errCutOff) {
					t.Fatalf("cut off: %v", err)
				}
				if len(h.calls) != at+1 {
					t.Errorf("it goes on with %v after what failed", h.calls[at+1:])
				}
				check(t, h)
			})
		}
	}
}

// The answer names the remains on disk, and says that the pages are forgotten.
func TestATakedownSaysHowFarItCame(t *testing.T) {
	t.Parallel()
	h := newHoldings(t)
	takedown := h.takedown()
	takedown.EraseServer = func(context.Context) error { return errCutOff }
	done, err := takedown.Run(t.Context())
	if !errors.Is(err, errCutOff) || !strings.Contains(err.Error(), "503 pages are forgotten") || done.Pages != 503 {
		t.Errorf("%+v: %v", done, err)
	}
}

// The remains that a takedown may not or cannot remove depend on where the databases
// are.
func TestWhatATakedownLeaves(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		oneFile, rewrite, server bool
		want                     []string
	}{
		"all at hand":    {true, true, true, nil},
		"not rewritten":  {true, false, true, []string{"unused parts of the store's file"}},
		"Postgres":       {false, false, false, []string{"unused parts of the store's tables", "the database of that Temporal server"}},
		"both rewritten": {false, true, false, []string{"Postgres' write-ahead log", "the database of that Temporal server"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			takedown := Takedown{
				Store: bare{}, Workflows: bare{}, Sweep: bare{}.Waiting, OneFile: c.oneFile, Rewrite: c.rewrite,
				Progress: func(TakedownProgress) {},
			}
			if c.server {
				takedown.EraseServer = func(context.Context) error { return nil }
			}
			done, err := takedown.Run(t.Context())
			if err != nil || len(done.Left) != len(c.want) {
				t.Fatalf("left %q: %v", done.Left, err)
			}
			for i, start := range c.want {
				if !strings.HasPrefix(done.Left[i], start) {
					t.Errorf("left %q, want %q", done.Left[i], start)
				}
			}
		})
	}
}

// bare is a store and a Temporal without any trace of the target.
type bare struct{}

func (bare) Forget(context.Context, store.ForgetParams) (store.ForgetResult, error) {
	return store.ForgetResult{}, nil
}

func (bare) ForgetMentions(context.Context, store.Target, int64, int, func(context.Context, []crawl.PageRef) error) (int64, bool, error) {
	return 0, false, nil
}
func (bare) Naming(context.Context, []crawl.PageRef) ([]string, error)    { return nil, nil }
func (bare) Erase(context.Context, store.EraseParams) error               { return nil }
func (bare) ListCrawls(context.Context) ([]store.CrawlRecord, error)      { return nil, nil }
func (bare) Waiting(context.Context) (int, error)                         { return 0, nil }
func (bare) Pages(context.Context, []crawl.PageRef) (int, error)          { return 0, nil }
func (bare) Finish(context.Context, []string) (running []string, e error) { return nil, nil }
func (bare) Retention(context.Context) (time.Duration, error)             { return 0, nil }

// Contents that others have claimed are waited for, a little, and then left to them.
func TestClaimsOfOthers(t *testing.T) {
	t.Parallel()
	for name, stays := range map[string]bool{"end in time": false, "stay": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newHoldings(t)
				h.claimed = 4
				began := time.Now()
				takedown := h.takedown()
				takedown.Sweep = func(ctx context.Context) (int, error) {
					if !stays && time.Since(began) > claimsPatience/2 {
						h.claimed = 0
					}
					return h.sweep(ctx)
				}
				done, err := takedown.Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				waited, left := time.Since(began), strings.Contains(strings.Join(done.Left, "\n"), "4 contents are claimed")
				if left != stays || stays != (waited > claimsPatience) || waited > claimsPatience+2*claimsPause {
					t.Errorf("waited %s, left %q", waited, done.Left)
				}
			})
		})
	}
}

func TestCountTarget(t *testing.T) {
	t.Parallel()
	h := newHoldings(t)
	h.pages = append(h.pages, takedownBatch+10, takedownBatch+11)
	if n, err := CountTarget(t.Context(), h, store.Target{Host: "old.example"}); err != nil || n != takedownBatch+5 {
		t.Errorf("%d pages: %v", n, err)
	}
}

func (h *holdings) BeginDelete(_ context.Context, name string) (store.CrawlRecord, error) {
	if !h.row {
		return store.CrawlRecord{}, store.ErrNotFound
	}
	return store.CrawlRecord{ID: 7, Spec: crawl.Spec{Name: name}}, h.step("begin", func() { h.begun = true })
}

func (h *holdings) DeleteCrawl(_ context.Context, p store.DeleteParams) (res store.DeleteResult, err error) {
	h.must(h.begun && p.CrawlID == 7, "rows of a crawl that may be started")
	n := min(len(h.pages), takedownBatch)
	done := n == len(h.pages)
	step := "rows"
	if !p.KeepRow {
		step = "row"
		h.must(!h.index && (h.contents == 0 || p.KeepContents), "the crawl's row goes too early")
	}
	return store.DeleteResult{Pages: n, Done: done}, h.step(step, func() {
		h.removeRows(n)
		h.row = !done || p.KeepRow
	})
}

func (h *holdings) endAll(_ context.Context, _ string, progress func(int)) (int, error) {
	h.must(h.begun, "workflows of a crawl that may be started")
	n := len(h.workflows)
	return n, h.step("workflows", func() {
		progress(n)
		clear(h.workflows)
	})
}

func (h *holdings) dropIndex(_ context.Context, crawlID int64) error {
	h.must(h.begun && crawlID == 7 && len(h.pages) == 0, "a sink may fill the index again")
	return h.step("index", func() { h.index = false })
}

func (h *holdings) deletion() Deletion {
	return Deletion{Crawl: "news", Store: h, EndWorkflows: h.endAll, Sweep: h.sweep, DropIndex: h.dropIndex, Of: len(h.pages), Progress: func(TakedownProgress) {}}
}

// The store first marks a crawl as being deleted; then its workflows are removed, its
// rows, those workflows that were started meanwhile, its bytes, its part of the index, and last its own row.
func TestADeletionsOrder(t *testing.T) {
	t.Parallel()
	h := newHoldings(t)
	var shown []string
	d := h.deletion()
	d.Progress = func(p TakedownProgress) { shown = append(shown, fmt.Sprintf("%s: %d of %d", p.Doing, p.Pages, p.Of)) }
	done, err := d.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := "begin, workflows, rows, rows, workflows, contents, contents, contents, waiting, index, row"
	if got := strings.Join(h.calls, ", "); got != want {
		t.Errorf("order\n%s, want\n%s", got, want)
	}
	const n = takedownBatch + 3
	if done.Pages != n || done.Contents != n || done.Workflows != n+2 || len(h.workflows) > 0 || h.row {
		t.Errorf("removed %+v; %d workflows are left, the crawl's row %t", done, len(h.workflows), h.row)
	}
	wantShown := []string{
		"ending workflows: 0 of 503", "ending workflows (503): 0 of 503", "deleting pages: 0 of 503", "deleting pages: 500 of 503",
		"ending workflows: 503 of 503", "ending workflows (505): 503 of 503",
		"deleting contents: 503 of 503", "deleting contents (300): 503 of 503", "deleting contents (503): 503 of 503", "deleting pages: 503 of 503",
	}
	if !slices.Equal(shown, wantShown) {
		t.Errorf("shown %q", shown)
	}
}

func TestADeletionMayKeepTheBytes(t *testing.T) {
	t.Parallel()
	h := newHoldings(t)
	d := h.deletion()
	d.Sweep = nil
	if done, err := d.Run(t.Context()); err != nil || done.Contents != 0 || h.contents != takedownBatch+3 {
		t.Errorf("removed %+v, %d contents are left: %v", done, h.contents, err)
	}
}

// At whatever call a deletion is cut off, the same command goes on to the end. Once the
// crawl's row is gone there is no such crawl, and nothing is left of it.
func TestADeletionGoesOn(t *testing.T) {
	t.Parallel()
	deletion := func(t *testing.T, h *holdings) error {
		_, err := h.deletion().Run(t.Context())
		return err
	}
	cutOffAtEachCall(t, deletion, func(t *testing.T, h *holdings) {
		rowsWereGone := !h.row
		h.again()
		err := deletion(t, h)
		if len(h.pages) > 0 || h.row {
			t.Errorf("left: %d pages, row %t", len(h.pages), h.row)
		}
		if rowsWereGone {
			if !errors.Is(err, store.ErrNotFound) {
				t.Errorf("there is no such crawl: %v", err)
			}
			err = nil
		}
		if err != nil || h.index || h.contents > 0 || len(h.workflows) > 0 {
			t.Errorf("left: %d contents, workflows %v: %v", h.contents, h.workflows, err)
		}
	})
}
