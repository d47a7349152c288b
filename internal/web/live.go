package web

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"recrawl/internal/report"
)

// A page that is open is told when what it shows has changed (server-sent events), and then
// fetches itself. What is sent is a mark, which says nothing but that it is another one.
const (
	// liveEvery is the time between two looks.
	liveEvery = 2 * time.Second
	// liveWrite is how long a browser may take to read what it is sent.
	liveWrite = 10 * time.Second
	// liveIdle is after how many looks without a change a browser is sent something, so that
	// neither it nor what stands between thinks that we are gone.
	liveIdle = 10
)

// live tells a browser when the crawl has changed, until it leaves.
func (s *Server) live(w http.ResponseWriter, r *http.Request) {
	ctx, name := r.Context(), r.PathValue("crawl")
	mark, err := s.marks.of(ctx, s.Report, name)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
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
		if now, err := s.marks.of(ctx, s.Report, name); err == nil {
			mark = now
		}
	}
}

// marks are what open pages are told, found out once for all that look at the same crawl.
type marks struct {
	mu    sync.Mutex
	known map[string]mark
}

type mark struct {
	text string
	at   time.Time
}

// of is the mark of a crawl: another one whenever its status is another.
func (m *marks) of(ctx context.Context, r report.Reporter, name string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known, ok := m.known[name]; ok && time.Since(known.at) < liveEvery/2 {
		return known.text, nil
	}
	line, err := r.StatusOf(ctx, name)
	if err != nil {
		delete(m.known, name)
		return "", err
	}
	line.Now, line.Lag = line.CreatedAt, 0 // they change by themselves
	text, err := json.Marshal(line)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	if m.known == nil {
		m.known = map[string]mark{}
	}
	found := mark{base64.RawURLEncoding.EncodeToString(sum[:12]), time.Now()}
	m.known[name] = found
	return found.text, nil
}
