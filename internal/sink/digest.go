package sink

import (
	"fmt"
	"slices"
	"time"

	"recrawl/internal/feed"
)

// DigestLines bounds the lines of a page's difference in a digest.
const DigestLines = 20

// DigestEnd returns when a digest that began at a time is sent.
func DigestEnd(since time.Time, every time.Duration) time.Time { return since.Add(every) }

// DigestID names the digest of some changes. The same changes always give the same id.
func DigestID(epoch string, first, last int64) string {
	return fmt.Sprintf("%s.%d-%d", epoch, first, last)
}

// Merge brings changes together so that each page stands once, at the place of its last
// change, with the difference from its first version to its last. Pages that are as they
// were before are left out.
func Merge(changes []feed.Change) []feed.Change {
	first := map[int64]int{} // by page: in changes
	last := map[int64]int{}
	for i, c := range changes {
		if c.PageID == 0 {
			continue
		}
		if _, seen := first[c.PageID]; !seen {
			first[c.PageID] = i
		}
		last[c.PageID] = i
	}
	var merged []feed.Change
	for i, c := range changes {
		switch {
		case c.PageID == 0:
			merged = append(merged, c)
		case last[c.PageID] == i:
			seq := lastSeq(changes[first[c.PageID]:i+1], c.PageID)
			if m, ok := mergePage(changes[first[c.PageID]], c, seq); ok {
				merged = append(merged, m)
			}
		}
	}
	return merged
}

// lastSeq returns the number of the version that the page had last.
func lastSeq(changes []feed.Change, page int64) int {
	for _, c := range slices.Backward(changes) {
		if c.PageID == page && c.Seq != 0 {
			return c.Seq
		}
	}
	return 0
}

// mergePage makes one change from a page's first and last.
func mergePage(first, last feed.Change, seq int) (feed.Change, bool) {
	if first.ID == last.ID {
		return last, true
	}
	if first.Data.Was == last.Data.State && first.Data.From == seq {
		return feed.Change{}, false
	}
	m := last
	m.Seq, m.Data.Was, m.Data.From = seq, first.Data.Was, first.Data.From
	switch {
	case first.Kind == feed.PageNew && hasContent(m.Kind):
		m.Kind = feed.PageNew
	case m.Kind == feed.PageRecovered && seq != first.Data.From:
		m.Kind = feed.PageChanged
	}
	return m, true
}

// hasContent reports whether a page has content after a change of the kind.
func hasContent(k feed.Kind) bool { return hasText(k) || k == feed.PageRecovered }

// Shorten cuts the difference of an event to most lines, half of them added ones, or more
// if fewer were removed, and the other way round.
func Shorten(e feed.Event, most int) feed.Event {
	if e.Diff == nil || len(e.Diff.Added)+len(e.Diff.Removed) <= most {
		return e
	}
	d := *e.Diff
	added := min(len(d.Added), max(most-most/2, most-len(d.Removed)))
	d.Added, d.Removed, d.Cut = d.Added[:added], d.Removed[:most-added], true
	e.Diff = &d
	return e
}
