// Package robots decides by robots.txt (RFC 9309). It reads lines and groups
// itself and leaves to temoto/robotstxt what that does reliably: matching one
// path against one pattern. A broken line never costs the other rules.
package robots

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/temoto/robotstxt"

	"recrawl/internal/crawl"
	"recrawl/internal/urlkey"
)

const (
	// MaxBytes is how much of a robots.txt is read (RFC 9309 2.5: at least 500 KiB).
	MaxBytes = 500 << 10
	// maxRules bounds the work of a hostile file: the first rules count.
	maxRules    = 5000
	maxSitemaps = 100
	maxValue    = 2048
)

// File is a parsed robots.txt. It may be used from any goroutine.
type File struct {
	groups   []group
	sitemaps []string
}

// group is the rules for some agents.
type group struct {
	agents []string // lower case product tokens, "*" for all
	rules  []rule
	delay  time.Duration
	hasDly bool
}

// rule is one allow or disallow line.
type rule struct {
	allow   bool
	pattern string // normalised
	written string // as in the file
	line    int
	match   *robotstxt.Group // one-rule body that disallows the pattern
}

// Verdict is what a robots.txt says of a URL, with what decided.
type Verdict struct {
	Allowed bool
	Rule    string // as written, "" when no rule matched
	Line    int    // of the rule, 1 for the first line
	Reason  string // in words
}

// Parse reads a robots.txt. It never fails: what cannot be read is skipped.
func Parse(text []byte) *File {
	p := parser{file: &File{}}
	for i, line := range splitLines(text) {
		p.line(i+1, line)
	}
	p.flush()
	return p.file
}

// splitLines cuts the text to MaxBytes back to its last whole line, drops a
// byte order mark and splits at CR, LF and CRLF.
func splitLines(text []byte) []string {
	if len(text) > MaxBytes {
		text = text[:MaxBytes]
		if end := bytes.LastIndexAny(text, "\r\n"); end >= 0 {
			text = text[:end]
		}
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	return strings.Split(strings.ReplaceAll(strings.ReplaceAll(string(text), "\r\n", "\n"), "\r", "\n"), "\n")
}

// parser collects groups: agents until the first rule, then rules until the
// next agent. Other records neither open nor close a group.
type parser struct {
	file  *File
	now   group
	rules int
}

func (p *parser) line(number int, line string) {
	line, _, _ = strings.Cut(line, "#")
	key, value, ok := strings.Cut(line, ":")
	if !ok {
		words := strings.Fields(line)
		if len(words) != 2 {
			return
		}
		key, value = words[0], words[1]
	}
	value = strings.TrimSpace(value)
	switch strings.ToLower(strings.TrimSpace(key)) {
	case "user-agent":
		if len(p.now.rules) > 0 {
			p.flush()
		}
		p.now.agents = append(p.now.agents, token(value))
	case "allow":
		p.rule(number, true, value)
	case "disallow":
		p.rule(number, false, value)
	case "crawl-delay":
		p.delay(value)
	case "sitemap":
		if value != "" && len(p.file.sitemaps) < maxSitemaps {
			p.file.sitemaps = append(p.file.sitemaps, crawl.Clean(value, maxValue))
		}
	}
}

func (p *parser) rule(number int, allow bool, value string) {
	if len(p.now.agents) == 0 || p.rules >= maxRules || len(value) > maxValue {
		return // before any group, or hostile
	}
	p.rules++
	r := rule{allow: allow, written: crawl.Clean(value, maxValue), line: number}
	if strings.HasPrefix(value, "/") || strings.HasPrefix(value, "*") {
		r.pattern = normalise(value, true)
		r.match = compile(r.pattern)
	}
	p.now.rules = append(p.now.rules, r) // an empty rule closes the group's agents too
}

func (p *parser) delay(value string) {
	seconds, err := strconv.ParseFloat(value, 64)
	if err != nil || seconds < 0 || math.IsNaN(seconds) || len(p.now.agents) == 0 {
		return
	}
	p.now.delay = time.Duration(min(seconds, 365*86400) * float64(time.Second))
	p.now.hasDly = true
}

func (p *parser) flush() {
	if len(p.now.agents) > 0 {
		p.file.groups = append(p.file.groups, p.now)
	}
	p.now = group{}
}

// token cuts an agent's name to its product token; "*" alone stands for all.
func token(value string) string {
	if value == "*" || strings.HasPrefix(value, "* ") {
		return "*"
	}
	end := strings.IndexFunc(value, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' || r == '-')
	})
	if end >= 0 {
		value = value[:end]
	}
	return strings.ToLower(value)
}

// compile makes temoto match one pattern. Its expressions are not anchored, so
// pattern and path both start with a mark that no normalised path contains.
func compile(pattern string) *robotstxt.Group {
	data, err := robotstxt.FromString("User-agent: *\nDisallow: " + mark + pattern + "\n")
	if err != nil {
		return nil
	}
	return data.FindGroup("*")
}

const mark = "/|"

func (r rule) matches(path string) bool {
	return r.match != nil && !r.match.Test(mark+path)
}

// Check says whether the agent, a product token, may fetch the URL: of all rules
// that match, the one with the longest pattern decides, allow before disallow
// (RFC 9309 2.2.2).
func (f *File) Check(agent string, u urlkey.URL) Verdict {
	if u.Path() == "/robots.txt" {
		return Verdict{Allowed: true, Reason: "robots.txt itself is always allowed"}
	}
	plain := normalise(u.Target(), false)
	decoded := decodeReserved(plain)
	var best *rule
	for _, r := range f.rulesFor(agent) {
		if !better(r, best) || !(r.matches(plain) || plain != decoded && r.matches(decoded)) {
			continue
		}
		best = &r
	}
	return verdict(best)
}

// better reports whether a rule, if it matches, goes before another.
func better(r rule, than *rule) bool {
	if than == nil || len(r.pattern) != len(than.pattern) {
		return than == nil || len(r.pattern) > len(than.pattern)
	}
	return r.allow && !than.allow
}

func verdict(r *rule) Verdict {
	if r == nil {
		return Verdict{Allowed: true, Reason: "no rule of robots.txt matches"}
	}
	word := "Disallow"
	if r.allow {
		word = "Allow"
	}
	written := word + ": " + r.written
	return Verdict{Allowed: r.allow, Rule: written, Line: r.line, Reason: "robots.txt line " + strconv.Itoa(r.line) + ": " + written}
}

// rulesFor merges the rules of all groups of the agent, else those of "*".
func (f *File) rulesFor(agent string) []rule {
	var rules []rule
	for _, g := range f.groupsFor(agent) {
		rules = append(rules, g.rules...)
	}
	return rules
}

func (f *File) groupsFor(agent string) []group {
	agent = strings.ToLower(agent)
	for _, name := range []string{agent, "*"} {
		var groups []group
		for _, g := range f.groups {
			if slices.Contains(g.agents, name) {
				groups = append(groups, g)
			}
		}
		if len(groups) > 0 {
			return groups
		}
	}
	return nil
}

// CrawlDelay is the largest Crawl-delay of the agent's groups, 0 if none has
// one. It is not part of RFC 9309; site owners mean it.
func (f *File) CrawlDelay(agent string) time.Duration {
	var delay time.Duration
	for _, g := range f.groupsFor(agent) {
		if g.hasDly {
			delay = max(delay, g.delay)
		}
	}
	return delay
}

// Sitemaps are the file's Sitemap lines, at most 100.
func (f *File) Sitemaps() []string { return f.sitemaps }
