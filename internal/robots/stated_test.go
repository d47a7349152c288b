package robots_test

import (
	"fmt"
	"strings"
	"testing"

	"recrawl/internal/crawl"
	"recrawl/internal/robots"
	"recrawl/internal/urlkey"
)

// inShort writes reservations without their sources: "search+ ai-train-".
func inShort(reserved []crawl.Reservation) string {
	var said []string
	for _, r := range reserved {
		sign := "-"
		if r.Allowed {
			sign = "+"
		}
		said = append(said, string(r.Use)+sign)
	}
	return strings.Join(said, " ")
}

func urlOf(t *testing.T, path string) urlkey.URL {
	t.Helper()
	u, err := urlkey.Canonical("https://host.test" + path)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestReserved(t *testing.T) {
	t.Parallel()
	const paths = "User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /free/ train-ai=y\nContent-Usage: /free/*.jpg$ train-ai=n\nAllow: /\n"
	for _, c := range []struct{ name, file, path, want string }{
		{"signals", "User-Agent: *\nContent-Signal: search=yes, ai-train=no\nAllow: /\n", "/a", "search+ ai-train-"},
		{"key in small letters", "user-agent: *\ncontent-signal: search=yes,ai-train=no\n", "/a", "search+ ai-train-"},
		{"comment", "User-agent: *\nContent-Signal: ai-train=no # please\n", "/a", "ai-train-"},
		{"our own group alone", "User-agent: *\nContent-Signal: ai-train=no\nUser-agent: recrawl\nContent-Signal: ai-train=yes\n", "/a", "ai-train+"},
		{"others", "User-agent: otherbot\nContent-Signal: ai-train=no\nAllow: /\nUser-agent: *\nAllow: /\n", "/a", ""},
		{"two groups of ours", "User-agent: recrawl\nContent-Signal: search=yes\nAllow: /\nUser-agent: recrawl\nContent-Signal: search=no\n", "/a", "search-"},
		{"before the first group", "Content-Signal: ai-train=no\nUser-agent: recrawl\nAllow: /\n", "/a", "ai-train-"},
		{"a statement ends its group", "User-agent: otherbot\nContent-Signal: ai-train=no\nUser-agent: recrawl\nDisallow: /b\n", "/a", ""},
		{"for two agents", "User-agent: otherbot\nUser-agent: recrawl\nContent-Signal: ai-train=no\n", "/a", "ai-train-"},
		{"for two agents, ours first", "User-agent: recrawl\nUser-agent: otherbot\nContent-Signal: ai-train=no\n", "/a", "ai-train-"},
		{"an end without a star", "User-agent: *\nContent-Usage: /a$ train-ai=n\n", "/a", "ai-train-"},
		{"beyond its end", "User-agent: *\nContent-Usage: /a$ train-ai=n\n", "/ab", ""},
		{"behind a rule", "User-agent: *\nAllow: /\nContent-Signal: ai-train=no\n", "/a", "ai-train-"},
		{"without a path", paths, "/a", "ai-train-"},
		{"the longest path", paths, "/free/a", "ai-train+"},
		{"a pattern", paths, "/free/a.jpg", "ai-train-"},
		{"a pattern with an end", paths, "/free/a.jpgs", "ai-train+"},
		{"escaped as in rules", "User-agent: *\nContent-Usage: /%7Ejoe/ train-ai=n\n", "/~joe/a", "ai-train-"},
		{"a longer path says nothing of it", "User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /a search=y\n", "/a", "search+"},
		{"two with the same path", "User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: search=y\n", "/a", "search+ ai-train-"},
		{"kinds are apart", "User-agent: *\nContent-Signal: ai-train=no\nContent-Usage: /a train-ai=y\n", "/a", "ai-train-"},
		{"nothing", "User-agent: *\nDisallow: /b\n", "/a", ""},
		{"empty", "User-agent: *\nContent-Signal:\nContent-Usage: /a\n", "/a", ""},
	} {
		if got := inShort(robots.Parse([]byte(c.file)).Reserved("recrawl", urlOf(t, c.path))); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	said := robots.Parse([]byte(paths)).Reserved("recrawl", urlOf(t, "/free/a"))
	if said[0].Source != "robots.txt: Content-Usage: /free/ train-ai=y" {
		t.Errorf("source %q", said[0].Source)
	}
}

// Statements are no rules: what may be fetched is decided as if they were not there.
func TestStatementsAreNoRules(t *testing.T) {
	t.Parallel()
	const with = "User-agent: recrawl\nContent-Signal: ai-train=no\nUser-agent: otherbot\nContent-Usage: /a train-ai=n\nDisallow: /a\n"
	file := robots.Parse([]byte(with))
	for _, agent := range []string{"recrawl", "otherbot"} {
		if v := file.Check(agent, urlOf(t, "/a")); v.Allowed || v.Rule != "Disallow: /a" {
			t.Errorf("%s: %+v", agent, v)
		}
	}
}

func TestCheckFor(t *testing.T) {
	t.Parallel()
	file := robots.Parse([]byte("User-agent: *\nContent-Signal: search=yes, ai-train=no\nDisallow: /b\n"))
	train := []crawl.Use{crawl.UseAITrain}
	if v := file.CheckFor("recrawl", nil, urlOf(t, "/a")); !v.Allowed {
		t.Errorf("without a purpose: %+v", v)
	}
	if v := file.CheckFor("recrawl", []crawl.Use{crawl.UseSearch}, urlOf(t, "/a")); !v.Allowed {
		t.Errorf("for search: %+v", v)
	}
	if v := file.CheckFor("recrawl", train, urlOf(t, "/a")); v.Allowed || v.Reason != `the site reserves ai-train, which the crawl is for: "robots.txt: Content-Signal: search=yes, ai-train=no"` {
		t.Errorf("for training: %+v", v)
	}
	if v := file.CheckFor("recrawl", train, urlOf(t, "/b")); v.Rule != "Disallow: /b" {
		t.Errorf("what a rule forbids: %+v", v)
	}
}

func TestTerms(t *testing.T) {
	t.Parallel()
	const list = `[{"location": "/a/", "tdm-reservation": 1, "tdm-policy": "https://host.test/p.json"},
		{"location": "/a/free/*.html", "tdm-reservation": 0}, {"location": "/b", "tdm-reservation": "1"}, {"location": "*.pdf$", "tdm-reservation": 1}]`
	for _, c := range []struct{ name, file, path, want string }{
		{"reserved", list, "/a/x", "ai-input- ai-train-"},
		{"the longest location", list, "/a/free/x.html", "ai-input+ ai-train+"},
		{"as a text", list, "/bc", "ai-input- ai-train-"},
		{"a pattern", list, "/x.pdf", "ai-input- ai-train-"},
		{"its end", list, "/x.pdfs", ""},
		{"none", list, "/", ""},
		{"two that are as long", `[{"location":"/","tdm-reservation":0},{"location":"/","tdm-reservation":1}]`, "/", "ai-input- ai-train-"},
		{"no list", `{"location":"/","tdm-reservation":1}`, "/x", "ai-input- ai-train-"},
		{"no slash", `[{"location":"x","tdm-reservation":1}]`, "/x", "ai-input- ai-train-"},
		{"with a mark", "\xEF\xBB\xBF" + `[{"location":"/","tdm-reservation":1}]`, "/x", "ai-input- ai-train-"},
		{"another entry is broken", `[7,{"location":3},{"location":"/","tdm-reservation":1,"tdm-policy":{"a":1}}]`, "/x", "ai-input- ai-train-"},
		{"a page instead", "<html>Not found", "/x", ""},
		{"empty", "", "/x", ""},
		{"null", "null", "/x", ""},
	} {
		if got := inShort(robots.ParseTerms([]byte(robots.Text([]byte(c.file)))).Reserved(urlOf(t, c.path))); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	said := robots.ParseTerms([]byte(list)).Reserved(urlOf(t, "/a/x"))
	if want := "tdmrep.json: /a/ tdm-reservation 1, tdm-policy https://host.test/p.json"; said[0].Source != want {
		t.Errorf("source %q, want %q", said[0].Source, want)
	}
}

// The statements that count are bounded, the first of a file.
func TestManyStatements(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("User-agent: *\nContent-Usage: /first train-ai=n\n")
	for n := range 20_000 {
		fmt.Fprintf(&b, "Content-Usage: /*a*a*a*n%d$ search=n\n", n)
	}
	file := robots.Parse([]byte(b.String()))
	if got := inShort(file.Reserved("recrawl", urlOf(t, "/first"))); got != "ai-train-" {
		t.Errorf("the first says %q", got)
	}
	if got := inShort(file.Reserved("recrawl", urlOf(t, "/"+strings.Repeat("a", 8000)+"n19999"))); got != "" {
		t.Errorf("the last says %q", got)
	}
}
