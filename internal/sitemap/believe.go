package sitemap

import "time"

const (
	// future is how far ahead of us a site's clock may be.
	future = 24 * time.Hour
	// earliest is how long before a day begins in UTC it begins somewhere.
	earliest = 14 * time.Hour
	// justNow is how old a date made for our request may be.
	justNow = time.Minute
	// tellsNothing is the share of the dates that makes a list's dates worthless, and
	// leastDates how many there must be.
	tellsNothing = 0.9
	leastDates   = 3
)

// Believe removes the dates that cannot be true of a list that was read at a time,
// and counts them by their reasons: those in the future by more than a day, all of
// them if nearly all are the same (the site was built again) or are the time of our
// request (they are made up on request). A day that is ahead by less began where days begin
// first. A time that is ahead stays as it is, so that the list is the same at each reading;
// Choose waits for it.
func (l *List) Believe(read time.Time) {
	count, most, now := map[time.Time]int{}, 0, 0
	dated, ahead := 0, 0
	for i := range l.Entries {
		e := &l.Entries[i]
		switch {
		case e.Modified.IsZero():
			continue
		case e.Modified.After(read.Add(future)):
			e.Modified = time.Time{}
			ahead++
			continue
		case e.Modified.After(read) && !e.Timed:
			e.Modified = e.Modified.Add(-earliest)
		}
		dated++
		count[e.Modified]++
		most = max(most, count[e.Modified])
		if !e.Modified.Before(read.Add(-justNow)) {
			now++
		}
	}
	l.drop(DropFuture, ahead)
	if dated < leastDates {
		return
	}
	switch nearly := tellsNothing * float64(dated); {
	case float64(now) >= nearly:
		l.forgetDates(DropDatesNow, dated)
	case float64(most) >= nearly:
		l.forgetDates(DropDatesEqual, dated)
	}
}

func (l *List) forgetDates(reason string, n int) {
	l.drop(reason, n)
	for i := range l.Entries {
		l.Entries[i].Modified = time.Time{}
	}
}

// Newest returns the latest date with a time of day, zero if the latest date of all has
// none: then it is unknown when the list last changed.
func (l *List) Newest() time.Time {
	var newest Entry
	for _, e := range l.Entries {
		if e.Modified.After(newest.Modified) || e.Modified.Equal(newest.Modified) && e.Timed {
			newest = e
		}
	}
	if !newest.Timed {
		return time.Time{}
	}
	return newest.Modified
}

// Dated is how many entries have a date.
func (l *List) Dated() int {
	n := 0
	for _, e := range l.Entries {
		if !e.Modified.IsZero() {
			n++
		}
	}
	return n
}
