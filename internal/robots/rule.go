package robots

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/temoto/robotstxt"

	"recrawl/internal/crawl"
)

// maxRuleText bounds what a verdict quotes of a line, in bytes.
const maxRuleText = 300

// rule is one allow or disallow line.
type rule struct {
	allow bool
	value string // as written
	line  int
	// octets is the length of the normalised pattern, its wildcards included: the
	// longest match decides (RFC 9309 2.2.2).
	octets int
	strict pattern
	// loose is nil where it would be the same as strict.
	loose *pattern
}

func newRule(allow bool, value string, line int) *rule {
	strict := normalise(value, isPattern)
	r := &rule{allow: allow, value: value, line: line, octets: len(strict), strict: pattern{text: strict}}
	if loose := decodeReserved(strict); loose != strict {
		r.loose = &pattern{text: loose}
	}
	return r
}

// text quotes the rule as the site wrote it.
func (r *rule) text() string {
	name := "Disallow: "
	if r.allow {
		name = "Allow: "
	}
	return name + crawl.Clean(r.value, maxRuleText)
}

func (r *rule) wild() bool { return r.strict.wild() }

// withoutWildcards is what a rule beyond MaxWildcards counts as: nil for an
// allow, else a disallow of all below the part before the first wildcard, with
// the precedence of the whole.
func (r *rule) withoutWildcards() *rule {
	if r.allow {
		return nil
	}
	return &rule{value: r.value, line: r.line, octets: r.octets, strict: pattern{text: r.strict.head()}}
}

// before orders rules by precedence: the longer pattern first, and of two as
// long the allow (RFC 9309 2.2.2).
func (r *rule) before(other *rule) bool { return precedence(r, other) < 0 }

func precedence(a, b *rule) int {
	return cmp.Or(cmp.Compare(b.octets, a.octets), cmp.Compare(rank(a.allow), rank(b.allow)), cmp.Compare(a.line, b.line))
}

func rank(allow bool) int {
	if allow {
		return 0
	}
	return 1
}

func sortRules(rules []*rule) { slices.SortStableFunc(rules, precedence) }

func firstMatch(rules []*rule, t target) *rule {
	for _, r := range rules {
		if r.matches(t) {
			return r
		}
	}
	return nil
}

// matches compares in two spellings. The strict one decodes unreserved
// characters only. The loose one also decodes reserved characters that may
// stand plain in their component, which the RFC's table of equivalents asks for
// in queries; a rule matches in either.
func (r *rule) matches(t target) bool {
	loose := r.loose
	if loose == nil {
		if t.loose == t.strict {
			return r.strict.matches(t.strict)
		}
		loose = &r.strict
	}
	return r.strict.matches(t.strict) || loose.matches(t.loose)
}

// target is a URL's path and query in both spellings.
type target struct{ strict, loose string }

func newTarget(pathAndQuery string) target {
	strict := normalise(pathAndQuery, isLiteral)
	return target{strict: strict, loose: decodeReserved(strict)}
}

// pattern matches by temoto, compiled when it is first needed: nearly all
// patterns of a file are ruled out by their first characters.
type pattern struct {
	text string
	once sync.Once
	// group is a temoto group that disallows what the pattern matches.
	group *robotstxt.Group
}

func (p *pattern) wild() bool { return strings.ContainsAny(p.text, "*$") }

// head is the part before the first wildcard.
func (p *pattern) head() string {
	if i := strings.IndexAny(p.text, "*$"); i >= 0 {
		return p.text[:i]
	}
	return p.text
}

// anchor stands before both pattern and path: temoto's wildcard patterns are
// unanchored, and "|" cannot occur in anything normalised.
const anchor = "/|"

func (p *pattern) matches(path string) bool {
	head := p.head()
	if !strings.HasPrefix(path, head) {
		return false
	}
	if !p.wild() {
		return true
	}
	p.once.Do(p.compile)
	return !p.group.Test(anchor + path)
}

// compile gives temoto a file of one rule. Normalised patterns hold nothing
// that it could misread: no space, "#" or line end.
func (p *pattern) compile() {
	data, err := robotstxt.FromString("User-agent: *\nDisallow: " + anchor + p.text + "\n")
	if err != nil {
		// Only regexp could refuse a pattern, for a size that no file within MaxBytes
		// reaches. Its head alone still is what the site meant, and more.
		data, _ = robotstxt.FromString("User-agent: *\nDisallow: " + anchor + p.head() + "\n")
	}
	p.group = data.FindGroup("*")
}
