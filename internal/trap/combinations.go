package trap

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"recrawl/internal/urlkey"
)

const (
	// Combined parameters: at least minCombined URLs of one path with two parameters
	// or more, with minNames names in minNameSets sets, each value repeated
	// minValueUses times. Where a parameter chooses a page, as a topic's or an
	// article's number does, there are about as many values as URLs.
	minCombined   = 48
	minNames      = 4
	minNameSets   = 8
	minValueUses  = 3
	combinedTaken = 3 // such URLs are held from this many parameters on, or from more: see taken
)

// combined is the URLs of one path with two parameters or more.
type combined struct {
	path                []string
	urls                int
	names, sets, values map[string]bool
}

// combinations finds paths whose parameters are combined in ever new ways.
func combinations(host string, pages []Page) []Finding {
	places := map[string]*combined{}
	for _, p := range pages {
		if len(p.URL.Params()) < 2 {
			continue
		}
		path := pathShapes(p.URL)
		key := strings.Join(path, "/")
		if places[key] == nil {
			places[key] = &combined{path, 0, map[string]bool{}, map[string]bool{}, map[string]bool{}}
		}
		places[key].add(p, len(pages)/minValueUses)
	}
	var found []Finding
	for _, key := range slices.Sorted(maps.Keys(places)) {
		at := places[key]
		if at.urls < minCombined || len(at.names) < minNames || len(at.sets) < minNameSets || at.urls < minValueUses*len(at.values) {
			continue
		}
		found = append(found, Finding{
			Pattern: Pattern{Kind: KindParams, Host: host, Path: at.path, Params: at.taken(pages)}, Reason: ReasonParams,
			Detail: fmt.Sprintf("%d addresses of %d parameters with %d values", at.urls, len(at.names), len(at.values)),
		})
	}
	return found
}

// add takes in a page, unless there are too many values already: there are as many as that at most
// in a trap.
func (c *combined) add(p Page, most int) {
	if len(c.values) > most {
		return
	}
	c.urls++
	names := timesNames(p.URL)
	c.sets[strings.Join(names, "&")] = true
	for _, name := range names {
		c.names[name] = true
	}
	for _, param := range p.URL.Params() {
		c.values[param] = true
	}
}

// timesNames are the names of the parameters, each time that one comes under a name of its own: a
// filter may have several values at once, as in ?f=red&f=large or ?f[0]=red&f[1]=large.
func timesNames(u urlkey.URL) []string {
	var names []string
	times := map[string]int{}
	for _, p := range u.Params() {
		name, _, _ := strings.Cut(p, "=")
		name = shape(name)
		if times[name]++; times[name] > 1 {
			name = fmt.Sprintf("%s %d", name, times[name])
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// taken is the least number of parameters with which URLs are held. The parameter with the
// most values may choose the page, as that of a shop's products does: it takes more
// parameters than those with which nearly all of its values are known.
func (c *combined) taken(pages []Page) int {
	least := map[string]map[string]int{} // of a name's values, the fewest parameters with each
	for _, p := range pages {
		if !slices.Equal(pathShapes(p.URL), c.path) {
			continue
		}
		params := p.URL.Params()
		for _, param := range params {
			name, _ := cutParam(param)
			if least[name] == nil {
				least[name] = map[string]int{}
			}
			if n, known := least[name][param]; !known || len(params) < n {
				least[name][param] = len(params)
			}
		}
	}
	most, needed := 0, 0
	for _, values := range least {
		counts := slices.Sorted(maps.Values(values))
		if n := counts[int(minShare*float64(len(counts)-1))]; len(counts) > most || len(counts) == most && n < needed {
			most, needed = len(counts), n
		}
	}
	return max(combinedTaken, needed+1)
}
