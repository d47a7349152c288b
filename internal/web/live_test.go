package web

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recrawl/internal/feed"
	"recrawl/internal/report"
	"recrawl/internal/store"
)

// counted is a store with one crawl, whose visits are counted. It counts the looks at it.
type counted struct {
	report.Store
	visits, looks int
	asked         int // also looks that failed
	fail          error
}

func (c *counted) Crawl(_ context.Context, name string) (store.CrawlRecord, error) {
	if name != "news" {
		return store.CrawlRecord{}, store.ErrNotFound
	}
	c.asked++
	return store.CrawlRecord{ID: 1}, c.fail
}

func (c *counted) Status(context.Context, int64) (store.StatusRecord, error) {
	c.looks++
	return store.StatusRecord{Visits: c.visits, Overdue: c.looks}, nil
}

func (c *counted) Care(context.Context, int64) (store.CareRecord, error) {
	return store.CareRecord{}, nil
}

// quietFeed is a feed in which nothing happens.
type quietFeed struct{ Feed }

func (quietFeed) FeedEnds(context.Context) (store.FeedEnds, error) {
	return store.FeedEnds{Newest: feed.Cursor{Epoch: "ab", ID: 7}}, nil
}

// standbyFeed is the feed of a standby.
type standbyFeed struct{ Feed }

func (standbyFeed) FeedEnds(context.Context) (store.FeedEnds, error) {
	return store.FeedEnds{}, store.ErrStandby
}

// TestMarkOfAStandby: the page of a standby is still kept up to date.
func TestMarkOfAStandby(t *testing.T) {
	t.Parallel()
	if text, err := markOf(t.Context(), &counted{}, standbyFeed{}, "news"); err != nil || text == "" {
		t.Errorf("%q, %v", text, err)
	}
}

// stream holds the events that a browser is sent.
type stream struct {
	*httptest.ResponseRecorder
	gone bool
}

func (s *stream) SetWriteDeadline(time.Time) error { return nil }

func (s *stream) FlushError() error {
	if s.gone {
		return errors.New("the browser has gone")
	}
	return nil
}

func (s *stream) marks() []string {
	var marks []string
	for line := range strings.Lines(s.Body.String()) {
		if mark, ok := strings.CutPrefix(line, "data: "); ok {
			marks = append(marks, mark)
		}
	}
	return marks
}

func liveServer(c *counted) *Server {
	return &Server{Options: Options{Report: report.Reporter{Store: c}, Feed: quietFeed{}, Log: slog.New(slog.DiscardHandler)}, pages: parsePages()}
}

func ask(ctx context.Context, s *Server, w http.ResponseWriter, name string) {
	r := httptest.NewRequest(http.MethodGet, "/crawls/"+name+"/live", nil).WithContext(ctx)
	r.SetPathValue("crawl", name)
	s.live(w, r)
}

// A browser is told once of each change, and not when only time has passed. Two browsers
// cost the store one look.
func TestLive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &counted{visits: 1}
		s := liveServer(c)
		ctx, leave := context.WithCancel(t.Context())
		one, other := &stream{ResponseRecorder: httptest.NewRecorder()}, &stream{ResponseRecorder: httptest.NewRecorder()}
		ended := make(chan struct{}, 2)
		for _, w := range []*stream{one, other} {
			go func() { ask(ctx, s, w, "news"); ended <- struct{}{} }()
		}
		synctest.Wait()
		if len(one.marks()) != 1 || len(other.marks()) != 1 || one.marks()[0] != other.marks()[0] || c.looks != 1 {
			t.Errorf("at first: %v and %v after %d looks", one.marks(), other.marks(), c.looks)
		}
		time.Sleep(5 * liveEvery)
		synctest.Wait()
		if len(one.marks()) != 1 || c.looks != 6 {
			t.Errorf("while nothing happens: %v after %d looks", one.marks(), c.looks)
		}
		c.visits++
		time.Sleep(2 * liveEvery)
		synctest.Wait()
		if marks := one.marks(); len(marks) != 2 || marks[0] == marks[1] || len(other.marks()) != 2 {
			t.Errorf("after a visit: %v and %v", marks, other.marks())
		}
		c.fail = store.ErrUnavailable
		time.Sleep(2 * liveIdle * liveEvery)
		c.fail = nil
		synctest.Wait()
		if !strings.HasSuffix(one.Body.String(), ": still here\n\n") || len(one.marks()) != 2 {
			t.Errorf("while the store is away:\n%s", one.Body)
		}
		c.visits++
		other.gone = true
		time.Sleep(2 * liveEvery)
		synctest.Wait()
		<-ended // the other
		if len(one.marks()) != 3 {
			t.Errorf("after the store is back: %v", one.marks())
		}
		leave()
		<-ended
	})
}

func TestLiveOfNoCrawl(t *testing.T) {
	t.Parallel()
	got := httptest.NewRecorder()
	ask(t.Context(), liveServer(&counted{}), got, "olds")
	if got.Code != http.StatusNotFound {
		t.Errorf("%d", got.Code)
	}
}

// A look that failed counts for all who waited for it, and is made anew after a second.
func TestFailedLookIsShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, m := &counted{fail: store.ErrUnavailable}, marks{}
		for range 3 {
			if _, err := m.of(t.Context(), c, quietFeed{}, "news"); !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("%v", err)
			}
		}
		if c.asked != 1 {
			t.Errorf("the store was asked %d times", c.asked)
		}
		time.Sleep(liveEvery / 2)
		c.fail = nil
		if text, err := m.of(t.Context(), c, quietFeed{}, "news"); err != nil || text == "" {
			t.Errorf("after the store is back: %q, %v", text, err)
		}
		// What ended only because one has left is no answer for others.
		time.Sleep(liveEvery / 2)
		gone, leave := context.WithCancel(t.Context())
		leave()
		c.fail = context.Canceled
		_, _ = m.of(gone, c, quietFeed{}, "news")
		c.fail = nil
		if _, err := m.of(t.Context(), c, quietFeed{}, "news"); err != nil {
			t.Errorf("after another has left: %v", err)
		}
	})
}
