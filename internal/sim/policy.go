package sim

import (
	"fmt"
	"strings"
)

// Family says what kind of a policy one is.
type Family string

// The families.
const (
	Ours        Family = "ours"        // the product's own code
	Shipped     Family = "shipped"     // shipped by another crawler
	Simple      Family = "simple"      // rules of comparison
	Clairvoyant Family = "clairvoyant" // knows every page's rate
	Recorded    Family = "recorded"    // the visits of a crawl
)

// Policy is a way to schedule visits that can be run.
type Policy struct {
	Name   string
	Family Family
	// Objective is the name of the penalty that the policy keeps low, see
	// [Metrics.Penalty]; "" if it has none.
	Objective string
	// Help says in one line what it is and where it is from.
	Help string
	// alike says that it visits all pages equally often, at the same interval.
	alike bool
	// ownTime says that it makes its visits at its own times, whatever the budget.
	ownTime bool
	// make returns a scheduler for a run. Only clairvoyants are given the world.
	make func(s Setting, truth *World) Scheduler
}

func (p Policy) scheduler(s Setting, w *World) Scheduler {
	if p.Family != Clairvoyant {
		w = nil
	}
	return p.make(s, w)
}

// Policies lists all policies.
func Policies() []Policy {
	var all []Policy
	for _, family := range [][]Policy{ours, shipped, simple, clairvoyant} {
		all = append(all, family...)
	}
	return all
}

// Choose returns policies by their names or the names of families, in the order
// given and each once; all of them for no names.
func Choose(names []string) ([]Policy, error) {
	if len(names) == 0 {
		return Policies(), nil
	}
	var chosen []Policy
	taken := map[string]bool{}
	for _, name := range names {
		found := false
		for _, p := range Policies() {
			if p.Name != name && string(p.Family) != name {
				continue
			}
			found = true
			if !taken[p.Name] {
				taken[p.Name] = true
				chosen = append(chosen, p)
			}
		}
		if !found {
			return nil, fmt.Errorf("no policy %q: use one of %s, or ours, shipped, simple, clairvoyant", name, strings.Join(policyNames(), ", "))
		}
	}
	return chosen, nil
}

func policyNames() []string {
	var names []string
	for _, p := range Policies() {
		names = append(names, p.Name)
	}
	return names
}
