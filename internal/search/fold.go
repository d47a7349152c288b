package search

// usualHits is how many hits a query gets that does not say.
const usualHits = 10

// Most is how many hits one query may go through, those that are skipped included.
const Most = 1000

// Window is the part of all hits that a query asks for.
func (q Query) Window() (offset, limit int) {
	limit = q.Limit
	if limit <= 0 {
		limit = usualHits
	}
	offset = min(max(q.Offset, 0), Most)
	return offset, min(limit, Most-offset)
}

// Found is a page as an engine found it.
type Found struct {
	Hit
	Digest string
}

// Fold folds what was found, best first, into the hits that a query asks for: of pages with
// one text the best. It reports whether this suffices: else more must be found, if there is
// more.
func Fold(q Query, found []Found) (hits []Found, more, enough bool) {
	offset, limit := q.Window()
	seen := map[string]bool{}
	skipped := 0
	for _, f := range found {
		if f.Digest != "" && seen[f.Digest] {
			continue
		}
		seen[f.Digest] = true
		switch {
		case skipped < offset:
			skipped++
		case len(hits) < limit:
			hits = append(hits, f)
		default:
			return hits, true, true
		}
	}
	return hits, false, false
}
