package change

import (
	"strings"
	"sync"
	"unicode"
)

// An error or a wall says so in its title, in a heading, or in the few words that it has.
const (
	// shortText is the most bytes of a text that is searched for errors everywhere.
	shortText = 1000
	// headedText is the most bytes of a text whose headings count.
	headedText = 6000
	// titledText is the most bytes of a text whose title counts: some errors come with
	// everything else that the site has to offer.
	titledText = 20000
	// headings are the first lines of a text, while they are no longer than headingLine
	// bytes.
	headings, headingLine = 6, 160
)

// errorWords returns the words by which a content reads like an error or a wall, as the
// lists below have them, "" if it does not.
func errorWords(title, text string) string {
	if len(text) > titledText {
		return ""
	}
	if words := saidIn(title, titleParts(title)); words != "" {
		return words
	}
	if len(text) > headedText {
		return ""
	}
	n := 0
	for line := range strings.Lines(text) {
		short, heading := len(text) <= shortText, n < headings && len(line) <= headingLine
		n++
		if !short && !heading {
			continue
		}
		var alone []string
		if heading {
			alone = []string{line}
		}
		if words := saidIn(line, alone); words != "" {
			return words
		}
	}
	return ""
}

// saidIn searches a title or a line for an error, and for one that is the whole of a part
// of it.
func saidIn(line string, parts []string) string {
	said := " " + plain(line) + " "
	for _, phrase := range errorPhrases() {
		if strings.Contains(said, phrase) {
			return strings.TrimSpace(phrase)
		}
	}
	for _, part := range parts {
		if all := plain(part); errorHeadings()[all] {
			return all
		}
	}
	return ""
}

// titleParts are the parts of a title that names the page and its site.
func titleParts(title string) []string {
	return strings.FieldsFunc(title, func(r rune) bool { return strings.ContainsRune("|-–—·•:»«/", r) })
}

// plain returns a text in lower case, with only letters, digits and single spaces
// between them. Apostrophes are removed, so that their kinds do not matter.
func plain(text string) string {
	var b strings.Builder
	space := false
	for _, r := range text {
		switch {
		case r == '\'' || r == '’' || r == '‘' || r == 'ʼ' || unicode.Is(unicode.Cf, r):
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			if space && b.Len() > 0 {
				b.WriteByte(' ')
			}
			space = false
			b.WriteRune(unicode.ToLower(r))
		default:
			space = true
		}
	}
	return b.String()
}

// errorPhrases are phrases of errors, walls and notices of trouble that count anywhere in
// a heading or in a short text. Where words are separated by spaces, they are whole
// words.
var errorPhrases = sync.OnceValue(func() []string {
	var all []string
	for line := range strings.Lines(errorPhraseLines) {
		phrase := plain(line)
		if phrase == "" {
			continue
		}
		if !separated(phrase) {
			all = append(all, phrase)
			continue
		}
		all = append(all, " "+phrase+" ")
	}
	return all
})

// separated reports whether a phrase is in a script that separates words by spaces and adds
// no endings to them that a list would have to know.
func separated(phrase string) bool {
	for _, r := range phrase {
		if unicode.In(r, unspaced...) || unicode.In(r, unicode.Hangul, unicode.Arabic, unicode.Hebrew) {
			return false
		}
	}
	return true
}

// errorHeadings say the same, but count only as the whole of a heading or of a part of a
// title.
var errorHeadings = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for line := range strings.Lines(errorHeadingLines) {
		if heading := plain(line); heading != "" {
			all[heading] = true
		}
	}
	return all
})
