package polite

import (
	"time"

	"recrawl/internal/crawl"
)

// The fate of a page that sent its host into back-off: nobody else may ask the host for a
// while because this page was refused, or could not be reached.
const (
	// restHolds is how many times as long as the host's back-off such a page is left
	// alone, so that no page costs its host more than an eighth of its time.
	restHolds = 8
	// restMost bounds the addition to a back-off: a page that a site put off for a day is
	// not put off for more than one day more.
	restMost = 24 * time.Hour
)

// LeftAlone is how long a page that sent its host into back-off is left alone, given how many
// visits in a row, including this one, failed or were throttled. The first time it
// is for as long as the host: it may have been anybody's bad luck. From then on it
// is the page, not the host, that is refused.
func LeftAlone(held time.Duration, failures int) time.Duration {
	if held <= 0 {
		return 0
	}
	if failures <= 1 {
		return held
	}
	return penalty(held)
}

// penalty is restHolds times the hold, at most restMost more than it.
func penalty(held time.Duration) time.Duration {
	return held + min(scale(held, restHolds-1), restMost)
}

// Behind is the place in its host's line of a page whose last visit sent the host
// into back-off: with those of the last class, and behind pages that come within the returned
// time, by which it counts as younger. It is the one page known to cost the others
// their turns. A visit that a person asked for keeps its place.
func Behind(class crawl.Class, held time.Duration) (crawl.Class, time.Duration) {
	if held <= 0 || class == crawl.ClassManual {
		return class, 0
	}
	return crawl.ClassProbe, penalty(held)
}
