package trap

import (
	"regexp"
	"slices"
	"strings"

	"recrawl/internal/urlkey"
)

// Leads is where pages with one content lead. It tells the links of a copy that lead to
// copies again, such as those of a page under another session or through a symbolic link,
// from links to pages that nobody has named yet: a gallery says the same on each of its
// pages, and shows other pictures.
type Leads struct {
	page      urlkey.URL // whose links are judged
	addresses map[string]bool
	ways      map[string]map[string]bool // by the folders from which they lead
}

// NewLeads judges the links of a page by those of others that are to be added.
func NewLeads(page urlkey.URL) *Leads {
	return &Leads{page, map[string]bool{}, map[string]map[string]bool{}}
}

// Add adds a link from one of the other pages.
func (l *Leads) Add(from, to urlkey.URL) {
	t := targetOf(from, to)
	l.addresses[t.address] = true
	// The page's address may itself be that of such a link, with another id.
	if seen := targetOf(l.page, to); seen.drawn {
		l.addresses[seen.address] = true
	}
	if from.HostKey() != to.HostKey() {
		return
	}
	if l.ways[t.folder] == nil {
		l.ways[t.folder] = map[string]bool{}
	}
	l.ways[t.folder][t.way] = true
}

// Has reports whether one of the links leads to the same page as this one of the page, or to
// one that the same way leads to from another folder. Folders that differ only in numbers, or
// in a language, such as those of months, albums and versions, are parts of a site, and lead
// to pages of their own.
func (l *Leads) Has(to urlkey.URL) bool {
	t := targetOf(l.page, to)
	if l.addresses[t.address] {
		return true
	}
	if l.page.HostKey() != to.HostKey() {
		return false
	}
	for folder, ways := range l.ways {
		if folder != t.folder && ways[t.way] {
			return true
		}
	}
	return false
}

// target is where a link leads.
type target struct {
	address string // without sessions
	way     string // from the folder of the link's page
	folder  string // the form of that folder
	drawn   bool   // the page and the target have ids that look random in one place
}

func targetOf(from, to urlkey.URL) target {
	folder, path := from.Segments(), to.Segments()
	bare := slices.Clone(path)
	query, drawn := bareQuery(from, to)
	for i := range bare {
		if i < len(folder) && isToken(folder[i]) && isToken(path[i]) {
			bare[i], drawn = anyValue, true
		}
	}
	end := ""
	if strings.HasSuffix(to.Path(), "/") {
		end = "/"
	}
	if !strings.HasSuffix(from.Path(), "/") && len(folder) > 0 {
		folder = folder[:len(folder)-1]
	}
	shared := 0
	for shared < min(len(folder), len(path)) && folder[shared] == path[shared] {
		shared++
	}
	t := target{
		address: to.HostKey() + "/" + strings.Join(bare, "/") + end + query,
		way:     strings.Repeat("../", len(folder)-shared) + strings.Join(bare[shared:], "/") + end + query,
		drawn:   drawn,
	}
	for i, segment := range folder {
		if languageRE.MatchString(segment) {
			folder[i] = "@"
		} else {
			folder[i] = shape(segment)
		}
	}
	t.folder = strings.Join(folder, "/")
	return t
}

// languageRE finds a segment that names a language: de, pt-br, zh_CN.
var languageRE = regexp.MustCompile(`^[a-zA-Z]{2}(?:[-_][a-zA-Z]{2})?$`)

// bareQuery is the query of a link without the parameters that its page has too: those with
// the same value, and those whose values look random on both, as a session's do. Drawn says
// that there are some of these.
func bareQuery(from, to urlkey.URL) (query string, drawn bool) {
	own := map[string]string{}
	for _, param := range from.Params() {
		name, value := cutParam(param)
		own[name] = value
	}
	kept := slices.DeleteFunc(to.Params(), func(param string) bool {
		name, value := cutParam(param)
		before, has := own[name]
		random := has && isToken(value) && isToken(before)
		drawn = drawn || random
		return random || isSession(param) || has && value == before
	})
	if len(kept) == 0 {
		return "", drawn
	}
	return "?" + strings.Join(kept, "&"), drawn
}
