package activities_test

import (
	"slices"
	"testing"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/sink/sinktest"
	"recrawl/internal/store"
)

func withSink(name string) func(*crawl.Spec) {
	return func(s *crawl.Spec) {
		if s.Sinks == nil {
			s.Sinks = map[string]crawl.SinkSpec{}
		}
		s.Sinks[name] = crawl.SinkSpec{Kind: crawl.SinkExec, To: "x"}
	}
}

// take returns the calls for sinks' workflows since the last take.
func (f *flows) take() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	done := f.sinks
	f.sinks = nil
	return done
}

// A crawl's sinks begin when its spec has them, end when the spec no longer does, are
// looked after by maintenance, and deliver the rest when the crawl is stopped.
func TestSinksOfACrawl(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(p *parts) { p.settings.Senders, p.settings.Events = &sinktest.Receiver{}, &sinktest.Events{} })
	seeds := []string{"http://127.0.0.1:8080/"}
	names := func(id int64) (all []string) {
		for _, r := range must[[]store.SinkRecord](t)(w.store.ListSinks(t.Context(), id)) {
			all = append(all, r.Name)
		}
		return all
	}
	want := func(what string, got []string, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	id := w.open(seeds).CrawlID
	want("without sinks", w.flows.take())
	w.open(seeds, withSink("a"), withSink("b"))
	want("with two", names(id), "a", "b")
	want("with two", w.flows.take(), "start news/a", "start news/b")
	w.open(seeds, withSink("b"), withSink("c"))
	want("with others", names(id), "b", "c")
	want("with others", w.flows.take(), "wake news/a", "start news/b", "start news/c")
	run(w, contract.Maintain, contract.MaintainIn{CrawlID: id, Name: "news"})
	want("maintenance", w.flows.take(), "mend news/b", "mend news/c")
	w.flows.missing = true
	if _, err := w.store.SetCrawlState(t.Context(), "news", crawl.CrawlStopped); err != nil {
		t.Fatal(err)
	}
	run(w, contract.ClosePages, contract.ClosePagesIn{CrawlID: id, Name: "news"})
	w.flows.missing = false
	run(w, contract.ClosePages, contract.ClosePagesIn{CrawlID: id, Name: "news"})
	want("stopped", w.flows.take(), "wake news/b", "wake news/c")
	run(w, contract.Maintain, contract.MaintainIn{CrawlID: id, Name: "news"})
	want("maintenance of a stopped crawl", w.flows.take())
	w.open(seeds)
	want("none any more", names(id))
}

// The deliveries work on a real store as they do on the simulated one.
func TestDeliverFromARealStore(t *testing.T) {
	t.Parallel()
	receiver := &sinktest.Receiver{}
	w := newWorld(t, func(p *parts) { p.settings.Senders, p.settings.Events = receiver, &sinktest.Events{} })
	id := w.open([]string{"http://127.0.0.1:8080/"}, func(s *crawl.Spec) {
		s.Sinks = map[string]crawl.SinkSpec{"x": {Kind: crawl.SinkExec, To: "x", Kinds: []string{"crawl.*"}, From: crawl.SinkFromAll}}
	}).CrawlID
	for _, state := range []crawl.CrawlState{crawl.CrawlPaused, crawl.CrawlRunning} {
		if _, err := w.store.SetCrawlState(t.Context(), "news", state); err != nil {
			t.Fatal(err)
		}
	}
	in := contract.DeliverIn{CrawlID: id, Crawl: "news", Sink: "x"}
	if out := run(w, contract.Deliver, in); out.Sent < 2 || out.More || out.Lag != 0 {
		t.Errorf("%+v", out)
	}
	for _, command := range []string{contract.Pause, contract.SinkSkip, contract.Resume, contract.SinkTest} {
		if out := run(w, contract.CommandSink, contract.SinkCommandIn{CrawlID: id, Crawl: "news", Sink: "x", Command: command}); out.Message == "" {
			t.Errorf("%s: %+v", command, out)
		}
	}
	if out := run(w, contract.Deliver, in); out.Sent != 0 || out.Paused {
		t.Errorf("again: %+v", out)
	}
}
