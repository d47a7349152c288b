// Package exclude reads what a page asks of crawlers in its X-Robots-Tag headers
// and <meta name=robots> elements, and decides what may be kept and followed.
//
// It is a de-facto standard: whatever is said to everybody and whatever is said
// to one crawler by its product token hold together, and where two directives
// disagree the stricter one counts. So index, follow and all change nothing, and
// unknown directives are ignored.
package exclude

import (
	"strings"
	"time"
)

// maxList bounds the bytes of one list of directives that are read.
const maxList = 4 << 10

// Directives are what a page asks of one crawler. The zero value asks nothing.
type Directives struct {
	NoIndex, NoFollow, NoArchive bool
	// UnavailableAfter is when the page is to be treated as gone, in UTC; zero if
	// it does not say.
	UnavailableAfter time.Time
}

// With returns what both ask together: the stricter of each.
func (d Directives) With(other Directives) Directives {
	d.NoIndex = d.NoIndex || other.NoIndex
	d.NoFollow = d.NoFollow || other.NoFollow
	d.NoArchive = d.NoArchive || other.NoArchive
	if after := other.UnavailableAfter; d.UnavailableAfter.IsZero() || !after.IsZero() && after.Before(d.UnavailableAfter) {
		d.UnavailableAfter = after
	}
	return d
}

// String writes the directives so that Parse reads them again.
func (d Directives) String() string {
	var list []string
	for _, flag := range []struct {
		set  bool
		name string
	}{{d.NoIndex, "noindex"}, {d.NoFollow, "nofollow"}, {d.NoArchive, "noarchive"}} {
		if flag.set {
			list = append(list, flag.name)
		}
	}
	if !d.UnavailableAfter.IsZero() {
		list = append(list, "unavailable_after: "+d.UnavailableAfter.Format(time.RFC3339))
	}
	return strings.Join(list, ", ")
}

// Parse reads the content of a <meta name=robots>, or of a <meta> with a product
// token as its name: directives separated by commas or space.
func Parse(list string) Directives {
	var d Directives
	for rest := split(list); len(rest) > 0; {
		said, n := directive(rest)
		d, rest = d.With(said), rest[n:]
	}
	return d
}

// ParseTags reads X-Robots-Tag headers for a crawler by its product token. In
// each, directives are for everybody until an item begins with the token that it
// and those after it are for ("noarchive, otherbot: noindex, nofollow").
func ParseTags(headers []string, agent string) Directives {
	var d Directives
	for _, header := range headers {
		d = d.With(parseTag(header, agent))
	}
	return d
}

func parseTag(header, agent string) Directives {
	var d Directives
	ours := true
	for rest := split(header); len(rest) > 0; {
		if token, ok := rest[0].token(); ok {
			ours, rest = isFor(token, agent), rest[1:]
			continue
		}
		said, n := directive(rest)
		if ours {
			d = d.With(said)
		}
		rest = rest[n:]
	}
	return d
}

// isFor reports whether directives for a token are for the agent. Some sites
// write the whole product, with its version.
func isFor(token, agent string) bool {
	token, _, _ = strings.Cut(token, "/")
	return token == "*" || strings.EqualFold(token, "robots") || strings.EqualFold(token, agent)
}

// directive reads the directive at the start of words, and says how many words
// it has. One that is unknown asks nothing.
func directive(words []word) (d Directives, n int) {
	switch words[0].name() {
	case "noindex":
		d.NoIndex = true
	case "nofollow":
		d.NoFollow = true
	case "none":
		d.NoIndex, d.NoFollow = true, true
	case "noarchive":
		d.NoArchive = true
	case "unavailable_after":
		d.UnavailableAfter, n = date(words[1:])
	}
	return d, n + 1
}

// known are directives that are not taken for a token in front of a colon.
var known = map[string]bool{
	"noindex": true, "nofollow": true, "none": true, "noarchive": true,
	"unavailable_after": true, "max-snippet": true, "max-image-preview": true, "max-video-preview": true,
}

// word is a piece of a list. A name keeps the colon that follows it; what stands
// behind the colon is the next word.
type word struct {
	text string
	// first: it begins an item of the list.
	first bool
}

// name is the word as the name of a directive.
func (w word) name() string { return strings.ToLower(strings.TrimSuffix(w.text, ":")) }

// token returns the product token that the next directives are for, if the word
// is one.
func (w word) token() (string, bool) {
	token, ok := strings.CutSuffix(w.text, ":")
	return token, ok && w.first && token != "" && !known[strings.ToLower(token)]
}

// split cuts a list into words. Dates have commas of their own; they are put
// together again by date.
func split(list string) []word {
	if len(list) > maxList {
		list = list[:maxList]
	}
	var words []word
	for item := range strings.SplitSeq(list, ",") {
		first := true
		for _, text := range strings.Fields(item) {
			if behind, ok := strings.CutPrefix(text, ":"); ok && !first {
				words[len(words)-1].text += ":" // "name : value"
				text = behind
			}
			words, first = appendWord(words, text, first), false
		}
	}
	return words
}

// appendWord appends a word, or those of "name:value". Dates and times, which have
// colons too, begin with a digit.
func appendWord(words []word, text string, first bool) []word {
	if text == "" {
		return words
	}
	name, value, ok := strings.Cut(text, ":")
	if ok && value != "" && !isDigit(text[0]) {
		return appendWord(append(words, word{name + ":", first}), value, false)
	}
	return append(words, word{text, first})
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }
