package extract

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// hint holds an element's part in the page, by its markup.
type hint uint16

const (
	// hintMain: the main part, by its name or role.
	hintMain hint = 1 << iota
	// hintArticle: a whole of its own.
	hintArticle
	// hintNav: menus, breadcrumbs, paging, by element or role.
	hintNav
	// hintEdge: the head of a page or its asides, or of an article.
	hintEdge
	// hintFoot: the foot of a page, or of an article.
	hintFoot
	// hintMenu: navigation, by a class or id.
	hintMenu
	// hintSide: a side column, by a class or id.
	hintSide
	// hintAd: advertisement.
	hintAd
	// hintRelated: links to further reading.
	hintRelated
	// hintShare: buttons for sharing.
	hintShare
	// hintCounter: a number that counts visits or votes, or shows the time of day.
	hintCounter
	// hintConsent: notices about cookies.
	hintConsent
	// hintForm: a form for comments or for newsletters, and sums that tell people from programs.
	hintForm
	// hintEntry: a whole of its own, by a class.
	hintEntry
	// hintVote: a help center's question whether the page helped, and what else to try.
	hintVote
)

// content are the hints that an element is the page's content. Classes describe such an
// element, or say where it is filed, which is no reason to leave it out.
const content = hintMain | hintArticle | hintEntry

// elementHints and roleHints are the hints of HTML's and ARIA's names for the parts of a
// page.
var (
	elementHints = map[string]hint{"main": hintMain, "article": hintArticle, "nav": hintNav, "header": hintEdge, "footer": hintFoot, "aside": hintEdge}
	roleHints    = map[string]hint{
		"main": hintMain, "article": hintArticle, "navigation": hintNav, "menu": hintNav, "menubar": hintNav, "directory": hintNav,
		"banner": hintEdge, "contentinfo": hintFoot, "complementary": hintEdge, "search": hintEdge, "dialog": hintEdge, "alertdialog": hintEdge,
	}
)

// classHints are the hints of names of classes and ids, as sites commonly use them. A name
// counts whole ("post-views") or by one of its words ("ad" of "banner-ad-3" and
// "bannerAd3"). A name here only makes an element suspect. Its contents decide what becomes
// of it; see mainText.
var classHints = func() map[string]hint {
	hints := map[string]hint{}
	for h, list := range map[hint]string{
		hintAd: `ad ads adv advert adverts advertisement advertisements advertising adsense adsbygoogle adslot adslots adunit adbox
			adblock adbanner adcontainer adwrapper adspace adzone adplacement advads adthrive mpu dfp doubleclick sponsored
			promoted taboola outbrain revcontent mgid anzeige anzeigen werbung publicidad publicite pubblicita reklama reklame`,
		hintMenu: `nav navbar navi navigation navlinks navmenu navtable topnav sidenav subnav menu menus menubar mainmenu topmenu
			submenu megamenu breadcrumb breadcrumbs crumb crumbs pathway pagination pager paging`,
		hintRelated: `related relatedposts jp-relatedposts relatedarticles relatedcontent recommended recommendation recommendations
			recirc recirculation mostread mostpopular most-read most-popular most-viewed popular trending read-next up-next
			crosssell cross-sell upsell upsells similar recent-posts recent-comments recently-viewed also-like
			recentposts recentcomments widget-recent-entries widget-recent-comments wp-block-latest-comments`,
		hintSide: `sidebar sidebars side-bar siderail right-rail left-rail rightbar right-bar leftbar left-bar rightcol right-col
			leftcol left-col right-column left-column widget-area`,
		hintEdge: `header navheader site-header siteheader pageheader global-header main-header masthead topbar top-bar`,
		hintFoot: `footer navfooter site-footer sitefooter page-footer pagefooter global-footer main-footer bottombar bottom-bar colophon`,
		hintShare: `share sharing sharebar share-bar sharethis sharedaddy share-buttons share-links share-tools share-icons post-share
			article-share social-share social-sharing social-links social-buttons social-icons addthis addtoany socials shariff shariff-buttons`,
		hintForm: `comment-respond comment-form commentform newsletter newsletters newsletterbox newsletterform mc4wp-form captcha cptch`,
		hintCounter: `views view-count views-count viewcount viewscount post-views page-views pageviews num-views hits hit-count
			hitcount hit-counter hitcounter visitor-count visitors-count visit-counter page-counter read-count
			share-count shares-count sharecount like-count likes-count likecount
			js-vote-count vote-count-post reputation-score badgecount
			current-time server-time local-time time-now live-clock digital-clock`,
		hintEntry: `hentry h-entry`,
		hintConsent: `gdpr onetrust cookiebot cookielaw cookieconsent cookie-consent cookie-notice cookie-banner cookie-bar
			cookie-law cookie-message cookie-popup consent-banner cookiebanner cookiesbanner cookienotice cookiemessage cookiepopup
			cookiealert cookiewarning cookiedialog cookiemodal cookieoverlay cookiebar`,
	} {
		for _, name := range strings.Fields(list) {
			hints[name] = h
		}
	}
	return hints
}()

// wholeNames are the hints for which one word of a name is too weak: "card-footer" is not
// the foot of a page, "views-row" has no counter, and "shareholders" may be the topic of a
// page.
const wholeNames = hintEdge | hintFoot | hintCounter | hintShare | hintEntry

// voteNames begin the names of hintVote.
var voteNames = []string{"need-more-help", "article-survey", "article-votes", "was-this-helpful"}

// filing are the first words of names that say where a CMS files a page, or its state:
// "category-advertising", "node--promoted". The other words of these names are those of the
// site's subjects and editors. So are states ("has-ads").
var filing = set(`node tag tags category categories cat type status taxonomy tax term terms topic topics genre keyword keywords format
	is has no with without hide`)

// parts are the first words of names of parts of a site, which may hold adverts' words as
// subjects. What else they say counts: "section-related".
var parts = set("post section author archive")

// notices are the words that, in one name with cookies, mean the notice about them. A "cookie-bar-recipe" is one to eat.
var notices = set("banner notice message popup dialog modal overlay alert warning disclaimer prompt consent law")

// filed are the second words of names that say where a CMS files a thing, as in
// "product_cat-ads" and "portfolio_tag-sponsored".
var filed = set("cat tag category")

// states are the words of classHints by which a site marks a thing that somebody pays for,
// beside a class that says what the thing is: "product promoted".
var states = set("promoted sponsored")

// things are blocks that a BEM modifier ("product-card--promoted") only describes. For a
// box, a slot or a list, the modifier says what it is.
var things = set("article body card content entry event field hentry item main node page paragraph post product recipe story teaser term text video view")

// rows are items of lists, by their whole names.
var rows = set("views-row list-item listing job offer")

// namedByText are elements whose ids are made from their texts, and say what the text is
// about: "gdpr" of a section on the law, "advertisements" of a clause.
var namedByText = set("h1 h2 h3 h4 h5 h6 section li p dt dd td th tr a")

// factHints are the hints that no class of a cell or a term means: there "share", "hits" and
// "ad" say what the number in it is of.
const factHints = hintAd | hintShare | hintCounter | hintConsent | hintForm | hintVote

// partsOfText have what a class may mean otherwise: a row's "header" is not that of a page.
var partsOfText = func() map[string]hint {
	not := map[string]hint{"table": hintCounter | hintShare} // old pages have adverts and menus in tables
	for _, name := range strings.Fields("td th tr dt dd dl caption") {
		not[name] = factHints
	}
	for _, name := range strings.Fields("h1 h2 h3 h4 h5 h6 tr th a label p") {
		not[name] |= hintEdge | hintFoot
	}
	return not
}()

// headsItself reports whether an id is that of the heading that the element begins with, as
// generators of documentation make it.
func headsItself(n *html.Node, id string) bool {
	const most = 8 // nodes on the way
	next := n.FirstChild
	for i := 0; i < most && next != nil; i++ {
		switch {
		case next.Type != html.ElementNode:
			next = next.NextSibling
		case isHeading(next.Data):
			return sameLetters(id, next)
		case next.FirstChild != nil:
			next = next.FirstChild
		default:
			next = next.NextSibling
		}
	}
	return false
}

func isHeading(name string) bool {
	return len(name) == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6'
}

// leastCut is the least length, in bytes, of an id that may have been cut.
const leastCut = 20

// sameLetters reports whether the letters and digits of an id are those of the first words of
// a heading. Generators cut long ids, and number those that repeat.
func sameLetters(id string, heading *html.Node) bool {
	bare := func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}
	const most = 4 * maxLabel // bytes
	var text strings.Builder
	for d := range heading.Descendants() {
		if d.Type == html.TextNode && text.Len() < most {
			text.WriteString(d.Data[:min(len(d.Data), most)])
		}
	}
	letters, said := strings.Map(bare, id), ""
	unnumbered := strings.TrimRightFunc(letters, unicode.IsDigit)
	for word := range strings.FieldsSeq(text.String()) {
		if said == "" && isNumber(word) && letters != "" && !unicode.IsDigit(rune(letters[0])) {
			continue // of the section
		}
		if said += strings.Map(bare, word); said != "" && (said == letters || said == unnumbered) {
			return true
		}
	}
	return len(letters) >= leastCut && strings.HasPrefix(said, letters)
}

// isNumber reports whether a word has digits, and no letters.
func isNumber(word string) bool {
	return strings.ContainsFunc(word, unicode.IsDigit) && !strings.ContainsFunc(word, unicode.IsLetter)
}

// isSectionOf reports whether an id is that of a section of a manual: spelled like a heading near its beginning
// that has a number or a link to itself. "Comments" above readers' comments has neither.
func isSectionOf(n *html.Node, id string) bool {
	heading := within(n, func(n *html.Node) bool { return isHeading(n.Data) })
	if heading == nil || !sameLetters(id, heading) {
		return false
	}
	number, _, _ := strings.Cut(shortText(heading), " ")
	return isNumber(number) || within(heading, isPermalink) != nil
}

// hintsOf reads the hints of one element.
func hintsOf(n *html.Node) hint {
	h := elementHints[n.Data]
	var named hint // by names of the site's own
	for _, a := range n.Attr {
		if a.Namespace != "" {
			continue
		}
		switch a.Key {
		case "role":
			role, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(a.Val)), " ")
			h |= roleHints[role]
		case "class":
			if n.Data != "html" && n.Data != "body" { // they are about the whole page
				named |= classHintsOf(a.Val) &^ partsOfText[n.Data]
			}
		case "id":
			if n.Data == "html" || n.Data == "body" || namedByText[n.Data] {
				continue
			}
			if strings.EqualFold(a.Val, "clock") {
				named |= hintCounter // of an event it would be a class
			}
			if said := classHintsOf(a.Val) &^ partsOfText[n.Data]; said&^content != 0 && headsItself(n, a.Val) {
				named |= said & content
			} else {
				named |= said
			}
		case "aria-label":
			if labels()[strings.ToLower(a.Val)] == labelAd {
				h |= hintAd
			}
		case "itemprop":
			for property := range strings.FieldsSeq(a.Val) {
				switch {
				case strings.EqualFold(property, "articleBody"):
					h |= hintArticle
				case strings.EqualFold(property, "upvoteCount"), strings.EqualFold(property, "downvoteCount"):
					h |= hintCounter
				}
			}
		default:
			if strings.HasPrefix(a.Key, "data-ad-") {
				named |= hintAd
			}
		}
	}
	if (h|named)&content != 0 {
		named &= content
	}
	if (n.Data == "aside" || n.Data == "footer") && (isAdmonition(n) || isNotes(n)) {
		h &^= hintEdge | hintFoot // footnotes and warnings belong to the text
	}
	return h | named
}

// classHintsOf reads the hints of a class or id attribute.
func classHintsOf(value string) hint {
	var h hint
	var buffer [64]byte
	looked, beside := false, false // a value may have a hundred thousand names: they are looked at once
	for name := range strings.FieldsSeq(value) {
		if len(name) > len(buffer) {
			continue
		}
		lower := appendLower(buffer[:0], name)
		whole, state := classHints[string(lower)], states[string(lower)]
		if state && !looked {
			looked, beside = true, besideThing(value)
		}
		switch {
		case state && beside:
			continue
		case whole != 0:
			h |= whole
			continue
		case slices.ContainsFunc(voteNames, func(begin string) bool { return strings.HasPrefix(string(lower), begin) }):
			h |= hintVote
			continue
		}
		h |= wordHintsOf(name)
	}
	if h&hintRelated != 0 && isPlan(value) {
		h &^= hintRelated // the popular one of those on sale
	}
	return h
}

// plans are words of blocks that are on sale, one of which may be popular or recommended.
var plans = set("plan pricing tier tariff subscription membership")

// isPlan reports whether a class attribute names something that is on sale, with its price.
func isPlan(value string) bool {
	const longest = 200
	found := false
	if len(value) <= longest {
		for name := range strings.FieldsSeq(value) {
			eachWord(name, func(word string, _ int) { found = found || plans[strings.ToLower(word)] })
		}
	}
	return found
}

// besideThing reports whether one of the names of a class attribute is that of a thing, or
// of a row of a list.
func besideThing(value string) bool {
	var buffer [64]byte
	for name := range strings.FieldsSeq(value) {
		if len(name) <= len(buffer) && (things[name] || rows[string(appendLower(buffer[:0], name))]) {
			return true
		}
	}
	return false
}

// wordHintsOf reads the hints of the words of one name.
func wordHintsOf(name string) hint {
	var h, silent hint
	var buffer [64]byte
	cookies, notice := false, false
	block, _, modified := strings.Cut(name, "--")
	isThing, first := false, true
	eachWord(name, func(word string, from int) {
		lower := appendLower(buffer[:0], word)
		switch {
		case modified && isThing && from > len(block):
			return
		case first && filing[string(lower)], from > 0 && name[from-1] == '_' && filed[string(lower)]:
			silent = ^hint(0)
		case first && parts[string(lower)]: // "post-sponsored", but "post-navigation" and "post-related"
			silent = hintAd
		}
		if from < len(block) {
			isThing = things[string(lower)]
		}
		first = false
		h |= classHints[string(lower)] &^ (wholeNames | silent)
		cookies, notice = cookies || string(lower) == "cookie" || string(lower) == "cookies", notice || notices[string(lower)]
	})
	if cookies && notice {
		h |= hintConsent &^ silent
	}
	return h
}

// eachWord splits a name at every character that is no letter or digit, and before a
// capital letter that follows a small one. It leaves out a number of up to three digits at
// the end of a word. Pieces with digits elsewhere are made by machines, as in "css-3ad91",
// and are skipped, and so are two letters of isMadeUp. do gets each word with its place.
func eachWord(name string, do func(word string, from int)) {
	for from := 0; from < len(name); from++ {
		end := from
		for end < len(name) && (isLetter(name[end]) || isDigit(name[end])) {
			end++
		}
		run := name[from:end]
		eachPiece(run, func(word string, at int) {
			if len(word) > 2 || !isMadeUp(run) {
				do(word, from+at)
			}
		})
		from = end
	}
}

// eachPiece splits letters and digits before the capitals.
func eachPiece(name string, do func(word string, from int)) {
	start := 0
	for i := 1; i <= len(name); i++ {
		if i < len(name) && !(isCapital(name[i]) && isSmall(name[i-1])) {
			continue
		}
		word := strings.TrimRightFunc(name[start:i], unicode.IsDigit)
		if word != "" && i-start-len(word) <= 3 && strings.IndexFunc(word, unicode.IsDigit) < 0 {
			do(word, start)
		}
		start = i
	}
}

// isMadeUp reports whether letters are those of a name that a program made up, as frameworks give each element one
// ("hAdKqz"): they are few, and between the capitals stands what is no word. A word of two letters comes by chance there.
func isMadeUp(name string) bool {
	const shortest, longest = 5, 7
	if len(name) < shortest || len(name) > longest || strings.IndexFunc(name[1:], func(r rune) bool { return r >= 'A' && r <= 'Z' }) < 0 {
		return false
	}
	pieces, odd := 0, false
	eachPiece(name, func(word string, _ int) {
		pieces++
		inner := strings.IndexFunc(word[1:], func(r rune) bool { return r < 'a' || r > 'z' }) >= 0
		odd = odd || inner || !strings.ContainsAny(word, "aeiouyAEIOUY")
	})
	return pieces > 1 && odd
}

func isDigit(c byte) bool   { return c >= '0' && c <= '9' }
func isSmall(c byte) bool   { return c >= 'a' && c <= 'z' }
func isCapital(c byte) bool { return c >= 'A' && c <= 'Z' }
func isLetter(c byte) bool  { return isSmall(c|' ') || c >= utf8.RuneSelf }

// appendLower appends a name in lower case, with "-" for "_" and "__".
func appendLower(b []byte, name string) []byte {
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case isCapital(c):
			b = append(b, c|' ')
		case c != '_':
			b = append(b, c)
		case len(b) == 0 || b[len(b)-1] != '-':
			b = append(b, '-')
		}
	}
	return b
}
