package web

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"recrawl/internal/report"
	"recrawl/internal/store"
)

// An open page is told by server-sent events when its contents have changed, and then
// fetches itself. The events carry only a mark, which is different after each change.
const (
	// liveEvery is the time between two looks.
	liveEvery = 2 * time.Second
	// liveWrite is how long a browser may take to read an event.
	liveWrite = 10 * time.Second
	// liveIdle is the number of looks without a change after which a browser is sent
	// something, so that neither it nor a proxy takes the connection for dead.
	liveIdle = 10
	// markLimit is how long a look may take.
	markLimit = 5 * time.Second
)

// live tells a browser when the crawl has changed, until it leaves.
func (s *Server) live(w http.ResponseWriter, r *http.Request) {
	ctx, name := r.Context(), r.PathValue("crawl")
	mark, err := s.mark(ctx, name)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	if r.Method == http.MethodHead {
		return // there is nothing to wait for
	}
	out := http.NewResponseController(w)
	send := func(text string) error {
		if err := out.SetWriteDeadline(time.Now().Add(liveWrite)); err != nil {
			return err
		}
		if _, err := fmt.Fprint(w, text); err != nil {
			return err
		}
		return out.Flush()
	}
	ticker := time.NewTicker(liveEvery)
	defer ticker.Stop()
	sent, quiet := "", 0
	for {
		text := ""
		if quiet++; mark != sent {
			text, sent = "event: mark\ndata: "+mark+"\n\n", mark
		} else if quiet >= liveIdle {
			text = ": still here\n\n"
		}
		if text != "" {
			quiet = 0
			if err := send(text); err != nil {
				return // the browser has gone
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		// A store that does not answer now may do so next time.
		if now, err := s.mark(ctx, name); err == nil {
			mark = now
		}
	}
}

// mark is the mark of a crawl and of the long commands that people gave it.
func (s *Server) mark(ctx context.Context, name string) (string, error) {
	mark, err := s.marks.of(ctx, s.Report.Store, s.Feed, name)
	if doing := s.doing(name); len(doing) > 0 {
		sum := sha256.Sum256([]byte(strings.Join(doing, "\n")))
		mark += "." + base64.RawURLEncoding.EncodeToString(sum[:6])
	}
	return mark, err
}

// marks keeps the marks that open pages are sent, read once for all pages that show the
// same crawl.
type marks struct {
	mu    sync.Mutex
	known map[string]mark
}

type mark struct {
	text string
	err  error // of a look that failed
	at   time.Time
}

// of returns the mark of a crawl, which changes whenever something happens to the crawl,
// but not with time alone.
func (m *marks) of(ctx context.Context, r report.Store, f Feed, name string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known, ok := m.known[name]; ok && time.Since(known.at) < liveEvery/2 {
		return known.text, known.err
	}
	look, cancel := context.WithTimeout(ctx, markLimit) // others wait for it
	defer cancel()
	text, err := markOf(look, r, f, name)
	if errors.Is(err, store.ErrNotFound) || ctx.Err() != nil {
		delete(m.known, name)
		return "", err
	}
	if m.known == nil {
		m.known = map[string]mark{}
	}
	// A failure is kept too, so that those who waited do not each wait for one of their own.
	m.known[name] = mark{text, err, time.Now()}
	return text, err
}

func markOf(ctx context.Context, r report.Store, f Feed, name string) (string, error) {
	record, err := r.Crawl(ctx, name)
	if err != nil {
		return "", err
	}
	status, err := r.Status(ctx, record.ID)
	if err != nil {
		return "", err
	}
	care, err := r.Care(ctx, record.ID)
	if err != nil {
		return "", err
	}
	ends, err := f.FeedEnds(ctx)
	if err != nil && !errors.Is(err, store.ErrStandby) {
		return "", err
	}
	sum := sha256.New()
	for _, part := range []any{record.State, record.Generation, status.Pages, status.Visits, status.Waiting, status.Backoff, care.Troubles, ends.Newest} {
		fmt.Fprintln(sum, part) // maps are printed in the order of their keys
	}
	return base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:12]), nil
}
