package activities_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// sourceSite answers with texts by path, each of a media type.
func sourceSite(t *testing.T, files map[string]string) *site {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, ok := files[r.URL.Path]
		kind, text, _ := strings.Cut(body, "|")
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, strings.ReplaceAll(text, "$", "http://"+r.Host))
	})
}

// urlset is a sitemap of URLs, each with a date after a space if there is one.
func urlset(entries ...string) string {
	var b strings.Builder
	b.WriteString("<urlset>")
	for _, e := range entries {
		url, date, dated := strings.Cut(e, " ")
		fmt.Fprintf(&b, "<url><loc>%s</loc>", url)
		if dated {
			fmt.Fprintf(&b, "<lastmod>%s</lastmod>", date)
		}
		b.WriteString("</url>")
	}
	return b.String() + "</urlset>"
}

func (w *world) sources() []store.SourceRecord {
	w.t.Helper()
	return must[[]store.SourceRecord](w.t)(w.store.ListSources(w.t.Context(), store.SourceFilter{CrawlID: w.crawl().ID, Limit: 1000}))
}

// admitted admits all known pages, and returns that of the URL.
func (w *world) admitted(url string) crawl.PageRef {
	w.t.Helper()
	run(w, contract.Admit, contract.AdmitIn{CrawlID: w.crawl().ID, Limit: 100})
	page := w.page(url)
	if page.State != crawl.Active {
		w.t.Fatalf("%s is %s", url, page.State)
	}
	return page.PageRef
}

// listed makes a sitemap of the crawl a source, without a robots.txt.
func (w *world) listed(url string) crawl.PageRef {
	w.t.Helper()
	host := strings.TrimPrefix(originOf(url), "http://")
	must[store.RegisterResult](w.t)(w.store.RegisterLinks(w.t.Context(), store.RegisterParams{
		CrawlID: w.crawl().ID, URLs: []store.NewURL{{URL: url, Host: host, Kind: crawl.KindSitemap}},
	}))
	return w.admitted(url)
}

// read makes a visit that saw a list, without a request, and registers what it
// has.
func (w *world) read(page crawl.PageRef, kind, body string) (contract.DetectOut, contract.RegisterOut) {
	w.t.Helper()
	visit := w.page(page.URL).Visits + 1
	in := w.detection(page, visit, body)
	in.Fetch.ContentType = kind
	out := run(w, contract.DetectChange, in)
	in.Fetch.Outcome = out.Outcome
	run(w, contract.PlanRevisit, contract.PlanIn{Page: page, Visit: visit, Fetch: in.Fetch, Reasons: out.Reasons})
	return out, run(w, contract.RegisterLinks, contract.RegisterIn{Page: page, Visit: visit})
}

// A crawl of one page without links finds the sitemap that robots.txt names, the
// feed that the page names, and what they list.
func TestSourcesAreFoundAndRead(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"/robots.txt": "text/plain|Sitemap: $/map.xml\nSitemap: http://elsewhere.localhost/map.xml\n",
		"/":           `text/html|<link rel=alternate type=application/rss+xml href=/feed><link rel=alternate type=application/atom+xml href="http://other.localhost/feed"><p>News`,
		"/map.xml":    "application/xml|" + urlset("$/a 2020-01-01", "$/b", "http://other.localhost/"),
		"/feed":       "application/rss+xml; charset=utf-8|<rss><channel><item><link>$/c</link></item></channel></rss>",
	}
	s := sourceSite(t, files)
	w := newWorld(t)
	w.open([]string{s.url + "/"})
	seed := w.admitted(s.url + "/")
	robots := w.acquire(seed, 1)
	run(w, contract.RefreshRobots, contract.RefreshRobotsIn{Page: seed, Visit: 1, Permit: robots.Permit})
	if got := w.page(s.url + "/map.xml"); got.Kind != crawl.KindSitemap || got.Level != 0 || got.Backlinks != 0 {
		t.Errorf("the sitemap: %+v", got)
	}
	if _, ok := w.find("http://elsewhere.localhost/map.xml"); !ok {
		t.Error("a robots.txt may name sitemaps on other hosts")
	}
	w.visit(seed, 1)
	got := run(w, contract.RegisterLinks, contract.RegisterIn{Page: seed, Visit: 1})
	if got.New != 1 || got.Seen != 0 || got.Rejected["host"] != 1 || w.page(s.url+"/feed").Kind != crawl.KindFeed {
		t.Errorf("of the page: %+v", got)
	}
	for path, want := range map[string]contract.RegisterOut{
		"/map.xml": {New: 2, Rejected: map[string]int{"host": 1}}, "/feed": {New: 1},
	} {
		source := w.admitted(s.url + path)
		plan := w.visit(source, 1)
		got := run(w, contract.RegisterLinks, contract.RegisterIn{Page: source, Visit: 1})
		if plan.Outcome != crawl.OutcomeNew || got.New != want.New || !maps.Equal(got.Rejected, want.Rejected) {
			t.Errorf("%s is %s, %s; registered %+v, want %+v", path, plan.Outcome, plan.Summary, got, want)
		}
	}
	if a := w.page(s.url + "/a"); a.Level != 1 || a.Kind != crawl.KindPage || a.Backlinks != 0 {
		t.Errorf("a page of the sitemap: %+v", a)
	}
	if got := s.header(len(s.requests()) - 1).Get("Accept"); !strings.Contains(got, "application/rss+xml") {
		t.Errorf("asked for %q", got)
	}
}

// A source may be larger than a page of the crawl, and no larger than a sitemap.
func TestSourcesHaveTheirOwnLimit(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/xml")
		fmt.Fprint(w, "<urlset>")
		n := 200
		if r.URL.Path == "/huge.xml" {
			n = 60 << 10
		}
		for range n {
			fmt.Fprint(w, strings.Repeat(" ", 1<<10))
		}
		fmt.Fprintf(w, "<url><loc>http://%s/a</loc></url></urlset>", r.Host)
	})
	w := newWorld(t)
	w.living([]string{s.url + "/"}, func(spec *crawl.Spec) { spec.Fetch.MaxBody = 1000 })
	large, huge := w.listed(s.url+"/map.xml"), w.listed(s.url+"/huge.xml")
	if got := w.visit(large, 1); got.Outcome != crawl.OutcomeNew {
		t.Errorf("a sitemap of 200 KiB is %s", got.Outcome)
	}
	if got := w.visit(huge, 1); got.Outcome != crawl.OutcomeTooLarge {
		t.Errorf("a sitemap of 60 MiB is %s", got.Outcome)
	}
}

// A bomb comes as a few kilobytes, and is read as far as the limit.
func TestSourceIsABomb(t *testing.T) {
	t.Parallel()
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	fmt.Fprintf(z, "%s<url><loc>http://localhost/a</loc></url>", "<urlset>")
	block := bytes.Repeat([]byte("<url> </url>"+strings.Repeat(" ", 10_000)), 100)
	for range 70 {
		if _, err := z.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(bomb.Bytes())
	})
	w := newWorld(t)
	w.living([]string{s.url + "/"})
	source := w.listed(s.url + "/map.xml.gz")
	if got := w.visit(source, 1); got.Outcome != crawl.OutcomeNew || !strings.Contains(got.Summary, "it has more than 50MiB") {
		t.Errorf("visit %+v", got)
	}
	if got := w.sources()[0]; got.Entries != 1 || got.Problem != "it has more than 50MiB" || got.Dropped["entry without a URL"] < 1000 {
		t.Errorf("source %+v", got)
	}
}

// What is called a sitemap and is a page of the crawl becomes one; what is neither
// is looked at rarely, and leaves no bytes behind.
func TestSourcesThatAreNone(t *testing.T) {
	t.Parallel()
	s := sourceSite(t, map[string]string{
		"/page": `text/html|<html><p>Rain today. <a href="/more">more</a>`,
		"/text": "text/plain|nothing here",
		"/map":  "text/html|" + urlset("$/a"),
	})
	w := newWorld(t)
	w.living([]string{s.url + "/"})
	page, text, mistyped := w.listed(s.url+"/page"), w.listed(s.url+"/text"), w.listed(s.url+"/map")
	if got := w.visit(page, 1); got.Outcome != crawl.OutcomeNew || w.page(page.URL).Kind != crawl.KindPage || len(w.sources()) != 2 {
		t.Errorf("a page: %+v, %+v", got, w.sources())
	}
	if got := run(w, contract.RegisterLinks, contract.RegisterIn{Page: page, Visit: 1}); got.New != 1 {
		t.Errorf("its links: %+v", got)
	}
	if got := w.visit(text, 1); got.Outcome != crawl.OutcomeUnsupported || !strings.Contains(got.Summary, "neither a sitemap nor a feed") {
		t.Errorf("a text: %+v", got)
	}
	if left := must[[]string](t)(w.store.Unreferenced(t.Context(), 10)); len(left) != 1 {
		t.Errorf("%d bodies are given up", len(left))
	}
	if got := w.visit(mistyped, 1); got.Outcome != crawl.OutcomeNew || w.page(mistyped.URL).Kind != crawl.KindSitemap {
		t.Errorf("a sitemap that says it is HTML: %+v", got)
	}
	// Nobody's robots.txt brings a page of another host into the collection.
	elsewhere := w.listed("http://elsewhere.localhost/")
	out, _ := w.read(elsewhere, "text/html", "<html><p>Rain")
	if out.Outcome != crawl.OutcomeUnsupported || w.page(elsewhere.URL).Kind != crawl.KindSitemap {
		t.Errorf("a page beyond the scope: %+v", out)
	}
}

func TestSourcesOfAnIndex(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.living([]string{"http://localhost/"}, func(spec *crawl.Spec) { spec.Scope.MaxDepth = 1 })
	index := func(urls ...string) string {
		var b strings.Builder
		for _, u := range urls {
			fmt.Fprintf(&b, "<sitemap><loc>%s</loc></sitemap>", u)
		}
		return "<sitemapindex>" + b.String() + "</sitemapindex>"
	}
	url := "http://localhost/0.xml"
	w.listed(url)
	for n := 1; n <= 4; n++ {
		next := fmt.Sprintf("http://localhost/%d.xml", n)
		_, got := w.read(w.admitted(url), "application/xml", index(next, url, "http://elsewhere.localhost/map.xml"))
		want := map[string]int{"host": 1}
		if n == 4 {
			want = map[string]int{"host": 1, "index in an index too often": 2}
		}
		if !maps.Equal(got.Rejected, want) {
			t.Errorf("%s: rejected %v, want %v", url, got.Rejected, want)
		}
		url = next
	}
	if _, ok := w.find("http://localhost/4.xml"); ok {
		t.Error("an index is read however deep it lies")
	}
	// As near to a seed as the page that named the first of them.
	if _, got := w.read(w.page("http://localhost/3.xml").PageRef, "application/xml", urlset("http://localhost/a")); got.New != 1 || w.page("http://localhost/a").Level != 1 {
		t.Errorf("of the last: %+v", got)
	}
}

func TestSourcesAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pages := w.living(numbered(5), func(spec *crawl.Spec) { spec.Sources.MaxURLs, spec.Limits.Window = 10, 1000 })
	rejected := 0
	for i, p := range pages {
		var links strings.Builder
		for n := range 5 {
			fmt.Fprintf(&links, `<link rel=alternate type=application/rss+xml href=/%d/%d/feed>`, i, n)
		}
		w.seen(p, 1, links.String()+`<p>News of `+p.URL)
		for range 2 { // known ones are not counted out
			w.linking(p, 2+rejected, store.Link{URL: originOf(p.URL) + "/0/0/feed", Kind: crawl.KindFeed})
		}
		rejected += run(w, contract.RegisterLinks, contract.RegisterIn{Page: p, Visit: 1}).Rejected["too many feeds"]
	}
	if n := len(w.sources()); n != 16 || rejected != 9 {
		t.Errorf("%d feeds are read, %d are not", n, rejected)
	}
	var many []string
	for n := range 100 {
		many = append(many, fmt.Sprintf("http://localhost/many/%d", n))
	}
	if _, got := w.read(w.listed("http://localhost/map.xml"), "application/xml", urlset(many...)); got.New != 10 {
		t.Errorf("%+v of a sitemap of 100 URLs", got)
	}
}

func TestSourcesBySpec(t *testing.T) {
	t.Parallel()
	const robots = "Sitemap: http://localhost/map.xml\nSitemap: https://example.com/map.xml"
	page := `<link rel=alternate type=application/feed+json href=/feed><p>News`
	for name, tc := range map[string]struct {
		sources  crawl.SourceSpec
		sitemaps []string
		want     string
	}{
		"by default":   {crawl.DefaultSpec().Sources, []string{"http://localhost/map.xml", "https://example.com/map.xml"}, "/map.xml /feed"},
		"no sitemaps":  {crawl.SourceSpec{Feeds: true, MaxURLs: 1}, []string{"http://localhost/map.xml"}, "/feed"},
		"no feeds":     {crawl.SourceSpec{Sitemaps: true, MaxURLs: 1}, []string{"http://localhost/map.xml"}, "/map.xml"},
		"nobody names": {crawl.SourceSpec{Sitemaps: true, MaxURLs: 1}, nil, ""},
		"well known":   {crawl.SourceSpec{Sitemaps: true, WellKnown: true, MaxURLs: 1}, nil, "/sitemap.xml"},
		"or named":     {crawl.SourceSpec{Sitemaps: true, WellKnown: true, MaxURLs: 1}, []string{"http://localhost/map.xml"}, "/map.xml"},
		"neither":      {crawl.SourceSpec{MaxURLs: 1}, []string{"http://localhost/map.xml"}, ""},
	} {
		w := newWorld(t)
		seed := w.living([]string{"http://localhost/"}, func(spec *crawl.Spec) { spec.Sources = tc.sources })[0]
		w.saveRobots(store.SaveRobotsParams{Origin: "http://localhost", State: store.RobotsParsed, Status: 200, Text: robots, Sitemaps: tc.sitemaps, Expires: time.Hour})
		w.seen(seed, 1, page)
		got := run(w, contract.RegisterLinks, contract.RegisterIn{Page: seed, Visit: 1})
		var paths []string
		for _, s := range w.sources() {
			paths = append(paths, strings.TrimPrefix(s.URL, "http://localhost"))
		}
		slices.SortFunc(paths, func(a, b string) int { return len(b) - len(a) })
		if strings.Join(paths, " ") != tc.want {
			t.Errorf("%s: %v, want %q", name, paths, tc.want)
		}
		if want := len(tc.sitemaps) > 1; (got.Rejected["no contact"] == 1) != want {
			t.Errorf("%s: rejected %v", name, got.Rejected)
		}
	}
}

// slow is a crawl whose pages were all seen three days ago and are due in weeks.
func slow(w *world, n int) []crawl.PageRef {
	w.t.Helper()
	pages := w.living(numbered(n), func(spec *crawl.Spec) {
		spec.Limits.Window = 1000
		spec.Revisit.Policy, spec.Revisit.DefaultInterval, spec.Revisit.MinInterval = "fixed", crawl.Duration(30*day), crawl.Duration(day)
	})
	for _, p := range pages {
		w.looked(p, crawl.OutcomeNew, 3*day)
	}
	return pages
}

func ago(d time.Duration) string { return time.Now().Add(-d).UTC().Format(time.RFC3339) }

// A date after the last visit has the page visited soon; what it was worth is told
// by the visit.
func TestHints(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pages := slow(w, 6)
	list := w.listed("http://localhost/map.xml")
	before := w.page(pages[0].URL).NextAt
	w.read(list, "application/xml", urlset(
		pages[0].URL+" "+ago(time.Hour), pages[1].URL+" "+ago(2*time.Hour), pages[2].URL+" "+ago(4*day), pages[3].URL, pages[4].URL+" "+ago(-100*time.Hour)))
	if got := w.flows.rescheduled; !slices.Equal(got, []string{pages[0].URL, pages[1].URL}) {
		t.Fatalf("moved %q", got)
	}
	now := must[time.Time](t)(w.store.Now(t.Context()))
	hinted := w.page(pages[0].URL)
	if hinted.HintedBy != list.PageID || !hinted.NextAt.Before(before) || hinted.NextAt.Sub(now) > time.Minute {
		t.Errorf("due %s instead of %s, hinted by %d", hinted.NextAt, before, hinted.HintedBy)
	}
	if source := w.sources()[0]; source.Hinted != 2 || source.Dated != 3 || source.Dropped["date in the future"] != 1 {
		t.Errorf("source %+v", source)
	}
	plan := w.plan(pages[0], 2, contract.FetchOut{Outcome: crawl.OutcomeChanged, At: now})
	if !strings.Contains(plan.Summary, "visited early because the sitemap http://localhost/map.xml said that it had changed") {
		t.Errorf("summary %q", plan.Summary)
	}
	w.plan(pages[1], 2, contract.FetchOut{Outcome: crawl.OutcomeUnchanged, At: now})
	if source := w.sources()[0]; source.Hits != 1 || source.Misses != 1 {
		t.Errorf("source %+v", source)
	}
	// The same dates again, with another page: nothing to say about those two.
	w.read(list, "application/xml", urlset(pages[0].URL+" "+ago(time.Hour), pages[1].URL+" "+ago(2*time.Hour), pages[5].URL+" "+ago(3*time.Hour)))
	if got := w.flows.rescheduled[2:]; !slices.Equal(got, []string{pages[5].URL}) {
		t.Errorf("moved then %q", got)
	}
}

// A hinted page is visited no sooner than min_interval after its last visit.
func TestHintsKeepTheLeastInterval(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pages := slow(w, 1)
	w.looked(pages[0], crawl.OutcomeUnchanged, 2*time.Hour)
	w.read(w.listed("http://localhost/map.xml"), "application/xml", urlset(pages[0].URL+" "+ago(time.Hour)))
	if page := w.page(pages[0].URL); page.NextAt.Sub(page.LastAt) != day {
		t.Errorf("due %s after its last visit", page.NextAt.Sub(page.LastAt))
	}
}

// Dates that cannot be true move nothing, and the source says why.
func TestHintsOfLiars(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		date func(i int) string
		why  string
	}{
		"all the same":  {func(int) string { return ago(time.Hour) }, "dates all the same"},
		"always now":    {func(i int) string { return ago(time.Duration(i) * time.Second) }, "dates always now"},
		"in the future": {func(i int) string { return ago(-time.Duration(30+i) * time.Hour) }, "date in the future"},
		"unreadable":    {func(int) string { return "yesterday" }, "unreadable date"},
	} {
		w := newWorld(t)
		var entries []string
		for i, p := range slow(w, 12) {
			entries = append(entries, p.URL+" "+tc.date(i))
		}
		list := w.listed("http://localhost/map.xml")
		w.read(list, "application/xml", urlset(entries...))
		if source := w.sources()[0]; len(w.flows.rescheduled) > 0 || source.Dropped[tc.why] != 12 || source.Dated != 0 {
			t.Errorf("%s: moved %q, source %+v", name, w.flows.rescheduled, source)
		}
		// Nor is such a list another one for other lies.
		entries[0] = strings.Replace(entries[0], " 20", " 19", 1)
		if name == "always now" {
			w.read(list, "application/xml", urlset(entries[1:]...)+"<!-- later -->")
			if out, _ := w.read(list, "application/xml", urlset(entries[1:]...)); out.Outcome != crawl.OutcomeCosmetic {
				t.Errorf("made again it is %s", out.Outcome)
			}
		}
	}
}

// A list that lies plausibly about all its pages moves a few, and after two
// misses one in ten of a few; it may become honest.
func TestHintsOfPlausibleLiars(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pages := slow(w, 60)
	list := w.listed("http://localhost/map.xml")
	var first []string
	lie := func(turn int) []string {
		before := len(w.flows.rescheduled)
		var entries []string
		for i, p := range pages {
			entries = append(entries, fmt.Sprint(p.URL, " ", ago(time.Duration(10+i)*time.Minute+time.Duration(turn)*time.Second)))
		}
		w.read(list, "application/xml", urlset(entries...))
		return slices.DeleteFunc(slices.Clone(w.flows.rescheduled[before:]), func(url string) bool { return slices.Contains(first, url) })
	}
	first = lie(0)
	if len(first) != 4 {
		t.Fatalf("%d of 60 pages are moved", len(first))
	}
	if again := lie(1); len(again) > 0 || w.sources()[0].Skipped["moved already"] != 4 || w.sources()[0].Skipped["too many at once"] != 56 {
		t.Errorf("%d more are moved before those were visited; %+v", len(again), w.sources()[0].Skipped)
	}
	for _, url := range first {
		w.plan(w.page(url).PageRef, 2, contract.FetchOut{Outcome: crawl.OutcomeUnchanged, At: time.Now().UTC()})
	}
	if then := lie(2); len(then) > 4 || w.sources()[0].Skipped["source not trusted"] < 40 {
		t.Errorf("%d are moved then; %+v", len(then), w.sources()[0])
	}
}

// Lost after the pages were moved, the activity is made again and moves no others.
func TestHintsAreMadeOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var entries []string
	for i, p := range slow(w, 20) {
		entries = append(entries, fmt.Sprint(p.URL, " ", ago(time.Duration(1+i)*time.Hour)))
	}
	list := w.listed("http://localhost/map.xml")
	in := w.detection(list, 1, urlset(entries...))
	in.Fetch.ContentType = "application/xml"
	run(w, contract.DetectChange, in)
	w.flows.down = true
	if _, err := try(w, contract.RegisterLinks, contract.RegisterIn{Page: list, Visit: 1}); err == nil {
		t.Error("nobody noticed that Temporal does not answer")
	}
	w.flows.down = false
	run(w, contract.RegisterLinks, contract.RegisterIn{Page: list, Visit: 1})
	moved := 0
	for _, e := range entries {
		url, _, _ := strings.Cut(e, " ")
		if w.page(url).HintedBy != 0 {
			moved++
		}
	}
	if moved != 4 || w.sources()[0].Hinted != 4 || len(w.flows.rescheduled) != 4 {
		t.Errorf("%d pages are moved, %d counted; told %q", moved, w.sources()[0].Hinted, w.flows.rescheduled)
	}
}
