package report

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// EvidenceRequests sums up a host's requests.
type EvidenceRequests struct {
	Total int `json:"total"`
	// Hours are those in which there were requests.
	Hours []EvidenceHour `json:"hours"`
	// SmallestGap and MedianGap are between the end of one request and the start of the
	// next; null if there were fewer than two requests. SmallestAt is when the smallest
	// ended.
	SmallestGap *crawl.Duration  `json:"smallest_gap"`
	SmallestAt  stamp            `json:"smallest_gap_at"`
	MedianGap   *crawl.Duration  `json:"median_gap"`
	Answers     []EvidenceAnswer `json:"answers"`
	// Refused counts answers 429 and 503. Refusals are the last of them, the newest first.
	Refused  int               `json:"refused"`
	Refusals []EvidenceRefusal `json:"refusals"`
}

// EvidenceHour is one hour's requests.
type EvidenceHour struct {
	Hour     stamp `json:"hour"`
	Requests int   `json:"requests"`
	Refused  int   `json:"refused"`
	Failed   int   `json:"failed"` // no answer
}

// EvidenceAnswer counts an answer.
type EvidenceAnswer struct {
	Answer   string `json:"answer"` // the HTTP status, or "none"
	Requests int    `json:"requests"`
}

// EvidenceRefusal is a 429 or 503, and what followed.
type EvidenceRefusal struct {
	At         stamp           `json:"at"`
	URL        string          `json:"url"`
	Status     int             `json:"status"`
	RetryAfter *crawl.Duration `json:"retry_after"` // null if the answer named none
	// Next is the start of the next request to the host, null if there was none since, and
	// Quiet the time until then.
	Next  stamp           `json:"next"`
	Quiet *crawl.Duration `json:"quiet"`
}

// maxRefusals bounds the refusals that are listed.
const maxRefusals = 50

// noAnswer stands for the status if there was no answer.
const noAnswer = "none"

// requestLog collects a host's requests.
type requestLog struct {
	all []made
}

// made is a request that was made.
type made struct {
	at, end       time.Time
	status        int
	throttled     bool
	retryAfter    time.Duration
	hasRetryAfter bool
	url           string // of one that was throttled
}

func (l *requestLog) add(r store.HostRequest) {
	m := made{at: r.At, end: r.At.Add(r.Duration), status: r.Status, throttled: r.Outcome == crawl.OutcomeThrottled}
	if m.throttled {
		m.url = r.URL
		m.retryAfter, m.hasRetryAfter = retryAfterOf(r.Reasons)
	}
	l.all = append(l.all, m)
}

// figures sums up the requests.
func (l *requestLog) figures() *EvidenceRequests {
	slices.SortFunc(l.all, func(a, b made) int { return a.at.Compare(b.at) })
	f := &EvidenceRequests{Total: len(l.all), Hours: l.hours(), Answers: l.answers(), Refusals: []EvidenceRefusal{}}
	l.gaps(f)
	for i, m := range slices.Backward(l.all) {
		if !m.throttled {
			continue
		}
		f.Refused++
		if len(f.Refusals) < maxRefusals {
			f.Refusals = append(f.Refusals, l.refusal(i))
		}
	}
	return f
}

func (l *requestLog) hours() []EvidenceHour {
	hours := []EvidenceHour{}
	for _, m := range l.all {
		hour := m.at.UTC().Truncate(time.Hour)
		if len(hours) == 0 || !time.Time(hours[len(hours)-1].Hour).Equal(hour) {
			hours = append(hours, EvidenceHour{Hour: stamp(hour)})
		}
		last := &hours[len(hours)-1]
		last.Requests++
		switch {
		case m.throttled:
			last.Refused++
		case m.status == 0:
			last.Failed++
		}
	}
	return hours
}

func (l *requestLog) answers() []EvidenceAnswer {
	counts := map[int]int{}
	for _, m := range l.all {
		counts[m.status]++
	}
	answers := []EvidenceAnswer{}
	for status, n := range counts {
		answer := noAnswer
		if status != 0 {
			answer = strconv.Itoa(status)
		}
		answers = append(answers, EvidenceAnswer{Answer: answer, Requests: n})
	}
	slices.SortFunc(answers, func(a, b EvidenceAnswer) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Answer, b.Answer))
	})
	return answers
}

// gaps sets the smallest and the median gap.
func (l *requestLog) gaps(f *EvidenceRequests) {
	if len(l.all) < 2 {
		return
	}
	gaps := make([]time.Duration, 0, len(l.all)-1)
	for i, m := range l.all[1:] {
		gap := m.at.Sub(l.all[i].end)
		if i == 0 || crawl.Duration(gap) < *f.SmallestGap {
			smallest := crawl.Duration(gap)
			f.SmallestGap, f.SmallestAt = &smallest, stamp(m.at)
		}
		gaps = append(gaps, gap)
	}
	slices.Sort(gaps)
	median := crawl.Duration(gaps[(len(gaps)-1)/2])
	f.MedianGap = &median
}

// refusal says what followed the i-th request, which was refused.
func (l *requestLog) refusal(i int) EvidenceRefusal {
	m := l.all[i]
	r := EvidenceRefusal{At: stamp(m.at), URL: m.url, Status: m.status}
	if m.hasRetryAfter {
		asked := crawl.Duration(m.retryAfter)
		r.RetryAfter = &asked
	}
	if i+1 < len(l.all) {
		next := l.all[i+1].at
		quiet := crawl.Duration(next.Sub(m.end))
		r.Next, r.Quiet = stamp(next), &quiet
	}
	return r
}
