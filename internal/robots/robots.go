// Package robots decides by robots.txt files as RFC 9309 asks. It reads lines
// and groups, normalises and orders rules itself, and leaves to
// temoto/robotstxt what that does reliably: deciding whether one pattern
// matches one path. Used directly, temoto loses whole files to small mistakes
// and matches wildcards unanchored.
package robots

import (
	"bytes"
	"encoding/binary"
	"strings"
	"time"
	"unicode/utf16"

	"recrawl/internal/urlkey"
)

// Limits of what is read of a robots.txt.
const (
	// MaxBytes is how much of a file counts (RFC 9309 2.5: at least 500 KiB); the
	// rest, from the last whole line on, is ignored.
	MaxBytes = 500 << 10
	// MaxWildcards is the number of patterns with wildcards that are matched in
	// full. Each costs microseconds at every decision, and a hostile file holds ten
	// thousand. Beyond it the site's own excess is read to its disadvantage: an
	// allow is ignored, and a disallow covers all below its part before the first
	// wildcard.
	MaxWildcards = 2000
	// maxSitemaps bounds the list that is kept and stored.
	maxSitemaps = 1000
)

// Reasons of a Verdict.
const (
	ReasonRule      = "rule"              // Rule on Line decided
	ReasonNoRule    = "no rule matches"   // our group has no rule for the URL
	ReasonNoGroup   = "no group for us"   // the file names neither us nor everybody
	ReasonRobotsTxt = "robots.txt itself" // always allowed (RFC 9309 2.2.2)
)

// Verdict says whether a URL may be fetched, and why.
type Verdict struct {
	Allowed bool
	// Rule is the deciding line as the site wrote it ("Disallow: /private"), "" if
	// none decided.
	Rule string
	// Line is its number in the file, from 1; 0 if none decided.
	Line int
	// Reason is one of the Reason constants.
	Reason string
}

// File is a parsed robots.txt. It may be used from any goroutine.
type File struct {
	groups   []*group
	sitemaps []string
}

// group is a group of the file: who it is for, and what it says.
type group struct {
	agents []string // product tokens in lower case; "*" is everybody
	rules  []*rule
	delay  time.Duration // Crawl-delay, 0 if none
}

// Parse reads a robots.txt. Whatever the text is, it never fails: what cannot
// be read is skipped (RFC 9309 2.2).
func Parse(text []byte) *File {
	p := parser{file: &File{}}
	number := 0
	for line := range lines(decode(text)) {
		number++
		p.line(line, number)
	}
	for _, g := range p.file.groups {
		sortRules(g.rules)
	}
	return p.file
}

// Check decides for a product token, which is compared without regard to case.
func (f *File) Check(agent string, url urlkey.URL) Verdict {
	if url.Path() == "/robots.txt" {
		return Verdict{Allowed: true, Reason: ReasonRobotsTxt}
	}
	groups := f.groupsFor(agent)
	if len(groups) == 0 {
		return Verdict{Allowed: true, Reason: ReasonNoGroup}
	}
	target := newTarget(url.Target())
	var best *rule
	for _, g := range groups {
		// Each group is in order of precedence, so its first match is its best.
		if r := firstMatch(g.rules, target); r != nil && (best == nil || r.before(best)) {
			best = r
		}
	}
	if best == nil {
		return Verdict{Allowed: true, Reason: ReasonNoRule}
	}
	return Verdict{Allowed: best.allow, Rule: best.text(), Line: best.line, Reason: ReasonRule}
}

// CrawlDelay returns the longest Crawl-delay of the groups for a product token,
// 0 if there is none.
func (f *File) CrawlDelay(agent string) time.Duration {
	var longest time.Duration
	for _, g := range f.groupsFor(agent) {
		longest = max(longest, g.delay)
	}
	return longest
}

// Sitemaps returns the values of the Sitemap lines that are http or https URLs,
// in canonical form.
func (f *File) Sitemaps() []string { return f.sitemaps }

// groupsFor returns all groups that name the token or, if none does, all that
// name everybody. The rules of several groups count together (RFC 9309 2.2.1).
func (f *File) groupsFor(agent string) []*group {
	if groups := f.groupsNaming(strings.ToLower(productToken(agent))); len(groups) > 0 {
		return groups
	}
	return f.groupsNaming("*")
}

func (f *File) groupsNaming(token string) []*group {
	var found []*group
	for _, g := range f.groups {
		for _, a := range g.agents {
			if a == token && token != "" {
				found = append(found, g)
				break
			}
		}
	}
	return found
}

// decode cuts a file to the limit, at a line end, and removes the byte order
// mark of UTF-8, even if some of its bytes are lost; UTF-16 is converted.
func decode(text []byte) []byte {
	if len(text) > MaxBytes {
		text = text[:MaxBytes]
		text = text[:bytes.LastIndexAny(text, "\r\n")+1]
	}
	switch {
	case bytes.HasPrefix(text, []byte{0xFE, 0xFF}):
		return fromUTF16(text[2:], binary.BigEndian)
	case bytes.HasPrefix(text, []byte{0xFF, 0xFE}):
		return fromUTF16(text[2:], binary.LittleEndian)
	}
	for _, mark := range []byte{0xEF, 0xBB, 0xBF} {
		if len(text) == 0 || text[0] != mark {
			break
		}
		text = text[1:]
	}
	return text
}

func fromUTF16(text []byte, order binary.ByteOrder) []byte {
	units := make([]uint16, 0, len(text)/2)
	for ; len(text) >= 2; text = text[2:] {
		units = append(units, order.Uint16(text))
	}
	return []byte(string(utf16.Decode(units)))
}
