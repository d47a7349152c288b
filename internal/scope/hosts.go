package scope

// HostBound is a bound on the hosts beyond a crawl's sites to which pages and files lead it
// without a link: by a robots.txt, or by files that a page shows. Without one, a site could
// make the crawl ask any host of the web.
type HostBound struct {
	// Most is how many hosts get a place.
	Most int
	// Reason is why files on other hosts are not taken, and Detail says so in words.
	Reason, Detail string
}

// Take decides which of the named hosts get a place now: the first without one, as long as
// fewer than Most have one. taken is the number of hosts that already have one.
func (b HostBound) Take(named []string, has func(host string) bool, taken int) []string {
	var next []string
	given := map[string]bool{}
	for _, host := range named {
		if has(host) || given[host] || taken+len(next) >= b.Most {
			continue
		}
		given[host] = true
		next = append(next, host)
	}
	return next
}

// Refusal is the verdict on files on a host that gets no place.
func (b HostBound) Refusal() Verdict { return Verdict{Reason: b.Reason, Detail: b.Detail} }
