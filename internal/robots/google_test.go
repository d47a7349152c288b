package robots

import (
	"fmt"
	"strings"
	"testing"
)

// The cases of Google's published parser (robots_test.cc) that RFC 9309 decides
// alike, by its names. Left out are its own extensions: index.html stands for its
// folder, and lines are cut at 16 KiB.

func TestGoogleSuite(t *testing.T) {
	t.Parallel()
	const (
		groups = "allow: /foo/bar/\n\nuser-agent: FooBot\ndisallow: /\nallow: /x/\nuser-agent: BarBot\ndisallow: /\nallow: /y/\n\n\n" +
			"allow: /w/\nuser-agent: BazBot\n\nuser-agent: FooBot\nallow: /z/\ndisallow: /\n"
		sitemap  = "User-agent: BarBot\nSitemap: https://foo.bar/sitemap\nUser-agent: *\nDisallow: /\n"
		unknown  = "User-agent: FooBot\nInvalid-Unknown-Line: unknown\nUser-agent: *\nDisallow: /\n"
		global   = "user-agent: *\nallow: /\nuser-agent: FooBot\ndisallow: /\n"
		specific = "user-agent: FooBot\nallow: /\nuser-agent: BarBot\ndisallow: /\nuser-agent: BazBot\ndisallow: /\n"
		twoWords = "User-Agent: FOO BAR\nAllow: /x/\nDisallow: /\n"
		foobot   = "user-agent: FooBot\n"
	)
	cases := []struct {
		name, text, agent, path string
		want                    bool
	}{
		{"SystemTest: empty file", "", "FooBot", "/", true},
		{"SystemTest: no agent", foobot + "disallow: /\n", "", "/", true},
		{"LineSyntax", foobot + "disallow: /\n", "FooBot", "/x/y", false},
		{"LineSyntax: unknown keys", "foo: FooBot\nbar: /\n", "FooBot", "/x/y", true},
		{"LineSyntax: no colons", "user-agent FooBot\ndisallow /\n", "FooBot", "/x/y", false},
		{"Groups", groups, "FooBot", "/x/b", true},
		{"Groups", groups, "FooBot", "/z/d", true},
		{"Groups", groups, "FooBot", "/y/c", false},
		{"Groups", groups, "BarBot", "/y/c", true},
		{"Groups", groups, "BarBot", "/w/a", true},
		{"Groups", groups, "BarBot", "/z/d", false},
		{"Groups", groups, "BazBot", "/z/d", true},
		{"Groups: rules before them", groups, "FooBot", "/foo/bar/", false},
		{"Groups: rules before them", groups, "BarBot", "/foo/bar/", false},
		{"Groups: rules before them", groups, "BazBot", "/foo/bar/", false},
		{"Groups_OtherRules: sitemap", sitemap, "FooBot", "/", false},
		{"Groups_OtherRules: sitemap", sitemap, "BarBot", "/", false},
		{"Groups_OtherRules: unknown", unknown, "FooBot", "/", false},
		{"Groups_OtherRules: unknown", unknown, "BarBot", "/", false},
		{"REPLineNamesCaseInsensitive: upper", "USER-AGENT: FooBot\nALLOW: /x/\nDISALLOW: /\n", "FooBot", "/x/y", true},
		{"REPLineNamesCaseInsensitive: upper", "USER-AGENT: FooBot\nALLOW: /x/\nDISALLOW: /\n", "FooBot", "/a/b", false},
		{"REPLineNamesCaseInsensitive: lower", foobot + "allow: /x/\ndisallow: /\n", "FooBot", "/x/y", true},
		{"REPLineNamesCaseInsensitive: lower", foobot + "allow: /x/\ndisallow: /\n", "FooBot", "/a/b", false},
		{"REPLineNamesCaseInsensitive: camel", "uSeR-aGeNt: FooBot\nAlLoW: /x/\ndIsAlLoW: /\n", "FooBot", "/x/y", true},
		{"REPLineNamesCaseInsensitive: camel", "uSeR-aGeNt: FooBot\nAlLoW: /x/\ndIsAlLoW: /\n", "FooBot", "/a/b", false},
		{"UserAgentValueCaseInsensitive: upper", twoWords, "Foo", "/x/y", true},
		{"UserAgentValueCaseInsensitive: upper", twoWords, "foo", "/a/b", false},
		{"UserAgentValueCaseInsensitive: lower", strings.ToLower(twoWords), "Foo", "/x/y", true},
		{"UserAgentValueCaseInsensitive: lower", strings.ToLower(twoWords), "foo", "/a/b", false},
		{"AcceptUserAgentUpToFirstSpace", "User-Agent: *\nDisallow: /\nUser-Agent: Foo Bar\nAllow: /x/\nDisallow: /\n", "Foo", "/x/y", true},
		{"GlobalGroups_Secondary", global, "FooBot", "/x/y", false},
		{"GlobalGroups_Secondary", global, "BarBot", "/x/y", true},
		{"GlobalGroups_Secondary", specific, "QuxBot", "/x/y", true},
		{"AllowDisallow_Value_CaseSensitive", foobot + "disallow: /x/\n", "FooBot", "/x/y", false},
		{"AllowDisallow_Value_CaseSensitive", foobot + "disallow: /X/\n", "FooBot", "/x/y", true},
		{"LongestMatch", foobot + "disallow: /x/page.html\nallow: /x/\n", "FooBot", "/x/page.html", false},
		{"LongestMatch", foobot + "allow: /x/page.html\ndisallow: /x/\n", "FooBot", "/x/page.html", true},
		{"LongestMatch", foobot + "allow: /x/page.html\ndisallow: /x/\n", "FooBot", "/x/", false},
		{"LongestMatch: both empty", foobot + "disallow: \nallow: \n", "FooBot", "/x/page.html", true},
		{"LongestMatch: tie", foobot + "disallow: /\nallow: /\n", "FooBot", "/x/page.html", true},
		{"LongestMatch", foobot + "disallow: /x\nallow: /x/\n", "FooBot", "/x", false},
		{"LongestMatch", foobot + "disallow: /x\nallow: /x/\n", "FooBot", "/x/", true},
		{"LongestMatch: tie", foobot + "disallow: /x/page.html\nallow: /x/page.html\n", "FooBot", "/x/page.html", true},
		{"LongestMatch: wildcard", foobot + "allow: /page\ndisallow: /*.html\n", "FooBot", "/page.html", false},
		{"LongestMatch: wildcard", foobot + "allow: /page\ndisallow: /*.html\n", "FooBot", "/page", true},
		{"LongestMatch: wildcard", foobot + "allow: /x/page.\ndisallow: /*.html\n", "FooBot", "/x/page.html", true},
		{"LongestMatch: wildcard", foobot + "allow: /x/page.\ndisallow: /*.html\n", "FooBot", "/x/y.html", false},
		{"LongestMatch: our group alone", "User-agent: *\nDisallow: /x/\nUser-agent: FooBot\nDisallow: /y/\n", "FooBot", "/x/page", true},
		{"LongestMatch: our group alone", "User-agent: *\nDisallow: /x/\nUser-agent: FooBot\nDisallow: /y/\n", "FooBot", "/y/page", false},
		{"Encoding", foobot + "Disallow: /\nAllow: /foo/bar?qux=taz&baz=http://foo.bar?tar&par\n", "FooBot", "/foo/bar?qux=taz&baz=http://foo.bar?tar&par", true},
		{"Encoding", foobot + "Disallow: /\nAllow: /foo/bar/ツ\n", "FooBot", "/foo/bar/%E3%83%84", true},
		{"Encoding", foobot + "Disallow: /\nAllow: /foo/bar/%E3%83%84\n", "FooBot", "/foo/bar/%E3%83%84", true},
		{"Encoding", foobot + "Disallow: /\nAllow: /foo/bar/%62%61%7A\n", "FooBot", "/foo/bar/%62%61%7A", true},
		{"SpecialCharacters: star", foobot + "Disallow: /foo/bar/quz\nAllow: /foo/*/qux\n", "FooBot", "/foo/bar/quz", false},
		{"SpecialCharacters: star", foobot + "Disallow: /foo/bar/quz\nAllow: /foo/*/qux\n", "FooBot", "/foo/quz", true},
		{"SpecialCharacters: star", foobot + "Disallow: /foo/bar/quz\nAllow: /foo/*/qux\n", "FooBot", "/foo//quz", true},
		{"SpecialCharacters: star", foobot + "Disallow: /foo/bar/quz\nAllow: /foo/*/qux\n", "FooBot", "/foo/bax/quz", true},
		{"SpecialCharacters: dollar", foobot + "Disallow: /foo/bar$\nAllow: /foo/bar/qux\n", "FooBot", "/foo/bar", false},
		{"SpecialCharacters: dollar", foobot + "Disallow: /foo/bar$\nAllow: /foo/bar/qux\n", "FooBot", "/foo/bar/qux", true},
		{"SpecialCharacters: dollar", foobot + "Disallow: /foo/bar$\nAllow: /foo/bar/qux\n", "FooBot", "/foo/bar/", true},
		{"SpecialCharacters: dollar", foobot + "Disallow: /foo/bar$\nAllow: /foo/bar/qux\n", "FooBot", "/foo/bar/baz", true},
		{"SpecialCharacters: comment", foobot + "# Disallow: /\nDisallow: /foo/quz#qux\nAllow: /\n", "FooBot", "/foo/bar", true},
		{"SpecialCharacters: comment", foobot + "# Disallow: /\nDisallow: /foo/quz#qux\nAllow: /\n", "FooBot", "/foo/quz", false},
		{"order of precedence", foobot + "allow: /p\ndisallow: /\n", "FooBot", "/page", true},
		{"order of precedence", foobot + "allow: /folder\ndisallow: /folder\n", "FooBot", "/folder/page", true},
		{"order of precedence", foobot + "allow: /page\ndisallow: /*.htm\n", "FooBot", "/page.htm", false},
		{"order of precedence", foobot + "allow: /$\ndisallow: /\n", "FooBot", "/", true},
		{"order of precedence", foobot + "allow: /$\ndisallow: /\n", "FooBot", "/page.html", false},
	}
	for i, c := range cases {
		t.Run(fmt.Sprint(i, " ", c.name), func(t *testing.T) {
			t.Parallel()
			if got := allowed(t, c.text, c.agent, c.path); got != c.want {
				t.Errorf("%q, %s for %s: got %v", c.text, c.path, c.agent, got)
			}
		})
	}
}

// TestGoogleDocumentation: the tables of patterns that Google's documentation and
// its test GoogleOnly_DocumentationChecks have. Everything that a pattern does not
// match is disallowed.
func TestGoogleDocumentation(t *testing.T) {
	t.Parallel()
	const fish = "/fish /fish.html /fish/salmon.html /fishheads /fishheads/yummy.html /fish.html?id=anything"
	cases := []struct{ pattern, matches, misses string }{
		{"/fish", fish, "/bar /Fish.asp /catfish /?id=fish"},
		{"/fish*", fish, "/bar /Fish.bar /catfish /?id=fish"},
		{"/fish/", "/fish/ /fish/salmon /fish/?salmon /fish/salmon.html /fish/?id=anything", "/bar /fish /fish.html /Fish/Salmon.html"},
		{
			"/*.php", "/filename.php /folder/filename.php /folder/filename.php?parameters //folder/any.php.file.html /filename.php/ /index?f=filename.php/",
			"/bar /php/ /index?php /windows.PHP",
		},
		{
			"/*.php$", "/filename.php /folder/filename.php",
			"/bar /filename.php?parameters /filename.php/ /filename.php5 /php/ /filename?php /aaaphpaaa //windows.PHP",
		},
		{"/fish*.php", "/fish.php /fishheads/catfish.php?parameters", "/bar /Fish.PHP"},
	}
	for _, c := range cases {
		text := "user-agent: FooBot\ndisallow: /\nallow: " + c.pattern + "\n"
		for path := range strings.FieldsSeq(c.matches) {
			if !allowed(t, text, "FooBot", path) {
				t.Errorf("%s does not match %s", c.pattern, path)
			}
		}
		for path := range strings.FieldsSeq(c.misses) {
			if allowed(t, text, "FooBot", path) {
				t.Errorf("%s matches %s", c.pattern, path)
			}
		}
	}
}

// LinesNumbersAreCountedCorrectly, and UTF8ByteOrderMarkIsSkipped: a mark loses
// nothing at the start, elsewhere or broken only its own line.
func TestGoogleLines(t *testing.T) {
	t.Parallel()
	const unix = "User-Agent: foo\nAllow: /some/path\nUser-Agent: bar\n\n\nDisallow: /\n"
	mixed := "User-Agent: foo\nAllow: /some/path\r\nUser-Agent: bar\n\r\n\nDisallow: /"
	for _, text := range []string{
		unix, mixed, strings.ReplaceAll(unix, "\n", "\r\n"), strings.ReplaceAll(unix, "\n", "\r"), strings.TrimSuffix(unix, "\n"),
		"\xEF\xBB\xBF" + unix, "\xEF\xBB" + unix, "\xEF" + unix,
	} {
		v := Parse([]byte(text)).Check("bar", canonical(t, "http://h/x"))
		if v.Allowed || v.Line != 6 || v.GroupLine != 3 {
			t.Errorf("%q: %+v", text, v)
		}
	}
	for _, c := range []struct {
		text, path string
		want       bool
	}{
		{"\xEF\x11\xBFUser-Agent: foo\nDisallow: /x\nUser-Agent: foo\nDisallow: /y\n", "/x", true},
		{"\xEF\x11\xBFUser-Agent: foo\nDisallow: /x\nUser-Agent: foo\nDisallow: /y\n", "/y", false},
		{"User-Agent: foo\n\xEF\xBB\xBFAllow: /x/y\nDisallow: /x\n", "/x/y", false},
	} {
		if got := allowed(t, c.text, "foo", c.path); got != c.want {
			t.Errorf("%q for %s: got %v", c.text, c.path, got)
		}
	}
}
