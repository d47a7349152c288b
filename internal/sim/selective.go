package sim

import (
	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
)

// Selector is a Scheduler that may skip a page that is due. A skip costs no visit.
type Selector interface {
	Scheduler
	// Select says whether a page that is due is visited, and if not, when it is due
	// next.
	Select(page int, at float64) (visit bool, due float64)
}

// linked is the number of pages to which a page links: those that follow it on its host,
// with the first after the last. Worlds have no links of their own.
const linked = 10

// selective is the rule of Bouras et al. with its selective part, by the product's code.
type selective struct {
	*product
	links [][]int // by page
	looks []look  // by page
}

// look is the selective rule's knowledge of a page's visits.
type look struct{ compared, changed float64 } // when last: -1 for never

func newSelective(s Setting, _ *World) Scheduler {
	all := &selective{product: newProduct(schedule.FRMax{}, s), links: make([][]int, len(s.Pages)), looks: make([]look, len(s.Pages))}
	hosts := make([][]int, s.Hosts)
	for i, p := range s.Pages {
		hosts[p.Host] = append(hosts[p.Host], i)
		all.looks[i] = look{-1, -1}
	}
	for _, pages := range hosts {
		for i, page := range pages {
			for k := 1; k <= min(linked, len(pages)-1); k++ {
				all.links[page] = append(all.links[page], pages[(i+k)%len(pages)])
			}
		}
	}
	return all
}

// Enter implements Scheduler. A first copy is no comparison.
func (s *selective) Enter(page int, at float64) float64 {
	s.looks[page] = look{at, -1}
	return s.product.Enter(page, at)
}

// Select implements Selector.
func (s *selective) Select(page int, at float64) (visit bool, due float64) {
	internal := s.internal(page)
	if visit, _ := (schedule.FRMax{}).Select(s.page(page), internal); visit {
		return true, 0
	}
	return false, s.observe(page, at, schedule.Observation{Outcome: crawl.OutcomeSkipped, Internal: internal})
}

// Visit implements Scheduler.
func (s *selective) Visit(page int, seen Look) float64 {
	o := s.observation(page, seen)
	o.Internal = s.internal(page)
	s.looks[page].compared = seen.At
	if seen.Changed {
		s.looks[page].changed = seen.At
	}
	return s.observe(page, seen.At, o)
}

// internal counts the pages to which a page links that were compared since its own last
// visit.
func (s *selective) internal(page int) schedule.Internal {
	since := s.looks[page].compared
	var seen schedule.Internal
	for _, other := range s.links[page] {
		if s.pages[other].visit < 2 || s.looks[other].compared <= since {
			continue
		}
		seen.Compared++
		if s.looks[other].changed > since {
			seen.Changed++
		}
	}
	return seen
}
