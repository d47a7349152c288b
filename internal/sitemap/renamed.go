package sitemap

import "time"

const (
	// renamings is how many times in a row an index must have given its lists other names, for
	// nothing, before new names are doubted. Each costs the host a request for every list.
	renamings = 4
	// renamedWithin is the time in which that happens. A site that moves its lists once in a
	// while costs little.
	renamedWithin = 30 * 24 * time.Hour
	// oneReading is the longest time between lists that were found by one reading of an index.
	oneReading = time.Minute
)

// Child is a list that an index has named, now or before.
type Child struct {
	Found   time.Time // when it was named first
	Visited bool
	Brought int  // the pages that it has brought, and that the crawl did not know
	Named   bool // the index still names it
}

// Renamed reports whether an index gives its lists other names at each reading. Such an index
// would never run out of lists. The children are in the order in which they were found, the
// newest first. Those of each of the last readings must all be named no more and have brought
// nothing. So an index that keeps the names of its lists may name as many new ones as it likes,
// and so may one whose new lists bring new pages.
func Renamed(children []Child, now time.Time) bool {
	readings := 0
	var last time.Time
	for _, c := range children {
		if !c.Visited {
			continue
		}
		if readings == 0 || last.Sub(c.Found) > oneReading {
			if readings == renamings {
				return true
			}
			readings++
		}
		last = c.Found
		if c.Named || c.Brought > 0 || now.Sub(c.Found) > renamedWithin {
			return false
		}
	}
	return readings == renamings
}

// Proves reports whether an index that renames its lists may name one new list at this visit: one
// in ten times, in case that its lists are worth reading by now.
func Proves(visit int) bool { return visit%oneOf == 0 }
