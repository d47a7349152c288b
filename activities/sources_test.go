package activities_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
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

// read makes a visit that saw a list, without a request, and registers its links.
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
// feed that the page names, and the pages that they list.
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
	w.open([]string{s.url + "/"}, wholeMachine)
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
			t.Errorf("%s is %s, %s; registered %+v, want %+v", path, plan.Outcome, plan.Reason, got, want)
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

// A bomb arrives as a few kilobytes, and is read up to the limit.
func TestSourceIsABomb(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: a bomb takes its time")
	}
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
	if got := w.visit(source, 1); got.Outcome != crawl.OutcomeNew || !strings.Contains(got.Reason, "it has more than 50MiB") {
		t.Errorf("visit %+v", got)
	}
	if got := w.sources()[0]; got.Entries != 1 || got.Problem != "it has more than 50MiB" || got.Dropped["entry without a URL"] < 1000 {
		t.Errorf("source %+v", got)
	}
}

// Lists are read whatever their servers take such files for.
func TestSourcesOfUnknownTypes(t *testing.T) {
	t.Parallel()
	s := sourceSite(t, map[string]string{
		"/a.xml": "binary/octet-stream|" + urlset("$/1"), "/feed": "application/octet-stream|<rss><channel><item><link>$/2</link></item></channel></rss>",
		"/picture": "application/octet-stream|\x89PNG\r\n\x1a\n",
	})
	w := newWorld(t)
	w.living([]string{s.url + "/"})
	for path, want := range map[string]crawl.Outcome{"/a.xml": crawl.OutcomeNew, "/feed": crawl.OutcomeNew, "/picture": crawl.OutcomeUnsupported} {
		if got := w.visit(w.listed(s.url+path), 1); got.Outcome != want {
			t.Errorf("%s: %+v", path, got)
		}
	}
}

// A page of the crawl that is called a sitemap becomes a page; a file that is
// neither is visited rarely, and leaves no bytes behind.
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
	if got := w.visit(text, 1); got.Outcome != crawl.OutcomeUnsupported || !strings.Contains(got.Reason, "neither a sitemap nor a feed") {
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

// While something else stands in a list's place, the visits say so. Its validators do not become
// those of the list, or a 304 would say that the list is unchanged.
func TestSourceBehindANotice(t *testing.T) {
	t.Parallel()
	var notice atomic.Bool
	s := serve(t, func(rw http.ResponseWriter, r *http.Request) {
		tag, kind, body := `"list"`, "application/xml", urlset("http://"+r.Host+"/a")
		if notice.Load() {
			tag, kind, body = `"notice"`, "text/plain", "We are moving."
		}
		if r.Header.Get("If-None-Match") == tag {
			answering(304, "", "ETag: "+tag)(rw, r)
			return
		}
		answering(200, body, "Content-Type: "+kind, "ETag: "+tag)(rw, r)
	})
	w := newWorld(t)
	w.living([]string{s.url + "/"})
	page := w.listed(s.url + "/map.xml")
	for i, want := range []crawl.Outcome{crawl.OutcomeNew, crawl.OutcomeUnsupported, crawl.OutcomeUnsupported, crawl.OutcomeUnchanged} {
		notice.Store(want == crawl.OutcomeUnsupported)
		if got := w.visit(page, i+1); got.Outcome != want {
			t.Errorf("visit %d: %+v, want %s", i+1, got, want)
		}
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

// agedStore has found lists the given time ago, by their URLs.
type agedStore struct {
	store.Store
	age func(url string) time.Duration
}

func (s agedStore) ListSources(ctx context.Context, f store.SourceFilter) ([]store.SourceRecord, error) {
	list, err := s.Store.ListSources(ctx, f)
	for i := range list {
		list[i].FoundAt = list[i].FoundAt.Add(-s.age(list[i].URL))
	}
	return list, err
}

// An index that names other lists at each reading, for the same pages, does not fill the crawl.
// One whose lists bring news does not lose any, however it calls them.
func TestSourcesThatAreRenamed(t *testing.T) {
	t.Parallel()
	const readings = 30
	for _, c := range []struct {
		name  string
		list  func(reading, n int) string // its address
		page  func(reading, n int) string // what it lists
		most  int                         // lists
		least int
	}{
		{
			"the same pages under new names", func(r, n int) string { return fmt.Sprintf("http://localhost/%d/%d.xml?t=%d", r, n, r*n) },
			func(_, n int) string { return fmt.Sprintf("http://localhost/page-%d", n) }, 5*3 + 3, 5*3 + 2,
		},
		{
			"news under new names", func(r, n int) string { return fmt.Sprintf("http://localhost/%d/%d.xml", r, n) },
			func(r, n int) string { return fmt.Sprintf("http://localhost/page-%d-%d", r, n) }, readings * 3, readings * 3,
		},
		{
			"a new list at each reading beside old ones", func(r, n int) string { return fmt.Sprintf("http://localhost/0/%d.xml", r*min(n, 1)*10+n) },
			func(int, int) string { return "http://localhost/" }, readings*2 + 1, readings*2 + 1,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			found := map[string]int{}
			reading := 0
			w := newWorld(t, func(p *parts) {
				p.store = agedStore{p.store, func(url string) time.Duration { return time.Duration(reading-found[url]) * time.Hour }}
			})
			w.living([]string{"http://localhost/"}, func(spec *crawl.Spec) { spec.Limits.Window = 1000 })
			index := w.listed("http://localhost/index.xml")
			for reading = 1; reading <= readings; reading++ {
				var b strings.Builder
				var named []string
				for n := range 3 {
					url := c.list(reading, n)
					if found[url] == 0 {
						found[url] = reading
						named = append(named, url)
					}
				}
				for url := range found {
					if strings.HasPrefix(url, "http://localhost/0/") || slices.Contains(named, url) {
						fmt.Fprintf(&b, "<sitemap><loc>%s</loc></sitemap>", url)
					}
				}
				_, got := w.read(index, "application/xml", "<sitemapindex>"+b.String()+"</sitemapindex>")
				for n, url := range named {
					if _, known := w.find(url); known {
						w.read(w.page(url).PageRef, "application/xml", urlset(c.page(reading, n)))
					} else if got.Rejected["renamed lists"] == 0 {
						t.Errorf("%s is not read, but %v", url, got.Rejected)
					}
				}
			}
			if n := len(w.sources()) - 1; n > c.most || n < c.least {
				t.Errorf("%d lists, want %d to %d", n, c.least, c.most)
			}
			refused := min(1, w.rejected("renamed lists"))
			if s := w.sources()[0]; s.URL != index.URL || min(1, s.Skipped["renamed lists"]) != refused || (refused > 0) != (c.most < readings) {
				t.Errorf("the index says %v", s.Skipped)
			}
		})
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
		robots := ""
		for _, url := range tc.sitemaps {
			robots += "Sitemap: " + url + "\n"
		}
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

// A new line of a robots.txt is registered wherever it stands among known ones, with a page's
// new version, though no page has requested the file since.
func TestSitemapsThatAreNew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	seed := w.living([]string{"http://localhost/"})[0]
	named := func(sitemaps ...string) {
		t.Helper()
		text := "Sitemap: " + strings.Join(sitemaps, "\nSitemap: ")
		w.saveRobots(store.SaveRobotsParams{Origin: "http://localhost", State: store.RobotsParsed, Status: 200, Text: text, Sitemaps: sitemaps, Expires: time.Hour})
	}
	visit := func(body string, want ...string) {
		t.Helper()
		n := w.page(seed.URL).Visits + 1
		w.permit(seed, n) // the file is at hand from now on
		w.seen(seed, n, body)
		if _, err := w.store.Leave(t.Context(), seed.PageID); err != nil {
			t.Fatal(err)
		}
		got := run(w, contract.RegisterLinks, contract.RegisterIn{Page: seed, Visit: n})
		var urls []string
		for _, s := range w.sources() {
			urls = append(urls, strings.TrimPrefix(s.URL, "http://localhost/"))
		}
		if !slices.Equal(urls, want) || got.Rejected["no contact"] > 0 && n > 1 {
			t.Errorf("after visit %d the sitemaps are %q, want %q; rejected %v", n, urls, want, got.Rejected)
		}
	}
	named("http://localhost/a", "http://localhost/z", "https://example.com/map.xml")
	visit("<p>One.", "a", "z")
	named("http://localhost/a", "https://example.com/map.xml", "http://localhost/z")
	visit("<p>Two.", "a", "z")
	named("http://localhost/a", "http://localhost/m", "http://localhost/z")
	visit("<p>Three.", "a", "z", "m")
}

// A feed's newest entry tells to the minute when the feed changed: two looks a day at
// changing hours find out that it changes each morning.
func TestFeedsTellTheirTimetable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open([]string{"http://feed.localhost/"}, wholeMachine)
	feed := w.listed("http://feed.localhost/feed")
	// Looks come at changing hours; entries appear at ten past six.
	morning := time.Date(2026, 3, 2, 6, 10, 0, 0, time.UTC)
	body := "<rss><channel>"
	look := func(at time.Time) {
		t.Helper()
		visit := w.page(feed.URL).Visits + 1
		in := w.detection(feed, visit, body)
		in.Fetch.ContentType, in.Fetch.At = "application/rss+xml", at
		out := run(w, contract.DetectChange, in)
		in.Fetch.Outcome, in.Fetch.Newest = out.Outcome, out.Newest
		run(w, contract.PlanRevisit, contract.PlanIn{Page: feed, Visit: visit, Fetch: in.Fetch, Reasons: out.Reasons})
	}
	for n := range 14 {
		day := morning.AddDate(0, 0, n)
		body += fmt.Sprintf("<item><link>/%d</link><pubDate>%s</pubDate></item>", n, day.Format(time.RFC1123Z))
		look(day.Add(time.Duration(1+n*7%11) * time.Hour))
		look(day.Add(time.Duration(13+n*5%9) * time.Hour)) // finds nothing new
	}
	belief := schedule.DecodeBelief(w.page(feed.URL).Belief)
	if want := morning.AddDate(0, 0, 13); belief.Newest != want.UnixMilli() || belief.Since != want.UnixMilli() {
		t.Errorf("newest entry %d, last change %d; want %d", belief.Newest, belief.Since, want.UnixMilli())
	}
	if belief.Dated < 5 || belief.Timetable.Period == 0 || belief.Timetable.Doubtful {
		t.Errorf("no timetable after 14 mornings: dated %d, %+v", belief.Dated, belief.Timetable)
	}
}
