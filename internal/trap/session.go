package trap

import (
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
	return len(value) >= minSession && slices.Contains(sessionNames, strings.ToLower(name)) && isDrawn(value)
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
		case c == '-', c == '_', c == '.', c == '!', c == '~', c == ',':
		default:
			return false
		}
	}
	return digits >= 2 && letters >= 2
}
