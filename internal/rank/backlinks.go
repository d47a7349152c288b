package rank

// Backlinks counts the links to a page. A page that links twice counts once, and no
// page links to itself.
type Backlinks struct {
	// Pages is the number of pages that link to it.
	Pages int32
	// Inner is how many of those are on its own host: menus and the like.
	Inner int32
	// Hosts is the number of hosts, besides its own, with a page that links to it.
	Hosts int32
}

// hosts is the number of hosts with a page that links to it, its own included: a
// site that links to one of its own pages ten thousand times counts once.
func (b Backlinks) hosts() int32 {
	if b.Inner > 0 {
		return b.Hosts + 1
	}
	return b.Hosts
}

// HostLinks counts the links to the pages of a host.
type HostLinks struct {
	Host  int64 // id
	Pages int   // of the host
	// Inner is the number of links from a page of the host to another.
	Inner int
	// Links is the number of links from other hosts' pages to pages of the host.
	Links int
	// LinkingPages and LinkingHosts count the sources of those, each once.
	LinkingPages, LinkingHosts int
}

// Backlinks counts the back-links of all pages, in order of ids.
func (g *Graph) Backlinks() []Backlinks {
	counts := make([]Backlinks, len(g.ids))
	last := make([]int32, len(g.ids)) // the host, from 1 on, that was last seen to link to the page
	for _, from := range g.ByHost() {
		host := g.hosts[from]
		for _, to := range g.links(int(from)) {
			c := &counts[to]
			c.Pages++
			switch {
			case g.hosts[to] == host:
				c.Inner++
			case last[to] != host+1:
				last[to] = host + 1
				c.Hosts++
			}
		}
	}
	return counts
}

// Hosts counts the back-links of all hosts, in the order in which the pages name
// them.
func (g *Graph) Hosts() []HostLinks {
	counts := make([]HostLinks, len(g.hostIDs))
	for i, id := range g.hostIDs {
		counts[i].Host = id
	}
	lastHost, lastPage := make([]int32, len(counts)), make([]int32, len(counts)) // from 1 on
	for _, from := range g.ByHost() {
		host := g.hosts[from]
		counts[host].Pages++
		for _, to := range g.links(int(from)) {
			target := g.hosts[to]
			c := &counts[target]
			if target == host {
				c.Inner++
				continue
			}
			c.Links++
			if lastHost[target] != host+1 {
				lastHost[target] = host + 1
				c.LinkingHosts++
			}
			if lastPage[target] != from+1 {
				lastPage[target] = from + 1
				c.LinkingPages++
			}
		}
	}
	return counts
}

// ByHost returns all pages, as their places in the order of ids, host by host: a
// counting sort.
func (g *Graph) ByHost() []int32 {
	begin := make([]int, len(g.hostIDs)+1)
	for _, h := range g.hosts {
		begin[h+1]++
	}
	for h := range g.hostIDs {
		begin[h+1] += begin[h]
	}
	order := make([]int32, len(g.ids))
	for i, h := range g.hosts {
		order[begin[h]] = int32(i)
		begin[h]++
	}
	return order
}

// SumByHost adds up a value of each page for each host, in the order of Hosts.
func (g *Graph) SumByHost(values []float64) []float64 {
	sums := make([]float64, len(g.hostIDs))
	for i, v := range values {
		sums[g.hosts[i]] += v
	}
	return sums
}
