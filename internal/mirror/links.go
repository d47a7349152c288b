package mirror

import (
	"context"
	"fmt"
	"strings"

	"recrawl/internal/urlkey"
)

// Bounds of a page's different references, and of the bytes of their addresses. Further
// references are removed. Resolving half a million of a hostile page, or twenty thousand
// against a long base, would take many seconds.
const (
	maxRefs     = 20_000
	maxResolved = 4 << 20
)

// links rewrites the references of one file.
type links struct {
	ctx  context.Context
	at   Paths
	file File
	own  urlkey.URL
	base urlkey.Base
	// moved: the page has a <base>, so that even a fragment may lead elsewhere.
	moved bool
	seen  map[string]target
	// resolved counts the bytes of the addresses in seen.
	resolved int
	// room is the number of bytes that all references together may still take. With a long
	// base, a page of a hundred kilobytes would have eighty megabytes of them.
	room int
	// alone: the file may be opened by itself, without a page whose policy keeps it from
	// fetching anything.
	alone bool
	err   error // the first of Paths
}

// target is where a reference leads.
type target struct {
	text   string // as the file has it; "" for nowhere
	inside bool   // a file of the mirror
}

func newLinks(ctx context.Context, f File, at Paths, size int) *links {
	l := &links{ctx: ctx, at: at, file: f, seen: map[string]target{}, room: 4*size + 1<<20}
	l.setBase("")
	return l
}

// setBase makes references resolve against a <base>, "" for none.
func (l *links) setBase(href string) {
	own, err := urlkey.Canonical(l.file.URL)
	if err != nil { // of an older version with other limits: only absolute references lead anywhere
		own = urlkey.URL{}
	}
	l.own, l.base, l.moved = own, urlkey.NewBase(own), false
	if href == "" {
		return
	}
	if base, err := urlkey.Resolve(own, href); err == nil {
		l.base, l.moved = urlkey.NewBase(base), true
	}
}

// use is the purpose of a reference.
type use int

const (
	follow use = iota // a person may go there
	frame             // a document is shown in the page
	embed             // an image, style or font
)

// to rewrites one reference: to a file of the mirror, to the absolute address of something
// outside it, or to nowhere.
func (l *links) to(ref string, u use) target {
	ref = trimRef(ref)
	if ref == "" && u != follow || l.err != nil {
		return target{}
	}
	var t target
	switch scheme := schemeOf(ref); {
	case scheme == "data":
		t = target{text: ref, inside: true}
		if u != embed || !isSafeData(ref) {
			return target{}
		}
	case scheme == "mailto" || scheme == "tel":
		if t = (target{text: ref}); u != follow {
			return target{}
		}
	case scheme != "" && scheme != "http" && scheme != "https":
		return target{}
	case strings.HasPrefix(ref, "#") && !l.moved:
		t = target{text: "#" + fragment(ref[1:]), inside: true}
	default:
		t = l.page(ref)
	}
	if !t.inside && (u == frame || u == embed && l.alone) || len(t.text) > l.room {
		return target{}
	}
	l.room -= len(t.text)
	return t
}

// page rewrites a reference to a page, which may have a fragment.
func (l *links) page(ref string) target {
	ref, part, has := strings.Cut(ref, "#")
	t, ok := l.seen[ref]
	if !ok {
		if len(l.seen) >= maxRefs || l.resolved >= maxResolved || len(ref) > urlkey.MaxLength {
			return target{}
		}
		if t = l.resolve(ref); len(t.text) > l.room {
			t = target{} // nor is it remembered: memory is bounded by room
		}
		l.seen[ref] = t
	}
	if has && t.text != "" {
		t.text += "#" + fragment(part)
	}
	return t
}

func (l *links) resolve(ref string) target {
	u, err := l.base.Resolve(ref)
	if err != nil {
		return target{}
	}
	l.resolved += len(u.String())
	path, err := l.at.Path(l.ctx, u)
	if err != nil {
		l.err = fmt.Errorf("where %.200s lies: %w", u, err)
		return target{}
	}
	if path == "" {
		return target{text: u.String()}
	}
	return target{text: relative(l.file.Path, path), inside: true}
}

// trimRef returns a reference as URLs are read: without the space around it, and without
// line ends and tabs.
func trimRef(ref string) string {
	ref = strings.TrimFunc(ref, func(r rune) bool { return r <= ' ' })
	if !strings.ContainsAny(ref, "\t\r\n") {
		return ref
	}
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == '\r' || r == '\n' {
			return -1
		}
		return r
	}, ref)
}

// schemeOf returns a reference's scheme in lower case, "" if it has none.
func schemeOf(ref string) string {
	for i := range len(ref) {
		switch c := ref[i] | 0x20; {
		case c >= 'a' && c <= 'z':
		case i > 0 && (ref[i] >= '0' && ref[i] <= '9' || ref[i] == '+' || ref[i] == '-' || ref[i] == '.'):
		case i > 0 && ref[i] == ':':
			return strings.ToLower(ref[:i])
		default:
			return ""
		}
	}
	return ""
}

// safeData are the types of data that may be part of a page. As an image or font, none of
// them runs anything.
var safeData = []string{
	"image/", "font/", "audio/", "video/", "application/font", "application/x-font", "application/vnd.ms-fontobject", "application/octet-stream",
}

func isSafeData(ref string) bool {
	media := strings.ToLower(strings.TrimLeft(ref[len("data:"):min(len(ref), 100)], " "))
	for _, prefix := range safeData {
		if strings.HasPrefix(media, prefix) {
			return true
		}
	}
	return false
}

// fragment escapes characters that a fragment must not have.
func fragment(s string) string { return escape(s, "\"<>`\\ ") }

func escape(s, marks string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == 0x7f || strings.IndexByte(marks, c) >= 0 {
			b.WriteString("%" + string(hex[c>>4]) + string(hex[c&15]))
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// relative returns the relative URL from one file of the mirror to another.
func relative(from, to string) string {
	folders := strings.Split(from, "/")
	folders = folders[:len(folders)-1]
	rest := strings.Split(to, "/")
	for len(folders) > 0 && len(rest) > 1 && folders[0] == rest[0] {
		folders, rest = folders[1:], rest[1:]
	}
	// Names have the percent-encodings of their addresses; to a browser these are bytes.
	way := strings.Repeat("../", len(folders)) + escape(strings.Join(rest, "/"), "%#?[]")
	if !strings.HasPrefix(way, ".") {
		way = "./" + way
	}
	return way
}
