package polite

import (
	"time"

	"recrawl/internal/crawl"
)

// The fate of a page that sent its host into back-off: nobody else may ask the host for a
// while because this page was refused, or could not be reached.
const (
	// pageBackoff is how many times as long as its host's back-off such a page is left alone,
	// so that no page costs its host more than an eighth of its time.
	pageBackoff = 8
	// mostBeyond bounds how much longer than the host's back-off that is: a page that a site
	// put off for a day is not put off for more than one day more.
	mostBeyond = 24 * time.Hour
)

// LeftAlone is how long a page that sent its host into back-off is left alone, given the
// length of the back-off and how many visits in a row, including this one, failed or were
// throttled. The first time, it is as long as the host is: it may have been anybody's bad
// luck. From then on it is the page, not the host, that is refused.
func LeftAlone(backoff time.Duration, failures int) time.Duration {
	if backoff <= 0 {
		return 0
	}
	if failures <= 1 {
		return backoff
	}
	return penalty(backoff)
}

// penalty is pageBackoff times the host's back-off, at most mostBeyond more than it.
func penalty(backoff time.Duration) time.Duration {
	return backoff + min(scale(backoff, pageBackoff-1), mostBeyond)
}

// Behind is where a page whose last visit sent its host into back-off stands in the host's
// line: in the last class, and as if it had come later by the returned time. It is the one
// page known to cost the others their turns. A visit that a person asked for keeps its place.
func Behind(class crawl.Class, backoff time.Duration) (crawl.Class, time.Duration) {
	if backoff <= 0 || class == crawl.ClassManual {
		return class, 0
	}
	return crawl.ClassProbe, penalty(backoff)
}
