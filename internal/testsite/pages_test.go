package testsite

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recrawl/internal/change"
	"recrawl/internal/crawl"
)

// plain returns the demo's pages whose content is always available.
func plain() []string {
	var targets []string
	for _, h := range Demo() {
		for _, p := range h.Pages {
			if len(h.Troubles) == 0 && len(p.Troubles) == 0 && p.Redirect.Status == 0 && p.Size == 0 && p.Type == "" && p.Slow == 0 {
				targets = append(targets, h.Name+p.Path)
			}
		}
	}
	return targets
}

// One seed and one time make the same bytes, whatever was asked before.
func TestSameSeedSameBytes(t *testing.T) {
	t.Parallel()
	targets := append(plain(), News+"/stories/4")
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		target := rapid.SampledFrom(targets).Draw(t, "target")
		elapsed := time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "elapsed"))
		a, b := play(Options{Seed: seed}), play(Options{Seed: seed})
		b.get(target)
		b.to(2 * elapsed)
		b.get(target)
		a.to(elapsed)
		b.to(elapsed)
		wa, wb := a.get(target), b.get(target)
		if !bytes.Equal(wa.Body.Bytes(), wb.Body.Bytes()) || fmt.Sprint(wa.Header()) != fmt.Sprint(wb.Header()) {
			t.Errorf("%s at %s differs", target, elapsed)
		}
	})
}

func TestSeedsDiffer(t *testing.T) {
	t.Parallel()
	a, b := play(Options{Seed: 1}), play(Options{Seed: 2})
	if a.get(News+"/about").Body.String() == b.get(News+"/about").Body.String() {
		t.Error("two seeds make one text")
	}
	a.to(time.Hour)
	b.to(time.Hour)
	if slices.Equal(a.Truth(News, "/markets"), b.Truth(News, "/markets")) {
		t.Error("two seeds make the same changes")
	}
}

// The crawler's own change detection sees a change exactly at the true times,
// and nothing or a cosmetic change in between.
func TestContentChangesAtTruth(t *testing.T) {
	t.Parallel()
	for _, target := range plain() {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			s := play(Options{Seed: 5})
			host, path, _ := strings.Cut(target, "/")
			s.to(90 * time.Second)
			truth := s.Truth(host, "/"+path)
			script, _ := s.Script(host, "/"+path)
			if (len(truth) > 0) != (script.Text.Mean() > 0) {
				t.Fatalf("changes at %v", truth)
			}
			last := s.look(t, target, 0)
			for _, at := range truth[:min(len(truth), 8)] {
				before, after := s.look(t, target, at.Sub(epoch)-1), s.look(t, target, at.Sub(epoch))
				if got, _ := change.Verdict(last, before, change.Rule{}); got == crawl.OutcomeChanged {
					t.Errorf("changed before %s", at.Sub(epoch))
				}
				if got, why := change.Verdict(before, after, change.Rule{}); got != crawl.OutcomeChanged {
					t.Errorf("%s at %s: %v", got, at.Sub(epoch), why)
				}
				last = after
			}
			if got, _ := change.Verdict(last, s.look(t, target, time.Minute), change.Rule{}); len(truth) == 0 && got == crawl.OutcomeChanged {
				t.Error("it changed and should not")
			}
		})
	}
}

// look returns the crawler's verdict on a page at a time.
func (s stage) look(t *testing.T, target string, at time.Duration) change.Digests {
	t.Helper()
	s.to(at)
	w := s.get(target)
	page := parse(t, w, canonical(t, "http://"+target))
	var links []string
	for _, l := range page.Links {
		links = append(links, l.URL)
	}
	return change.Digests{
		Raw: fmt.Sprintf("%x", w.Body), Text: page.Text, Links: change.LinkDigest(links),
		Bytes: int64(w.Body.Len()), TextBytes: int64(len(page.Text)),
	}
}

func TestDecorIsCosmetic(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/clock", "/sponsored", "/layout"} {
		s := play(Options{Seed: 9})
		prev, seen := s.look(t, News+path, 0), map[string]bool{}
		for i := range 8 {
			next := s.look(t, News+path, time.Duration(i+1)*6*time.Second)
			if got, _ := change.Verdict(prev, next, change.Rule{}); got != crawl.OutcomeCosmetic || seen[next.Raw] {
				t.Errorf("%s: %s after %d × 6 s", path, got, i+1)
			}
			prev, seen[next.Raw] = next, true
		}
	}
}

// Editions differ clearly from each other, so that near-duplicate detection
// cannot take a change for a cosmetic one, and none returns.
func TestEditionsDiffer(t *testing.T) {
	t.Parallel()
	p := newPage(1, News, Page{Path: "/", Text: Every(time.Second)})
	seen := map[string]int{}
	prev := p.at(0).paragraphs()
	for edition := 1; edition <= 40; edition++ {
		at := p.at(time.Duration(edition) * time.Second)
		if at.edition != edition {
			t.Fatalf("edition %d after %d s", at.edition, edition)
		}
		texts := at.paragraphs()
		fresh := 0
		for i := range texts {
			if texts[i] != prev[i] {
				fresh++
			}
		}
		if all := strings.Join(texts, "\n"); fresh != 1 || seen[all] > 0 {
			t.Errorf("edition %d has %d new paragraphs, or is edition %d again", edition, fresh, seen[all])
		} else {
			seen[all] = edition
		}
		prev = texts
	}
}

func TestHub(t *testing.T) {
	t.Parallel()
	s := play(Options{Seed: 2})
	s.to(10 * time.Minute)
	truth := s.Truth(News, "/stories/")
	if len(truth) != 50 {
		t.Fatalf("%d changes in 10 min", len(truth))
	}
	hub := s.get(News + "/stories/").Body.String()
	if n := strings.Count(hub, `<a href="/stories/`); n != listed || !strings.Contains(hub, `"/stories/53"`) {
		t.Errorf("the hub links to %d stories", n)
	}
	born := truth[10].Sub(epoch)
	s.to(born - 1)
	if w := s.get(News + "/stories/14"); w.Code != 404 {
		t.Errorf("before it exists: %d", w.Code)
	}
	s.to(born)
	first := s.get(News + "/stories/14")
	if want := truth[10].Format("Mon, 02 Jan 2006 15:04:05 GMT"); first.Header().Get("Last-Modified") != want {
		t.Errorf("Last-Modified %s, born %s", first.Header().Get("Last-Modified"), want)
	}
	s.to(10 * time.Minute)
	if s.get(News+"/stories/14").Body.String() != first.Body.String() {
		t.Error("a story changes")
	}
	if s.Truth(News, "/stories/14") != nil || s.Truth(News, "/nothing") != nil || s.Truth("other.localhost", "/") != nil {
		t.Error("what never changes has changes")
	}
}
