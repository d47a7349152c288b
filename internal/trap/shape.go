package trap

import (
	"fmt"
	"slices"
	"strings"

	"recrawl/internal/urlkey"
)

const (
	// MaxSegments is the most segments that a path has on sites without traps;
	// Heritrix's limit (TooManyPathSegmentsDecideRule).
	MaxSegments = 20
	// maxCycle is how many segments a repeating piece may have, minCopies how many
	// times in a row it stands. Heritrix takes three for a trap too.
	maxCycle  = 3
	minCopies = 3
	// minOccurrences is how often a segment occurs in all, anywhere, in a trap.
	minOccurrences = 5
	// minWord is the least length of a segment that is meaningful when it repeats:
	// /0/0/0/ and /aa/aa/ are how stores of files spread them.
	minWord = 3
	// minToken is the least length of a segment, or a value, that looks random.
	minToken = 16
)

// Shaped finds URLs whose path alone is that of a trap.
func Shaped(u urlkey.URL) (Finding, bool) {
	segments := u.Segments()
	if piece, ok := repeated(segments); ok {
		return Finding{Pattern: Pattern{Kind: KindRepeats, Host: u.HostKey()}, Reason: ReasonRepeats, Detail: "such as " + clip(piece)}, true
	}
	if len(segments) > MaxSegments {
		return Finding{Pattern: Pattern{Kind: KindDepth, Host: u.HostKey()}, Reason: ReasonDepth, Detail: "such as " + clip(u.Path())}, true
	}
	return Finding{}, false
}

// clip cuts a path that is too long to be read.
func clip(path string) string {
	const most = 100
	if len(path) > most {
		return path[:most] + "…"
	}
	return path
}

// repeated returns the path up to where a piece of it has come too often.
func repeated(segments []string) (string, bool) {
	for start := range segments {
		for cycle := 1; cycle <= maxCycle; cycle++ {
			end := start + cycle*minCopies
			if end <= len(segments) && isCopied(segments[start:end], cycle) {
				return "/" + strings.Join(segments[:end], "/"), true
			}
		}
	}
	count := map[string]int{}
	for i, s := range segments {
		if count[s]++; isWord(s) && count[s] >= minOccurrences {
			return "/" + strings.Join(segments[:i+1], "/"), true
		}
	}
	return "", false
}

// isCopied reports whether the segments are a piece of cycle segments over and
// over, with a word in it.
func isCopied(segments []string, cycle int) bool {
	for i := cycle; i < len(segments); i++ {
		if segments[i] != segments[i-cycle] {
			return false
		}
	}
	return slices.ContainsFunc(segments[:cycle], isWord)
}

// isWord tells segments with a meaning from numbers and short pieces of hashes.
func isWord(s string) bool {
	return len(s) >= minWord && strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}

// shapes are those of the path's segments and, if the URL has parameters, of their
// names: "calendar", "#", "?day".
func shapes(u urlkey.URL) []string {
	path := pathShapes(u)
	if names := paramNames(u); len(names) > 0 {
		path = append(path, "?"+strings.Join(names, "&"))
	}
	return path
}

func pathShapes(u urlkey.URL) []string {
	segments := u.Segments()
	for i, s := range segments {
		segments[i] = shape(s)
	}
	return segments
}

// Prefixes are the parts of a host's pages among which a page counts: all of them, "", and
// those of its folder.
func Prefixes(u urlkey.URL) []string {
	if folder := Folder(u); folder != "" {
		return []string{"", folder}
	}
	return []string{""}
}

// Folder is the shape of the first folder of a URL's path, "/wiki/", or "" at the
// root. A page that is chosen by parameters is a folder of them: "/viewtopic.php?".
func Folder(u urlkey.URL) string {
	segments := u.Segments()
	switch {
	case len(segments) == 0:
		return ""
	case len(segments) > 1 || strings.HasSuffix(u.Path(), "/"):
		return "/" + shape(segments[0]) + "/"
	case len(u.Params()) > 0:
		return "/" + shape(segments[0]) + "?"
	}
	return ""
}

// shape removes from a segment the parts that differ only in numbers and random
// characters.
func shape(segment string) string {
	if isToken(segment) {
		return "*"
	}
	return withoutDigits(segment)
}

// withoutDigits puts a # in the place of each number.
func withoutDigits(segment string) string {
	var b strings.Builder
	for i := range len(segment) {
		switch c := segment[i]; {
		case c < '0' || c > '9':
			b.WriteByte(c)
		case i == 0 || segment[i-1] < '0' || segment[i-1] > '9':
			b.WriteByte('#')
		}
	}
	return b.String()
}

// isToken reports whether a text looks drawn at random: long, of letters and
// digits that change often.
func isToken(s string) bool {
	if len(s) < minToken {
		return false
	}
	digits, changes := 0, 0
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '-', c == '_', c == '.', c == '~':
		default:
			return false
		}
		if i > 0 && isDigit(c) != isDigit(s[i-1]) {
			changes++
		}
	}
	// A slug with a year or a number changes twice or so; hexadecimal digits at
	// random, 10 of 16 of them decimal, nearly every second time.
	return digits >= 3 && changes >= len(s)/5
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// paramNames are the names of the query's parameters, each once, in order.
func paramNames(u urlkey.URL) []string {
	var names []string
	for _, p := range u.Params() {
		name, _, _ := strings.Cut(p, "=")
		names = append(names, shape(name))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Budget is the trap of a host, or of one of its folders, that has more pages than
// are allowed; folder is Folder's, or "".
func Budget(host, folder string, limit int) Finding {
	p := Pattern{Kind: KindPrefix, Host: host}
	if name := strings.Trim(folder, "/?"); name != "" {
		p.Path = []string{name}
	}
	return Finding{Pattern: p, Reason: ReasonBudget, Detail: fmt.Sprintf("more than %d pages", limit)}
}
