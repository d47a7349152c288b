package search

// usualHits is the default number of hits of a query.
const usualHits = 10

// Most bounds the hits that one query may go through, including skipped ones.
const Most = 1000

// Window returns the part of all hits that a query asks for.
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

// Fold folds the found pages, best first, into the hits that a query asks for: of pages
// with the same text only the best. It reports whether this is enough; otherwise more must
// be found, if there are more.
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
