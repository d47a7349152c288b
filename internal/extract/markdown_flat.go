package extract

import "strings"

// markdownOfFlat writes the blocks of a document that has no tree.
func markdownOfFlat(src Source, decoded []byte, rules Rules, reading Reading) Markdown {
	if reading == ReadAll {
		rules = Rules{}
	}
	page := parseFlat(src, decoded, rules)
	w := newMarkdownWriter(addressesOf(src, &collector{}), 2*len(decoded)+allowance, allowance/2)
	for text := range strings.Lines(page.Text) {
		w.add(text)
		w.endBlock()
	}
	return w.finish(page)
}
