package directive

import "strings"

// ownName is the name of the header, which some write into its value again.
const ownName = "x-robots-tag"

// everybody are the names that address all crawlers.
var everybody = map[string]bool{"*": true, "robots": true, "robot": true, "all": true, ownName: true}

// isFor reports whether a statement to a token applies to the agent. Some sites
// write the whole product, with its version.
func isFor(token, agent string) bool {
	token, _, _ = strings.Cut(token, "/")
	return everybody[strings.ToLower(token)] || agent != "" && strings.EqualFold(token, agent)
}

// Names reports whether a list of names, such as that of a <meta>, contains one
// that addresses the agent: "robots", its product token, "robots,otherbot".
func Names(list, agent string) bool {
	in := reader{text: list}
	for w, ok := in.next(); ok; w, ok = in.next() {
		if isFor(w.text, agent) {
			return true
		}
	}
	return false
}

// isToken reports whether the word is the product token to which the directives
// after it are addressed. It may contain the name of a directive, but is none. A
// word that begins with a digit is a part of a date that could not be read.
func (w word) isToken() bool {
	if !w.first || !w.valued || '0' <= w.text[0] && w.text[0] <= '9' {
		return false
	}
	name := strings.ToLower(w.text)
	return everybody[name] || !isDirectives(name) && !assignments[name]
}

// assignments are the attributes of a <meta> that was written into a header.
var assignments = map[string]bool{"name": true, "content": true}
