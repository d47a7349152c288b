package trap

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"recrawl/internal/change"
	"recrawl/internal/urlkey"
)

// The evidence that makes a trap. The numbers were set so that no page of the
// corpora of this package's tests is held, and each trap of the test site within
// some dozens of fetches.
const (
	// minContents is how many contents must have been seen, and minShare the share of
	// them that must be copies.
	minContents = 12
	minShare    = 0.9
	// yearsAhead is how many years after this one a site may plan, and minDates how
	// many months or days beyond that make a calendar.
	yearsAhead = 2
	minDates   = 6
	// minHosts is how many hosts a site must have before its names are checked.
	minHosts = 20
)

// Page is a page of a site as the guard sees it.
type Page struct {
	URL urlkey.URL
	// Waits: it is known and could be held.
	Waits bool
	// Content: it has been visited and has a content; Copy: that of another page, or
	// nearly the same.
	Content, Copy bool
	// Of is the page whose content it copies, 0 for none. Compared: that has been settled.
	Of       int64
	Compared bool
	// Finder is the page on which it was found, 0 for none. Said is for Suspects alone.
	ID, Finder int64
	Said       change.Wording
}

// Look finds the traps among pages of one site, given in the order in which they
// were found. Year is this year. Hosts of seeds, by their keys, are no part of a trap of
// hosts; nil means none.
func Look(pages []Page, year int, isSeedHost func(key string) bool) []Finding {
	byHost := onHosts(pages)
	found := Dates(pages, year)
	for _, host := range slices.Sorted(maps.Keys(byHost)) {
		some := byHost[host]
		found = append(found, combinations(host, some)...)
		found = append(found, copies(host, some)...)
		found = append(found, idle(host, some)...)
	}
	return append(found, hosts(byHost, isSeedHost)...)
}

// Hosts finds the sites whose hosts copy each other among pages, as Look does.
func Hosts(pages []Page, isSeedHost func(key string) bool) []Finding {
	return hosts(onHosts(pages), isSeedHost)
}

// Dates finds the calendars among pages, as Look does.
func Dates(pages []Page, year int) []Finding {
	byHost := onHosts(pages)
	var found []Finding
	for _, host := range slices.Sorted(maps.Keys(byHost)) {
		found = append(found, calendars(host, byHost[host], year)...)
	}
	return found
}

func onHosts(pages []Page) map[string][]Page {
	byHost := map[string][]Page{}
	for _, p := range pages {
		byHost[p.URL.HostKey()] = append(byHost[p.URL.HostKey()], p)
	}
	return byHost
}

func hosts(byHost map[string][]Page, isSeedHost func(key string) bool) []Finding {
	if len(byHost) < minHosts {
		return nil
	}
	type family struct{ hosts, seen, copied, waiting int }
	families := map[string]*family{} // by site
	var proven []string
	for host, pages := range byHost {
		site := urlkey.RegistrableDomain(host)
		f := families[site]
		if f == nil {
			f = &family{}
			families[site] = f
		}
		f.hosts++
		of := countOf(pages)
		switch {
		case of.contents > of.copies || isSeedHost != nil && isSeedHost(host):
			proven = append(proven, host)
			f.seen++
		case of.contents > 0:
			f.seen++
			f.copied++
		}
		f.waiting += of.waiting
	}
	slices.Sort(proven)
	var found []Finding
	for _, site := range slices.Sorted(maps.Keys(families)) {
		f := families[site]
		if f.hosts < minHosts || f.seen < minContents || float64(f.copied) < minShare*float64(f.seen) || f.waiting == 0 {
			continue
		}
		found = append(found, Finding{
			Pattern: Pattern{Kind: KindHosts, Host: site, Except: slices.DeleteFunc(slices.Clone(proven), func(h string) bool { return urlkey.RegistrableDomain(h) != site })},
			Reason:  ReasonHosts, Detail: fmt.Sprintf("%d of %d hosts have nothing of their own", f.copied, f.seen),
		})
	}
	return found
}

// count sums up some pages.
type count struct{ contents, copies, waiting int }

func countOf(pages []Page) count {
	var c count
	for _, p := range pages {
		c.add(p)
	}
	return c
}

func (c *count) add(p Page) {
	if p.Waits {
		c.waiting++
	}
	if p.Content {
		c.contents++
		if p.Copy {
			c.copies++
		}
	}
}

// guilty reports whether the pages are copies, and more of them wait.
func (c count) guilty() bool {
	return c.contents >= minContents && c.waiting > 0 && float64(c.copies) >= minShare*float64(c.contents)
}

func (c count) plus(d count) count {
	return count{c.contents + d.contents, c.copies + d.copies, c.waiting + d.waiting}
}

// node is a path's shape with the nodes below it.
type node struct {
	own      count
	children map[string]*node
}

// Repeats reports whether a page says what another one says, or hardly more.
func (p Page) Repeats(other Page) bool {
	switch {
	case !p.Said.Known || !other.Said.Known:
		return false
	case len(other.Said.Sample) == 0: // only the number of its phrases was kept
		return p.Said.Phrases == other.Said.Phrases
	}
	return float64(p.Said.Without(other.Said.Sample)) <= (1-minShare)*float64(p.Said.Phrases)
}

// copies finds the paths below which nearly everything is copied: the longest of
// them. The pages below them do not count for the paths above, about which one
// copied part says nothing; and a whole host is never taken for a trap.
func copies(host string, pages []Page) []Finding {
	root := &node{}
	found, open := yields(pages)
	for _, p := range pages {
		switch {
		case found[p.ID]:
			p.Copy = false
		case open[p.ID]:
			p.Content = false
		}
		at := root
		for _, s := range shapes(p.URL) {
			if at.children == nil {
				at.children = map[string]*node{}
			}
			if at.children[s] == nil {
				at.children[s] = &node{}
			}
			at = at.children[s]
		}
		at.own.add(p)
	}
	var findings []Finding
	root.judge(nil, func(path []string, c count) {
		findings = append(findings, Finding{
			Pattern: Pattern{Kind: KindPrefix, Host: host, Path: path}, Reason: ReasonCopies,
			Detail: fmt.Sprintf("%d of %d contents are copies of other pages", c.copies, c.contents),
		})
	})
	return findings
}

// judge reports guilty paths, below n first, and returns the rest of n.
func (n *node) judge(path []string, report func([]string, count)) count {
	left, open := n.own, false
	for _, s := range slices.Sorted(maps.Keys(n.children)) {
		child := n.children[s].judge(append(slices.Clone(path), s), report)
		left = left.plus(child)
		// Other parameters may choose other contents: none of them may be unseen.
		open = open || strings.HasPrefix(s, "?") && child.waiting > 0 && child.contents == 0
	}
	if len(path) == 0 || open || !left.guilty() {
		return left
	}
	report(path, left)
	return count{}
}
