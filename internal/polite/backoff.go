package polite

import (
	"time"

	"recrawl/internal/crawl"
)

// Numbers of the back-offs.
const (
	// MaxRetryAfter caps a Retry-After: a site that asks for more is asked once a
	// day, so that a mistaken header cannot end a collection.
	MaxRetryAfter = 24 * time.Hour
	// LongestAsked stands for all the times that only mean "stay away".
	LongestAsked = 365 * 24 * time.Hour
	// hostBase and hostMax span a host's back-off without Retry-After.
	hostBase = time.Minute
	hostMax  = 12 * time.Hour
	// highestLevel is the first with the longest back-off. A higher one would rest no longer,
	// but take longer to be forgiven.
	highestLevel = 11
	// failuresAllowed connection failures in a row are taken for accidents of pages
	// or networks; the next one is the host's.
	failuresAllowed = 2
	// quietMax bounds the quiet time after which one level is forgiven.
	quietMax = time.Hour
	// robotsBase and robotsMax span the time between two tries for a robots.txt
	// that cannot be had.
	robotsBase = time.Minute
	robotsMax  = 12 * time.Hour
	// robotsSpread: see RobotsSpread.
	robotsSpread = 10 * time.Second
)

// Answer is how a host answered a request. At most one of Throttled and Failed
// is set.
type Answer struct {
	Throttled bool // 429 or 503, or another error with a Retry-After
	Failed    bool // no HTTP answer: connection, TLS or time-out
	// RetryAfter counts for a throttled answer when HasRetryAfter is set.
	RetryAfter    time.Duration
	HasRetryAfter bool
}

// Strain is a host's memory of trouble.
type Strain struct {
	Level    int // of the back-off, 0 for none
	Failures int // connection failures in a row
	// Quiet is the time since the last back-off ended or the last level was forgiven.
	Quiet time.Duration
}

// Codes of the reasons for a host's back-off.
const (
	HostRetryAfter = "host_retry_after" // the site said how long
	HostCapped     = "host_capped"      // it said longer than MaxRetryAfter
	HostThrottled  = "host_throttled"   // 429 or 503 without Retry-After
	HostFailing    = "host_failing"     // connection failures in a row
)

// Backoff is the effect of one answer on a host.
type Backoff struct {
	Level    int // the new level
	Failures int // the new number of failures in a row
	// For is how long the host is left alone from now on; 0 is not at all.
	For time.Duration
	// Forgiven: one level was removed, which starts the next quiet time.
	Forgiven bool
	// Reason is why the host is left alone; it has no code when it is not.
	Reason crawl.Reason
}

// HostBackoff decides the effect of an answer on a host. After a throttled answer the host
// is left alone for its Retry-After, at most MaxRetryAfter. Without one, or if the host says
// "at once" and then refuses again, that is a minute, doubling with each level up to 12 hours
// (level 11), with jitter. The same holds after connection failures, from the third in a row.
// Each success after a quiet time as long as the level's own back-off (at most an hour)
// forgives one level. The seed determines the jitter.
func HostBackoff(s Strain, a Answer, seed uint64) Backoff {
	s.Level = min(s.Level, highestLevel) // earlier releases stored higher ones
	switch {
	case a.Throttled && a.HasRetryAfter && (a.RetryAfter > 0 || s.Level == 0):
		return retryAfterBackoff(s, a.RetryAfter)
	case a.Throttled:
		return raise(s.Level, 0, HostThrottled, seed)
	case a.Failed && s.Failures >= failuresAllowed:
		return raise(s.Level, s.Failures+1, HostFailing, seed)
	case a.Failed:
		return Backoff{Level: s.Level, Failures: s.Failures + 1}
	case s.Level > 0 && s.Quiet >= quietTime(s.Level):
		return Backoff{Level: s.Level - 1, Forgiven: true}
	}
	return Backoff{Level: s.Level}
}

// retryAfterBackoff raises the level as well, so that we back off further if the site
// throttles again without the header.
func retryAfterBackoff(s Strain, asked time.Duration) Backoff {
	asked = max(asked, 0)
	b := Backoff{Level: higher(s.Level), For: min(asked, MaxRetryAfter)}
	b.Reason = hostReason(HostRetryAfter, b.Level, b.For)
	if asked > b.For {
		b.Reason.Code = HostCapped
		b.Reason.Num["asked"] = min(asked, LongestAsked).Seconds()
	}
	return b
}

func raise(level, failures int, code string, seed uint64) Backoff {
	b := Backoff{Level: higher(level), Failures: failures}
	b.For = jittered(doubled(hostBase, hostMax, b.Level), hostBase, hostMax, seed+uint64(b.Level))
	b.Reason = hostReason(code, b.Level, b.For)
	if failures > 0 {
		b.Reason.Num["failures"] = float64(failures)
	}
	return b
}

// higher is the level after one more refusal or failure.
func higher(level int) int { return min(level+1, highestLevel) }

func hostReason(code string, level int, rest time.Duration) crawl.Reason {
	return crawl.Reason{Code: code, Num: map[string]float64{"level": float64(level), "hold": rest.Seconds()}}
}

// quietTime is how long a host must have been quiet before a success forgives
// this level.
func quietTime(level int) time.Duration { return doubled(hostBase, quietMax, level) }

// retryBackoff is the time to the next visit of a page whose last visits failed, as many in a
// row as failures says: lo, doubling with each failure up to hi, with a tenth
// of jitter by the seed, never outside [lo, hi].
func retryBackoff(failures int, lo, hi time.Duration, seed uint64) time.Duration {
	return jittered(doubled(lo, hi, failures), lo, hi, seed+uint64(max(failures, 0)))
}

// RobotsBackoff is the time until a robots.txt that could not be had is tried again, after
// that many failures in a row: a minute, doubling up to 12 hours, with a
// tenth of jitter by the seed.
func RobotsBackoff(failures int, seed uint64) time.Duration {
	return retryBackoff(failures, robotsBase, robotsMax, seed)
}

// RobotsSpread is the time over which the pages that have waited so long for a robots.txt come
// back, once it may be tried again: ten seconds, or a minute for each hour. The first of them
// fetches it. After days without it there may be tens of thousands, and each ask costs a task.
func RobotsSpread(wait time.Duration) time.Duration {
	return max(min(robotsSpread, wait), wait/60)
}

// doubled is lo × 2^(n-1), at most hi; n below 1 counts as 1.
func doubled(lo, hi time.Duration, n int) time.Duration {
	d := min(lo, hi)
	for ; n > 1 && d < hi && d > 0; n-- {
		// Compared before doubling: d × 2 may overflow.
		if d > hi/2 {
			return hi
		}
		d *= 2
	}
	return d
}

// jittered moves d by up to a tenth either way, and only inwards at the ends of
// [lo, hi].
func jittered(d, lo, hi time.Duration, seed uint64) time.Duration {
	tenth := d / 10
	from, to := max(d-tenth, min(lo, hi)), min(d+tenth, hi)
	return from + time.Duration(unit(seed)*float64(to-from))
}

// Jitter is a duration in [0, most), by a hash of the seed.
func Jitter(most time.Duration, seed uint64) time.Duration {
	return time.Duration(unit(seed) * float64(max(most, 0)))
}

// unit hashes a seed to [0, 1) (the finaliser of SplitMix64).
func unit(seed uint64) float64 {
	z := seed + 0x9e3779b97f4a7c15
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return float64((z^(z>>31))>>11) / (1 << 53)
}
