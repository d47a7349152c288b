package contract_test

import (
	"fmt"
	"strings"
	"testing"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
)

const longName = "a123456789b123456789c123456789d123456789" // 40, the longest

func longURL(n int) string {
	url := "https://example.com/"
	return url + strings.Repeat("x", n-len(url))
}

func TestIDsRoundTrip(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"news", "a", longName, "0.b_c-d"} {
		if got, ok := contract.ParseCrawlID(contract.CrawlID(name)); !ok || got != name {
			t.Errorf("CrawlID(%q) parses to %q, %t", name, got, ok)
		}
		for _, url := range []string{
			"https://example.com/", "http://example.com:8080/a//b/?q=1&r=%20#", "https://example.com/page/news/x",
			longURL(180),
		} {
			gotName, gotURL, truncated, ok := contract.ParsePageID(contract.PageID(name, url))
			if !ok || gotName != name || gotURL != url || truncated {
				t.Errorf("PageID(%q, %q) parses to %q, %q, %t, %t", name, url, gotName, gotURL, truncated, ok)
			}
		}
		gotName, page, visit, ok := contract.ParseDiscoverID(contract.DiscoverID(name, 1<<62, 1<<30))
		if !ok || gotName != name || page != 1<<62 || visit != 1<<30 {
			t.Errorf("DiscoverID parses to %q, %d, %d, %t", gotName, page, visit, ok)
		}
	}
}

func TestPageIDTruncation(t *testing.T) {
	t.Parallel()
	url := longURL(2000)
	id := contract.PageID(longName, url)
	if len(id) != len("page/")+40+1+180 || len(id) > 240 {
		t.Errorf("id of %d characters", len(id))
	}
	name, part, truncated, ok := contract.ParsePageID(id)
	if !ok || !truncated || name != longName || !strings.HasPrefix(url, strings.Split(part, "~")[0]) {
		t.Errorf("parses to %q, %q, %t, %t", name, part, truncated, ok)
	}
	if id == contract.PageID(longName, url+"y") {
		t.Error("two long URLs with one beginning have one id")
	}
	if contract.PageID("news", longURL(181)) == contract.PageID("news", longURL(182)) {
		t.Error("two URLs just over the limit have one id")
	}
}

// A quote would break list filters such as WorkflowId = '…'.
func TestPageIDQuote(t *testing.T) {
	t.Parallel()
	id := contract.PageID("news", "https://example.com/o'neill")
	if strings.Contains(id, "'") || !strings.HasSuffix(id, "/o%27neill") {
		t.Errorf("id %q", id)
	}
}

func TestParseRefusesForeignIDs(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"", "page/", "page/news", "page/news/", "page//https://x/", "page/NEWS/https://x/", "pages/news/https://x/"} {
		if _, _, _, ok := contract.ParsePageID(id); ok {
			t.Errorf("ParsePageID(%q) is taken", id)
		}
	}
	for _, id := range []string{"", "crawl/", "crawl/a/b", "crawl/-a", "crawl/" + longName + "x"} {
		if _, ok := contract.ParseCrawlID(id); ok {
			t.Errorf("ParseCrawlID(%q) is taken", id)
		}
	}
	for _, id := range []string{"", "discover/news/1", "discover/news/x/1", "discover/news/1/x", "discover/news/1/2/3", "discover//1/2"} {
		if _, _, _, ok := contract.ParseDiscoverID(id); ok {
			t.Errorf("ParseDiscoverID(%q) is taken", id)
		}
	}
}

// An id that Temporal or its databases could not carry panics where it is made: a
// child with such an id would time out for ever.
func TestIDsAssert(t *testing.T) {
	t.Parallel()
	for what, make := range map[string]func(){
		"not ASCII":    func() { contract.PageID("news", "https://example.com/ä") },
		"a space":      func() { contract.PageID("news", "https://example.com/a b") },
		"a newline":    func() { contract.PageID("news", "https://example.com/\n") },
		"a long name":  func() { contract.CrawlID(strings.Repeat("a", 300)) },
		"an odd crawl": func() { contract.DiscoverID("näws", 1, 2) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is taken", what)
				}
			}()
			make()
		}()
	}
}

func TestAttributes(t *testing.T) {
	t.Parallel()
	in := contract.PageIn{State: crawl.Failing, Page: crawl.PageRef{Crawl: "news", URL: longURL(900), Host: strings.Repeat("h", 900)}}
	attrs := contract.PageAttributes(in)
	if host, _ := attrs.GetKeyword(contract.AttrHost); len(host) != 200 {
		t.Errorf("host of %d characters, want it cut to 200", len(host))
	}
	if state, _ := attrs.GetKeyword(contract.AttrState); state != "failing" {
		t.Errorf("state %q", state)
	}
	for state, want := range map[crawl.CrawlState]string{
		crawl.CrawlRunning: "running", crawl.CrawlPaused: "paused", crawl.CrawlStopped: "stopping",
	} {
		if got, _ := contract.CrawlAttributes("news", state).GetKeyword(contract.AttrState); got != want {
			t.Errorf("crawl state %s is shown as %q, want %q", state, got, want)
		}
	}
	if name, _ := contract.DiscoverAttributes("news").GetKeyword(contract.AttrCrawl); name != "news" {
		t.Errorf("crawl %q", name)
	}
}

func FuzzPageID(f *testing.F) {
	f.Add("news", "https://example.com/")
	f.Add("a", longURL(181))
	f.Add("a", longURL(147)+"~"+strings.Repeat("0", 32))
	f.Fuzz(func(t *testing.T, name, url string) {
		if !crawl.ValidName(name) || url == "" || !printable(url) {
			return
		}
		id := contract.PageID(name, url)
		if len(id) > 240 || !printable(id) || strings.Contains(id, "'") {
			t.Fatalf("PageID(%q, %q) = %q", name, url, id)
		}
		gotName, gotURL, truncated, ok := contract.ParsePageID(id)
		if !ok || gotName != name {
			t.Fatalf("%q parses to %q, %t", id, gotName, ok)
		}
		if escaped := strings.ReplaceAll(url, "'", "%27"); !truncated && gotURL != escaped {
			t.Fatalf("%q parses to URL %q, want %q", id, gotURL, escaped)
		}
		if id2 := contract.PageID(name, url); id2 != id {
			t.Fatalf("two ids for one page: %q, %q", id, id2)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("discover/news/1/2")
	f.Add("page/news/https://example.com/")
	f.Fuzz(func(t *testing.T, id string) {
		if name, ok := contract.ParseCrawlID(id); ok && contract.CrawlID(name) != id {
			t.Errorf("%q is taken as crawl %q", id, name)
		}
		if name, page, visit, ok := contract.ParseDiscoverID(id); ok && printable(id) {
			again := contract.DiscoverID(name, page, visit)
			if n, p, v, ok := contract.ParseDiscoverID(again); !ok || n != name || p != page || v != visit {
				t.Errorf("%q: %s", id, fmt.Sprint(name, page, visit))
			}
		}
		contract.ParsePageID(id)
	})
}

func printable(s string) bool {
	for i := range len(s) {
		if s[i] < 0x21 || s[i] > 0x7e {
			return false
		}
	}
	return true
}
