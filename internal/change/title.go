package change

import (
	"slices"
	"strings"
)

// Retitled reports whether the title of a page with the same text was edited. A title that is
// not known says nothing, and these are no edits:
//
//   - noise, such as a clock
//   - another name of the site beside a part that is the page's heading, as of documentation
//     whose titles name a release
//   - a title without a word of the one before: the site's own, while the page's is missing
func Retitled(prev, next Rendering, text string) bool {
	if prev.Text == "" || next.Text == "" || prev.Text == next.Text {
		return false
	}
	if noise, _ := CompareRenderings(prev, next); noise {
		return false
	}
	if hasHeading(text, sharedParts(prev.Text, next.Text)) {
		return false
	}
	words := strings.Fields(strings.ToLower(next.Text))
	return slices.ContainsFunc(strings.Fields(strings.ToLower(prev.Text)), func(word string) bool {
		return len(word) > 1 && slices.Contains(words, word) || strings.ContainsFunc(word, isUnspaced)
	})
}

// isUnspaced reports whether a character is of a script that puts no spaces between words.
func isUnspaced(r rune) bool { return r >= 0x0E00 && r <= 0x0EFF || r >= 0x2E80 && r <= 0xD7FF }

// titleBreaks stand between the parts of a title.
var titleBreaks = strings.NewReplacer(" | ", "\n", " - ", "\n", " – ", "\n", " — ", "\n", " · ", "\n", " • ", "\n", " :: ", "\n", " » ", "\n", " « ", "\n", " (", "\n")

func partsOfTitle(title string) []string { return strings.Split(titleBreaks.Replace(title), "\n") }

// sharedParts returns the parts that two titles have in common, each once.
func sharedParts(prev, next string) []string {
	parts, shared := partsOfTitle(next), []string(nil)
	for _, part := range partsOfTitle(prev) {
		if slices.Contains(parts, part) && !slices.Contains(shared, part) {
			shared = append(shared, part)
		}
	}
	return shared
}

// hasHeading reports whether a short line of the text has one of some parts of a title. It reads the text
// once: of a hostile page, a title may have a hundred parts, and the text millions of lines.
func hasHeading(text string, parts []string) bool {
	const more = 20 // bytes, such as "Class " before a name
	longest := -1
	for _, part := range parts {
		longest = max(longest, len(part)+more)
	}
	if longest < 0 {
		return false
	}
	for line := range strings.SplitSeq(text, "\n") {
		if len(line) > longest {
			continue
		}
		for _, part := range parts {
			if len(part) <= len(line) && len(line) <= len(part)+more && strings.Contains(line, part) {
				return true
			}
		}
	}
	return false
}

// Seen is what people see of a page at one time.
type Seen struct {
	Title string
	Rendering
	Looks string // in lines: what is seen beside the words
}

// Sides returns the two sides of a comparison for people: the texts. If these differ by noise at
// most, the title or the looks are the change. Then they come too, in lines of their own.
func Sides(prev, next Seen) (before, after string) {
	before, after = prev.Text, next.Text
	if before != after {
		if noise, _ := CompareRenderings(prev.Rendering, next.Rendering); !noise {
			return before, after
		}
	}
	if prev.Title != next.Title {
		before, after = prev.Title+"\n"+before, next.Title+"\n"+after
	}
	if prev.Looks != next.Looks {
		before, after = ended(before)+prev.Looks, ended(after)+next.Looks
	}
	return before, after
}

// ended is a text whose last line has an end.
func ended(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}
