package extract

import (
	"encoding/hex"
	"path"
	"strings"

	"golang.org/x/net/html"
)

// coveredMails is the path of links to mails' addresses that Cloudflare covers.
const coveredMails = "/cdn-cgi/l/email-protection"

// coveredMail returns the mail's address that Cloudflare covers in an attribute or behind the
// mark of a link: each of its bytes is XORed with the first, which is another one in every answer.
func coveredMail(code string) string {
	const longest = 2 * 200 // digits
	raw, err := hex.DecodeString(code)
	if len(code) > longest || err != nil || len(raw) < 2 {
		return ""
	}
	address := make([]byte, len(raw)-1)
	for i, b := range raw[1:] {
		address[i] = b ^ raw[0]
	}
	if strings.Count(string(address), "@") != 1 {
		return ""
	}
	return string(address)
}

// hiding are the classes by which the common style sheets hide an element.
var hiding = set("hidden d-none hide is-hidden u-hidden uk-hidden ng-hide display-none invisible")

// isHiddenByClass reports whether a class of an element hides it on every screen. What the
// page's own style sheets hide is not known: they come and go with the page's parts.
func isHiddenByClass(n *html.Node) bool {
	classes := valueOf(n, "class")
	hidden := false
	for class := range strings.FieldsSeq(classes) {
		if strings.HasPrefix(class, "d-") && class != "d-none" || strings.IndexByte(class, ':') > 0 {
			return false // shown on some screens: "d-none d-md-block", "hidden md:flex"
		}
		hidden = hidden || hiding[class]
	}
	return hidden
}

// isData reports whether an element that is not displayed holds data for a script: JSON, or a token.
func isData(n *html.Node) bool {
	text := n.FirstChild
	if text == nil || text.Type != html.TextNode || text.NextSibling != nil || !isUndisplayed(n) && !isHiddenByClass(n) {
		return false
	}
	data := strings.TrimSpace(text.Data)
	return isToken(data) || strings.HasPrefix(data, `{"`) || strings.HasPrefix(data, `[{"`)
}

// isDisabled reports whether a control can be neither chosen nor pressed.
func isDisabled(n *html.Node) bool {
	switch n.Data {
	case "button", "option", "optgroup", "select", "fieldset":
		if _, disabled := attribute(n.Attr, "disabled"); disabled {
			return true
		}
	case "a":
	default:
		if !strings.EqualFold(valueOf(n, "role"), "button") {
			return false
		}
	}
	return strings.EqualFold(valueOf(n, "aria-disabled"), "true")
}

// icons are the elements that show signs by their class, or by a file.
var icons = set("i span em b svg use img")

// The words of names of signs.
var (
	yesSigns = set("check checkmark tick ticked yes true included available success")
	noSigns  = set("times cross xmark remove no false excluded unavailable ban")
	// plainSigns may stand beside "yes" and "no", which alone are parts of many names.
	plainSigns = set("icon ico img image small sm alt solid regular circle square yes no true false")
)

// signOf returns 'y' or 'n' for an empty element that shows a sign for yes or for no, and 0 for others.
func signOf(n *html.Node) byte {
	if !icons[n.Data] || n.Data != "svg" && hasText(n) {
		return 0
	}
	names := valueOf(n, "class")
	switch n.Data {
	case "img":
		if valueOf(n, "alt") != "" {
			return 0 // it says so
		}
		source, _, _ := strings.Cut(valueOf(n, "src"), "?")
		names = strings.TrimSuffix(path.Base(source), path.Ext(source))
	case "use":
		_, names, _ = strings.Cut(valueOf(n, "href"), "#")
	}
	yes, no := false, false
	for name := range strings.FieldsSeq(names) {
		y, no1 := signsIn(name)
		yes, no = yes || y, no || no1
	}
	switch {
	case yes && !no:
		return 'y'
	case no && !yes:
		return 'n'
	}
	return 0
}

// signsIn reports whether a name has a word for yes, or for no.
func signsIn(name string) (yes, no bool) {
	const longest = 40
	if len(name) > longest {
		return false, false
	}
	plain, bare := true, false
	eachWord(name, func(word string, _ int) {
		word = strings.ToLower(word)
		bare = bare || word == "yes" || word == "no" || word == "true" || word == "false"
		plain = plain && plainSigns[word]
		yes, no = yes || yesSigns[word], no || noSigns[word]
	})
	return yes && (plain || !bare), no && (plain || !bare)
}

// hasText reports whether an element has a text of its own, or an element.
func hasText(n *html.Node) bool {
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		if child.Type != html.TextNode || strings.TrimSpace(child.Data) != "" {
			return true
		}
	}
	return false
}

// drawing notes what an element is said to show that is a picture by its role, or drawn: stars,
// for instance.
func (l *looks) drawing(n *html.Node) {
	said := ""
	if n.Data == "svg" {
		for child := n.FirstChild; child != nil && said == ""; child = child.NextSibling {
			if child.Data == "title" && child.FirstChild != nil {
				said = child.FirstChild.Data
			}
		}
	}
	if strings.EqualFold(valueOf(n, "role"), "img") {
		if label := valueOf(n, "aria-label"); label != "" {
			said = label
		}
	}
	if said != "" && !withinLink(n) {
		l.shows(said)
	}
}
