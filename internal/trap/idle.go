package trap

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"recrawl/internal/urlkey"
)

// Idle parameters choose nothing: a page says the same with them and without. They say where a
// reader came from, how the page is to look, or what to do beside showing it. Where the paths of
// a site are names, each page has only a few such addresses, and no path has enough of them to
// be a trap of copies. What many pages together say of a parameter is evidence for all.

const (
	// At least idlePages pages, on idlePaths paths or more, must say the same without the
	// parameter, and next to none anything else. If they had idleValues values or more, all other
	// values are idle too. Otherwise each value needs idlePaths paths of its own.
	idlePages  = 20
	idlePaths  = 10
	idleValues = 5
	// onPath is how many visited pages of a path are compared.
	onPath = 64
	// On one path in this many, pages may differ all the same: one was edited between two visits.
	edited = 25
	// goesOn is the share of a parameter's pages that may lead to its next value.
	goesOn = 0.1
	// mostParams is how many parameters an address may have to be compared. One with more says next
	// to nothing of each, and hundreds of them, which fit into an address, would cost minutes and
	// gigabytes.
	mostParams = 50
)

// idleVotes are the pages for which a parameter chose nothing.
type idleVotes struct {
	pages, onward int
	paths, values map[string]bool
	against       map[string]bool // paths on which it seems to choose
}

// idleness is what the pages of a host say about parameters. Keys are "name" or "name=value".
type idleness struct {
	votes   map[string]*idleVotes
	blocked map[string]bool
	differ  []difference
}

// difference is two pages of one path that say different things.
type difference struct {
	path   string
	params []string // that only one of them has
}

// idle finds the parameters of a host that choose nothing.
func idle(host string, pages []Page) []Finding {
	pages = slices.DeleteFunc(slices.Clone(pages), func(p Page) bool { return len(p.URL.Params()) > mostParams })
	of := idleness{votes: map[string]*idleVotes{}, blocked: map[string]bool{}}
	paths, byID := map[string][]Page{}, map[int64]Page{}
	for _, p := range pages {
		byID[p.ID] = p
		if path := plainPath(p.URL); p.Content && p.Compared && len(paths[path]) < onPath {
			paths[path] = append(paths[path], p)
		}
	}
	leads := leading(pages, byID)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		of.compare(paths[path], byID, leads)
	}
	if !of.any() {
		return nil
	}
	of.choose(pages)
	of.follow(pages, byID)
	of.settle()
	return of.findings(host, pages)
}

// Where pages lead.
const (
	leadsOn = "on"
	// leadsBelow is into the folder that the page's address ends with. If its links are
	// relative, they lead there only from this spelling of the address.
	leadsBelow = "below"
)

// leading are the pages that were the first to lead to others of another kind that are no copies.
func leading(pages []Page, byID map[int64]Page) map[int64]string {
	leads := map[int64]string{}
	for _, p := range pages {
		by, known := byID[p.Finder]
		if p.Finder == 0 || !known || !p.Waits && (!p.Content || p.Copy) || plainPath(by.URL) == plainPath(p.URL) || slices.Equal(shapes(by.URL), shapes(p.URL)) {
			continue
		}
		if folder := by.URL.Path(); folder != "/" && strings.HasSuffix(folder, "/") && strings.HasPrefix(p.URL.Path(), folder) {
			leads[p.Finder] = leadsBelow
		} else if leads[p.Finder] == "" {
			leads[p.Finder] = leadsOn
		}
	}
	return leads
}

// compare votes with the visited pages of one path. Each is compared with the one of its content
// that has the fewest parameters. Of pages that say the same, the first that was visited leads
// to others; where several do, they are a list.
func (of *idleness) compare(pages []Page, byID map[int64]Page, leads map[int64]string) {
	contents, leading := make([]int64, len(pages)), map[int64]int{}
	for i, p := range pages {
		contents[i] = original(p, byID)
		if leads[p.ID] != "" {
			leading[contents[i]]++
		}
	}
	first := map[int64]Page{} // of each content
	for i, p := range pages {
		if leads[p.ID] == leadsBelow || leads[p.ID] != "" && leading[contents[i]] > 1 {
			contents[i] = p.ID
		}
		best, known := first[contents[i]]
		if !known || len(idleParams(p.URL)) < len(idleParams(best.URL)) {
			first[contents[i]] = p
		}
	}
	for i, p := range pages {
		for _, param := range without(p.URL, first[contents[i]].URL) {
			of.vote(param, plainPath(p.URL))
		}
		for k, other := range pages[:i] {
			if contents[k] != contents[i] {
				of.differ = append(of.differ, difference{plainPath(p.URL), slices.Concat(without(p.URL, other.URL), without(other.URL, p.URL))})
			}
		}
	}
}

// original is the page whose content a page has. Until maintenance has corrected the records, an
// original may itself be a copy of one that came later.
func original(p Page, byID map[int64]Page) int64 {
	const most = 8 // records may lead in a circle
	id := p.ID
	for range most {
		if p.Of == 0 {
			break
		}
		id = p.Of
		p = byID[id]
	}
	return id
}

func (of *idleness) vote(param, path string) {
	name, _ := cutParam(param)
	for _, key := range []string{name, param} {
		v := of.votes[key]
		if v == nil {
			v = &idleVotes{paths: map[string]bool{}, values: map[string]bool{}, against: map[string]bool{}}
			of.votes[key] = v
		}
		v.pages++
		v.paths[path], v.values[param] = true, true
	}
}

// without returns the parameters of a URL that another does not have, as "name=value". Their
// order says something only if both have the same.
func without(u, other urlkey.URL) []string {
	theirs := idleParams(other)
	reordered := len(u.Params()) == len(other.Params())
	return slices.DeleteFunc(idleParams(u), func(p string) bool {
		_, has := slices.BinarySearch(theirs, p)
		return has || !reordered && strings.HasPrefix(p, twinOrder)
	})
}

// idleParams are the parameters of a URL and its spellings, each once, as "name=value" with the
// name in lower case.
func idleParams(u urlkey.URL) []string {
	params := u.Params()
	for i, p := range params {
		name, value := cutParam(p)
		params[i] = name + "=" + value
	}
	params = append(params, asParams(u)...)
	slices.Sort(params)
	return slices.Compact(params)
}

// any reports whether there is enough evidence about a parameter at all.
func (of *idleness) any() bool {
	for _, v := range of.votes {
		if v.enough() {
			return true
		}
	}
	return false
}

func (v *idleVotes) enough() bool {
	return v != nil && v.pages >= idlePages && v.onEnoughPaths()
}

func (v *idleVotes) onEnoughPaths() bool { return v != nil && len(v.paths) >= idlePaths }

// choose blocks the parameters of which a page names many values for one path. These choose: the
// pages of a list, the pictures of an album.
func (of *idleness) choose(pages []Page) {
	type place struct {
		finder     int64
		path, name string
	}
	values, chosen := map[place]map[string]bool{}, map[string]bool{}
	for _, p := range pages {
		if p.Finder == 0 {
			continue
		}
		for _, param := range p.URL.Params() {
			name, value := cutParam(param)
			at := place{p.Finder, p.URL.Path(), name}
			if values[at] == nil {
				values[at] = map[string]bool{}
			}
			if values[at][value] = true; len(values[at]) >= leastChosen {
				chosen[name] = true
			}
		}
	}
	of.block(chosen)
}

// follow blocks the parameters of which one value leads to the next on the same path.
func (of *idleness) follow(pages []Page, byID map[int64]Page) {
	for _, p := range pages {
		by, known := byID[p.Finder]
		if p.Finder == 0 || !known || by.URL.Path() != p.URL.Path() || !slices.Equal(paramNames(by.URL), paramNames(p.URL)) {
			continue
		}
		for _, param := range without(p.URL, by.URL) {
			name, _ := cutParam(param)
			if v := of.votes[name]; v != nil {
				v.onward++
			}
		}
	}
	onward := map[string]bool{}
	for name, v := range of.votes {
		if float64(v.onward) > goesOn*float64(v.pages) {
			onward[name] = true
		}
	}
	of.block(onward)
}

// block says that parameters of some names choose something, whatever their values.
func (of *idleness) block(names map[string]bool) {
	for key := range of.votes {
		if name, _ := cutParam(key); names[name] {
			of.blocked[key] = true
		}
	}
}

// settle notes which parameters can alone have made two pages differ. Of pages that differ in
// several parameters, one that is known to choose explains the difference.
func (of *idleness) settle() {
	slices.SortStableFunc(of.differ, func(a, b difference) int { return cmp.Compare(len(a.params), len(b.params)) })
	for _, d := range of.differ {
		if slices.ContainsFunc(d.params, func(p string) bool { return !of.isIdle(p) }) {
			continue
		}
		for _, param := range d.params {
			name, _ := cutParam(param)
			for _, key := range []string{name, param} {
				if v := of.votes[key]; v != nil {
					v.against[d.path] = true
				}
			}
		}
	}
}

// chooses reports whether a parameter chooses something on some pages.
func (of *idleness) chooses(key string) bool {
	v := of.votes[key]
	return of.blocked[key] || edited*len(v.against) > len(v.paths)
}

// isIdle reports whether the evidence so far says that a parameter chooses nothing.
func (of *idleness) isIdle(param string) bool {
	name, _ := cutParam(param)
	return of.always(name) || of.votes[name].enough() && of.votes[param].onEnoughPaths() && !of.chooses(param)
}

// always reports whether that is so whatever its value.
func (of *idleness) always(name string) bool {
	v := of.votes[name]
	return v.enough() && len(v.values) >= idleValues && !of.chooses(name)
}

func (of *idleness) findings(host string, pages []Page) []Finding {
	var found []Finding
	for _, key := range slices.Sorted(maps.Keys(of.votes)) {
		name, _, single := strings.Cut(key, "=")
		if single && (of.always(name) || !of.isIdle(key)) || !single && !of.always(key) {
			continue
		}
		p := Pattern{Kind: KindIdle, Host: host, Param: key}
		if !slices.ContainsFunc(pages, func(w Page) bool { return w.Waits && p.Covers(w.URL) }) {
			continue
		}
		v := of.votes[key]
		found = append(found, Finding{
			Pattern: p, Reason: ReasonIdle,
			Detail: fmt.Sprintf("%d pages on %d paths say the same without it", v.pages, len(v.paths)),
		})
	}
	return found
}

// idles reports whether a parameter of a URL is the one of KindIdle.
func (p Pattern) idles(param string) bool {
	name, value := cutParam(param)
	return p.Param == name || p.Param == name+"="+value
}

// Without returns a URL without the parameters that patterns of KindIdle name, and in the plainer
// spelling, which names the same page, and the first of these patterns; -1 if none has one.
func Without(u urlkey.URL, patterns []Pattern) (base urlkey.URL, first int) {
	first = -1
	idle := func(param string) bool {
		i := slices.IndexFunc(patterns, func(p Pattern) bool { return p.Host == u.HostKey() && p.idles(param) })
		if i >= 0 && first < 0 {
			first = i
		}
		return i >= 0
	}
	kept := slices.DeleteFunc(u.Params(), idle)
	var twins []string
	for _, param := range asParams(u) {
		if name, _ := cutParam(param); idle(param) {
			twins = append(twins, name)
		}
	}
	if first < 0 {
		return u, first
	}
	if slices.Contains(twins, twinOrder) {
		slices.Sort(kept)
	}
	path, _ := plainer(u.Path(), func(twin string) bool { return slices.Contains(twins, twin) })
	if path == "" {
		path = "/"
	}
	text := u.Origin() + path
	if len(kept) > 0 {
		text += "?" + strings.Join(kept, "&")
	}
	base, err := urlkey.Canonical(text)
	if err != nil {
		return u, -1
	}
	return base, first
}
