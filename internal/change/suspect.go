package change

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"recrawl/internal/crawl"
	"recrawl/internal/urlkey"
)

// Codes of the reasons why a content is suspect, and of what became of it. They are
// stored; never change them.
const (
	// CodeErrorWords: the content has almost nothing in common with the last version, and
	// reads like an error or a wall. Its text is the words that say so. Numbers: text_bytes.
	CodeErrorWords = "reads-like-an-error"
	// CodeNothingLeft: a page that had a text has none.
	CodeNothingLeft = "no-text-left"
	// CodeFrontPage: the content is that of the host's front page, whose URL is the text.
	// Numbers: resemblance.
	CodeFrontPage = "front-page-instead"
	// CodeToFrontPage: a page that had content redirects to its host's front page.
	CodeToFrontPage = "redirects-to-front-page"
	// CodeToWall: a page that had content redirects to a page where people log in, or
	// prove that they are people.
	CodeToWall = "redirects-to-wall"
	// CodeLittleLeft: a page that had a long text has a few words that it did not have.
	// Numbers: text_bytes, last_bytes.
	CodeLittleLeft = "little-text-left"
	// CodeToError: a page that had content redirects to a page about an error or about
	// maintenance, by its address.
	CodeToError = "redirects-to-error"
	// CodeShared: a later look found the same suspect content, and so did the looks at other
	// pages of the host. Numbers: pages (at least), visit, the one that saw it first.
	CodeShared = "suspect-on-others"
	// CodeConfirmed: a second look found something suspect again, so it counts. Numbers:
	// visit, the one that saw it first.
	CodeConfirmed = "suspect-again"
	// CodeDropped: a second look found the page as it was before the visit that found
	// something suspect. Numbers: visit, that one.
	CodeDropped = "suspect-gone"
)

const (
	// littleInCommon is the resemblance up to which two texts have almost nothing in
	// common: a header and a footer may be on both.
	littleInCommon = 0.2
	// likeFrontPage is the resemblance from which a text is the front page's. The known
	// front page is that of its last visit, and front pages change more than others.
	likeFrontPage = 0.5
	// longText is the least bytes of a text of which little can be left: at most fewWords
	// bytes, and one part in shrunk.
	longText, fewWords, shrunk = 1000, 300, 10
)

// LittleInCommon reports whether a content shares almost nothing with the page's last
// version, so that it may be suspect. If the last version is not known, there is no
// suspicion.
func LittleInCommon(prev, next Digests) bool {
	if prev.first() || prev.Text == next.Text || prev.TextBytes == 0 || len(prev.Sketch) == 0 {
		return false
	}
	if next.TextBytes == 0 {
		return true
	}
	if len(next.Sketch) == 0 && isRemnant(prev, next) { // marks without a word, such as "{}"
		return true
	}
	return len(next.Sketch) > 0 && prev.Sketch.Resemblance(next.Sketch) <= littleInCommon
}

// SuspectText judges a content that has little in common with the page's last version, by
// itself: whether it reads like an error, a wall or nothing at all, which may soon be over.
func SuspectText(title, text string) (crawl.Reason, bool) {
	if text == "" {
		return crawl.Reason{Code: CodeNothingLeft}, true
	}
	if words := errorWords(title, text); words != "" {
		return crawl.Reason{Code: CodeErrorWords, Text: words, Num: map[string]float64{"text_bytes": float64(len(text))}}, true
	}
	return crawl.Reason{}, false
}

// SuspectShort judges a content that has little in common with the page's last version, by
// its length: whether a few words stand where there was a long text. Servers in trouble, and
// walls that no list of words knows, look like this.
func SuspectShort(prev, next Digests) (crawl.Reason, bool) {
	if !isRemnant(prev, next) {
		return crawl.Reason{}, false
	}
	return crawl.Reason{Code: CodeLittleLeft, Num: map[string]float64{
		"text_bytes": float64(next.TextBytes), "last_bytes": float64(prev.TextBytes),
	}}, true
}

// isRemnant reports whether only a few words are left of a long text.
func isRemnant(prev, next Digests) bool {
	return prev.TextBytes >= longText && next.TextBytes <= fewWords && next.TextBytes*shrunk <= prev.TextBytes
}

// FrontPage describes a host's front page.
type FrontPage struct {
	URL  string
	Text string // digest of its main text
	Sketch
}

// SuspectFront judges a content that has little in common with the page's last version:
// whether it is that of the host's front page.
func SuspectFront(next Digests, front FrontPage) (crawl.Reason, bool) {
	resemblance := front.Resemblance(next.Sketch)
	if next.Text != "" && next.Text == front.Text {
		resemblance = 1
	}
	tellable := len(next.Sketch) >= MinShingles && len(front.Sketch) >= MinShingles
	if resemblance < 1 && !tellable || resemblance < likeFrontPage {
		return crawl.Reason{}, false
	}
	return crawl.Reason{Code: CodeFrontPage, Text: front.URL, Num: map[string]float64{"resemblance": resemblance}}, true
}

// SuspectRedirect judges a redirect of a page that had content: whether it leads to the
// site's front page, to a wall or to a page about an error, as may happen when something is
// wrong.
func SuspectRedirect(from, to urlkey.URL) (crawl.Reason, bool) {
	switch {
	case isFront(from):
	case isWall(to) && !isWall(from):
		return crawl.Reason{Code: CodeToWall, Text: to.String()}, true
	case isError(to) && !isError(from):
		return crawl.Reason{Code: CodeToError, Text: to.String()}, true
	case isFront(to) && urlkey.SameSite(from, to):
		return crawl.Reason{Code: CodeToFrontPage, Text: to.String()}, true
	}
	return crawl.Reason{}, false
}

// late compiles a pattern when it is first used: a command that looks at no page needs none.
func late(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// isFront reports whether a URL looks like that of a site's front page, perhaps in one of its
// languages.
func isFront(u urlkey.URL) bool {
	segments := u.Segments()
	if u.Query() != "" {
		return false
	}
	if len(segments) > 1 && languageSegment().MatchString(segments[0]) { // "/en/index.html"
		segments = segments[1:]
	}
	return len(segments) == 0 || len(segments) == 1 && (languageSegment().MatchString(segments[0]) || frontSegment().MatchString(segments[0]))
}

var (
	languageSegment = late(`^(?i:[a-z]{2}([-_][a-z]{2})?)$`)
	frontSegment    = late(`^(?i:(index|default|home|start|main|welcome)(\.[a-z]{3,5})?|home-?page|startseite|start-?page|accueil|inicio)$`)
)

// isError reports whether a URL looks like that of a page about an error or maintenance.
func isError(u urlkey.URL) bool {
	segments := u.Segments()
	if n := len(segments); n > 0 && errorSegment().MatchString(segments[n-1]) {
		return true
	}
	return slices.ContainsFunc(u.Params(), errorParam().MatchString)
}

var (
	errorSegment = late(`^(?i:([45]\d\d|e(rror)?[-_]?[45]\d\d|[45]\d\d[-_]?error|errors?|error[-_]?page|(page[-_]?)?not[-_]?found|fehler|fehlerseite|erreur|sorry|oops|maintenance|wartung|unavailable|offline|outage|blocked|(access[-_]?)?denied|forbidden)(\.[a-z]{3,5})?)$`)
	errorParam   = late(`^(?i:(error|err|error[-_]?code|status|code|e)=[45]\d\d|(error|err)=(not[-_]?found|true|1)|(404|error|not[-_]?found)(=(1|true))?|aspxerrorpath=.*)$`)
)

// isWall reports whether a URL looks like that of a wall.
func isWall(u urlkey.URL) bool {
	label, _, more := strings.Cut(u.Hostname(), ".")
	return more && wallLabel().MatchString(label) || slices.ContainsFunc(u.Segments(), wallSegment().MatchString)
}

var (
	wallLabel   = late(`^(login|signin|auth|sso|accounts?|consent|challenge|captcha)$`)
	wallSegment = late(`^(?i:(log|sign)[-_]?in|sso|oauth2?|authenticate|authorize|captcha|challenge|consent|anmelden|einloggen|connexion|accedi|inloggen|iniciar-?sesion|logowanie)(?i:\.[a-z]{3,4})?$`)
)

// Suspicion says what becomes of a visit that found something suspect, whose outcome would
// otherwise be the given one. since is the number of an earlier visit that did, too, and
// that no version has followed, 0 for none. The first look does not count. The second
// counts as it is, so that no lasting change is missed, however it reads.
func Suspicion(outcome crawl.Outcome, why crawl.Reason, since int) (crawl.Outcome, []crawl.Reason) {
	if since == 0 {
		return crawl.OutcomeSuspect, []crawl.Reason{why}
	}
	return outcome, []crawl.Reason{why, {Code: CodeConfirmed, Num: map[string]float64{"visit": float64(since)}}}
}

// Shared describes a suspect content that a page has shown before.
type Shared struct {
	Looks int // that found it again, after the first
	Pages int // other pages of the host that show it
}

const (
	// SharedBy is how many other pages of a host must show a suspect content for longer doubt.
	SharedBy = 3
	// sharedLooks is how many times the doubt is renewed. With waits that double, from half an
	// hour on, that is a day and a half at most.
	sharedLooks = 6
)

// Doubts reports whether a suspect content that a page shows again still does not count: other
// pages of its host show the very same, as where a server is out of order for hours, or answers
// none but "too many requests".
func (s Shared) Doubts() bool { return s.Pages >= SharedBy && s.Looks < sharedLooks }

// Doubted says what becomes of a visit that found a suspect content again, if that is doubted
// longer; since is as for Suspicion.
func (s Shared) Doubted(why crawl.Reason, since int) (crawl.Outcome, []crawl.Reason) {
	return crawl.OutcomeSuspect, []crawl.Reason{why, {Code: CodeShared, Num: map[string]float64{"pages": float64(s.Pages), "visit": float64(since)}}}
}

// AfterSuspect decides whether a visit with an outcome settles the suspicion of an earlier
// visit, since, and why. Visits that did not see the page settle nothing.
func AfterSuspect(outcome crawl.Outcome, since int) (settled bool, why []crawl.Reason) {
	switch {
	case since == 0:
		return false, nil
	case outcome.Observes() && !outcome.Changed():
		return true, []crawl.Reason{{Code: CodeDropped, Num: map[string]float64{"visit": float64(since)}}}
	}
	return outcome.Observes() || slices.Contains([]crawl.Outcome{crawl.OutcomeRedirected, crawl.OutcomeGone}, outcome), nil
}
