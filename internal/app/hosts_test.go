package app

import (
	"context"
	"errors"
	"testing"

	"recrawl/internal/store"
)

// blocking is a store in which crawls have the hosts named.
type blocking struct {
	named []string
	err   error
}

func (b blocking) SetBlocked(context.Context, string, bool) (store.GateEffects, error) {
	return store.GateEffects{}, b.err
}

func (b blocking) HostsNamed(context.Context, string, int) ([]string, error) { return b.named, nil }

// Who blocks a host that no crawl has learns which ones go on being asked.
func TestSetBlockedWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		blocked bool
		named   []string
		err     error
		want    string
	}{
		{true, []string{"a.test", "a.test:81"}, nil, "blocked a.test: no request to it begins, in any crawl, until it is unblocked"},
		{true, nil, nil, "blocked a.test ahead of time: no crawl has this host yet"},
		{true, []string{"a.test:81"}, nil, "blocked a.test ahead of time: no crawl has this host yet, only a.test:81, which is another host"},
		{
			true,
			[]string{"a.test:81", "a.test:82", "www.a.test"},
			nil,
			"blocked a.test ahead of time: no crawl has this host yet, only a.test:81, a.test:82 and www.a.test, which are other hosts",
		},
		{false, []string{"a.test"}, nil, "unblocked a.test"},
		{false, []string{"a.test:81"}, nil, "unblocked a.test: no crawl has this host yet, only a.test:81, which is another host"},
		{false, []string{"a.test:81"}, store.ErrNotFound, "no crawl has this host yet, only a.test:81, which is another host: not found"},
		{false, nil, store.ErrNotFound, "no crawl has this host yet: not found"},
		{true, []string{"a.test:81"}, store.ErrGrouped, "grouped with other hosts"},
	} {
		got, _, err := setBlocked(t.Context(), blocking{c.named, c.err}, "a.test", c.blocked)
		if err != nil {
			got = err.Error()
		}
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("block %t, crawls have %q: %q, want %q", c.blocked, c.named, got, c.want)
		}
	}
}
