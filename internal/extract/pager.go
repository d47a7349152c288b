package extract

import "bytes"

// pagerWords are what manuals call the links to their other pages.
var pagerWords = set(`next previous prev up contents index back forward toc
	weiter vor zurück nächste vorherige vorige aufwärts hinauf inhalt seite
	suivant précédent monter siguiente anterior subir arriba successivo precedente`)

// isPager reports whether a line leads through the pages of a manual: "Next: Installation Up: Manual
// Previous: Preface", where each label has a colon and a link.
func (l *line) isPager() bool {
	const longest = 80 // bytes of all labels
	if l.links < 2 || l.linked == 0 || l.units-l.linked > longest {
		return false
	}
	labels, words := 0, 0
	for word := range bytes.FieldsSeq(bytes.ToLower(l.withoutLinks())) {
		colon := bytes.HasSuffix(word, []byte{':'})
		word = bytes.Trim(word, ".,:;|[]()<>·•-–—")
		switch {
		case len(word) == 0:
			if colon && words > 0 {
				labels, words = labels+1, 0
			}
		case !pagerWords[string(word)]:
			return false
		case colon:
			labels, words = labels+1, 0
		default:
			words++
		}
	}
	return labels >= 2 && words <= 2
}
