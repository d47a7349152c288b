package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

func TestOpenCrawl(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := contract.OpenCrawlIn{
		Spec:       json.RawMessage(`{"name":"news","seeds":["http://LOCALHOST:80/a/../b#c","http://localhost/b"],"maintain_every":"1h"}`),
		WorkflowID: "crawl/news",
	}
	first := run(w, contract.OpenCrawl, in)
	if first.Name != "news" || first.State != crawl.CrawlRunning || first.Generation != 1 || first.NewSeeds != 1 || first.MaintainEvery.String() != "1h0m0s" {
		t.Errorf("opened %+v, want one new seed in two spellings", first)
	}
	seed := w.page("http://localhost/b")
	if seed.CrawlID != first.CrawlID || seed.State != crawl.Known || seed.Level != 0 || seed.Host != "localhost" {
		t.Errorf("seed %+v", seed)
	}
	spec, err := crawl.ParseSpec(first.Spec)
	if err != nil || spec.Limits.Window != crawl.DefaultSpec().Limits.Window {
		t.Errorf("the whole spec: %s, %v", first.Spec, err)
	}
	again := run(w, contract.OpenCrawl, in)
	if again.CrawlID != first.CrawlID || again.Generation != 1 || again.NewSeeds != 0 {
		t.Errorf("opened again: %+v", again)
	}
	in.Spec = json.RawMessage(`{"name":"news","seeds":["http://localhost/c"]}`)
	if other := run(w, contract.OpenCrawl, in); other.CrawlID != first.CrawlID || other.Generation != 2 || other.NewSeeds != 1 {
		t.Errorf("opened with another spec: %+v", other)
	}
}

func TestOpenCrawlRefusesABadSpec(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, spec, seed, message string }{
		{"none", ``, "", "spec: missing"},
		{"no JSON", `"http://localhost/"`, "", "spec: a JSON string: give a JSON object such as"},
		{"an unknown field", `{"name":"news","seeds":["http://localhost/"],"speed":1}`, "", "speed"},
		{"a field that does not fit", `{"name":"news","seeds":["http://localhost/"],"limits":{"window":"wide"}}`, "", "limits.window"},
		{"no seeds", `{"name":"news"}`, "", "seeds: give at least one URL"},
		{"a seed without scheme", `{"name":"news","seeds":["localhost"]}`, "", "seeds[0]"},
		{"a seed that is no URL after all", `{"name":"news","seeds":["http://localhost/","http://a..b/"]}`, "", "seeds[1]"},
		{"an unknown policy", `{"name":"news","seeds":["http://localhost/"],"revisit":{"policy":"often"}}`, "", "revisit.policy"},
		{"a bad seed to add", `{"name":"news","seeds":["http://localhost/"]}`, "ftp://localhost/", "seeds[1]"},
		{"another name than the workflow's", `{"name":"olds","seeds":["http://localhost/"]}`, "", `name: "olds" needs workflow id "crawl/olds"`},
		{"a selector that is none", `{"name":"news","seeds":["http://localhost/"],"content":{"ignore_selectors":[".ad","p["]}}`, "", `content.ignore_selectors[1]: "p[" is no CSS selector`},
		{"a pattern that is none", `{"name":"news","seeds":["http://localhost/"],"content":{"ignore_patterns":["("]}}`, "", "content.ignore_patterns[0]"},
		{"no contact", `{"name":"news","seeds":["http://localhost/","https://example.com/"]}`, "", "identity.contact: is empty: to crawl example.com"},
	}
	shared := newWorld(t)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w, in := shared.in(t), contract.OpenCrawlIn{Spec: json.RawMessage(c.spec), WorkflowID: "crawl/news"}
			if c.seed != "" {
				in.AddSeeds = []string{c.seed}
			}
			_, err := try(w, contract.OpenCrawl, in)
			wantError(t, err, contract.ErrTypeBadSpec, false, c.message)
		})
	}
	if crawls, err := shared.store.ListCrawls(t.Context()); err != nil || len(crawls) != 0 {
		t.Errorf("crawls %v, %v; want none", crawls, err)
	}
}

func TestOpenCrawlWantsAContact(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, seed, contact, worker string
		refused                     bool
	}{
		{"nobody's", "https://example.com/", "", "", true},
		{"the spec's", "https://example.com/", "https://example.com/bot", "", false},
		{"the worker's", "https://example.com/", "", "me@example.com", false},
		{"none is needed on loopback", "http://shop.localhost:8080/", "", "", false},
		{"another private network is not loopback", "http://10.0.0.1/", "", "", true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(p *parts) { p.settings.Contact = c.worker })
			spec := specOf([]string{c.seed}, func(spec *crawl.Spec) { spec.Identity.Contact = c.contact })
			_, err := try(w, contract.OpenCrawl, contract.OpenCrawlIn{Spec: encode(t, spec), WorkflowID: "crawl/news"})
			if c.refused {
				wantError(t, err, contract.ErrTypeBadSpec, false, "identity.contact")
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// Adding seeds removes none, not even those that the caller's copy of the spec
// lacks, such as the targets of redirects, and adds none twice.
func TestOpenCrawlAddsSeeds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	copied := w.open([]string{"http://localhost/"}).Spec
	w.open([]string{"http://localhost/", "http://www.localhost/"})
	out := run(w, contract.OpenCrawl, contract.OpenCrawlIn{
		Spec: copied, WorkflowID: "crawl/news", AddSeeds: []string{"http://localhost/new", "http://localhost/"},
	})
	want := []string{"http://localhost/", "http://www.localhost/", "http://localhost/new"}
	got := w.crawl().Spec.Seeds
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) || out.NewSeeds != 1 {
		t.Errorf("seeds %q, %d of them new; want %q", got, out.NewSeeds, want)
	}
}

// flakyRegister is a store that cannot register links for a while.
type flakyRegister struct {
	store.Store
	fail func() bool
}

func (f flakyRegister) RegisterLinks(ctx context.Context, p store.RegisterParams) (store.RegisterResult, error) {
	if f.fail() {
		return store.RegisterResult{}, fmt.Errorf("register: %w", store.ErrUnavailable)
	}
	return f.Store.RegisterLinks(ctx, p)
}

// A change of a spec may be in force although its command failed. Adding seeds later does not
// take it back.
func TestOpenCrawlAddsSeedsToTheStoredSpec(t *testing.T) {
	t.Parallel()
	down := false
	w := newWorld(t, func(p *parts) { p.store = flakyRegister{p.store, func() bool { return down }} })
	gap := func(d time.Duration) func(*crawl.Spec) {
		return func(spec *crawl.Spec) { spec.Politeness.Delay = crawl.Duration(d) }
	}
	seeds := []string{"http://localhost/a"}
	workflows := w.open(seeds, gap(time.Second)).Spec
	down = true
	_, err := try(w, contract.OpenCrawl, contract.OpenCrawlIn{Spec: encode(t, specOf(seeds, gap(time.Minute))), WorkflowID: "crawl/news"})
	wantError(t, err, contract.ErrTypeStoreUnavailable, true, "")
	down = false
	run(w, contract.OpenCrawl, contract.OpenCrawlIn{Spec: workflows, AddSeeds: []string{"http://localhost/b"}, WorkflowID: "crawl/news"})
	if spec := w.crawl().Spec; spec.Politeness.Delay.Std() != time.Minute || len(spec.Seeds) != 2 {
		t.Errorf("delay %s, seeds %q; want the delay that was set, and both seeds", spec.Politeness.Delay.Std(), spec.Seeds)
	}
}

// A stopped page that a changed spec names comes back, whichever step failed first.
func TestOpenCrawlRevivesAtTheNextAttempt(t *testing.T) {
	t.Parallel()
	for failing := range 4 {
		t.Run(fmt.Sprintf("registration %d fails", failing), func(t *testing.T) {
			t.Parallel()
			calls := 100
			w := newWorld(t, func(p *parts) {
				p.store = flakyRegister{p.store, func() bool { calls++; return calls == failing }}
			})
			both := []string{"http://localhost/a", "http://localhost/b"}
			w.open(both)
			w.open(both[:1])
			page := w.page(both[1])
			if err := w.store.SetPageState(t.Context(), page.PageID, crawl.Stopped); err != nil {
				t.Fatal(err)
			}
			in := contract.OpenCrawlIn{Spec: encode(t, specOf(both)), WorkflowID: "crawl/news"}
			calls = 0
			if _, err := try(w, contract.OpenCrawl, in); err != nil {
				run(w, contract.OpenCrawl, in)
			}
			if got := w.page(both[1]).State; got != crawl.Known {
				t.Errorf("the page is %s", got)
			}
		})
	}
}

func TestSetCrawlState(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open([]string{"http://localhost/"})
	for i, state := range []crawl.CrawlState{crawl.CrawlPaused, crawl.CrawlRunning, crawl.CrawlStopped} {
		out := run(w, contract.SetCrawlState, contract.SetCrawlStateIn{Name: "news", State: state})
		if rec := w.crawl(); rec.State != state || out.Generation != int64(i+2) {
			t.Errorf("state %s, generation %d; want %s", rec.State, out.Generation, state)
		}
	}
	// Opened again, a stopped crawl runs.
	if out := w.open([]string{"http://localhost/"}); out.State != crawl.CrawlRunning {
		t.Errorf("opened again: %+v", out)
	}
}

// A spec that was made from an older one than the crawl has would take back what was changed
// meanwhile.
func TestOpenCrawlKeepsAChangeThatItsAuthorDidNotKnow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := contract.OpenCrawlIn{Spec: json.RawMessage(`{"name":"news","seeds":["http://localhost/a"]}`), WorkflowID: "crawl/news"}
	first := run(w, contract.OpenCrawl, in)
	in.Base, in.Spec = first.Generation, json.RawMessage(`{"name":"news","seeds":["http://localhost/b"]}`)
	second := run(w, contract.OpenCrawl, in)
	if second.Generation == first.Generation {
		t.Fatalf("%+v", second)
	}
	in.Spec = json.RawMessage(`{"name":"news","seeds":["http://localhost/c"]}`)
	_, err := try(w, contract.OpenCrawl, in)
	var app *temporal.ApplicationError
	if !errors.As(err, &app) || app.Type() != contract.ErrTypeSpecChanged || !app.NonRetryable() {
		t.Errorf("made from the first: %v", err)
	}
	if rec := must[store.CrawlRecord](t)(w.store.Crawl(t.Context(), "news")); rec.Generation != second.Generation || rec.Spec.Seeds[0] != "http://localhost/b" {
		t.Errorf("stored %+v", rec)
	}
}
