package robots

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"recrawl/internal/crawl"
	"recrawl/internal/urlkey"
)

// TestEverySpellingIsJudgedAlike: a page may be requested under any spelling of its URL,
// and is judged by the URL. So no rule, however it is spelled, may distinguish them (RFC
// 9309 2.2.2).
func TestEverySpellingIsJudgedAlike(t *testing.T) {
	t.Parallel()
	spelt := rapid.StringMatching(`/([a-c'~$*!é|^]|\[|\]|%27|%7[eE]|%61|%c3%a9|%24|%2[aA]|/){0,8}(\?([a'|=$*]|%27|%61){0,5})?`)
	rapid.Check(t, func(t *rapid.T) {
		from, err := urlkey.Canonical("http://h/")
		if err != nil {
			t.Fatal(err)
		}
		u, spelling, err := urlkey.Redirected(from, spelt.Draw(t, "target"))
		if err != nil || spelling == "" {
			return
		}
		if a, b := newTarget(spelling), newTarget(u.Target()); a != b {
			t.Fatalf("%q is judged as %q, and %s as %q", spelling, a, u, b)
		}
		rule := spelt.Draw(t, "rule")
		file := Parse([]byte("User-agent: *\nDisallow: " + rule + "\nAllow: /a"))
		if best, _ := file.decisive(file.groupsFor("recrawl"), newTarget(spelling)); best != nil && best.allow != file.Check("recrawl", u).Allowed {
			t.Fatalf("rule %q tells %q from %s", rule, spelling, u)
		}
	})
}

// TestReservedCharacters: a rule and a URL may spell a reserved character as itself or as its
// code, where it does not delimit (RFC 9309 2.2.2).
func TestReservedCharacters(t *testing.T) {
	t.Parallel()
	forbids := func(rule, target string) bool {
		return !allowed(t, "User-agent: *\nDisallow: "+rule, "recrawl", target)
	}
	code := func(c rune) string { return fmt.Sprintf("%%%02X", c) }
	for _, c := range []struct {
		component, prefix, same, differ string
	}{
		{"a path", "/x", "!$'()*,;:@&+=", "/?"},
		{"a query", "/x?y", "!$'()*,;:@/?", "&+="},
		{"behind a star", "/*x", "!$'(),;:@", ""},
		{"a query behind a star", "/*?y", "!$'(),;:@/?", "&+="},
	} {
		for _, r := range c.same + c.differ {
			plain, coded := c.prefix+string(r)+"b", c.prefix+code(r)+"b"
			if r == '*' {
				plain = coded // as itself it is a wildcard
			}
			url := strings.ReplaceAll(c.prefix, "*", "z")
			for _, rule := range []string{plain, coded} {
				for _, target := range []string{url + string(r) + "b", url + code(r) + "b"} {
					want := strings.ContainsRune(c.same, r) || strings.Contains(rule, "%") == strings.Contains(target, "%")
					if got := forbids(rule, target); got != want {
						t.Errorf("in %s, rule %s forbids %s: %v, want %v", c.component, rule, target, got, want)
					}
				}
			}
		}
	}
	for rule, target := range map[string]string{
		"/wiki/Foo_%28bar%29": "/wiki/Foo_(bar)", "/a,b%28c%2dd": "/a%2cb(c-d", "/a%2C$": "/a,", "/a;s%3D*/x": "/a%3bs=1/x",
	} {
		if !forbids(rule, target) {
			t.Errorf("rule %s does not forbid %s", rule, target)
		}
	}
	if forbids("/*%26x", "/s?a&x") {
		t.Error("behind a star, a code of a delimiter stands for the delimiter of a query")
	}
}

// TestSpellingsAreAsLong: which rule is the longest does not depend on its spelling, so that
// Allow wins where two are one rule.
func TestSpellingsAreAsLong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ allow, disallow, target string }{
		{"/a,b", "/a%2Cb", "/a,b"},
		{"/a,b", "/a%2cb", "/a%2Cb"},
		{"/a:b", "/a%3Ab", "/a:b"},
		{"/a=(b)", "/a%3D%28b%29", "/a=(b)"},
		{"/?u=http://x", "/?u=http%3A%2F%2Fx", "/?u=http://x"},
	} {
		if !allowed(t, "User-agent: *\nDisallow: "+c.disallow+"\nAllow: "+c.allow, "recrawl", c.target) {
			t.Errorf("of %s and %s the one that is coded wins at %s", c.allow, c.disallow, c.target)
		}
		usage := "User-agent: *\nContent-Usage: " + c.disallow + " train-ai=y\nContent-Usage: " + c.allow + " train-ai=n\n"
		if v := Parse([]byte(usage)).CheckFor("recrawl", []crawl.Use{crawl.UseAITrain}, canonical(t, "http://h"+c.target)); v.Allowed {
			t.Errorf("of the statements for %s and %s only the one that is coded counts at %s", c.allow, c.disallow, c.target)
		}
	}
}
