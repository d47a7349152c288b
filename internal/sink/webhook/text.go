package webhook

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text of a page is only text in a message. It never becomes a link, a mention, or markup
// of the service, and it never looks like our words: it has no line breaks and no invisible
// characters.

// plain returns a text of a page on one line, at most limit long. Lengths are counted in
// UTF-16, in which services count, or more than they do.
func plain(s string, limit int) string {
	var b strings.Builder
	space, length := false, 0
	for _, r := range s { // a byte that is no UTF-8 comes as U+FFFD
		switch {
		case length > limit:
			return cutUnits(b.String(), limit)
		case unicode.IsSpace(r), unicode.IsControl(r):
			space = b.Len() > 0
			continue
		case unicode.Is(unicode.Cf, r) && r != '\u200C' && r != '\u200D', unicode.Is(unicode.Co, r): // joiners shape letters
			continue
		}
		if space {
			b.WriteByte(' ')
			length, space = length+1, false
		}
		b.WriteRune(r)
		length += max(1, utf16.RuneLen(r))
	}
	return cutUnits(b.String(), limit)
}

// cutUnits cuts a text that is longer than limit, and marks the cut.
func cutUnits(s string, limit int) string {
	if units(s) <= limit {
		return s
	}
	n, end := 1, 0 // one for the ellipsis
	for i, r := range s {
		if n += max(1, utf16.RuneLen(r)); n > limit {
			break
		}
		end = i + utf8.RuneLen(r)
	}
	return strings.TrimSpace(s[:end]) + "…"
}

// units returns the length of a text in UTF-16.
func units(s string) int {
	n := 0
	for _, r := range s {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

// head returns the beginning of a text, at most limit bytes including the mark of a cut.
func head(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit-len("…")], "") + "…"
}

// backtick ends code in all kinds of Markdown; lookalike does not.
const (
	backtick  = "`"
	lookalike = "ˋ"
)

// code writes a text of a page as code on a line. Nothing in it is read as a link, a
// mention or markup by any of the services, or by GitHub, GitLab or Mattermost.
func code(s string, limit int) string {
	s = strings.ReplaceAll(plain(s, limit), backtick, lookalike)
	if s == "" {
		return ""
	}
	return backtick + s + backtick
}

// maxLink is the longest address that becomes a link: services refuse longer ones.
const maxLink = 2000

// link returns a page's address if it can be a link, without characters that could end one
// in Markdown or in Slack's language; else "".
func link(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return ""
	}
	var b strings.Builder
	for i := range len(address) {
		if c := address[i]; c <= ' ' || c >= 0x7F || strings.IndexByte("<>()[]{}|\\^`\"'*", c) >= 0 {
			b.WriteString("%" + string("0123456789ABCDEF"[c>>4]) + string("0123456789ABCDEF"[c&15]))
		} else {
			b.WriteByte(c)
		}
	}
	if u, err = url.Parse(b.String()); err != nil || u.Host == "" || b.Len() > maxLink {
		return ""
	}
	return b.String()
}

// inert returns a text for a place where the service interprets nothing, but the reader's
// program may still turn parts into links and mentions: invisible spaces prevent that.
func inert(s string) string {
	var b strings.Builder
	for i, r := range s {
		b.WriteRune(r)
		next, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
		if r == '@' || r == '#' || r == ':' && next == '/' || r == '.' && unicode.IsLetter(next) {
			b.WriteRune('\u200B')
		}
	}
	return b.String()
}
