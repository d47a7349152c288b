package trap

import (
	"fmt"
	"slices"
	"testing"
)

// Pages of lists that say the same are no copies if each leads to pages of its own.
func TestListsThatSayTheSame(t *testing.T) {
	t.Parallel()
	const lists, entries = 20, 6
	for name, c := range map[string]struct {
		list, entry string
		change      func(list, entry *Page)
		held        []string
	}{
		"thumbnails": {"http://h.example/thumbnails?album=%d&page=1", "http://h.example/picture?album=%d&pid=%d", nil, nil},
		"one script": {"http://h.example/index.php?view=album&start=%d", "http://h.example/index.php?view=picture&album=%d&id=%d", nil, nil},
		"not visited yet": {"http://h.example/thumbnails?album=%d&page=1", "http://h.example/picture?album=%d&pid=%d", func(_, entry *Page) {
			entry.Content, entry.Copy, entry.Waits = false, false, true
		}, nil},
		"that name their canonical page": {"http://h.example/article?id=%d", "http://h.example/news/%d/story-%d", nil, nil},
		"that lead to copies": {"http://h.example/thumbnails?album=%d&page=1", "http://h.example/picture?album=%d&pid=%d", func(_, entry *Page) {
			entry.Copy = true
		}, []string{"h.example/picture/?album&pid", "h.example/thumbnails/?album&page"}},
		"that lead to pages of a kind of which nearly all are copies": {"http://h.example/day?time=%d", "http://h.example/day?lang=%d&time=%d", func(list, entry *Page) {
			entry.Copy, entry.Waits, entry.Content = true, entry.ID != list.ID+1, entry.ID == list.ID+1
			if entry.ID == 1001 {
				entry.Copy = false
			}
		}, []string{"h.example/day/?lang&time", "h.example/day/?time"}},
		"that lead to known pages": {"http://h.example/thumbnails?album=%d&page=1", "http://h.example/picture?album=%d&pid=%d", func(_, entry *Page) {
			entry.Finder = 1
		}, []string{"h.example/thumbnails/?album&page"}},
		"that lead to their like": {"http://h.example/search?q=1&page=%d", "http://h.example/search?q=%d&page=%d", func(_, entry *Page) {
			entry.Copy = true
		}, []string{"h.example/search/?page&q"}},
	} {
		var pages []Page
		for i := range lists {
			list := Page{URL: canonical(t, fmt.Sprintf(c.list, i)), ID: int64(1000 * (i + 1)), Content: true, Copy: true}
			pages = append(pages, list)
			for k := range entries {
				entry := Page{URL: canonical(t, fmt.Sprintf(c.entry, i, 10*i+k)), ID: list.ID + int64(k) + 1, Finder: list.ID, Content: true}
				if c.change != nil {
					c.change(&list, &entry)
				}
				pages = append(pages, entry)
			}
			pages = append(pages, Page{URL: canonical(t, fmt.Sprintf(c.list, 100+i)), ID: list.ID + 500, Waits: true})
			pages = append(pages, Page{URL: canonical(t, fmt.Sprintf(c.entry, 100+i, i)), ID: list.ID + 501, Waits: true})
		}
		var held []string
		for _, f := range Look(pages, year, nil) {
			held = append(held, f.Pattern.String())
		}
		slices.Sort(held)
		if !slices.Equal(held, c.held) {
			t.Errorf("%s: held %v, want %v", name, held, c.held)
		}
	}
}
