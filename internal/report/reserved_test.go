package report

import (
	"bytes"
	"strings"
	"testing"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// A site's reservations appear in the explanation of a page, and in its versions.
func TestExplainReserved(t *testing.T) {
	t.Parallel()
	f := sample()
	page := f.pages[0]
	page.Last.Seq = 1
	said := []crawl.Reservation{
		{Use: crawl.UseSearch, Allowed: true, Source: "robots.txt: Content-Signal: search=yes"}, {Use: crawl.UseAITrain, Source: "meta robots: noai"},
	}
	f.versions = map[int64][]store.VersionRecord{page.PageID: {{Seq: 1, Visit: 1, Reserved: said}}}
	const words = `of version 1 the site allows search ("robots.txt: Content-Signal: search=yes"), refuses ai-train ("meta robots: noai")`
	if text := explainIn(t, f, page, Text); !strings.Contains(text, words) {
		t.Errorf("the explanation lacks %s:\n%s", words, text)
	}
	const line = `"reserved":[{"use":"search","allowed":true,"source":"robots.txt: Content-Signal: search=yes"},{"use":"ai-train","allowed":false,"source":"meta robots: noai"}]`
	if text := explainIn(t, f, page, JSON); !strings.Contains(text, line) {
		t.Errorf("the explanation lacks %s:\n%s", line, text)
	}
	f.versions[page.PageID][0].Reserved = nil
	if text := explainIn(t, f, page, Text) + explainIn(t, f, page, JSON); strings.Contains(text, "reserved") {
		t.Errorf("of nothing it says\n%s", text)
	}
}

func explainIn(t *testing.T, f *fake, page store.PageRecord, format Format) string {
	t.Helper()
	var out bytes.Buffer
	if err := (Reporter{Store: f, Out: &out, Format: format}).Explain(t.Context(), page, Live{Doing: "sleeping"}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The robots.txt is judged with the crawl's purpose, and a page excluded before any visit
// has its site's words as the reason.
func TestExcludedForAPurpose(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, robots, terms string
		purpose             []crawl.Use
		kind                crawl.PageKind
		why, check          string
	}{
		{
			"by robots.txt", "User-agent: *\nContent-Signal: ai-train=no\n", "",
			[]crawl.Use{crawl.UseAITrain},
			0,
			`the site reserves ai-train, which the crawl is for: "robots.txt: Content-Signal: ai-train=no"`, "disallowed",
		},
		{
			"by tdmrep.json", "User-agent: *\n", `[{"location": "/", "tdm-reservation": 1}]`,
			[]crawl.Use{crawl.UseAITrain},
			0,
			`the site reserves ai-train, which the crawl is for: "tdmrep.json: / tdm-reservation 1"`, "allowed",
		},
		{
			"for another purpose", "User-agent: *\nContent-Signal: ai-train=no\n", "",
			[]crawl.Use{crawl.UseSearch},
			0,
			"the scope forbids it, or robots.txt did", "allowed",
		},
		{
			"without a purpose", "User-agent: *\nContent-Signal: ai-train=no\n", `[{"location": "/", "tdm-reservation": 1}]`, nil, 0,
			"the scope forbids it, or robots.txt did", "allowed",
		},
		{"of a list", "User-agent: *\nContent-Signal: ai-train=no\n", "", []crawl.Use{crawl.UseAITrain}, crawl.KindSitemap, "", "allowed"},
	} {
		f := sample()
		f.robots = c.robots
		f.crawls[0].Spec.Purpose = c.purpose
		page := f.pages[0]
		page.Kind = c.kind
		if c.why != "" {
			got, err := (Reporter{Store: f, Requests: &asked{terms: c.terms}}).excluder(f.crawls[0].Spec).why(t.Context(), page)
			if err != nil || got != c.why {
				t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.why)
			}
		}
		check, _, err := (Reporter{Store: f}).robotsOf(t.Context(), page, f.crawls[0].Spec)
		if err != nil || !strings.HasPrefix(check.text(), c.check+" for recrawl") {
			t.Errorf("%s: %s, %v, want %s", c.name, check.text(), err, c.check)
		}
	}
}

// A page whose URL an earlier release took, and this one does not, fails neither lists nor what is
// said of it.
func TestPageOfAnEarlierRelease(t *testing.T) {
	t.Parallel()
	const want = "it is no URL by the rules of this release"
	f := sample()
	page := f.pages[0]
	page.URL = "http://example.com.xn--/"
	r := Reporter{Store: f}
	if got, err := r.excluder(f.crawls[0].Spec).why(t.Context(), page); err != nil || got != want {
		t.Errorf("why it is excluded: %q, %v", got, err)
	}
	if check, _, err := r.robotsOf(t.Context(), page, f.crawls[0].Spec); err != nil || check.Allowed || check.Reason != want {
		t.Errorf("what robots.txt says: %+v, %v", check, err)
	}
	if src, _, err := r.rulesOf(t.Context(), page); err != nil || src.URL != (urlkey.URL{}) {
		t.Errorf("how it is read: %+v, %v", src, err)
	}
}

func TestPurposeInStatus(t *testing.T) {
	t.Parallel()
	f := sample()
	f.crawls[0].Spec.Purpose = []crawl.Use{crawl.UseAIInput, crawl.UseAITrain}
	for format, want := range map[Format]string{
		Text: "ai-input, ai-train: pages whose sites reserve that are excluded",
		JSON: `"purpose":["ai-input","ai-train"]`,
	} {
		var out bytes.Buffer
		if err := (Reporter{Store: f, Out: &out, Format: format}).Status(t.Context(), f.crawls[0].Spec.Name); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("the status lacks %s:\n%s", want, out.String())
		}
	}
}
