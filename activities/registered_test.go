package activities_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/scope"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// frontier returns what registering a page's links leaves behind, without times.
func (w *world) frontier(page crawl.PageRef) string {
	w.t.Helper()
	var b strings.Builder
	for _, p := range must[[]store.PageRecord](w.t)(w.store.ListPages(w.t.Context(), store.PageFilter{CrawlID: page.CrawlID, Limit: 5000})) {
		fmt.Fprintln(&b, p.URL, p.State, p.Kind, p.Level, p.Hops, p.Backlinks, p.HintedBy)
	}
	for _, s := range w.sources() {
		fmt.Fprintln(&b, s.URL, s.Kind, s.Nesting, s.Hinted, s.Skipped)
	}
	for _, l := range must[[]store.RejectedLink](w.t)(w.store.ListRejected(w.t.Context(), store.RejectedFilter{CrawlID: page.CrawlID, Limit: 100})) {
		fmt.Fprintln(&b, l.Reason, l.URL, l.From, l.Detail)
	}
	fmt.Fprintln(&b, must[[]store.RejectionCount](w.t)(w.store.Rejections(w.t.Context(), page.CrawlID)), w.status().Links, len(w.traps()))
	return b.String()
}

func (w *world) unfinished(page crawl.PageRef) int {
	w.t.Helper()
	return len(must[[]store.PendingLinks](w.t)(w.store.UnfinishedLinks(w.t.Context(), page.CrawlID, 0, 10)))
}

// DetectChange registers the same links as RegisterLinks.
func TestDetectChangeRegistersAsRegisterLinksDoes(t *testing.T) {
	t.Parallel()
	const seed, list = "http://localhost/", "http://localhost/map.xml"
	index := "<sitemapindex><sitemap><loc>http://localhost/one.xml</loc></sitemap><sitemap><loc>http://other.localhost/two.xml</loc></sitemap></sitemapindex>"
	cases := []struct {
		name, url, kind, body string
	}{
		{"a page", seed, "text/html", `<html lang=en><title>News</title><link rel=alternate type=application/rss+xml href=/feed>
			<p>Rain today. <a href=/a>a</a> <a href="/b#c">b</a> <a href=/>me</a> <a href=/ad rel=nofollow>ad</a> <a href="mailto:x@y.test">m</a>
			<a href="http://">none</a> <a href="http://other.localhost/">other</a> <a href=/docs/docs/docs/a>trap</a>`},
		{"a page that asks for none to be followed", seed, "text/html", `<meta name=robots content=nofollow><p>Rain <a href=/a>a</a>`},
		{"a list", list, "application/xml", urlset("http://localhost/a 2020-01-01", "http://localhost/ "+ago(0), "http://elsewhere.localhost/")},
		{"an index", list, "application/xml", index},
		{"a list that is a page", list, "text/html", "<title>Pages</title><p>All <a href=/a>pages</a> of the site <a href=/b>and more</a>"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			leaves := func(register bool) (contract.RegisterOut, string) {
				w := newWorld(t)
				page := w.living([]string{seed})[0]
				if c.url == list {
					w.plan(page, 1, contract.FetchOut{Outcome: crawl.OutcomeUnchanged})
					page = w.listed(list)
				}
				in := w.detection(page, 1, c.body)
				in.Fetch.ContentType, in.Register = c.kind, register
				out := run(w, contract.DetectChange, in)
				registered := run(w, contract.RegisterLinks, contract.RegisterIn{Page: page, Visit: 1})
				if register {
					if out.Registered == nil || registered.New+registered.Seen+len(registered.Rejected) > 0 {
						t.Fatalf("%+v, and RegisterLinks found %+v, want nothing left to it", out, registered)
					}
					registered = *out.Registered
				}
				return registered, w.frontier(page)
			}
			want, wantLeft := leaves(false)
			got, gotLeft := leaves(true)
			if got.New != want.New || got.Seen != want.Seen || !maps.Equal(got.Rejected, want.Rejected) {
				t.Errorf("registered %+v, want %+v", got, want)
			}
			if gotLeft != wantLeft {
				t.Errorf("it leaves\n%s, want\n%s", gotLeft, wantLeft)
			}
		})
	}
}

// leading is a page with the given number of links, to the given number of hosts.
func leading(links, hosts int) string {
	var b strings.Builder
	b.WriteString("<p>Links")
	for i := range links {
		fmt.Fprintf(&b, "<a href=http://h%d.localhost/%d>l</a> ", i%hosts, i)
	}
	return b.String()
}

// failing fails a store's registrations, or loses the answers of those that are made.
type failing struct {
	store.Store
	err  error
	made bool
}

func (f *failing) RegisterLinks(ctx context.Context, p store.RegisterParams) (store.RegisterResult, error) {
	if f.err == nil || p.Version == 0 {
		return f.Store.RegisterLinks(ctx, p)
	}
	if f.made {
		if _, err := f.Store.RegisterLinks(ctx, p); err != nil {
			return store.RegisterResult{}, err
		}
	}
	return store.RegisterResult{}, f.err
}

// hurried is a filter program during whose answer the time of the activity runs out.
type hurried struct{ end func() }

func (hurried) Has(string) bool { return true }

func (p hurried) Ask(string, urlkey.URL) scope.Answer {
	p.end()
	return scope.Answer{Accept: true}
}

// Links that DetectChange cannot register, or not quickly enough, wait for a Discover. The
// verdict stands.
func TestLinksThatWaitForADiscover(t *testing.T) {
	t.Parallel()
	asking := func(spec *crawl.Spec) {
		spec.Scope.Rules = []crawl.ScopeRule{{Reject: &crawl.FilterSpec{Not: &crawl.FilterSpec{Program: "moody"}}}}
	}
	var entries []string
	for n := range 1001 {
		entries = append(entries, fmt.Sprintf("http://localhost/%d", n))
	}
	cases := []struct {
		name, body string
		change     func(*crawl.Spec)
		parts      func(*world, *parts)
		registered bool
	}{
		{name: "a thousand links", body: leading(1000, 1), registered: true},
		{name: "more", body: leading(1001, 1)},
		{name: "a list of more", body: urlset(entries...)},
		{name: "a list", body: urlset(entries[:1000]...), registered: true},
		{name: "a hundred hosts", body: leading(100, 100), registered: true},
		{name: "more hosts", body: leading(101, 101)},
		{name: "a program that does not answer", body: leading(1, 1), change: asking, parts: func(_ *world, p *parts) { p.settings.Filters = &moody{} }},
		{name: "a program that takes its time", body: leading(2, 1), change: asking, parts: func(w *world, p *parts) {
			ctx, end := context.WithCancel(t.Context())
			w.background, p.settings.Filters = ctx, hurried{end}
		}},
		{name: "a store in trouble", body: leading(1, 1), parts: func(_ *world, p *parts) {
			p.store = &failing{Store: p.store, err: fmt.Errorf("no: %w", store.ErrUnavailable)}
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var early world
			w := newWorld(t, func(p *parts) {
				if c.parts != nil {
					c.parts(&early, p)
				}
			})
			anywhere := func(spec *crawl.Spec) { spec.Scope.Type, spec.Identity.Contact = "any", "ops@example.org" }
			changes := []func(*crawl.Spec){wholeMachine, anywhere}
			if c.change != nil {
				changes = append(changes, c.change)
			}
			page := w.living([]string{"http://localhost/"}, changes...)[0]
			if strings.HasPrefix(c.body, "<urlset") {
				w.plan(page, 1, contract.FetchOut{Outcome: crawl.OutcomeUnchanged})
				page = w.listed("http://localhost/map.xml")
			}
			if early.background != nil {
				w.background = early.background
			}
			in := w.detection(page, 1, c.body)
			if in.Register = true; strings.HasPrefix(c.body, "<urlset") {
				in.Fetch.ContentType = "application/xml"
			}
			out := run(w, contract.DetectChange, in)
			if out.Outcome != crawl.OutcomeNew || out.Links == 0 || (out.Registered != nil) != c.registered {
				t.Errorf("verdict %+v, want the links registered: %t", out, c.registered)
			}
			if waiting := w.unfinished(page) > 0; waiting == c.registered {
				t.Errorf("links wait: %t", waiting)
			}
			if out.Registered != nil && (out.Registered.New != out.Links || len(out.Registered.Hosts) > 100) {
				t.Errorf("registered %+v of %d", out.Registered, out.Links)
			}
		})
	}
}

// An attempt that is repeated because its answer was lost names the hosts of all links:
// some may have pages that nobody else will look after.
func TestDetectChangeRegistersAgain(t *testing.T) {
	t.Parallel()
	unreliable := &failing{made: true}
	w := newWorld(t, func(p *parts) { unreliable.Store, p.store = p.store, unreliable })
	anywhere := func(spec *crawl.Spec) { spec.Scope.Type, spec.Identity.Contact = "any", "ops@example.org" }
	page := w.living([]string{"http://localhost/"}, wholeMachine, anywhere)[0]
	in := w.detection(page, 1, leading(2, 2))
	in.Register = true
	unreliable.err = context.DeadlineExceeded
	if out := run(w, contract.DetectChange, in); out.Registered != nil || w.unfinished(page) != 0 {
		t.Fatalf("verdict %+v, want it not to know of the registration", out)
	}
	unreliable.err = nil
	out := run(w, contract.DetectChange, in)
	if out.Registered == nil || out.Registered.New != 0 || out.Registered.Seen != 2 || len(out.Registered.Hosts) != 2 {
		t.Fatalf("verdict %+v, want both hosts", out)
	}
	in = w.detection(page, 2, leading(2, 2)+"<a href=/new>home</a> changed words")
	in.Register = true
	if out := run(w, contract.DetectChange, in); out.Registered == nil || !slices.Equal(out.Registered.Hosts, []int64{w.page(page.URL).HostID}) {
		t.Errorf("verdict %+v, want the host of the one new page", out)
	}
}

// A workflow of an earlier release does not know that links may be registered.
func TestDetectChangeRegistersOnRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.living([]string{"http://localhost/"})[0]
	if out := w.seen(page, 1, "<p>Words <a href=/a>a</a>"); out.Registered != nil || out.Links != 1 || w.unfinished(page) != 1 {
		t.Errorf("verdict %+v, and %d unfinished", out, w.unfinished(page))
	}
}
