package crawl

// DocumentSpec says what is kept with pages besides their bodies, for readers of the
// pages elsewhere.
type DocumentSpec struct {
	// Requisites keeps what pages need to look as they do: the images, styles and fonts of
	// each new version, and what the styles need in turn; at most 100 a page, and 5 MB
	// each. They may lie on any host, are requested after everything else, under that
	// host's robots.txt, and are no pages of the collection. See requisites.md.
	Requisites bool `json:"requisites,omitempty"`
	// RequisiteHosts is the most hosts, over the crawl's whole life, on which requisites may
	// lie beyond the scope and beyond the registrable domain of the page that shows them: 1 to
	// 10000; 0 is 200. A page may have 20 of them. Hosts that scope.rules accept do not count.
	RequisiteHosts int `json:"requisite_hosts,omitempty"`
}

// Numbers of hosts for requisites.
const (
	defaultRequisiteHosts = 200
	// MostRequisiteHosts is the greatest DocumentSpec.RequisiteHosts.
	MostRequisiteHosts = 10_000
)

// HostsForRequisites is RequisiteHosts, or its default.
func (d DocumentSpec) HostsForRequisites() int {
	if d.RequisiteHosts == 0 {
		return defaultRequisiteHosts
	}
	return d.RequisiteHosts
}

func (s *Spec) validateDocuments(bad badField) error {
	if n := s.Documents.RequisiteHosts; n < 0 || n > MostRequisiteHosts {
		return bad("documents.requisite_hosts", "is %d; use 1 to %d, or 0 for %d", n, MostRequisiteHosts, defaultRequisiteHosts)
	}
	return nil
}
