package robots

import (
	"cmp"
	"slices"

	"recrawl/internal/crawl"
)

// maxRuleText bounds a verdict's quotation of a line, in bytes.
const maxRuleText = 300

// rule is one allow or disallow line.
type rule struct {
	allow bool
	value string // as written
	line  int
	// octets is the length of the pattern in its loose spelling, its wildcards included:
	// the longest match decides (RFC 9309 2.2.2), however a rule is spelled.
	octets int
	// group is the group that the line belongs to.
	group  *group
	strict pattern
	// loose is nil if it would be the same as strict.
	loose *pattern
}

// newRule makes a rule of a line of a file.
func (p *parser) newRule(allow bool, value string, line int) *rule {
	strict := normalise(value, isPattern)
	loose := decodeReserved(strict)
	r := &rule{allow: allow, value: value, line: line, octets: len(loose), group: p.current, strict: p.pattern(strict)}
	if loose != strict {
		cut := p.pattern(loose)
		r.loose = &cut
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

// before orders rules by precedence: the longer pattern first, and of two equally
// long ones the allow (RFC 9309 2.2.2).
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

func sortRules(rules []*rule) { slices.SortFunc(rules, precedence) }

// target is a URL's path and query in two spellings. The strict one decodes
// unreserved characters only. The loose one also decodes reserved characters that
// may stand plain in their component: one that delimits nothing means the same as its code,
// as in the RFC's table of equivalents. A rule has the same two spellings, and matches in either.
type target struct{ strict, loose string }

func newTarget(pathAndQuery string) target {
	strict := normalise(pathAndQuery, isLiteral)
	return target{strict: strict, loose: decodeReserved(strict)}
}

// decisive returns the first rule by precedence that matches a URL, nil if none
// does, and the number of steps that this took.
func (f *File) decisive(groups []membership, t target) (*rule, int) {
	best, steps := f.first(groups, t.strict, nil, func(r *rule) *pattern { return &r.strict })
	same := t.loose == t.strict
	best, more := f.first(groups, t.loose, best, func(r *rule) *pattern {
		if r.loose == nil && !same {
			return &r.strict
		}
		return r.loose
	})
	return best, steps + more
}

// first returns the first of best and the rules whose pattern matches a URL.
func (f *File) first(groups []membership, url string, best *rule, of func(*rule) *pattern) (*rule, int) {
	s := search{file: f, url: url, best: best}
	for _, g := range groups {
		s.consider(g.rules, of)
	}
	s.finish()
	return s.best, s.steps
}
