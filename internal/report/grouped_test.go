package report

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"recrawl/internal/store"
)

// grouped is a store that groups hosts by domain.
type grouped struct{ *fake }

// ListPages refuses a host as sqlstore does.
func (g grouped) ListPages(ctx context.Context, q store.PageFilter) ([]store.PageRecord, error) {
	if q.Host == "www.example.com" {
		return nil, fmt.Errorf("%s is %w: name example.com", q.Host, store.ErrGrouped)
	}
	return g.fake.ListPages(ctx, q)
}

// A list of one host of a group would be empty, whatever is there. It says so.
func TestListsOfAGroupedHost(t *testing.T) {
	t.Parallel()
	f := sample()
	r := Reporter{Store: grouped{f}}
	name := f.crawls[0].Spec.Name
	for what, list := range map[string]func(host string) error{
		"traps":      func(host string) error { _, err := r.TrapsBatch(t.Context(), name, host, 0, 10); return err },
		"duplicates": func(host string) error { _, err := r.DuplicatesBatch(t.Context(), name, host, 0, 0, 10); return err },
		"search": func(host string) error {
			_, err := r.SearchOf(t.Context(), nil, SearchQuery{Crawl: name, Words: "retry", Host: host})
			if errors.Is(err, ErrNotSearchable) {
				return nil
			}
			return err
		},
	} {
		if err := list("www.example.com"); !errors.Is(err, store.ErrGrouped) {
			t.Errorf("%s of a host of a group: %v", what, err)
		}
		for _, host := range []string{"", "example.com"} {
			if err := list(host); err != nil {
				t.Errorf("%s of %q: %v", what, host, err)
			}
		}
	}
}
