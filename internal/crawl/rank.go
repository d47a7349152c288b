package crawl

import "time"

func (s *Spec) validateRank(bad badField) error {
	r := s.Rank
	switch {
	case r.Every != 0 && r.Every < Duration(time.Second):
		return bad("rank.every", "is %s; use at least 1s, or 0 for never", r.Every)
	case !(r.Damping >= 0.01 && r.Damping <= 0.99):
		return bad("rank.damping", "is %v; use 0.01 to 0.99", r.Damping)
	case !(r.Margin >= 0 && r.Margin <= 100):
		return bad("rank.margin", "is %v; use 0 to 100", r.Margin)
	case !(r.MaxEvictions >= 0 && r.MaxEvictions <= 1):
		return bad("rank.max_evictions", "is %v; use 0 (none) to 1", r.MaxEvictions)
	}
	return nil
}
