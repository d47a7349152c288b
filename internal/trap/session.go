package trap

import (
	"regexp"
	"slices"
	"strings"

	"recrawl/internal/urlkey"
)

// sessionNames are names of parameters, in the query or the path, by which servers
// without cookies recognise a visitor; in lower case. Those of Heritrix
// (UURIFactory's StripSessionIDs, StripSessionCFIDs) and of common shops and
// forums.
var sessionNames = []string{
	"jsessionid", "phpsessid", "sid", "sessid", "sessionid", "session_id", "session", "s", "sess",
	"aspsessionid", "cfid", "cftoken", "oscsid", "zenid", "xtcsid", "mscsid", "sessionkey", "user_session",
}

// wordNames are those of them under which a site may also search, or name its stories and
// the sessions of a conference.
var wordNames = []string{"s", "sid", "sess", "session"}

// minSession is the least length of a session's id.
const minSession = 16

// Session finds a session id in the query or the path of a URL, and returns the
// URL without it, which names the same page. Only values that look random count: a
// parameter "s" that searches, or an "sid" that numbers stories, is none.
func Session(u urlkey.URL) (base urlkey.URL, found Finding, ok bool) {
	path, inPath := withoutSession(u.Path())
	params := u.Params()
	kept := slices.DeleteFunc(slices.Clone(params), isSession)
	if !inPath && len(kept) == len(params) {
		return urlkey.URL{}, Finding{}, false
	}
	text := u.Origin() + path
	if len(kept) > 0 {
		text += "?" + strings.Join(kept, "&")
	}
	base, err := urlkey.Canonical(text)
	if err != nil {
		return urlkey.URL{}, Finding{}, false
	}
	return base, Finding{Pattern: Pattern{Kind: KindSession, Host: u.HostKey()}, Reason: ReasonSession, Detail: "such as " + clip(u.Target())}, true
}

// leastChosen is how many ids of one address on one page show that they are no sessions.
const leastChosen = 8

// Chosen returns the addresses without a session for which links of one page name many ids. A
// site tells a visitor one session, so these ids choose pages: the talks of a conference,
// which are its sessions. Bare takes the session, or another such part, from an address that
// has one.
func Chosen(links []urlkey.URL, bare func(u urlkey.URL) (base urlkey.URL, ok bool)) map[urlkey.URL]bool {
	ids := map[urlkey.URL]map[urlkey.URL]bool{}
	for _, u := range links {
		base, ok := bare(u)
		if !ok {
			continue
		}
		if ids[base] == nil {
			ids[base] = map[urlkey.URL]bool{}
		}
		ids[base][u] = true
	}
	chosen := map[urlkey.URL]bool{}
	for base, of := range ids {
		if len(of) >= leastChosen {
			chosen[base] = true
		}
	}
	return chosen
}

// withoutSession removes ";jsessionid=…" and the segment "(S(…))" of ASP.NET.
func withoutSession(path string) (string, bool) {
	segments := strings.Split(path, "/")
	found := false
	segments = slices.DeleteFunc(segments, func(s string) bool {
		rest, ok := strings.CutPrefix(s, "(S(")
		id, closed := strings.CutSuffix(rest, "))")
		is := ok && closed && len(id) >= minSession && isDrawn(id)
		found = found || is
		return is
	})
	for i, s := range segments {
		parts := strings.Split(s, ";")
		kept := append(parts[:1:1], slices.DeleteFunc(parts[1:], isSession)...)
		if len(kept) < len(parts) {
			segments[i] = strings.Join(kept, ";")
			found = true
		}
	}
	return strings.Join(segments, "/"), found
}

// isSession reports whether a parameter is a session's.
func isSession(param string) bool {
	name, value, _ := strings.Cut(param, "=")
	name = strings.ToLower(name)
	if len(value) < minSession || !slices.Contains(sessionNames, name) || !isDrawn(value) {
		return false
	}
	return !slices.Contains(wordNames, name) || !isSlug(value)
}

// isDrawn reports whether the value of a session's parameter looks random: letters
// and digits of which some are each, or hexadecimal digits, without a gap between
// words.
func isDrawn(value string) bool {
	digits, letters := 0, 0
	for i := range len(value) {
		switch c := value[i]; {
		case isDigit(c):
			digits++
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			letters++
		case strings.IndexByte(separators, c) >= 0:
		default:
			return false
		}
	}
	return digits >= 2 && letters >= 2
}

// separators may stand between the words of a slug, and in session ids.
const separators = "-_.!~,"

var uuidRE = regexp.MustCompile(`(?i)^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

const (
	maxWord   = 24 // letters of a word
	maxNumber = 9  // digits of a number; times have more
	maxModel  = 12 // characters of what is like 256gb, mp3, k8s or iPhone
)

// isSlug reports whether a value is words and numbers with separators between them, such as
// opening-keynote-2026 or phone-15-pro-256gb: at least half of its pieces are either, and
// none looks random.
func isSlug(value string) bool {
	if !strings.ContainsAny(value, separators) || uuidRE.MatchString(value) {
		return false
	}
	plain, models := 0, 0
	for _, piece := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
		switch {
		case isPlain(piece):
			plain++
		case isModel(piece):
			models++
		default:
			return false
		}
	}
	return plain >= models
}

// isPlain reports whether a piece is a number, or a word whose letters are of one case after
// the first.
func isPlain(piece string) bool {
	if strings.Trim(piece, "0123456789") == "" {
		return len(piece) <= maxNumber
	}
	rest := piece[1:]
	isLetters := !strings.ContainsAny(piece, "0123456789")
	return isLetters && len(piece) <= maxWord && (rest == strings.ToLower(rest) || piece == strings.ToUpper(piece))
}

// isModel reports whether the letters of a piece change with digits as they do in names:
// once, or twice in a very short one.
func isModel(piece string) bool {
	changes := 0
	for i := 1; i < len(piece); i++ {
		if isDigit(piece[i]) != isDigit(piece[i-1]) {
			changes++
		}
	}
	isNumber := strings.Trim(piece, "0123456789") == ""
	return !isNumber && len(piece) <= maxModel && (changes <= 1 || changes == 2 && len(piece) <= 4)
}
