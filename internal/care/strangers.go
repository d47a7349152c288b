package care

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
)

// strangerSeen is how long a stranger counts after it was last seen: a poll lasts a minute
// at most.
const strangerSeen = 90 * time.Second

// strangers finds workers at the store's namespace and task queue that do not belong
// to the store, and crawls that its workers cannot read.
type strangers struct {
	store store.Workers
	own   string // the store's identity
	polls func(ctx context.Context) (polling, held []temporalkit.Poller, err error)
	// crawls, unless nil, returns those that run at the task queue.
	crawls func(ctx context.Context) ([]temporalkit.OpenCrawl, error)

	unknown map[string]stranger // by name
}

// stranger is a poller that the store does not know. One that has just ended is not known
// any more, but does not poll again.
type stranger struct {
	first, last time.Time // polls, by the server's clock
	seen        time.Time // when the last was new, by ours
}

// look says who is there, in words; "" means nobody.
func (s *strangers) look(ctx context.Context) (string, error) {
	polling, held, err := s.polls(ctx)
	if err != nil {
		return "", err
	}
	known, err := s.store.KnownWorkers(ctx)
	if err != nil {
		return "", err
	}
	now := time.Now()
	present := map[string]string{}
	for _, p := range held {
		if p.Store != s.own && s.sees(p, now) {
			present[p.Name] = fmt.Sprintf("worker %s has another store, %s, and waits at this namespace and task queue without taking anything up", p.Name, p.Store)
		}
	}
	for _, p := range polling {
		if slices.Contains(known, p.Name) {
			delete(s.unknown, p.Name)
		} else if s.sees(p, now) && s.unknown[p.Name].last.After(s.unknown[p.Name].first) {
			present[p.Name] = fmt.Sprintf("worker %s is not of this store, and takes up tasks of this namespace and task queue: if its store is a copy, it asks the same sites a second time", p.Name)
		}
	}
	for name, u := range s.unknown {
		if now.Sub(u.seen) > strangerSeen {
			delete(s.unknown, name)
		}
	}
	if s.crawls == nil {
		return strangerWords(present), nil
	}
	crawls, err := s.crawls(ctx)
	if err != nil {
		return "", err
	}
	for _, c := range crawls {
		if c.Locked != nil {
			present["crawl "+c.Name] = fmt.Sprintf("crawl %s waits for a worker that can read it: %v; `starter stop %s` ends it", c.Name, c.Locked, c.Name)
		}
	}
	return strangerWords(present), nil
}

// sees records that somebody polls, and reports whether that is still so.
func (s *strangers) sees(p temporalkit.Poller, now time.Time) bool {
	if s.unknown == nil {
		s.unknown = map[string]stranger{}
	}
	u, ok := s.unknown[p.Name]
	switch {
	case !ok && now.Sub(p.At) > strangerSeen:
		return false // it was here before us
	case !ok:
		u = stranger{first: p.At, last: p.At, seen: now}
	case p.At.After(u.last):
		u.last, u.seen = p.At, now
	}
	s.unknown[p.Name] = u
	return now.Sub(u.seen) <= strangerSeen
}

// strangersNamed is the most strangers that are named.
const strangersNamed = 3

func strangerWords(present map[string]string) string {
	var all []string
	for _, words := range present {
		all = append(all, words)
	}
	slices.Sort(all)
	if more := len(all) - strangersNamed; more > 0 {
		all = append(all[:strangersNamed], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, "; ")
}
