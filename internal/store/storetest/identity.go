package storetest

import (
	"regexp"
	"sync"
	"testing"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// RunIdentity tests what distinguishes one store from another; fresh returns an
// opener for a new database.
func RunIdentity(t *testing.T, fresh func(*testing.T) Opener) {
	for name, test := range map[string]func(*testing.T, func(*testing.T) Opener){
		"a store keeps its identity":             identityKept,
		"stores differ":                          identityDiffers,
		"pages say whose they are":               identityOfPages,
		"the first home holds until it is moved": identityHome,
		"of many that settle one is first":       identityRace,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, fresh)
		})
	}
}

var uuid = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

func identityKept(t *testing.T, fresh func(*testing.T) Opener) {
	open := fresh(t)
	var ids []string
	for range 3 {
		s := must(open(""))(t)
		ids = append(ids, s.ID())
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if !uuid.MatchString(ids[0]) || ids[1] != ids[0] || ids[2] != ids[0] {
		t.Errorf("opened three times the store is %q, want one UUID", ids)
	}
}

func identityDiffers(t *testing.T, fresh func(*testing.T) Opener) {
	if one, other := fresh(t).reopen(t, "").ID(), fresh(t).reopen(t, "").ID(); one == other {
		t.Errorf("two stores are both %s", one)
	}
}

func identityOfPages(t *testing.T, fresh func(*testing.T) Opener) {
	s := fresh(t).reopen(t, "")
	w := newGateWorld(t, s)
	pages := w.pages(w.crawl("news", 0), "one.test", 2)
	found := must(s.Page(t.Context(), pages[0].PageID))(t)
	listed := must(s.ListPages(t.Context(), store.PageFilter{CrawlID: pages[0].CrawlID, Limit: 10}))(t)
	for _, p := range []crawl.PageRef{pages[0], found.PageRef, listed[1].PageRef} {
		if p.Store != s.ID() {
			t.Errorf("page %d is of store %q, want %q", p.PageID, p.Store, s.ID())
		}
	}
}

func identityHome(t *testing.T, fresh func(*testing.T) Opener) {
	open := fresh(t)
	s := must(open(""))(t)
	if home := must(s.Home(t.Context()))(t); !home.IsZero() {
		t.Errorf("a new store lives in %s", home)
	}
	first := store.Home{Namespace: "production", NamespaceID: "1", TaskQueue: "recrawl"}
	second := store.Home{Namespace: "staging", NamespaceID: "2", TaskQueue: "other", Ended: []string{"a", "b"}}
	check := func(what string, got, expected store.Home) {
		t.Helper()
		if got.String() != expected.String() || len(got.Ended) != len(expected.Ended) {
			t.Errorf("%s: %s with %v ended, want %s with %v", what, got, got.Ended, expected, expected.Ended)
		}
	}
	check("the first", must(s.SetHome(t.Context(), first, false))(t), first)
	check("a second", must(s.SetHome(t.Context(), second, false))(t), first)
	check("moved", must(s.SetHome(t.Context(), second, true))(t), second)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	home := must(open.reopen(t, "").Home(t.Context()))(t)
	check("opened again", home, second)
	if !home.HasEnded("b") || home.HasEnded("c") {
		t.Errorf("ended are %v, want a and b", home.Ended)
	}
}

func identityRace(t *testing.T, fresh func(*testing.T) Opener) {
	s := fresh(t).reopen(t, "")
	homes := make([]store.Home, 8)
	var all sync.WaitGroup
	for i := range homes {
		all.Go(func() {
			var err error
			if homes[i], err = s.SetHome(t.Context(), store.Home{NamespaceID: string(rune('a' + i))}, false); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, home := range homes {
		if home.NamespaceID != homes[0].NamespaceID {
			t.Errorf("one is told %s, another %s", homes[0], home)
		}
	}
}
