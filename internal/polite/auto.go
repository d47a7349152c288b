package polite

import "time"

// Numbers of the automatic delay.
const (
	// AutoLeast is the shortest automatic delay.
	AutoLeast = time.Second
	// autoSlow is how long a host rests after an answer, in multiples of the time that the
	// answer took: requests take at most a tenth of the host's time. One that answers within
	// a tenth of a second rests for AutoLeast.
	autoSlow = 9
	// autoRefused is the share of refusals from which the delay is the longest.
	autoRefused = 0.1
	// refusalShare is the part of the newest answer in the share of refusals.
	refusalShare = 1.0 / 16
	// RefusalsAtFirst is the share of a host that was never asked. It begins at the longest
	// delay, and after a dozen good answers the delay begins to fall.
	RefusalsAtFirst = 0.2
)

// Refusals is the share of refusals among a host's last answers, after one more: of
// requests that got a 429 or 503, or no answer. An old answer counts for less than a new
// one; after about forty good answers nothing is left of a refusal.
func Refusals(before float64, a Answer) float64 {
	newest := 0.0
	if a.Throttled || a.Failed {
		newest = 1
	}
	before = min(max(before, 0), 1)
	if before != before { // NaN
		before = RefusalsAtFirst
	}
	return before + (newest-before)*refusalShare
}

// AutoTerms are the numbers of AutoDelay, for callers that compute it for many hosts at
// once. It is the larger of slow × the mean duration of a request and
// least + strain × the share of refusals, but no longer than most.
func AutoTerms(most time.Duration) (slow int, least, strain time.Duration) {
	return autoSlow, AutoLeast, scale(max(most-AutoLeast, 0), 1/autoRefused)
}

// AutoDelay is the delay of a host that takes mean for an answer and refuses that share of
// requests. Both ask for a delay, and the longer one counts, from AutoLeast to most. A host
// that was never asked has a mean of 0.
func AutoDelay(mean time.Duration, refusals float64, most time.Duration) Rest {
	slow := scale(max(mean, 0), autoSlow)
	strained := AutoLeast + scale(max(most-AutoLeast, 0), min(max(refusals, 0), autoRefused)/autoRefused)
	length := max(slow, strained, AutoLeast)
	length = min(length+(time.Millisecond-length%time.Millisecond)%time.Millisecond, most)
	return because(length, GapAuto, map[string]float64{"mean": mean.Seconds(), "refused": refusals})
}
