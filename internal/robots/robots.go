// Package robots decides by robots.txt files as RFC 9309 asks. It reads lines,
// groups and rules itself: temoto/robotstxt loses whole files to small mistakes,
// matches wildcards unanchored, and turns them into regular expressions, with which
// a hostile file keeps its reader busy for minutes. temoto reads the rest, the
// values of Sitemap and Crawl-delay records.
package robots

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"recrawl/internal/crawl"
	"recrawl/internal/urlkey"
)

// MaxBytes is how much of a file counts (RFC 9309 2.5: at least 500 KiB); the
// rest, from the last whole line on, is ignored. It also bounds what a file costs:
// see search.
const MaxBytes = 500 << 10

// MaxText is the most bytes that the text of a file has: its conversion makes three of one at
// most.
const MaxText = 3 * MaxBytes

// Verdict says whether a URL may be fetched, and why.
type Verdict struct {
	Allowed bool
	// Rule is the deciding line as the site wrote it ("Disallow: /private"), "" if
	// none decided.
	Rule string
	// Line is its number in the file, from 1; 0 if none decided.
	Line int
	// Group is the line that makes the deciding rule's group ours, as the site
	// wrote it ("User-agent: *"). If no rule decided, it is that of our first group,
	// "" if we have none.
	Group string
	// GroupLine is its number in the file; 0 if there is none.
	GroupLine int
	// Reason says in plain words what decided.
	Reason string
}

// File is a parsed robots.txt. It may be used from any goroutine.
type File struct {
	groups   []*group
	sitemaps []string
	paths    []string // of Sitemap lines without a host
	// stating are the groups of the statements about uses; stated are those before the first
	// group, which are for everybody.
	stating []*group
	stated  statements
	// sequence are the pieces of all patterns, by their slots; each pattern has its
	// part of it.
	sequence []int32
	pieces   pieces
}

// group is a group of the file: its agents, and its rules.
type group struct {
	agents []agent
	rules  []*rule
	delay  delay // the zero delay if it has none
	stated statements
}

// agent is a user-agent line.
type agent struct {
	token string // product token in lower case; "*" is everybody
	value string // as written
	line  int
}

// text quotes the line as the site wrote it.
func (a agent) text() string { return "User-agent: " + crawl.Clean(a.value, maxRuleText) }

// membership is a group with the line that makes it ours.
type membership struct {
	*group
	by agent
}

// Parse reads a robots.txt as the site sent it. Whatever the body is, it never fails:
// unreadable lines are skipped (RFC 9309 2.2).
func Parse(body []byte) *File { return ParseText(Text(body)) }

// ParseText reads a text that Text has returned: all of it counts.
func ParseText(text string) *File {
	p := parser{file: &File{}}
	number := 0
	for line := range lines([]byte(text)) {
		number++
		p.line(line, number)
	}
	return p.finish()
}

// Check decides for a product token, which is compared without regard to case.
func (f *File) Check(agent string, url urlkey.URL) Verdict {
	if url.Path() == "/robots.txt" {
		return Verdict{Allowed: true, Reason: "robots.txt itself may always be fetched"}
	}
	groups := f.groupsFor(agent)
	if len(groups) == 0 {
		return Verdict{Allowed: true, Reason: "robots.txt has no group for us"}
	}
	from := groups[0].by
	best, _ := f.decisive(groups, newTarget(url.Target()))
	if best == nil {
		return Verdict{Allowed: true, Reason: "no rule of robots.txt matches", Group: from.text(), GroupLine: from.line}
	}
	from = groups[slices.IndexFunc(groups, func(m membership) bool { return m.group == best.group })].by
	return Verdict{
		Allowed: best.allow, Rule: best.text(), Line: best.line, Group: from.text(), GroupLine: from.line,
		Reason: fmt.Sprintf("line %d of robots.txt says %q", best.line, best.text()),
	}
}

// ForbidsAll reports whether the file forbids everything to a product token: it
// disallows everything and allows nothing.
func (f *File) ForbidsAll(agent string) bool {
	all := false
	for _, g := range f.groupsFor(agent) {
		for _, r := range g.rules {
			if r.allow {
				return false
			}
			what := strings.ReplaceAll(r.value, "*", "")
			all = all || what == "/" || what == ""
		}
	}
	return all
}

// CrawlDelay returns the longest Crawl-delay of the groups for a product token,
// 0 if there is none.
func (f *File) CrawlDelay(agent string) time.Duration {
	var longest delay
	for _, g := range f.groupsFor(agent) {
		if g.delay.seconds > longest.seconds {
			longest = g.delay
		}
	}
	return longest.read()
}

// Sitemaps returns the values of the Sitemap lines that are http or https URLs, in canonical
// form, and after them those that are paths on the site of a URL. They should be whole URLs
// (sitemaps.org), but other readers resolve them, too.
func (f *File) Sitemaps(at urlkey.URL) []string {
	if len(f.paths) == 0 || at.IsZero() {
		return f.sitemaps
	}
	all := slices.Clip(f.sitemaps)
	base, err := urlkey.Canonical(at.Origin() + "/robots.txt")
	if err != nil {
		return all
	}
	for _, path := range f.paths {
		if u, err := urlkey.Resolve(base, path); err == nil {
			all = append(all, u.String())
		}
	}
	return all
}

// groupsFor returns all groups that name the token or, if none does, all that
// name everybody. The rules of several groups count together (RFC 9309 2.2.1).
func (f *File) groupsFor(agent string) []membership { return groupsFor(f.groups, agent) }

func groupsFor(groups []*group, agent string) []membership {
	if found := groupsNaming(groups, strings.ToLower(productToken(agent))); len(found) > 0 {
		return found
	}
	return groupsNaming(groups, "*")
}

func groupsNaming(groups []*group, token string) []membership {
	var found []membership
	for _, g := range groups {
		by := slices.IndexFunc(g.agents, func(a agent) bool { return a.token == token && token != "" })
		if by >= 0 {
			found = append(found, membership{g, g.agents[by]})
		}
	}
	return found
}

// Text returns the part of a file that counts, as text that can be stored:
// valid UTF-8 without NUL. ParseText reads it as Parse reads the file itself. The file
// is cut to MaxBytes, back to its last whole line, loses the byte order mark of UTF-8, even
// if some of its bytes are lost, and is converted from UTF-16. Bytes that are no
// UTF-8 are percent-encoded, which is their meaning in a rule. So the text may be
// longer than what was cut: it has up to MaxText bytes.
func Text(body []byte) string { return textOf(body, len(body) > MaxBytes) }

// TextCut is the Text of a file of which only the beginning came. Its last line does not count,
// unless it came whole.
func TextCut(body []byte) string { return textOf(body, true) }

func textOf(body []byte, cut bool) string {
	body = body[:min(len(body), MaxBytes)]
	switch {
	case bytes.HasPrefix(body, []byte{0xFE, 0xFF}):
		body = fromUTF16(body[2:], binary.BigEndian)
	case bytes.HasPrefix(body, []byte{0xFF, 0xFE}):
		body = fromUTF16(body[2:], binary.LittleEndian)
	}
	text := storable(withoutMark(body))
	if cut { // only now, since the bytes of other characters look like line ends in UTF-16
		text = text[:bytes.LastIndexAny(text, "\r\n")+1]
	}
	return string(text)
}

// withoutMark drops byte order marks of UTF-8 at the start, whole ones and ones
// that lost their last bytes.
func withoutMark(text []byte) []byte {
	const mark = "\xEF\xBB\xBF"
	for len(text) > 0 && text[0] == mark[0] {
		switch r, size := utf8.DecodeRune(text); {
		case r == '\uFEFF':
			text = text[len(mark):]
		case size > 1:
			return text // another character that begins like the mark
		default:
			text = bytes.TrimPrefix(text[1:], []byte(mark[1:2]))
		}
	}
	return text
}

// storable makes a text valid UTF-8 without NUL.
func storable(text []byte) []byte {
	clean := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && size == 1:
			clean = append(clean, '%', upperHex[text[0]>>4], upperHex[text[0]&15])
		case r == 0:
			clean = append(clean, ' ')
		default:
			clean = append(clean, text[:size]...)
		}
		text = text[size:]
	}
	return clean
}

func fromUTF16(text []byte, order binary.ByteOrder) []byte {
	units := make([]uint16, 0, len(text)/2)
	for ; len(text) >= 2; text = text[2:] {
		units = append(units, order.Uint16(text))
	}
	return []byte(string(utf16.Decode(units)))
}
