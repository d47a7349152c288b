package webhook

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
	"recrawl/internal/sink"
)

const (
	// maxSaid bounds the bytes of an answer that a problem quotes, maxProblem those of
	// other problems.
	maxSaid    = 200
	maxProblem = 400
	// maxAfter is the longest wait that a receiver can ask for: with more, a slip of its
	// own would silence the sink for ever.
	maxAfter = 24 * time.Hour
	// gone is the code of a sink that is paused because nobody wants its messages.
	gone = "gone"
)

// answer is the answer of a receiver.
type answer struct {
	status     int
	retryAfter string
	body       []byte
}

// said reads the head of an answer's body, for a short time.
func said(resp *http.Response, patience time.Duration, cancel context.CancelFunc) []byte {
	defer resp.Body.Close()
	timer := time.AfterFunc(patience, cancel)
	defer timer.Stop()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer)) // its status is the answer, whatever follows
	return body
}

// judge turns an answer into the result that sink.Sender promises.
func (a answer) judge(host string, hidden hider, now time.Time) error {
	problem := a.problem(host, hidden)
	switch {
	case a.status >= 200 && a.status < 300:
		return nil
	case a.status == http.StatusRequestTimeout, a.status == http.StatusTooEarly, a.status == http.StatusTooManyRequests, a.status >= 500:
		after, _ := polite.ParseRetryAfter(a.retryAfter, now)
		return &sink.Later{After: min(after, maxAfter), Reason: problem}
	case a.status == http.StatusGone:
		return &sink.Stop{Code: gone, Reason: problem}
	case a.status >= 300 && a.status < 400:
		return &sink.Refused{Status: a.status, Reason: problem + "; redirects are not followed: name the address where it leads"}
	}
	return &sink.Refused{Status: a.status, Reason: problem}
}

func (a answer) problem(host string, hidden hider) string {
	words := strings.TrimSpace(fmt.Sprintf("%s answered %d %s", host, a.status, http.StatusText(a.status)))
	text := hidden.hide(string(a.body))
	if len(a.body) >= maxAnswer {
		text = hidden.trim(text)
	}
	if text = crawl.Clean(text, maxSaid); text != "" {
		words += ": " + text
	}
	return words
}

// hider removes secrets from texts.
type hider []string

// Shorter parts of an address are not secret, and removing them would leave no text.
const (
	leastSegment = 8
	leastValue   = 6
)

// newHider hides keys, and the parts of an address that may be as good as one.
func newHider(to *url.URL, keys []key) hider {
	var h hider
	add := func(least int, texts ...string) {
		for _, t := range texts {
			if len(t) >= least {
				h = append(h, t)
			}
		}
	}
	for _, k := range keys {
		add(1, secretPrefix+k.text, k.text)
	}
	add(leastSegment, to.EscapedPath(), to.Path)
	add(leastSegment, strings.Split(to.EscapedPath(), "/")...)
	add(leastSegment, strings.Split(to.Path, "/")...)
	add(leastValue, to.RawQuery)
	for _, values := range to.Query() {
		add(leastValue, values...)
		for _, v := range values {
			add(leastValue, url.QueryEscape(v))
		}
	}
	slices.SortFunc(h, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // a whole before its parts
	return h
}

func (h hider) hide(text string) string {
	for _, secret := range h {
		text = strings.ReplaceAll(text, secret, "[hidden]")
	}
	return text
}

// leastHead is the least length at which the beginning of a secret reveals something.
const leastHead = 4

// trim takes the head of a secret off the end of a text that was cut there.
func (h hider) trim(text string) string {
	cut := 0
	for _, secret := range h {
		for n := min(len(secret), len(text)); n >= leastHead && n > cut; n-- {
			if strings.HasSuffix(text, secret[:n]) {
				cut = n
			}
		}
	}
	return text[:len(text)-cut]
}

// clean makes a problem in our own words fit to be stored.
func (h hider) clean(problem string) string { return crawl.Clean(h.hide(problem), maxProblem) }
