// Package program asks the operator's programs which URLs a crawl takes. Bouras et
// al. call these filters that users supply and that are loaded at start-up.
//
// A program is started with the worker and stays. It reads one URL a line and
// answers each with one line: "accept", or "reject" with a reason behind it. A
// program that takes longer than the time limit, ends, or says something else is
// ended and started again after a while, longer each time; until then it has no
// answer, which is not a rejection.
package program

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"recrawl/internal/scope"
	"recrawl/internal/urlkey"
)

const (
	// defaultTimeout is how long an answer may take, and before it the wait for others.
	defaultTimeout = 2 * time.Second
	// firstPause and maxPause bound the time before a program is started again.
	firstPause = time.Second
	maxPause   = time.Minute
	// maxReason is what is kept of a program's reason, in bytes.
	maxReason = 200
)

// Options of a Set. The zero value is the default.
type Options struct {
	// Timeout bounds an answer, by default two seconds.
	Timeout time.Duration
	// Now is the clock that decides when programs are started again.
	Now func() time.Time
	Log *slog.Logger
}

// Set is the programs of a worker. It may be used from any goroutine.
type Set struct {
	programs map[string]*program
}

// Start starts programs, each given by its name and its path. The error says which
// of them cannot be started.
func Start(paths map[string]string, o Options) (*Set, error) {
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Set{programs: map[string]*program{}}
	for _, name := range slices.Sorted(maps.Keys(paths)) {
		p := newProgram(name, paths[name], o)
		if err := p.start(); err != nil {
			return nil, errors.Join(fmt.Errorf("filter program %s: %w", name, err), s.Close())
		}
		s.programs[name] = p
	}
	return s, nil
}

// Has reports whether there is a program with the name.
func (s *Set) Has(name string) bool { return s.programs[name] != nil }

// Ask implements scope.Programs.
func (s *Set) Ask(name string, url urlkey.URL) scope.Answer {
	p := s.programs[name]
	if p == nil {
		return unknown("this worker has no filter program %q", name)
	}
	return p.ask(url.String())
}

// Close ends the programs.
func (s *Set) Close() error {
	for _, p := range s.programs {
		p.close()
	}
	return nil
}

func unknown(format string, args ...any) scope.Answer {
	return scope.Answer{Unknown: true, Reason: fmt.Sprintf(format, args...)}
}

// parse reads a program's line.
func parse(line string) (scope.Answer, error) {
	verb, reason, _ := strings.Cut(strings.TrimSpace(line), " ")
	reason = strings.TrimSpace(strings.Map(printable, strings.ToValidUTF8(reason, "?")))
	if len(reason) > maxReason {
		reason = strings.ToValidUTF8(reason[:maxReason], "") + "…"
	}
	switch verb {
	case "accept":
		return scope.Answer{Accept: true, Reason: reason}, nil
	case "reject":
		return scope.Answer{Reason: reason}, nil
	}
	return scope.Answer{}, fmt.Errorf("it said %.40q, which is neither accept nor reject", line)
}

func printable(r rune) rune {
	if r < ' ' || r == 0x7F {
		return ' '
	}
	return r
}
