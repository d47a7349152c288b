package robots

import (
	"slices"
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/robots/reserve"
	"recrawl/internal/urlkey"
)

// maxStated bounds how many statements about uses are read from a file, each of which
// is compared with a URL separately.
const maxStated = 1000

// statement is one Content-Signal or Content-Usage line, or an entry of a tdmrep.json.
type statement struct {
	// strict and loose are the two spellings of the pattern of the URLs to which it applies,
	// as those of a rule, "" for all.
	strict, loose string
	said          []crawl.Reservation
}

// newStatement returns what is said about the URLs that match a path.
func newStatement(path string, said []crawl.Reservation) statement {
	strict := normalise(path, isPattern)
	return statement{strict, decodeReserved(strict), said}
}

// statements are those of a group, separated by kind: the longest path decides within a
// kind.
type statements struct{ signals, usages []statement }

func (p *parser) signal(value string, _ int) {
	if s, ok := p.state("Content-Signal: ", value); ok {
		p.stated().signals = append(p.stated().signals, s)
	}
}

func (p *parser) usage(value string, _ int) {
	if s, ok := p.state("Content-Usage: ", value); ok {
		p.stated().usages = append(p.stated().usages, s)
	}
}

// stated are the statements to which the next line adds: those of its group, or before the
// first group those for everybody. Within its group a statement counts as a rule, but not
// for others: it closes only groups of statements (RFC 9309 2.2.4).
func (p *parser) stated() *statements {
	p.statingClosed = true
	if p.stating == nil {
		return &p.file.stated
	}
	return &p.stating.stated
}

// state reads a line about uses, which may begin with a path; false if there were too many.
func (p *parser) state(name, value string) (s statement, ok bool) {
	if p.lines++; p.lines > maxStated {
		return s, false
	}
	source, path := "robots.txt: "+name, ""
	if value != "" && (value[0] == '/' || value[0] == '*') {
		end := strings.IndexAny(value+" ", " \t")
		path = value[:end]
		source, value = source+path+" ", trim(value[end:])
	}
	return newStatement(path, reserve.Usage(source, value)), true
}

// Reserved returns the file's statements about uses of a URL for a product token: of the
// Content-Signal lines that apply to both, those with the longest path, and the same for
// the Content-Usage lines.
func (f *File) Reserved(agent string, url urlkey.URL) []crawl.Reservation {
	all := statements{slices.Clip(f.stated.signals), slices.Clip(f.stated.usages)}
	for _, g := range groupsFor(f.stating, agent) {
		all.signals = append(all.signals, g.stated.signals...)
		all.usages = append(all.usages, g.stated.usages...)
	}
	if len(all.signals)+len(all.usages) == 0 {
		return nil
	}
	t := newTarget(url.Target())
	return reserve.Join(decisiveOf(all.signals, t), decisiveOf(all.usages, t))
}

// decisiveOf combines those of some statements that match a URL by the longest path.
func decisiveOf(all []statement, t target) []crawl.Reservation {
	var said [][]crawl.Reservation
	length := -1
	for _, s := range all {
		if len(s.loose) < length || !s.matches(t) {
			continue
		}
		if len(s.loose) > length {
			said, length = said[:0], len(s.loose)
		}
		said = append(said, s.said)
	}
	return reserve.Join(said...)
}

// matches reports whether the statement applies to a URL.
func (s statement) matches(t target) bool {
	return matchesPath(s.strict, t.strict) || matchesPath(s.loose, t.loose)
}

// matchesPath compares one normalised pattern with a URL, in time that grows with the sum of
// their lengths.
func matchesPath(pattern, url string) bool {
	pattern, end := strings.CutSuffix(pattern, "$")
	piece, rest, star := strings.Cut(pattern, "*")
	if !strings.HasPrefix(url, piece) {
		return false
	}
	url = url[len(piece):]
	for star {
		piece, rest, star = strings.Cut(rest, "*")
		if !star && end {
			return strings.HasSuffix(url, piece)
		}
		at := strings.Index(url, piece)
		if at < 0 {
			return false
		}
		url = url[at+len(piece):]
	}
	return !end || url == ""
}

// CheckFor is Check for an agent with a purpose: it also forbids pages that the file
// reserves from one of its uses.
func (f *File) CheckFor(agent string, purpose []crawl.Use, url urlkey.URL) Verdict {
	v := f.Check(agent, url)
	if !v.Allowed || len(purpose) == 0 {
		return v
	}
	if r, refused := reserve.Against(f.Reserved(agent, url), purpose); refused {
		return Verdict{Reason: reserve.Refusal(r)}
	}
	return v
}
