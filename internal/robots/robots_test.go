package robots

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"

	"recrawl/internal/urlkey"
)

func canonical(t testing.TB, raw string) urlkey.URL {
	t.Helper()
	u, err := urlkey.Canonical(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// allowed asks a file for a path on some host.
func allowed(t testing.TB, text, agent, path string) bool {
	t.Helper()
	return Parse([]byte(text)).Check(agent, canonical(t, "http://example.com"+path)).Allowed
}

// TestRFCExamples: section 5.1, 5.2 and the tables of 2.2.2 and 2.2.3.
func TestRFCExamples(t *testing.T) {
	const simple = `User-Agent: *
Disallow: *.gif$
Disallow: /example/
Allow: /publications/

User-Agent: foobot
Disallow:/
Allow:/example/page.html
Allow:/example/allowed.gif

User-Agent: barbot
User-Agent: bazbot
Disallow: /example/page.html

User-Agent: quxbot
EOF`
	const longest = "User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n"
	cases := []struct {
		text, agent, path string
		want              bool
	}{
		{simple, "other", "/a.gif", false},
		{simple, "other", "/a.gifx", true},
		{simple, "other", "/example/x", false},
		{simple, "other", "/publications/a", true},
		{simple, "foobot", "/", false},
		{simple, "foobot", "/example/page.html", true},
		{simple, "FooBot", "/example/allowed.gif", true},
		{simple, "foobot", "/example/other.gif", false},
		{simple, "barbot", "/example/page.html", false},
		{simple, "barbot", "/a.gif", true},
		{simple, "bazbot", "/example/page.html", false},
		{simple, "quxbot", "/example/page.html", true},
		{simple, "quxbot", "/a.gif", true},
		{longest, "foobot", "/example/page/disallowed.gif", false},
		{longest, "foobot", "/example/page/", true},

		{"User-agent: a\nDisallow: /foo/bar?baz=quz", "a", "/foo/bar?baz=quz", false},
		{"User-agent: a\nDisallow: /foo/bar?baz=http://foo.bar", "a", "/foo/bar?baz=http%3A%2F%2Ffoo.bar", false},
		{"User-agent: a\nDisallow: /foo/bar?baz=http%3a%2f%2ffoo.bar", "a", "/foo/bar?baz=http://foo.bar", false},
		{"User-agent: a\nDisallow: /foo/bar/ツ", "a", "/foo/bar/%E3%83%84", false},
		{"User-agent: a\nDisallow: /foo/bar/%e3%83%84", "a", "/foo/bar/ツ", false},
		{"User-agent: a\nDisallow: /foo/bar/%62%61%7A", "a", "/foo/bar/baz", false},
		{"User-agent: a\nDisallow: /foo/bar/baz", "a", "/foo/bar/%62%61%7A", false},

		{"User-agent: a\nAllow: /this/*/exactly\nDisallow: /", "a", "/this/path/exactly", true},
		{"User-agent: a\nAllow: /this/path/exactly$\nDisallow: /", "a", "/this/path/exactly", true},
		{"User-agent: a\nAllow: /this/path/exactly$\nDisallow: /", "a", "/this/path/exactly2", false},
		{"User-agent: a\nDisallow: /path/file-with-a-%2A.html", "a", "/path/file-with-a-*.html", false},
		{"User-agent: a\nDisallow: /path/file-with-a-%2A.html", "a", "/path/file-with-a-x.html", true},
		{"User-agent: a\nDisallow: /path/foo-%24", "a", "/path/foo-$", false},
		{"User-agent: a\nDisallow: /path/foo-%24", "a", "/path/foo-", true},
	}
	for _, c := range cases {
		t.Run(c.agent+" "+c.path, func(t *testing.T) {
			if got := allowed(t, c.text, c.agent, c.path); got != c.want {
				t.Errorf("%q: got %v", c.text, got)
			}
		})
	}
}

// TestWhereTemotoFails has one case or more for each known failure of temoto
// used alone, under its name in the measurements.
func TestWhereTemotoFails(t *testing.T) {
	cases := []struct {
		name, text, agent, path string
		want                    bool
	}{
		{"E1 rule before any group", "Disallow: /x\nUser-agent: a\nDisallow: /y", "a", "/y", false},
		{"E1 the stray rule is nobody's", "Disallow: /x\nUser-agent: a\nDisallow: /y", "a", "/x", true},
		{"E2 bad Crawl-delay", "User-agent: a\nCrawl-delay: soon\nDisallow: /y", "a", "/y", false},
		{"E2 negative Crawl-delay", "User-agent: a\nCrawl-delay: -1\nDisallow: /y", "a", "/y", false},
		{"E2 space before the colon", "User-agent: a\nCrawl-delay : 60\nDisallow: /y", "a", "/y", false},
		{"E2 Crawl-delay before any group", "Crawl-delay: 5\nUser-agent: a\nDisallow: /y", "a", "/y", false},
		{"G1 last group without rules", "User-agent: *\nDisallow: /\n\nUser-agent: a\n", "a", "/x", true},
		{"G1 last group at the end of the file", "User-agent: *\nDisallow: /\nUser-agent: a", "a", "/x", true},
		{"G1 empty disallow at the end", "User-agent: *\nDisallow: /\nUser-agent: a\nDisallow:", "a", "/x", true},
		{"G1 empty disallow before a comment", "User-agent: *\nDisallow: /\nUser-agent: a\nDisallow: # nothing", "a", "/x", true},
		{"G2 Crawl-delay closes no group", "User-agent: a\nCrawl-delay: 5\nUser-agent: b\nDisallow: /x", "a", "/x", false},
		{"G2 Sitemap closes no group", "User-agent: a\nSitemap: http://example.com/s\nUser-agent: b\nDisallow: /x", "a", "/x", false},
		{"an empty disallow closes a group", "User-agent: a\nDisallow:\nUser-agent: b\nDisallow: /x", "a", "/x", true},
		{"A1 a token is no prefix", "User-agent: foo\nDisallow: /\nUser-agent: *\nAllow: /", "foobot", "/x", true},
		{"A1 nor the other way", "User-agent: foobot\nDisallow: /", "foo", "/x", true},
		{"A2 group with a version", "User-agent: foobot/1.2\nDisallow: /", "foobot", "/x", false},
		{"A2 group with words", "User-agent: foobot the best\nDisallow: /", "foobot", "/x", false},
		{"A2 everybody with words", "User-agent: * # all\nDisallow: /", "foobot", "/x", false},
		{"A2 everybody and text", "User-agent: * all\nDisallow: /", "foobot", "/x", false},
		{"A2 no token", "User-agent: 123\nDisallow: /\nUser-agent: *\nAllow: /", "foobot", "/x", true},
		{"P1 allow wins a tie", "User-agent: a\nDisallow: /x\nAllow: /x", "a", "/x", true},
		{"P1 in either order", "User-agent: a\nAllow: /x\nDisallow: /x", "a", "/x", true},
		{"P2 wildcards count one octet", "User-agent: a\nAllow: /a.b\nDisallow: /*.b", "a", "/a.b", true},
		{"P2 dots are not escaped", "User-agent: a\nDisallow: /a.b.c.d*\nAllow: /a.b.c.d.e.f", "a", "/a.b.c.d.e.f", true},
		{"W1 the end is anchored at the start", "User-agent: a\nDisallow: /private$", "a", "/a/private", true},
		{"W1 wildcards are anchored", "User-agent: a\nDisallow: /b*c", "a", "/a/bxc", true},
		{"W1 a wildcard at the start is not", "User-agent: a\nDisallow: */private$", "a", "/a/private", false},
		{"W2 $ inside a pattern is itself", "User-agent: a\nDisallow: /a$b", "a", "/a$bc", false},
		{"W2 and matches only that", "User-agent: a\nDisallow: /a$b", "a", "/a", true},
		{"W3 star alone", "User-agent: a\nDisallow: *", "a", "/x", false},
		{"W3 many stars", "User-agent: a\nDisallow: /**a***", "a", "/xay", false},
		{"N1 upper and lower hex", "User-agent: a\nDisallow: /%c3%a9", "a", "/%C3%A9", false},
		{"N1 raw UTF-8", "User-agent: a\nDisallow: /é", "a", "/%C3%A9", false},
		{"N2 reserved in a query", "User-agent: a\nDisallow: /?u=http://x", "a", "/?u=http%3A%2F%2Fx", false},
		{"N2 a slash in the path is not its code", "User-agent: a\nDisallow: /a/b", "a", "/a%2Fb", true},
		{"N3 unreserved decoded", "User-agent: a\nDisallow: /%7Ejoe", "a", "/~joe", false},
		{"N4 encoded star", "User-agent: a\nDisallow: /a%2Ab", "a", "/axb", true},
		{"N4 star of a URL", "User-agent: a\nDisallow: /a*b", "a", "/a*b", false},
		{"N4 encoded dollar", "User-agent: a\nDisallow: /a%24", "a", "/a", true},
		{"N4 dollar of a URL", "User-agent: a\nDisallow: /a$", "a", "/a$", true},
		{"N5 invalid UTF-8", "User-agent: a\nDisallow: /\xe9", "a", "/%E9", false},
		{"S1 comment inside a value", "User-agent: a\nDisallow: /a#b", "a", "/a", false},
		{"S1 comment after the agent", "User-agent: a#b\nDisallow: /a", "a", "/a", false},
		{"S2 white space before the colon", "User-agent : a\nDisallow\t: /x", "a", "/x", false},
		{"I1 robots.txt itself", "User-agent: *\nDisallow: /", "a", "/robots.txt", true},
		{"I1 but not below it", "User-agent: *\nDisallow: /", "a", "/robots.txt/x", false},
		{"T misspelled", "User agent: a\nDisalow: /x", "a", "/x", false},
		{"T two words without a colon", "User-agent a\nDisallow /x", "a", "/x", false},
		{"three words without a colon", "User-agent: a\nDisallow /x y", "a", "/x", true},
		{"quotes and brackets", "User-agent: a\nDisallow: /it's[1]|x", "a", "/it%27s%5B1%5D%7Cx", false},
		{"a rule must start with a slash or star", "User-agent: a\nDisallow: x", "a", "/x", true},
		{"case of keys", "USER-AGENT: a\nDISALLOW: /x", "a", "/x", false},
		{"case of paths counts", "User-agent: a\nDisallow: /X", "a", "/x", true},
		{"CR line ends", "User-agent: a\rDisallow: /x\r", "a", "/x", false},
		{"CRLF line ends", "User-agent: a\r\nDisallow: /x\r\n", "a", "/x", false},
		{"blank lines close no group", "User-agent: a\n\nDisallow: /x\n\nDisallow: /y", "a", "/y", false},
		{"groups of one token count together", "User-agent: a\nDisallow: /x\nUser-agent: b\nDisallow: /z\nUser-agent: a\nDisallow: /y", "a", "/x", false},
		{"also the later", "User-agent: a\nDisallow: /x\nUser-agent: b\nDisallow: /z\nUser-agent: a\nDisallow: /y", "a", "/y", false},
		{"precedence across groups", "User-agent: a\nDisallow: /x\nUser-agent: a\nAllow: /x/y", "a", "/x/y", true},
		{"everybody counts only without our group", "User-agent: *\nDisallow: /x\nUser-agent: a\nDisallow: /y", "a", "/x", true},
		{"UTF-8 byte order mark", "\xef\xbb\xbfUser-agent: a\nDisallow: /x", "a", "/x", false},
		{"half a byte order mark", "\xef\xbbUser-agent: a\nDisallow: /x", "a", "/x", false},
		{"UTF-16", "\xff\xfe" + utf16le("User-agent: a\nDisallow: /x"), "a", "/x", false},
		{"query", "User-agent: a\nDisallow: /*?*print=", "a", "/x?a=b&print=1", false},
		{"HTML is no robots.txt", "<!DOCTYPE html><p>User-agent: *<p>Disallow: /", "a", "/x", true},
		{"empty", "", "a", "/x", true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := allowed(t, c.text, c.agent, c.path); got != c.want {
				t.Errorf("%q, %s for %s: got %v", c.text, c.path, c.agent, got)
			}
		})
	}
}

func utf16le(s string) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(s)) {
		b.WriteByte(byte(unit))
		b.WriteByte(byte(unit >> 8))
	}
	return b.String()
}

func TestVerdictNamesTheRule(t *testing.T) {
	f := Parse([]byte("# comment\r\nUser-agent: foobot\r\nUser-Agent : Recrawl/2 # us\r\n\r\nDisallow: /Private area/\u202e \r\nAllow: /private/*.html$\n" +
		"User-agent: foobot\nUser-agent: barbot\u202ex\nDisallow: /\n\nUser-agent: recrawl\nDisallow: /more\n"))
	none := Verdict{true, "", 0, "User-agent: Recrawl/2", 3, "no rule of robots.txt matches"}
	forbidden := Verdict{false, "Disallow: /Private area/", 5, "User-agent: Recrawl/2", 3, `line 5 of robots.txt says "Disallow: /Private area/"`}
	cases := []struct {
		agent, path string
		want        Verdict
	}{
		{"recrawl", "/Private%20area/x", none}, // the override character is part of the rule
		{"recrawl", "/private/a.html", Verdict{true, "Allow: /private/*.html$", 6, "User-agent: Recrawl/2", 3, `line 6 of robots.txt says "Allow: /private/*.html$"`}},
		{"recrawl", "/Private%20area/%E2%80%AEx", forbidden},
		{"recrawl/1.0 (+x)", "/Private%20area/%E2%80%AEx", forbidden},
		{"recrawl", "/more", Verdict{false, "Disallow: /more", 12, "User-agent: recrawl", 11, `line 12 of robots.txt says "Disallow: /more"`}},
		{"barbot", "/x", Verdict{false, "Disallow: /", 9, "User-agent: barbotx", 8, `line 9 of robots.txt says "Disallow: /"`}},
		{"other", "/private/", Verdict{true, "", 0, "", 0, "robots.txt has no group for us"}},
		{"recrawl", "/robots.txt?x", Verdict{true, "", 0, "", 0, "robots.txt itself may always be fetched"}},
	}
	for _, c := range cases {
		if got := f.Check(c.agent, canonical(t, "https://example.com"+c.path)); got != c.want {
			t.Errorf("%s for %s: got %+v, want %+v", c.path, c.agent, got, c.want)
		}
	}
}

func TestCrawlDelay(t *testing.T) {
	f := Parse([]byte("User-agent: *\nCrawl-delay: 1.5\nDisallow: /x\nUser-agent: a\nCrawldelay: 30\nCrawl-delay: 20\nDisallow:\n" +
		"User-agent: a\nCrawl-delay: 40 # s\nUser-agent: b\nDisallow: /\nUser-agent: c\nCrawl-delay: 1e300\nAllow: /\nUser-agent: d\nCrawl-delay: NaN\n" +
		"Disallow:\nUser-agent: a\nCrawl-delay: 5"))
	for agent, want := range map[string]time.Duration{
		"other": 1500 * time.Millisecond, "a": 40 * time.Second, "b": 40 * time.Second, "c": 365 * 24 * time.Hour, "d": 0,
	} {
		if got := f.CrawlDelay(agent); got != want {
			t.Errorf("%s: %v, want %v", agent, got, want)
		}
	}
}

// A delay with its unit, or with anything else behind the number, is asked for as well.
func TestCrawlDelayAsPeopleWriteIt(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"10s": 10 * time.Second, "10 seconds": 10 * time.Second, "10 sec.": 10 * time.Second, "10;": 10 * time.Second, "10 (s)": 10 * time.Second,
		"1,5": 1500 * time.Millisecond, "0.5 s": 500 * time.Millisecond, "5-10": 5 * time.Second, "5 6": 5 * time.Second,
		"2m": 2 * time.Minute, "1 Minute": time.Minute, "1 hour": time.Hour, "1 day": 24 * time.Hour, "0.5d": 12 * time.Hour, "500ms": 500 * time.Millisecond, "100 milliseconds": 100 * time.Millisecond,
		"99999999999h": 365 * 24 * time.Hour, "soon": 0, "-5s": 0, "": 0, "s": 0, ",5": 0, "٣": 0,
		strings.Repeat("9", 400) + "s": 365 * 24 * time.Hour,
	} {
		if got := Parse([]byte("User-agent: *\nCrawl-delay: " + value)).CrawlDelay("recrawl"); got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
}

func TestSitemaps(t *testing.T) {
	f := Parse([]byte("Sitemap: https://Example.com/a.xml\nUser-agent: a\nsite-map: http://example.com/b.xml # x\nDisallow: /\nSitemap: ftp://example.com/c\nSitemap:\nSitemap: none\n"))
	if want := []string{"https://example.com/a.xml", "http://example.com/b.xml"}; !reflect.DeepEqual(f.Sitemaps(canonical(t, "http://example.com/page")), want) {
		t.Errorf("got %q, want %q", f.Sitemaps(canonical(t, "http://example.com/page")), want)
	}
}

// Paths are those of the site that has the file.
func TestSitemapsWithoutAHost(t *testing.T) {
	f := Parse([]byte("Sitemap: /a.xml\nSitemap: //other.example/b\nSitemap: http://example.com/c\nSitemap: d.xml.gz\nSitemap: sub/E.TXT\nSitemap: none\nSitemap: see f.xml\nSitemap: file:f.xml\n"))
	want := []string{"http://example.com/c", "http://example.com/a.xml", "http://other.example/b", "http://example.com/d.xml.gz", "http://example.com/sub/E.TXT"}
	if got := f.Sitemaps(canonical(t, "http://example.com/page/x?y")); !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := f.Sitemaps(urlkey.URL{}); !reflect.DeepEqual(got, want[:1]) {
		t.Errorf("of an unknown site: %q", got)
	}
}

func TestText(t *testing.T) {
	cases := map[string]string{
		"a\r\nb": "a\r\nb", "\xef\xbb\xbfa": "a", "\xef\xbb\xbf\xef\xbb\xbfa": "a", "\xef\xbba": "a", "\xef\xef\xbb\xbba": "ﻻa", "a\x00b\xe9é": "a b%E9é", "\xff\xfe" + utf16le("a"): "a", "\xfe\xff\x00a": "a", "": "",
	}
	for body, want := range cases {
		if got := Text([]byte(body)); got != want {
			t.Errorf("%q: got %q, want %q", body, got, want)
		}
	}
}

// The last line of a file that broke off may mean something else than what the site wrote.
func TestTextCut(t *testing.T) {
	t.Parallel()
	cases := map[string]string{
		"a: b\nDisallow: /": "a: b\n", "a\r\nb\r\n": "a\r\nb\r\n", "a\rb": "a\r", "a": "", "": "",
		"\xef\xbb\xbfa\nb": "a\n", "\xff\xfe" + utf16le("a\nb\u010a"): "a\n", "\xff\xfe" + utf16le("a\nb") + "\n": "a\n",
	}
	for body, want := range cases {
		if got := TextCut([]byte(body)); got != want {
			t.Errorf("%q: got %q, want %q", body, got, want)
		}
	}
}

func TestSizeLimit(t *testing.T) {
	head := "User-agent: a\nDisallow: /first\n"
	filler := strings.Repeat("# "+strings.Repeat("x", 97)+"\n", (MaxBytes-len(head))/100)
	text := head + filler
	rest := MaxBytes - len(text)
	// The last line within the limit is cut in the middle: "Disallow: /" would
	// forbid everything.
	text += strings.Repeat("\n", rest-len("Disallow: /")) + "Disallow: /last\nDisallow: /later\n"
	for path, want := range map[string]bool{"/first": false, "/other": true, "/last": true, "/later": true} {
		if got := allowed(t, text, "a", path); got != want {
			t.Errorf("%s: got %v", path, got)
		}
	}
}

// TestConversionLosesNothing: the bytes of a file are counted as they came. However much longer
// its text is, every rule in it counts, from the file and from its stored text.
func TestConversionLosesNothing(t *testing.T) {
	t.Parallel()
	const head, last = "User-agent: *\nDisallow: /a\n#", "\nDisallow: /private\n"
	long := utf16le(head + strings.Repeat("\u4e00", 200_000) + last)
	cut := utf16le(head + strings.Repeat("\u4e00", MaxBytes/2-len(head)-len("\nDisallow: /")-2) + "\nDisallow: /\u010a\nDisallow: /private")
	for name, c := range map[string]struct {
		body   string
		counts bool // the last rule does
	}{
		"bytes that are no UTF-8":          {head + strings.Repeat("\xE9", 200_000) + last, true},
		"bytes that are no UTF-8, to fill": {head + strings.Repeat("\xE9", MaxBytes-len(head)-len(last)) + last, true},
		"one byte too many":                {head + strings.Repeat("\xE9", MaxBytes-len(head)-len(last)+1) + last, false},
		"UTF-16":                           {"\xff\xfe" + long, true},
		"UTF-16, cut":                      {"\xff\xfe" + cut, false},
	} {
		text := Text([]byte(c.body))
		for from, file := range map[string]*File{"the file": Parse([]byte(c.body)), "its text": ParseText(text)} {
			for path, want := range map[string]bool{"/a": false, "/b": true, "/private": !c.counts} {
				if got := file.Check("recrawl", canonical(t, "http://h"+path)).Allowed; got != want {
					t.Errorf("%s, from %s: %s allowed: %v, want %v", name, from, path, got, want)
				}
			}
		}
		if len(text) > MaxText {
			t.Errorf("%s: its text has %d bytes, at most %d are promised", name, len(text), MaxText)
		}
	}
}

// TestOurGroupAlone: groups for others change nothing for us, however many there
// are.
func TestOurGroupAlone(t *testing.T) {
	t.Parallel()
	var others strings.Builder
	for i := range 40 {
		fmt.Fprintf(&others, "User-agent: bot-%c%c\n", 'a'+i/26, 'a'+i%26)
		for j := range 60 {
			fmt.Fprintf(&others, "Disallow: /*/old%d*print=%d$\n", i, j)
		}
	}
	const ours = "User-agent: *\nDisallow: /*?sid=\n"
	before := 40*61 + 2 // the line of the rule behind the others
	for _, c := range []struct {
		text string
		line int
	}{{ours, 2}, {others.String() + ours, before}, {ours + others.String(), 2}} {
		f := Parse([]byte(c.text))
		for _, path := range []string{"/", "/about", "/about?id=1", "/old1/print=1"} {
			want := Verdict{true, "", 0, "User-agent: *", c.line - 1, "no rule of robots.txt matches"}
			if got := f.Check("recrawl", canonical(t, "http://h"+path)); got != want {
				t.Errorf("%s: got %+v, want %+v", path, got, want)
			}
		}
		want := Verdict{false, "Disallow: /*?sid=", c.line, "User-agent: *", c.line - 1, fmt.Sprintf(`line %d of robots.txt says "Disallow: /*?sid="`, c.line)}
		if got := f.Check("recrawl", canonical(t, "http://h/a?sid=1")); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

// TestManyWildcards: no number of them is too many for one to count.
func TestManyWildcards(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("User-agent: a\n")
	for i := range 20_000 {
		fmt.Fprintf(&b, "Disallow: /w*%d$\n", i)
	}
	b.WriteString("Disallow: /over*the-top\nAllow: /over*the-top-and-much-longer\n")
	f := Parse([]byte(b.String()))
	for path, want := range map[string]bool{
		"/w7": false, "/w/19999": false, "/wx": true, "/over/anything": true, "/over/the-top/x": false, "/over-the-top-and-much-longer": true, "/": true,
	} {
		if got := f.Check("a", canonical(t, "http://h"+path)); got.Allowed != want {
			t.Errorf("%s: got %+v", path, got)
		}
	}
}

// TestPrecedence: the verdict is that of the longest matching rule, whatever the
// order of the lines.
func TestPrecedence(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		patterns := rapid.SliceOfN(rapid.StringMatching(`/[ab/*]{0,4}`), 1, 8).Draw(r, "patterns")
		path := rapid.StringMatching(`/[ab/]{0,6}`).Draw(r, "path")
		text, octets, want := "User-agent: a\n", -1, true
		for _, p := range patterns {
			allow := rapid.Bool().Draw(r, "allow")
			text += map[bool]string{true: "Allow: ", false: "Disallow: "}[allow] + p + "\n"
			if matchesSlowly(p, path) && (len(p) > octets || len(p) == octets && allow) {
				octets, want = len(p), allow
			}
		}
		// Canonical would remove dot segments, of which there are none.
		if got := Parse([]byte(text)).Check("a", canonical(t, "http://h"+path)); got.Allowed != want {
			r.Fatalf("%q on %q: %+v, want %v", text, path, got, want)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"User-agent: *\nDisallow: /a*b$\nAllow: /%7e%zz%", "\xff\xfeU\x00", "Disallow\x00: *$*$", "User-agent: recrawl\nDisallow: /[(\\|+\nCrawl-delay: 1e999",
		"User-agent:*\nDisallow: " + strings.Repeat("*a", 600),
	} {
		f.Add(s, "/a/b?c=%2F*$|")
	}
	f.Add("\xef\xef\xbb\xbb\xef\xbb\xbf", "x")
	f.Fuzz(func(t *testing.T, text, path string) {
		u, err := urlkey.Canonical("http://example.com/" + path)
		if err != nil {
			return
		}
		file := Parse([]byte(text))
		v := file.Check("recrawl", u)
		if again := file.Check("RECRAWL/2", u); again != v {
			t.Errorf("two answers: %+v, %+v", v, again)
		}
		if (v.Rule != "") != (v.Line > 0) || (v.Group != "") != (v.GroupLine > 0) || v.GroupLine > 0 && v.Line > 0 && v.GroupLine >= v.Line ||
			!v.Allowed && v.Rule == "" || v.Reason == "" {
			t.Errorf("%+v", v)
		}
		stored := Text([]byte(text))
		if !utf8.ValidString(stored) || strings.ContainsRune(stored, 0) || len(stored) > 3*min(len(text), MaxBytes) || len(stored) < MaxBytes && Text([]byte(stored)) != stored {
			t.Errorf("stored as %q", stored)
		}
		if other := ParseText(stored).Check("recrawl", u); other != v {
			t.Errorf("%+v as stored, %+v as received", other, v)
		}
		if d := file.CrawlDelay("recrawl"); d < 0 {
			t.Errorf("delay %v", d)
		}
		// Text after a file never changes the meaning of another agent's complete group.
		if other := Parse([]byte("User-agent: else\nDisallow: /\n\n" + text)); other.Check("else", u).Allowed && strings.Count(strings.ToLower(text), "else") == 0 && u.Path() != "/robots.txt" {
			t.Error("another's group was lost")
		}
	})
}

// sixty is a file of sixty rules, a third with wildcards, as large sites have.
func sixty() []byte {
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for i := range 20 {
		fmt.Fprintf(&b, "Disallow: /private%d/\nDisallow: /*/print%d$\nAllow: /private%d/public\n", i, i, i)
	}
	return []byte(b.String())
}

// tenThousand are as many plain rules, none of which matches.
func tenThousand() []byte {
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for i := range 10_000 {
		fmt.Fprintf(&b, "Disallow: /private/%d/\n", i)
	}
	return []byte(b.String())
}

func BenchmarkCheck(b *testing.B) {
	u := canonical(b, "https://example.com/news/2026/11/21/article.html?page=2")
	for name, text := range map[string][]byte{"60 rules": sixty(), "10000 rules": tenThousand()} {
		b.Run(name, func(b *testing.B) {
			f := Parse(text)
			f.Check("recrawl", u) // compile
			for b.Loop() {
				f.Check("recrawl", u)
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	text := sixty()
	for b.Loop() {
		Parse(text)
	}
}
