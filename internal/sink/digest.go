package sink

import (
	"fmt"
	"slices"
	"time"

	"recrawl/internal/crawl"
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
	pages := map[int64][]feed.Change{}
	for _, c := range changes {
		if c.PageID != 0 {
			pages[c.PageID] = append(pages[c.PageID], c)
		}
	}
	var merged []feed.Change
	for _, c := range changes {
		of := pages[c.PageID]
		switch {
		case len(of) <= 1:
			merged = append(merged, c)
		case of[len(of)-1].ID == c.ID:
			if m, ok := mergePage(of); ok {
				merged = append(merged, m)
			}
		}
	}
	return merged
}

// mergePage makes one change of all changes of a page. One that moved and redirects is not taken
// to be as it was: changes do not say where it redirected before.
func mergePage(changes []feed.Change) (feed.Change, bool) {
	first, m := changes[0], changes[len(changes)-1]
	moved := m.Data.State == crawl.Redirect && slices.ContainsFunc(changes, func(c feed.Change) bool { return c.Kind == feed.PageMoved })
	m.Data.Was, m.Data.From, m.Seq = first.Data.Was, versionBefore(changes), lastSeq(changes)
	if came(changes, m.Data.ReturnedTo) {
		m.Data.ReturnedTo = 0
	}
	switch {
	case moved:
		m.Kind = feed.PageMoved
	case m.Data.Was == m.Data.State && m.Data.From == m.Seq:
		return feed.Change{}, false
	case first.Kind == feed.PageNew && hasContent(m.Kind):
		m.Kind = feed.PageNew
	case m.Kind == feed.PageRecovered && m.Data.From != m.Seq:
		m.Kind = feed.PageChanged
	}
	return m, true
}

// came reports whether a version came by some changes. Their reader does not know it, so a page that
// returned to it is not as it was.
func came(changes []feed.Change, seq int) bool {
	return slices.ContainsFunc(changes, func(c feed.Change) bool {
		return hasText(c.Kind) && c.Seq == seq && c.Data.From < seq && c.Data.ReturnedTo == 0
	})
}

// versionBefore returns the number of the version that a page had before some changes. Changes of
// its state without a visit say no more than which one it has, or not even that.
func versionBefore(changes []feed.Change) int {
	for _, c := range changes {
		switch {
		case c.Kind != feed.PageStopped && c.Kind != feed.PageEvicted && c.Kind != feed.PageResumed:
			return c.Data.From
		case c.Seq != 0:
			return c.Seq
		}
	}
	return 0
}

// lastSeq returns the number of the version that a page has after some changes.
func lastSeq(changes []feed.Change) int {
	for _, c := range slices.Backward(changes) {
		if c.Seq != 0 {
			return c.Seq
		}
	}
	return 0
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
