package urlkey

import "fmt"

// Grouping says which hosts are one unit of politeness.
type Grouping string

// The groupings.
const (
	// ByHost: each host key is a separate unit.
	ByHost Grouping = "host"
	// ByDomain: all hosts and ports of a registrable domain are one unit, which is
	// gentler to an owner whose many names are served by one machine. All ports of
	// an address are one unit too.
	ByDomain Grouping = "domain"
)

// ParseGrouping reads the name of a grouping.
func ParseGrouping(text string) (Grouping, error) {
	switch g := Grouping(text); g {
	case ByHost, ByDomain:
		return g, nil
	}
	return "", fmt.Errorf("%q is not a grouping of hosts: write host or domain", text)
}

// Unit returns the name of the unit that a host key belongs to. The unit of a
// unit's name is itself.
func (g Grouping) Unit(hostKey string) string {
	if g == ByDomain {
		return RegistrableDomain(hostKey)
	}
	return hostKey
}
