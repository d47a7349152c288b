package robots

import (
	"testing"

	"pgregory.net/rapid"

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
