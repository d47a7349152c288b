package duplicates

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"recrawl/internal/change"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// twin is a store with a page that says what any other one says.
type twin struct {
	page  store.ContentRecord
	links []store.FoundLink
}

func (t twin) Lookalikes(context.Context, store.LookalikeParams) ([]store.ContentRecord, error) {
	return []store.ContentRecord{t.page}, nil
}

func (t twin) LinksOf(_ context.Context, pages []int64, each int) ([]store.FoundLink, error) {
	if !slices.Contains(pages, t.page.PageID) {
		return nil, nil
	}
	return t.links[:min(len(t.links), each)], nil
}

// TestLinksOfTwins: however many links a page has, those of a copy in another session are not
// followed, and those that the other page lacks are.
func TestLinksOfTwins(t *testing.T) {
	t.Parallel()
	const many = 5000
	content := change.Content{Exact: 7}
	other := twin{page: store.ContentRecord{PageID: 1, URL: "https://a.example/?v=9f86d081884c7d65", Content: content}}
	var links []store.Link
	for n := range many {
		address := func(session string) string { return fmt.Sprintf("https://a.example/item?n=%d&v=%s", n, session) }
		other.links = append(other.links, store.FoundLink{From: 1, To: int64(n), URL: address("9f86d081884c7d65")})
		links = append(links, store.Link{URL: address("60303ae22b998861")})
	}
	const own = "https://a.example/of-its-own"
	links = append(links, store.Link{URL: own}, store.Link{URL: own + "/nofollow", NoFollow: true})
	page := crawl.PageRef{PageID: 2, URL: "https://a.example/?v=60303ae22b998861"}
	twins, err := TwinsOf(t.Context(), other, Fetched{Page: page, Content: content}, 0)
	if err != nil {
		t.Fatal(err)
	}
	followed, err := twins.LinksOf(t.Context(), other, links)
	if err != nil || len(followed) != 1 || followed[0].URL != own {
		t.Errorf("%d links are followed, %v", len(followed), err)
	}
}
