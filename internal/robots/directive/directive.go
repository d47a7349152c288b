package directive

import (
	"strings"
	"unicode"
)

// effects are the directives, folded, with the effect of each. Those that ask
// nothing of us are listed so that they are not taken for tokens.
var effects = map[string]Directives{
	"noindex": {NoIndex: true}, "nofollow": {NoFollow: true}, "noarchive": {NoArchive: true}, "none": {NoIndex: true, NoFollow: true},
	"index": {}, "follow": {}, "archive": {}, "all": {}, "snippet": {}, "cache": {},
	"nosnippet": {}, "nocache": {}, "noodp": {}, "noydir": {}, "notranslate": {}, "noai": {NoAI: true}, "noimageai": {NoImageAI: true},
	"noimageindex": {}, "indexifembedded": {}, unavailableAfter: {},
	"maxsnippet": {}, "maximagepreview": {}, "maxvideopreview": {},
}

// Names of directives that have values, folded.
const (
	unavailableAfter = "unavailableafter"
	maxPrefix        = "max"
)

// opposites are the meanings of denied directives: "index: false", "no index".
var opposites = map[string]Directives{"index": effects["noindex"], "follow": effects["nofollow"], "archive": effects["noarchive"]}

// truths are the values of directives that are written as switches.
var truths = map[string]bool{
	"true": true, "yes": true, "on": true, "1": true,
	"false": false, "no": false, "off": false, "0": false, "never": false,
}

// previews are the values of max-image-preview, one of which is a directive too.
var previews = map[string]bool{"none": true, "standard": true, "large": true}

func isTruth(value string) bool    { _, ok := truths[value]; return ok }
func isPreview(value string) bool  { return previews[value] }
func isNothing(value string) bool  { return value == "none" || isTruth(value) }
func isOpposite(value string) bool { _, ok := opposites[value]; return ok }
func anything(string) bool         { return true }

// directive reads the directive that begins with a word that was just read, with
// its value; false if there is none.
func (in *reader) directive(w word) (d Directives, known bool) {
	name := fold(w.text)
	switch {
	case name == unavailableAfter:
		return Directives{UnavailableAfter: in.date()}, true
	case name == "no":
		if denied, ok := in.value(isOpposite); ok {
			return opposites[denied], true
		}
	case strings.HasPrefix(name, maxPrefix) && isDirective(name):
		if w.valued {
			in.value(anything)
		} else {
			in.value(isPreview)
		}
		return d, true
	}
	names := directivesOf(w.text)
	if w.valued && len(names) == 1 {
		if value, ok := in.value(isTruth); ok && !truths[value] {
			return opposites[names[0]], true
		}
	}
	for _, name := range names {
		d = d.With(effects[name])
	}
	return d, len(names) > 0
}

func isDirective(name string) bool { _, ok := effects[name]; return ok }

// directivesOf returns the directives of a word: one, or several with something
// between them or nothing ("noindex/nofollow", "noindexnofollow").
func directivesOf(word string) []string {
	if names := runTogether(fold(word)); names != nil {
		return names
	}
	var names []string
	for part := range strings.FieldsFuncSeq(word, isPunctuation) {
		names = append(names, runTogether(fold(part))...)
	}
	return names
}

// isDirectives reports whether a word consists of directives only.
func isDirectives(word string) bool {
	for part := range strings.FieldsFuncSeq(word, isPunctuation) {
		if runTogether(fold(part)) == nil {
			return false
		}
	}
	return true
}

func isPunctuation(r rune) bool {
	return r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Cf, r)
}

// runTogether splits a folded word into directives; nil if anything is left. Of
// those that begin alike the longest counts.
func runTogether(word string) []string {
	var names []string
	for word != "" {
		name := ""
		for known := range effects {
			if len(known) > len(name) && strings.HasPrefix(word, known) {
				name = known
			}
		}
		if name == "" {
			return nil
		}
		names, word = append(names, name), word[len(name):]
	}
	return names
}
