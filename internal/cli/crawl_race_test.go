package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// rival is a crawl that somebody else starts, changes or stops at the same time.
type rival struct {
	*fakeClient
	now store.CrawlRecord // ID 0: there is none
	// meanwhile holds the other user's steps. One is taken just before each of our commands.
	meanwhile []func(*rival)
	bases     []int64
}

func (r *rival) lookup(context.Context, string) (store.CrawlRecord, error) {
	if r.now.ID == 0 {
		return r.now, store.ErrNotFound
	}
	return r.now, nil
}

func (r *rival) other() {
	if len(r.meanwhile) > 0 {
		r.meanwhile[0](r)
		r.meanwhile = r.meanwhile[1:]
	}
}

func (r *rival) StartCrawl(ctx context.Context, spec crawl.Spec) error {
	if r.other(); r.runs(spec.Name) == nil {
		return fmt.Errorf("crawl %s: %w", spec.Name, ErrOvertaken)
	}
	return r.fakeClient.StartCrawl(ctx, spec)
}

func (r *rival) SetSpec(ctx context.Context, spec crawl.Spec, base int64) (string, error) {
	r.bases = append(r.bases, base)
	if r.other(); base != r.now.Generation {
		return "", fmt.Errorf("crawl %s: %w", spec.Name, ErrOvertaken)
	}
	return r.fakeClient.SetSpec(ctx, spec, base)
}

func (r *rival) AddSeeds(ctx context.Context, name string, seeds []string) (string, error) {
	r.other()
	return r.fakeClient.AddSeeds(ctx, name, seeds)
}

const mine, theirs = "https://mine.example/", "https://theirs.example/"

func started(r *rival) {
	r.running = []string{"news"}
	changed(r)
}

func changed(r *rival) {
	r.now.ID, r.now.Generation = 1, r.now.Generation+1
	r.now.Spec = crawl.DefaultSpec()
	r.now.Spec.Name, r.now.Spec.Seeds = "news", []string{theirs}
}

// Two people start or change a crawl at the same time: neither's seeds or settings are lost.
func TestCrawlAtTheSameTime(t *testing.T) {
	t.Parallel()
	delay := delayFlag("7s")
	for _, c := range []struct {
		name      string
		flags     specFlags
		meanwhile []func(*rival)
		begins    func(*rival)
		calls     []string
		seeds     []string // of the last spec
	}{
		{"both start it", specFlags{}, []func(*rival){started}, nil, []string{"add to news: " + mine}, nil},
		{"both start it, with settings", specFlags{Delay: &delay}, []func(*rival){started}, nil, []string{"set news"}, []string{theirs, mine}},
		{"both change it", specFlags{Delay: &delay}, []func(*rival){changed, changed}, started, []string{"set news"}, []string{theirs, mine}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := &rival{fakeClient: &fakeClient{&fakeBackend{}}, meanwhile: c.meanwhile}
			if c.begins != nil {
				c.begins(r)
			}
			_, err := crawlRequest{name: "news", urls: []string{mine}, flags: c.flags}.apply(t.Context(), r.lookup, r)
			if err != nil || !slices.Equal(r.calls, c.calls) {
				t.Fatalf("%v, asked %q, want %q", err, r.calls, c.calls)
			}
			if c.seeds == nil {
				return
			}
			if last := r.specs[len(r.specs)-1]; !slices.Equal(last.Seeds, c.seeds) || last.Politeness.DelayWords() != "7s" {
				t.Errorf("the spec %+v", last)
			}
			if base := r.bases[len(r.bases)-1]; base != r.now.Generation {
				t.Errorf("made from generation %d, which is not the last, %d", base, r.now.Generation)
			}
		})
	}
}

// A crawl that others change without end, or that ends at this moment, is told in words.
func TestCrawlThatSlipsAway(t *testing.T) {
	t.Parallel()
	delay := delayFlag("7s")
	r := &rival{fakeClient: &fakeClient{&fakeBackend{}}, meanwhile: slices.Repeat([]func(*rival){changed}, 100)}
	started(r)
	_, err := crawlRequest{name: "news", flags: specFlags{Delay: &delay}}.apply(t.Context(), r.lookup, r)
	if err == nil || exitCode(err) != ExitFailed || !strings.Contains(err.Error(), "changing it at the same time: try again") {
		t.Errorf("%v", err)
	}
	r.meanwhile = []func(*rival){func(r *rival) { r.running = nil }}
	_, err = crawlRequest{name: "news", urls: []string{mine}}.apply(t.Context(), r.lookup, r)
	if err == nil || exitCode(err) != ExitFailed || !strings.Contains(err.Error(), "crawl news ended just now, for somebody stopped or deleted it") {
		t.Errorf("%v", err)
	}
}
