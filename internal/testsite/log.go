package testsite

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"recrawl/internal/crawl"
)

// Request is one line of the log: a request as the site saw it, with what the
// site asked of the client, so that the log can be judged alone.
type Request struct {
	Begin time.Time `json:"begin"`
	// End is never later than the client can have seen the end of the answer; zero
	// while the request runs.
	End  time.Time `json:"end,omitzero"`
	Host string    `json:"host"` // without the port
	Path string    `json:"path"` // with the query
	// Status is 0 if there was no answer.
	Status          int    `json:"status"`
	IfNoneMatch     string `json:"if_none_match,omitempty"`
	IfModifiedSince string `json:"if_modified_since,omitempty"`
	UserAgent       string `json:"user_agent"`
	// Edition is the number of changes of the main text before the answer.
	Edition int `json:"edition,omitempty"`
	// RetryAfter is the answer's.
	RetryAfter crawl.Duration `json:"retry_after,omitzero"`
	// CrawlDelay is that of the host's robots.txt.
	CrawlDelay crawl.Duration `json:"crawl_delay,omitzero"`
	// Forbidden: the host's robots.txt forbids the path.
	Forbidden bool `json:"forbidden,omitempty"`
}

// journal collects requests.
type journal struct {
	limit int
	now   func() time.Time

	mu      sync.Mutex
	entries []*Request
	// clientLimit is the client's time limit for a request; 0 if it is not known.
	clientLimit time.Duration
}

// begin records a request. Its time is taken under the lock, so the log is in the order of
// the begins.
func (j *journal) begin(r Request) *Request {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.entries) >= j.limit+j.limit/4+1 {
		j.entries = append([]*Request(nil), j.entries[len(j.entries)-j.limit:]...)
	}
	r.Begin = j.now()
	j.entries = append(j.entries, &r)
	return &r
}

// end completes the entry of a request, which the client may have given up. A busy machine
// notices that late, and the client may have sent its next request by then. So the entry
// ends well before the time limit at which the client gives up.
func (j *journal) end(entry *Request, a *answer, givenUp bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	entry.Status, entry.Edition, entry.RetryAfter = a.status, a.edition, crawl.Duration(a.retryAfter)
	entry.End = a.lastWrite
	if entry.End.IsZero() {
		entry.End = j.now()
	}
	if early := entry.Begin.Add(j.clientLimit / 2); givenUp && j.clientLimit > 0 && early.Before(entry.End) {
		entry.End = early
	}
}

func (j *journal) requests() []Request {
	j.mu.Lock()
	defer j.mu.Unlock()
	log := make([]Request, len(j.entries))
	for i, entry := range j.entries {
		log[i] = *entry
	}
	return log
}

// WriteLog writes a log as JSON Lines.
func WriteLog(w io.Writer, log []Request) error { return writeLines(w, log) }

func writeLines[T any](w io.Writer, lines []T) error {
	enc := json.NewEncoder(w)
	for _, line := range lines {
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

// ReadLog reads a log that WriteLog wrote.
func ReadLog(r io.Reader) ([]Request, error) {
	var log []Request
	dec := json.NewDecoder(r)
	for {
		var line Request
		if err := dec.Decode(&line); errors.Is(err, io.EOF) {
			return log, nil
		} else if err != nil {
			return nil, fmt.Errorf("testsite: log: %w", err)
		}
		log = append(log, line)
	}
}
