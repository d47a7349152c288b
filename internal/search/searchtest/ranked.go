package searchtest

import (
	"fmt"
	"slices"
	"testing"

	"recrawl/internal/search"
)

// ranked: if more pages match than are ranked, only the ranked ones are hits. Filters apply
// before that.
func ranked(t *testing.T, x search.Index) {
	const pages = 12
	var docs []search.Document
	for page := int64(1); page <= pages; page++ {
		d := doc(page, fmt.Sprintf("usual words %d", page))
		d.Importance = float64(page) // the first that is found has the least
		if page%4 == 0 {
			d.URL, d.Host = fmt.Sprintf("https://b.test/%d", page), "b.test"
		}
		docs = append(docs, d)
	}
	check(t, x.Put(t.Context(), docs))
	for _, c := range []struct {
		name   string
		q      search.Query
		ranked int // of them
		want   int
	}{
		{"fewer are ranked", search.Query{Ranked: 5}, 5, 5},
		{"one fewer", search.Query{Ranked: pages - 1}, pages - 1, pages - 1},
		{"as many", search.Query{Ranked: pages}, pages, pages},
		{"more", search.Query{Ranked: pages + 1}, pages, pages},
		{"the usual number", search.Query{}, pages, pages},
		{"behind the last", search.Query{Ranked: 5, Offset: 5}, 5, 0},
		{"a part of them", search.Query{Ranked: 5, Offset: 3}, 5, 2},
	} {
		c.q.Crawl, c.q.Words, c.q.Limit = 1, "usual", 50
		r, err := x.Query(t.Context(), c.q)
		check(t, err)
		if len(r.Hits) != c.want || r.More || r.Some {
			t.Errorf("%s: %d hits, more %t, some %t; want %d", c.name, len(r.Hits), r.More, r.Some, c.want)
		}
		var found []int64
		for i, h := range r.Hits {
			found = append(found, h.Page)
			if i > 0 && h.Score > r.Hits[i-1].Score {
				t.Errorf("%s: hit %d is better than the one before", c.name, i)
			}
		}
		slices.Sort(found)
		first, important := found, found
		if c.q.Offset == 0 {
			first, important = numbers(1, c.ranked), numbers(pages-c.ranked+1, pages)
		}
		if !slices.Equal(found, first) && !slices.Equal(found, important) {
			t.Errorf("%s: found %v, which are neither the first pages nor the most important ones", c.name, found)
		}
	}
	// There are further hits after a part of the ranked ones.
	r, err := x.Query(t.Context(), search.Query{Crawl: 1, Words: "usual", Ranked: 5, Limit: 4})
	check(t, err)
	if len(r.Hits) != 4 || !r.More {
		t.Errorf("%d hits, more %t", len(r.Hits), r.More)
	}
	for _, q := range []search.Query{{Host: "b.test"}, {Prefix: "https://b.test/"}} {
		q.Words, q.Ranked = "usual", 3
		got := find(t, x, q)
		if slices.Sort(got); !slices.Equal(got, []int64{4, 8, 12}) {
			t.Errorf("%+v finds %v, want the pages that the filter chooses", q, got)
		}
	}
}

// numbers returns the numbers from one to another.
func numbers(from, through int) []int64 {
	var all []int64
	for n := from; n <= through; n++ {
		all = append(all, int64(n))
	}
	return all
}
