package extract

import "strings"

// kind holds the properties that HTML's rules give an element by its name.
type kind uint16

const (
	// void elements have no content.
	void kind = 1 << iota
	// metadata elements belong into the head, if nothing else came before.
	metadata
	// block elements end an open paragraph.
	block
	// special elements are not ended by the end tag of an inline element around them.
	special
	// scope elements keep tags within them from ending elements outside, except that tags
	// in cells end parts of their table.
	scope
	tablePart
	table // bounds its parts
	heading
	// picture elements have another language inside, and framed ones in there have
	// HTML again.
	picture
	framed
	// unpictured elements end a picture whose end tag is missing.
	unpictured
)

// kinds are the kinds of the elements that have any.
var kinds = func() map[string]kind {
	all := map[string]kind{}
	for k, list := range map[kind]string{
		void:     "area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr",
		metadata: "base basefont bgsound link meta noframes noscript script style template title",
		block: `address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure footer
			form h1 h2 h3 h4 h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre search section summary
			table ul xmp`,
		special: `address applet article aside blockquote button caption center colgroup dd details dir div dl dt fieldset
			figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup iframe li listing main marquee menu nav noembed
			noframes noscript object ol optgroup option p plaintext pre script search section select style summary table
			tbody td template textarea tfoot th thead title tr ul xmp`,
		scope:     "applet caption marquee object table td template th",
		tablePart: "caption colgroup table tbody td tfoot th thead tr",
		table:     "table template",
		heading:   "h1 h2 h3 h4 h5 h6",
		picture:   "svg math",
		unpictured: `b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing
			menu meta nobr ol p pre ruby s small span strike strong sub sup table tt u ul var`,
	} {
		for name := range strings.FieldsSeq(list) {
			all[name] |= k
		}
	}
	return all
}()

// framedNames are the names of framed elements, if they are in a picture.
var framedNames = set("foreignobject desc title annotation-xml mi mo mn ms mtext")

// implication holds the elements that a start tag ends, as far out as stop, and those that
// it starts first within some element.
type implication struct {
	ends   names
	stop   func(openElement) bool
	within map[string]string
}

var implied = func() map[string]implication {
	item := func(e openElement) bool {
		return e.kind&special != 0 && e.Data != "address" && e.Data != "div" && e.Data != "p"
	}
	all := map[string]implication{"col": {within: map[string]string{"table": "colgroup"}}}
	for names, rule := range map[string]implication{
		"li":                {ends: set("li"), stop: item},
		"dt dd":             {ends: set("dt dd"), stop: item},
		"option":            {ends: set("option"), stop: item},
		"optgroup":          {ends: set("option optgroup"), stop: item},
		"rb rt rp rtc":      {ends: set("rb rt rp rtc"), stop: item},
		"a":                 {ends: set("a"), stop: of(special)},
		"button":            {ends: set("button"), stop: of(scope)},
		"td th":             {ends: set("td th caption colgroup"), stop: of(table), within: map[string]string{"table": "tbody", "tbody": "tr", "thead": "tr", "tfoot": "tr"}},
		"tr":                {ends: set("td th tr caption colgroup"), stop: of(table), within: map[string]string{"table": "tbody"}},
		"tbody thead tfoot": {ends: set("td th tr tbody thead tfoot caption colgroup"), stop: of(table)},
		"caption colgroup":  {ends: set("caption colgroup"), stop: of(table)},
	} {
		for name := range strings.FieldsSeq(names) {
			all[name] = rule
		}
	}
	return all
}()
