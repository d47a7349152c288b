package residence

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"recrawl/internal/store"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	here := store.Home{Namespace: "default", NamespaceID: "n1", TaskQueue: "recrawl"}
	elsewhere := store.Home{Namespace: "production", NamespaceID: "n2", TaskQueue: "recrawl"}
	otherQueue := store.Home{Namespace: "default", NamespaceID: "n1", TaskQueue: "slow"}
	survivor := here
	survivor.Ended = []string{"B"}
	ours, theirs := Crawl{"news", "A", true}, Crawl{"docs", "B", true}
	locked := []Locked{{"other", errors.New("the key k3 is missing")}}
	for _, c := range []struct {
		name   string
		home   store.Home
		crawls []Crawl
		locked []Locked
		known  []string
		settle bool
		refuse []string // words of the reason; none: it may poll
	}{
		{name: "a new store on an empty namespace", settle: true},
		{name: "at home", home: here, crawls: []Crawl{ours}},
		{name: "at home, nothing runs", home: here},
		{name: "a namespace of the same name", home: store.Home{Namespace: "default", NamespaceID: "n0", TaskQueue: "recrawl"}, refuse: []string{"n0", "n1", Adopt}},
		{name: "a copy at staging", home: elsewhere, refuse: []string{"store A", "production", "default", Adopt}},
		{name: "a copy at staging that has crawls there", home: elsewhere, crawls: []Crawl{ours}, refuse: []string{"production"}},
		{name: "another task queue", home: otherQueue, refuse: []string{"slow", "RECRAWL_TASK_QUEUE=slow"}},
		{name: "a new store on another's namespace", crawls: []Crawl{theirs}, refuse: []string{"store A", "store B", "docs", Adopt}},
		{name: "the other came later", home: here, crawls: []Crawl{theirs}, refuse: []string{"store B"}},
		{name: "both have crawls", home: here, crawls: []Crawl{theirs, ours}},
		{name: "a crawl that no store has opened yet", crawls: []Crawl{{"docs", "", false}}, settle: true},
		{name: "an old crawl of another store", crawls: []Crawl{{"docs", "", true}}, known: []string{"news"}, refuse: []string{"another store", "docs"}},
		{name: "an old crawl of ours", crawls: []Crawl{{"news", "", true}}, known: []string{"news"}, settle: true},
		{name: "the other store is no more", home: survivor, crawls: []Crawl{theirs}},
		{name: "nothing can be read", home: here, locked: locked, refuse: []string{"crawl other cannot be read", "k3"}},
		{name: "the store's own crawl cannot be read", home: here, crawls: []Crawl{ours}, locked: locked, known: []string{"news", "other"}, refuse: []string{"crawl other cannot be read"}},
		{name: "somebody has started a crawl with another key", home: here, crawls: []Crawl{ours}, locked: locked, known: []string{"news"}},
		{name: "beside an old crawl of ours", home: here, crawls: []Crawl{{"news", "", true}}, locked: locked, known: []string{"news"}},
		{name: "only another store's can be read", home: survivor, crawls: []Crawl{theirs}, locked: locked, refuse: []string{"crawl other cannot be read"}},
	} {
		got := Decide(Question{Store: "A", Home: c.home, Place: here, Crawls: c.crawls, Locked: c.locked, Known: c.known})
		if got.Poll != (c.refuse == nil) || got.Settle != c.settle || got.Poll != (got.Reason == "") {
			t.Errorf("%s: %+v", c.name, got)
		}
		for _, word := range c.refuse {
			if !strings.Contains(got.Reason, word) {
				t.Errorf("%s: %q, want %q in it", c.name, got.Reason, word)
			}
		}
		if strings.Contains(got.Reason, "\n") {
			t.Errorf("%s: %q is more than a line", c.name, got.Reason)
		}
	}
	if others := Others("A", []Crawl{theirs, ours, {"x", "", true}, theirs, {"y", "a", false}}); !slices.Equal(others, []string{"B", "a"}) {
		t.Errorf("others %v", others)
	}
}
