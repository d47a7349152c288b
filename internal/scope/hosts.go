package scope

// HostBound is a bound on the hosts beyond a crawl's sites to which pages and files lead it
// without a link: by a robots.txt, or by what a page shows. Without one, a site could have the
// crawl ask any host of the web.
type HostBound struct {
	// Most is how many hosts get a place.
	Most int
	// Reason is why what lies on other hosts is not taken, and Detail says so in words.
	Reason, Detail string
}

// Take decides which of the hosts that are named get a place now: the first that have none, as
// long as fewer than Most have one. Of those that have a place already, taken is the number.
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

// Refusal is the verdict on what lies on a host that gets no place.
func (b HostBound) Refusal() Verdict { return Verdict{Reason: b.Reason, Detail: b.Detail} }
