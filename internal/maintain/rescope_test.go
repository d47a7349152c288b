package maintain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/scope"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// scoped is the pages of a crawl, and how far they have been looked at.
type scoped struct {
	pages []store.PageRecord
	look  store.ScopeLook
	reads int
	woken []string
}

func (s *scoped) ScopeLook(context.Context, int64) (store.ScopeLook, error) { return s.look, nil }

func (s *scoped) SetScopeLook(_ context.Context, _ int64, l store.ScopeLook) error {
	s.look = l
	return nil
}

func (s *scoped) WakePages(_ context.Context, ids []int64) (woken []store.PageRecord, err error) {
	for _, p := range s.pages {
		if slices.Contains(ids, p.PageID) {
			woken = append(woken, p)
		}
	}
	return woken, nil
}

func (s *scoped) ListPages(_ context.Context, f store.PageFilter) (some []store.PageRecord, err error) {
	s.reads++
	for _, p := range s.pages {
		if p.PageID > f.After && len(some) < f.Limit {
			some = append(some, p)
		}
	}
	return some, nil
}

func (s *scoped) Now(context.Context) (time.Time, error) { return time.Unix(1e9, 0), nil }

func (s *scoped) add(url string, state crawl.PageState, kind crawl.PageKind) {
	id := int64(len(s.pages) + 1)
	s.pages = append(s.pages, store.PageRecord{PageRef: crawl.PageRef{PageID: id, URL: url}, State: state, Kind: kind})
}

// rescope looks at a crawl of http://a.example/ in which the URLs below /old are rejected.
func (s *scoped) rescope(t *testing.T, forbidden string) Rescope {
	t.Helper()
	spec := crawl.DefaultSpec()
	spec.Seeds = []string{"http://a.example/"}
	spec.Scope.Type = "host"
	spec.Scope.Rules = []crawl.ScopeRule{{Name: "old", Reject: &crawl.FilterSpec{Prefix: crawl.Texts{"http://a.example/old"}}}}
	judged, err := scope.New(spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	return Rescope{
		Store: s,
		Crawl: Crawl{
			CrawlRecord: store.CrawlRecord{ID: 1, Spec: spec},
			Scope:       func(context.Context, ...urlkey.URL) (scope.Scope, error) { return judged, nil },
		},
		Forbidden: func(_ context.Context, page crawl.PageRef, _ time.Time) (bool, error) {
			return page.URL == forbidden, nil
		},
		Wake: func(_ context.Context, pages []store.PageRecord) error {
			for _, p := range pages {
				s.woken = append(s.woken, p.URL)
			}
			return nil
		},
		Next: func(context.Context) (bool, error) { return true, nil },
	}
}

// Pages are woken that are outside now, and excluded ones that are inside, unless
// robots.txt forbids them. A second pass under the same scope reads no page.
func TestRescopeWakesTheMisplaced(t *testing.T) {
	t.Parallel()
	s := &scoped{}
	s.add("http://a.example/new", crawl.Active, 0)
	s.add("http://a.example/old/1", crawl.Active, 0)
	s.add("http://a.example/old/2", crawl.Excluded, 0)
	s.add("http://a.example/back", crawl.Excluded, 0)
	s.add("http://a.example/private", crawl.Excluded, 0)
	s.add("http://a.example/old/map", crawl.Active, crawl.KindSitemap)
	r := s.rescope(t, "http://a.example/private")
	for range 2 {
		if err := r.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"http://a.example/old/1", "http://a.example/back"}; !slices.Equal(s.woken, want) || s.reads != 1 || !s.look.Done {
		t.Errorf("woken %q in %d reads, want %q; the look %+v", s.woken, s.reads, want, s.look)
	}
	rules, err := Outside(t.Context(), r.Crawl, s.pages)
	if want := map[int64]string{2: "out of scope: rule old", 3: "out of scope: rule old"}; err != nil || fmt.Sprint(rules) != fmt.Sprint(want) {
		t.Errorf("outside %v: %v", rules, err)
	}
}

// A page whose URL an earlier release took, and this one does not, is outside. It keeps neither
// itself nor the pages beside it from being judged.
func TestRescopeOfWhatIsNoURLAnyMore(t *testing.T) {
	t.Parallel()
	s := &scoped{}
	s.add("http://example.com.xn--/", crawl.Active, 0)
	s.add("http://a.example/old/1", crawl.Active, 0)
	s.add("http://example.com.xn--/2", crawl.Excluded, 0)
	s.add("http://example.com.xn--/map", crawl.Active, crawl.KindSitemap)
	r := s.rescope(t, "")
	if err := r.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"http://example.com.xn--/", "http://a.example/old/1"}; !slices.Equal(s.woken, want) || !s.look.Done {
		t.Errorf("woken %q, want %q; the look %+v", s.woken, want, s.look)
	}
	const none = "out of scope: no URL by the rules of this release"
	rules, err := Outside(t.Context(), r.Crawl, s.pages)
	if want := map[int64]string{1: none, 2: "out of scope: rule old", 3: none}; err != nil || fmt.Sprint(rules) != fmt.Sprint(want) {
		t.Errorf("outside %v: %v", rules, err)
	}
	if inside, err := Inside(t.Context(), r.Crawl, s.pages[0]); inside || err != nil {
		t.Errorf("inside: %t, %v", inside, err)
	}
}

// A crawl with a purpose also wakes the pages that it has and that are reserved from it, and
// a purpose that changes is a reason to look.
func TestRescopeByPurpose(t *testing.T) {
	t.Parallel()
	s := &scoped{}
	s.add("http://a.example/new", crawl.Active, 0)
	s.add("http://a.example/reserved", crawl.Active, 0)
	s.add("http://a.example/back", crawl.Excluded, 0)
	r := s.rescope(t, "http://a.example/reserved")
	for _, turn := range []struct {
		purpose []crawl.Use
		want    []string
	}{
		{nil, []string{"http://a.example/back"}},
		{nil, nil},
		{[]crawl.Use{crawl.UseAITrain}, []string{"http://a.example/reserved", "http://a.example/back"}},
		{[]crawl.Use{crawl.UseAITrain}, nil},
		{[]crawl.Use{crawl.UseSearch}, []string{"http://a.example/reserved", "http://a.example/back"}},
	} {
		s.woken = nil
		r.Crawl.Spec.Purpose = turn.purpose
		if err := r.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(s.woken, turn.want) {
			t.Errorf("for %v woken %q, want %q", turn.purpose, s.woken, turn.want)
		}
	}
}

// An agent that changes is a reason to look, too: a robots.txt says other things to it. In
// capitals it is the same. The names of looks that crawls of the default agent have had stay
// theirs.
func TestRescopeByAgent(t *testing.T) {
	t.Parallel()
	s := &scoped{}
	s.add("http://a.example/new", crawl.Active, 0)
	s.add("http://a.example/back", crawl.Excluded, 0)
	r := s.rescope(t, "")
	for _, turn := range []struct {
		agent string
		wakes bool
	}{{"recrawl", true}, {"Recrawl", false}, {"newsbot", true}, {"NewsBot", false}, {"recrawl", true}} {
		s.woken = nil
		r.Crawl.Spec.Identity.Agent = turn.agent
		if err := r.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := slices.Equal(s.woken, []string{"http://a.example/back"}); got != turn.wakes {
			t.Errorf("as %s woken %q", turn.agent, s.woken)
		}
	}
	if want := "e9aafb862ffacc788cd1a3436cd2d1a58f1649305111115b045ee0ff66850d43"; s.look.Scope != want {
		t.Errorf("the look has the name %s, want that of earlier releases, %s", s.look.Scope, want)
	}
}

// Pages that could not be woken are not passed over: the next pass reads them again. A
// pass goes on for as long as it may, and leaves the rest to the next.
func TestRescopeGoesOn(t *testing.T) {
	t.Parallel()
	s := &scoped{}
	for i := range 3*scopeBatch + 1 {
		s.add(fmt.Sprintf("http://a.example/old/%d", i), crawl.Active, 0)
	}
	r := s.rescope(t, "")
	wake := r.Wake
	r.Wake = func(context.Context, []store.PageRecord) error { return errCutOff }
	if err := r.Look(t.Context()); !errors.Is(err, errCutOff) || s.look.After != 0 {
		t.Fatalf("looked at up to %d: %v", s.look.After, err)
	}
	r.Wake = wake
	r.Next = func(context.Context) (bool, error) { return false, nil }
	if err := r.Look(t.Context()); err != nil || len(s.woken) != scopeBatch || s.look.Done {
		t.Errorf("without time: %d woken, %+v: %v", len(s.woken), s.look, err)
	}
	r.Next = func(context.Context) (bool, error) { return true, nil }
	if err := r.Look(t.Context()); err != nil || len(s.woken) != len(s.pages) || !s.look.Done {
		t.Errorf("with time: %d woken, %+v: %v", len(s.woken), s.look, err)
	}
}

// Seeds that are imported during a look do not send it back to the first page. When it is done,
// another begins for them. A change of the spec begins anew at once.
func TestRescopeIsNotSentBackByImports(t *testing.T) {
	t.Parallel()
	s := &scoped{}
	for i := range 3 * scopeBatch {
		s.add(fmt.Sprintf("http://a.example/old/%d", i), crawl.Active, 0)
	}
	r := s.rescope(t, "")
	r.Next = func(context.Context) (bool, error) { return false, nil } // a batch is a pass
	r.Crawl.Imported = true
	look := func(want int64) {
		t.Helper()
		r.Crawl.Generation++
		if err := r.Look(t.Context()); err != nil || s.look.After != want {
			t.Errorf("generation %d: %+v, %v, want it after page %d", r.Crawl.Generation, s.look, err, want)
		}
	}
	for pass := range int64(3) {
		look((pass + 1) * scopeBatch)
	}
	if look(3 * scopeBatch); !s.look.Done {
		t.Errorf("the look is not done: %+v", s.look)
	}
	look(scopeBatch)
	r.Crawl.Spec.Scope.MaxDepth = 3
	look(scopeBatch)
	for range 3 {
		look(s.look.After + min(scopeBatch, 3*scopeBatch-s.look.After))
	}
	look(scopeBatch)
	reads := s.reads
	for range 3 {
		if err := r.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if !s.look.Done || s.reads != reads+3 {
		t.Errorf("%+v after %d reads", s.look, s.reads-reads)
	}
	if err := r.Look(t.Context()); err != nil || s.reads != reads+3 {
		t.Errorf("an unchanged scope is looked at again: %v", err)
	}
}
