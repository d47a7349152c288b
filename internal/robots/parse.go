package robots

import (
	"bytes"
	"iter"
	"strings"
)

// lines yields the lines of a text, which end in CR, LF or CRLF.
func lines(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for len(text) > 0 {
			end := bytes.IndexAny(text, "\r\n")
			if end < 0 {
				yield(text)
				return
			}
			line, rest := text[:end], text[end+1:]
			if text[end] == '\r' && len(rest) > 0 && rest[0] == '\n' {
				rest = rest[1:]
			}
			if !yield(line) {
				return
			}
			text = rest
		}
	}
}

// parser collects groups line by line.
type parser struct {
	file *File
	// current is the group to which rules are added, nil before the first user-agent.
	current *group
	// closed: the current group has a rule, so the next user-agent starts another.
	// No other record does that (RFC 9309 2.2.4).
	closed bool
	// distinct are the pieces of all patterns so far, numbers their indexes.
	distinct []string
	numbers  map[string]int32
	// sitemaps are the Sitemap records so far, a line each, and named is their number.
	sitemaps strings.Builder
	named    int
	// stating is the group to which statements about uses are added, nil before the
	// first user-agent. Rules and statements close it.
	stating       *group
	statingClosed bool
	// lines is how many lines about uses there were so far.
	lines int
}

// Keys of the records that are read, with the misspellings that other crawlers
// forgive.
var keys = map[string]func(p *parser, value string, line int){
	"user-agent": (*parser).userAgent, "useragent": (*parser).userAgent, "user agent": (*parser).userAgent,
	"allow":    (*parser).allow,
	"disallow": (*parser).disallow, "dissallow": (*parser).disallow, "dissalow": (*parser).disallow,
	"disalow": (*parser).disallow, "diasllow": (*parser).disallow, "disallaw": (*parser).disallow,
	"crawl-delay": (*parser).crawlDelay, "crawldelay": (*parser).crawlDelay, "crawl delay": (*parser).crawlDelay,
	"sitemap": (*parser).sitemap, "site-map": (*parser).sitemap,
	"content-signal": (*parser).signal, "content-signals": (*parser).signal, "content-usage": (*parser).usage,
}

// line reads one line; it skips lines that it does not understand.
func (p *parser) line(line []byte, number int) {
	line, _, _ = bytes.Cut(line, []byte("#"))
	text := trim(string(line))
	key, value, ok := strings.Cut(text, ":")
	if !ok {
		// Two words without a colon are a common way to write them.
		words := strings.Fields(text)
		if len(words) != 2 {
			return
		}
		key, value = words[0], words[1]
	}
	if read := keys[strings.ToLower(trim(key))]; read != nil {
		read(p, trim(value), number)
	}
}

func trim(s string) string { return strings.Trim(s, " \t\v\f") }

func (p *parser) userAgent(value string, line int) {
	if p.current == nil || p.closed {
		p.current, p.closed = &group{}, false
		p.file.groups = append(p.file.groups, p.current)
	}
	token := productToken(value)
	if value == "*" || strings.HasPrefix(value, "* ") || strings.HasPrefix(value, "*\t") {
		token = "*"
	}
	p.current.agents = append(p.current.agents, agent{token: strings.ToLower(token), value: value, line: line})
	if p.stating == nil || p.statingClosed {
		p.stating, p.statingClosed = &group{}, false
		p.file.stating = append(p.file.stating, p.stating)
	}
	p.stating.agents = append(p.stating.agents, agent{token: strings.ToLower(token), value: value, line: line})
}

// productToken cuts a user-agent's value, or name, to the part that is compared
// (RFC 9309 2.2.1): letters, "_" and "-".
func productToken(value string) string {
	end := strings.IndexFunc(value, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '_' && r != '-'
	})
	if end < 0 {
		return value
	}
	return value[:end]
}

func (p *parser) allow(value string, line int)    { p.rule(true, value, line) }
func (p *parser) disallow(value string, line int) { p.rule(false, value, line) }

// rule adds a rule to the current group. A rule before any group belongs to
// nobody; an empty one closes its group and says nothing.
func (p *parser) rule(allow bool, value string, line int) {
	if p.current == nil {
		return
	}
	p.closed, p.statingClosed = true, true
	if value == "" || value[0] != '/' && value[0] != '*' {
		return
	}
	p.current.rules = append(p.current.rules, p.newRule(allow, value, line))
}

// finish gives the pieces of all patterns their slots, and puts each group's rules
// in order.
func (p *parser) finish() *File {
	f := p.file
	if p.lines == 0 {
		f.stating = nil // nearly always
	}
	var slots []int32
	f.pieces, slots = newPieces(p.distinct)
	for i, number := range f.sequence {
		f.sequence[i] = slots[number]
	}
	for _, g := range f.groups {
		sortRules(g.rules)
	}
	f.sitemaps = readSitemaps(p.sitemaps.String())
	return f
}
