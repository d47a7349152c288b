package polite

import "time"

// Numbers of the grants.
const (
	// MaxGranted is how many permits of a host may be granted and not begun: with the
	// second, the next request is on its way while the first one runs.
	MaxGranted = 2
	// Horizon is how long before its request may start a permit is granted, so that
	// the hand-over to the requester costs the host no time.
	Horizon = time.Second
	// GrantAhead is how long before its request may start a permit is kept for an owner that asks
	// again. If its host rests for longer, as after a slow request or because its Crawl-delay has
	// just become longer, the owner waits in line: whoever begins waits for a little longer only, and
	// each try costs a task.
	GrantAhead = 10 * time.Second
	// GrantLife is how long a permit is kept for its owner after it could have begun,
	// when others want its slot.
	GrantLife = 20 * time.Second
	// GrantLimit is how long after its grant a page's permit may begin at the latest, whoever
	// wants its slot: the robots.txt by which it was granted may be a day old then already.
	// Grants come Horizon before their time, so a longer wait for the host, as when its
	// Crawl-delay has just become longer, costs the page no more than another grant.
	GrantLimit = time.Hour
	// Lapse is how long after its promise a waiter keeps its place in the line.
	Lapse = 2 * time.Minute
	// Lead is how long before its promise a waiter that sleeps comes, to wait for
	// the grant in the process.
	Lead = 2 * time.Second
)

// UntilGrant is how long to wait before one more permit may be granted, 0 if it may
// be granted now. The host is free from free on and takes one request per step;
// granted permits go first.
func UntilGrant(free time.Time, granted int, step time.Duration, now time.Time) time.Duration {
	return max(Promise(free, granted, step).Add(-Horizon).Sub(now), 0)
}

// Outdated reports whether a page's permit, granted at grantedAt, may no longer begin. That
// grantedAt is ahead of the clock means that the clock went back.
func Outdated(grantedAt, now time.Time) bool { return now.Sub(grantedAt).Abs() > GrantLimit }

// Stale reports whether a permit, granted at grantedAt and not begun though the
// host is free from free on, may be taken back in favour of others.
func Stale(grantedAt, free, now time.Time) bool {
	return now.Sub(later(grantedAt, free)) > GrantLife || grantedAt.Sub(now) > GrantLife // see Outdated
}
