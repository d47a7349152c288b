package activities_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// detection is the input of DetectChange for a body that is in the archive.
func (w *world) detection(page crawl.PageRef, visit int, body string) contract.DetectIn {
	w.t.Helper()
	return contract.DetectIn{Page: page, Visit: visit, Fetch: contract.FetchOut{
		Outcome: crawl.OutcomeNew, Differs: true, Status: 200, At: time.Now().UTC().Truncate(time.Microsecond),
		Digest: w.keep(body), Size: int64(len(body)), ContentType: "text/html; charset=utf-8",
	}}
}

// seen makes a visit that saw a body, without a request.
func (w *world) seen(page crawl.PageRef, visit int, body string) contract.DetectOut {
	w.t.Helper()
	in := w.detection(page, visit, body)
	out := run(w, contract.DetectChange, in)
	in.Fetch.Outcome = out.Outcome
	run(w, contract.PlanRevisit, contract.PlanIn{Page: page, Visit: visit, Fetch: in.Fetch, Reasons: out.Reasons})
	return out
}

func TestDetectChange(t *testing.T) {
	t.Parallel()
	const last = `<title>News</title><p>Rain today. <a href="/a">more</a>`
	cases := []struct {
		name, body string
		outcome    crawl.Outcome
		reasons    string
		links      int // that wait for a Discover
		versions   int
	}{
		{"the same bytes", last, crawl.OutcomeUnchanged, "same-bytes", 0, 1},
		{"other markup", `<title>News</title><p class=x>Rain  today. <a href="/a">more</a>`, crawl.OutcomeCosmetic, "same-text", 0, 1},
		{"other links", `<title>News</title><p>Rain today. <a href="/b">more</a>`, crawl.OutcomeCosmetic, "same-text links-differ", 1, 2},
		{"another advert", last + `<div class="ad">Buy <a href="/a">this</a></div>`, crawl.OutcomeCosmetic, "same-text", 0, 1},
		{"other text", `<title>News</title><p>Sun today. <a href="/a">more</a>`, crawl.OutcomeChanged, "text-differs beyond-noise", 1, 2},
		{"nothing left", ``, crawl.OutcomeChanged, "text-differs links-differ", 0, 2},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			page := w.living([]string{"http://localhost/"})[0]
			if first := w.seen(page, 1, last); first.Outcome != crawl.OutcomeNew || first.Links != 1 || codes(first.Reasons) != "first-version" {
				t.Errorf("the first copy: %+v", first)
			}
			in := w.detection(page, 2, c.body)
			got := run(w, contract.DetectChange, in)
			if got.Outcome != c.outcome || got.Links != c.links || codes(got.Reasons) != c.reasons {
				t.Errorf("verdict %+v, want %s because of %q with %d links", got, c.outcome, c.reasons, c.links)
			}
			if again := run(w, contract.DetectChange, in); fmt.Sprint(again) != fmt.Sprint(got) {
				t.Errorf("run again: %+v, want %+v", again, got)
			}
			if n := w.status().Versions; n != c.versions {
				t.Errorf("%d versions, want %d", n, c.versions)
			}
		})
	}
}

// A change in an ignored part is no change.
func TestDetectChangeIgnores(t *testing.T) {
	t.Parallel()
	const first, second = `<p>Rain today.<p id=tide>Low water<p>12 boats in`, `<p>Rain today.<p id=tide>High water<p>14 boats in`
	for want, content := range map[crawl.Outcome]crawl.ContentSpec{
		crawl.OutcomeCosmetic: {IgnoreSelectors: []string{"#tide"}, IgnorePatterns: []string{`\d+ boats`}},
		crawl.OutcomeChanged:  {IgnoreSelectors: []string{"#tide"}},
	} {
		w := newWorld(t)
		page := w.living([]string{"http://localhost/"}, func(spec *crawl.Spec) { spec.Content = content })[0]
		w.seen(page, 1, first)
		if got := run(w, contract.DetectChange, w.detection(page, 2, second)).Outcome; got != want {
			t.Errorf("%s with %+v, want %s", got, content, want)
		}
	}
}

// A line that most of the host's pages have is no change if the crawl says so, except on
// the oldest of them; beside an edit it hides nothing.
func TestDetectChangeIgnoresWhatPagesShare(t *testing.T) {
	t.Parallel()
	const shared = `<p>Do you still need help? Ask us.`
	own := func(i int) string { return fmt.Sprintf("<p>Page %c says this of itself.", 'A'+i) }
	for _, ignore := range []bool{false, true} {
		w := newWorld(t)
		urls := make([]string, 7)
		for i := range urls {
			urls[i] = fmt.Sprintf("http://localhost/%d", i)
		}
		pages := w.living(urls, func(spec *crawl.Spec) { spec.Content.IgnoreShared = ignore })
		for i, page := range pages {
			w.seen(page, 1, own(i)+shared)
		}
		slices.SortFunc(pages, func(a, b crawl.PageRef) int { return cmp.Compare(a.PageID, b.PageID) })
		number := func(page crawl.PageRef) int { return slices.Index(urls, page.URL) }
		oldest, last := pages[0], pages[len(pages)-1]
		want, reasons := crawl.OutcomeChanged, "text-differs beyond-noise"
		if ignore {
			want, reasons = crawl.OutcomeCosmetic, "noise noise-only boilerplate"
		}
		if got := run(w, contract.DetectChange, w.detection(last, 2, own(number(last)))); got.Outcome != want || codes(got.Reasons) != reasons {
			t.Errorf("without the shared line: %s %s, want %s %s", got.Outcome, codes(got.Reasons), want, reasons)
		}
		if got := run(w, contract.DetectChange, w.detection(oldest, 2, own(number(oldest)))); got.Outcome != crawl.OutcomeChanged {
			t.Errorf("the oldest page: %s", got.Outcome)
		}
		if got := run(w, contract.DetectChange, w.detection(last, 3, own(number(last))+"<p>Closed from today on.")); got.Outcome != crawl.OutcomeChanged {
			t.Errorf("with an edit beside it: %s", got.Outcome)
		}
	}
}

// codes are the codes of reasons in one line.
func codes(reasons []crawl.Reason) string {
	line := ""
	for i, r := range reasons {
		if i > 0 {
			line += " "
		}
		line += r.Code
	}
	return line
}

func TestDetectChangeStoresTheVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.living([]string{"http://localhost/docs/"})[0]
	const body = `<title> The
		docs</title><link rel=canonical href="/docs"><p>Read <a href="a">this</a>, <a href="/b#x">that</a>, <a href="/ad" rel=sponsored>not this</a> and <a href="">me</a>.`
	in := w.detection(page, 1, body)
	run(w, contract.DetectChange, in)
	if w.page(page.URL).Last.ID != 0 {
		t.Error("the version shows before its visit is recorded")
	}
	pending := must[*store.PendingLinks](t)(w.store.PendingLinks(t.Context(), page.PageID, 1))
	want := []store.Link{{URL: "http://localhost/docs"}, {URL: "http://localhost/docs/a"}, {URL: "http://localhost/b"}, {URL: "http://localhost/ad", NoFollow: true}}
	if pending == nil || fmt.Sprint(pending.Links) != fmt.Sprint(want) {
		t.Errorf("links %+v, want %+v", pending, want)
	}
	run(w, contract.PlanRevisit, contract.PlanIn{Page: page, Visit: 1, Fetch: in.Fetch})
	got := w.page(page.URL).Last
	if got.Seq != 1 || got.Visit != 1 || got.Digest != digestOf(body) || got.Bytes != int64(len(body)) || !got.At.Equal(in.Fetch.At) ||
		got.Title != "The docs" || got.Canonical != "http://localhost/docs" || got.TextBytes == 0 || got.TextDigest == "" || got.LinkDigest == "" {
		t.Errorf("version %+v", got)
	}
}

// A page that says so has no links to follow.
func TestDetectChangeOfAPageWithoutFollow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.living([]string{"http://localhost/"})[0]
	run(w, contract.DetectChange, w.detection(page, 1, `<meta name=robots content=nofollow><a href="/a">a</a>`))
	if follows := w.followed(page, 1); len(follows) > 0 {
		t.Errorf("links %q, want none", follows)
	}
}

// What a page says in headers, as it could in elements, counts.
func TestDetectChangeFollowsHeaders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.living([]string{"http://localhost/"})[0]
	in := w.detection(page, 1, "")
	in.Fetch.Heads = &contract.Heads{Response: "HTTP/1.1 200 OK\r\nRefresh: 0; url=/moved\r\nLink: </2>; rel=next\r\nlink: </0>; rel=prev\r\n\r\n"}
	run(w, contract.DetectChange, in)
	if follows := strings.Join(w.followed(page, 1), " "); follows != "/moved /2 /0" {
		t.Errorf("links %q", follows)
	}
}

// Links that are not taken are counted by reason, with examples, wherever they lead.
func TestLinksThatAreNotTakenAreCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.living([]string{"http://localhost/"})[0]
	long := strings.Repeat("x", urlkey.MaxLength)
	body := `<meta name=robots content=nofollow><a href="mailto:a@b.test">a</a><a href="ftp://b.test/">b</a><a href="/` + long + `">c</a><a href="http://">d</a>`
	for i := range 6 {
		body += fmt.Sprintf(`<a href="/%d">page</a>`, i)
	}
	run(w, contract.DetectChange, w.detection(page, 1, body))
	in := contract.RegisterIn{Page: page, Visit: 1}
	out := run(w, contract.RegisterLinks, in)
	want := map[string]int{"scheme": 2, "too long": 1, "malformed": 1, "nofollow": 6}
	if out.New != 0 || !maps.Equal(out.Rejected, want) {
		t.Errorf("registered %+v, want none and %v rejected", out, want)
	}
	for _, c := range must[[]store.RejectionCount](t)(w.store.Rejections(t.Context(), page.CrawlID)) {
		if c.Links != want[c.Reason] {
			t.Errorf("%d links are counted for %s", c.Links, c.Reason)
		}
	}
	kept := must[[]store.RejectedLink](t)(w.store.ListRejected(t.Context(), store.RejectedFilter{CrawlID: page.CrawlID, Reason: "scheme", Limit: 10}))
	if len(kept) != 2 || kept[0].From != page.URL || !slices.ContainsFunc(kept, func(l store.RejectedLink) bool { return l.URL == "mailto:a@b.test" }) {
		t.Errorf("kept %+v", kept)
	}
}

// A body that cannot be read does not heal by trying again.
func TestDetectChangeOfAnUnreadableBody(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name    string
		damage  func(file string) error
		message string
	}{
		{"missing", os.Remove, "not in the archive"},
		{"damaged", func(file string) error { return os.WriteFile(file, []byte("<p>jello"), 0o644) }, "archive is corrupt"},
		{"cut", func(file string) error { return os.Truncate(file, 3) }, "archive is corrupt"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			page := w.living([]string{"http://localhost/"})[0]
			in := w.detection(page, 1, "<p>hello")
			digest := in.Fetch.Digest
			if err := c.damage(filepath.Join(w.folder, digest[:2], digest[2:4], digest+".raw")); err != nil {
				t.Fatal(err)
			}
			_, err := try(w, contract.DetectChange, in)
			wantError(t, err, "Archive", false, c.message)
			if n := w.status().Versions; n != 0 {
				t.Errorf("%d versions", n)
			}
		})
	}
}
