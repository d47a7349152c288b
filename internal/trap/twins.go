package trap

import (
	"regexp"
	"slices"
	"strings"

	"recrawl/internal/urlkey"
)

// Some servers answer several spellings of one address: with a slash at the end and without, with
// the name of the folder's index, with doubled slashes, in capitals, with parameters in another
// order. Others do not, so each host is judged by its pages. A spelling counts as a parameter of
// the plainest one. Its name begins with a character that stands in no parameter.
const (
	twinSlash  = "<slash at the end>"
	twinIndex  = "<name of an index>"
	twinDouble = "<doubled slashes>"
	twinCase   = "<capitals>"
	twinOrder  = "<order of parameters>"
)

// indexRE finds the names under which servers have the index of a folder.
var indexRE = regexp.MustCompile(`(?i)^(?:index|default)\.[a-z]{2,5}$`)

// plainer returns a path in a plainer spelling, for each of the named ones that it has, and the
// names of these.
func plainer(path string, named func(twin string) bool) (string, []string) {
	var has []string
	try := func(twin, to string) {
		if to != path && named(twin) {
			path, has = to, append(has, twin)
		}
	}
	if !strings.Contains(path, "%") { // the hex digits are capitals
		try(twinCase, strings.ToLower(path))
	}
	single := path
	for strings.Contains(single, "//") {
		single = strings.ReplaceAll(single, "//", "/")
	}
	try(twinDouble, single)
	if at := strings.LastIndexByte(path, '/') + 1; indexRE.MatchString(path[at:]) {
		try(twinIndex, path[:at])
	}
	if bare := strings.TrimRight(path, "/"); bare != "" {
		try(twinSlash, bare)
	}
	return path, has
}

func anyTwin(string) bool { return true }

// plainPath is the path of a URL in its plainest spelling.
func plainPath(u urlkey.URL) string {
	path, _ := plainer(u.Path(), anyTwin)
	return path
}

// asParams are the spellings of a URL as parameters. How capitals and orders are spelled are their
// values.
func asParams(u urlkey.URL) []string {
	_, names := plainer(u.Path(), anyTwin)
	for i, name := range names {
		if name == twinCase {
			names[i] += "=" + u.Path()
		} else {
			names[i] += "=" // there is only one
		}
	}
	if params := u.Params(); !slices.IsSorted(params) {
		names = append(names, twinOrder+"="+strings.Join(params, "&"))
	}
	return names
}

// isTwin reports whether the name of a parameter is that of a spelling.
func isTwin(name string) bool { return strings.HasPrefix(name, "<") }
