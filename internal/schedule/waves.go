package schedule

import (
	"encoding/json"
	"math"
	"time"

	"recrawl/internal/schedule/gamma"
)

const (
	// waveLooks is how many looks are combined to find a wave; for a large site it is
	// the share wavePages of its pages, if that is more.
	waveLooks, wavePages = 20, 0.05
	// leastWave is the least share of a site's pages that counts as a wave.
	leastWave = 0.15
	// likelyChance is the chance of a change above which a look is no evidence of a
	// wave.
	likelyChance = 0.5
	// knownLooks is how many comparisons a page needs in order to count.
	knownLooks = 3
	// leastLooks is the least number of looks in which a wave can be found.
	leastLooks = 8
	// waveless is the number of wave-free days that every site is credited with at
	// first.
	waveless = 180
)

// Site describes what a host's pages share besides their prior: waves, which are
// changes of the whole site at once. A new design, the year of a copyright line or a
// spelling corrected everywhere are waves. In recorded collections of single sites most
// changes are waves.
//
// A wave says nothing about a page's own rate, and no further changes follow it. A page
// is therefore expected to change by itself, at a rate that falls with its age, and
// with its site, at the rate of past waves. A change that is found after a wave is
// attributed to the likelier of the two. The zero Site is an unknown one.
type Site struct {
	// Wave is when the last wave was first seen, in milliseconds of Unix time, 0 for
	// none. Share is the share of pages that it changed, and Looks the number of looks
	// that is estimated from.
	Wave  int64   `json:"wave,omitempty"`
	Share float64 `json:"share,omitempty"`
	Looks float64 `json:"looks,omitempty"`
	// Waves is the sum of the shares of all waves. Since is when watching for waves
	// began, in milliseconds of Unix time.
	Waves float64 `json:"waves,omitempty"`
	Since int64   `json:"since,omitempty"`
}

// DecodeSite reads a stored site. Empty or damaged input yields an unknown site, as
// with beliefs.
func DecodeSite(stored string) Site {
	var s Site
	if stored == "" || json.Unmarshal([]byte(stored), &s) != nil || !(s.Share >= 0 && s.Share <= 1 && s.Looks >= 0 && s.Waves >= 0 && s.Wave >= 0) {
		return Site{}
	}
	return s
}

// Encode returns the site as it is stored: empty for the zero Site.
func (s Site) Encode() string {
	if s == (Site{}) {
		return ""
	}
	data, err := json.Marshal(s)
	if err != nil {
		panic("schedule: a site of numbers does not encode: " + err.Error())
	}
	return string(data)
}

// Rate returns how many times a day a page changes with its site, as known at a time in
// milliseconds of Unix time.
func (s Site) Rate(at int64) float64 {
	if s.Waves == 0 {
		return 0
	}
	return s.Waves / (msDays(max(at-s.Since, 0)) + waveless)
}

// between reports whether the last wave came between two looks.
func (s Site) between(before, at int64) bool {
	return s.Wave > 0 && s.Share > 0 && before < s.Wave && s.Wave <= at
}

// near reports whether two sites differ too little to affect a plan.
func (s Site) near(o Site) bool {
	return s.Wave == o.Wave && s.Since == o.Since && s.Looks == o.Looks && like(s.Share, o.Share) && like(s.Waves, o.Waves)
}

// waveDetector looks for a wave in the last looks at a host's pages: it compares how
// many found a change with how many were expected to.
type waveDetector struct {
	now    int64
	window float64 // days: only looks since then are recent
	recent lookCounts
	usual  lookCounts // the looks before those
	swept  lookCounts // the first looks after the last wave
	first  int64      // recent look that found a change
}

type lookCounts struct{ looks, changed, expected float64 }

func (t *lookCounts) add(changed bool, chance float64) {
	t.looks++
	t.expected += chance
	if changed {
		t.changed++
	}
}

// excess returns how many more looks found a change than expected.
func (t lookCounts) excess() float64 { return t.changed - t.expected }

// look counts a page's last look.
func (w *waveDetector) look(b Belief, g gamma.Distribution, p Parameters) {
	gap := float64(b.LastGap)
	if gap <= 0 || b.Pairs < knownLooks {
		return // its expected behaviour is not known
	}
	changed := b.History&1 == 1
	age := msDays(b.Compared - b.Since)
	if changed {
		age = 1.5 * gap // about what it was before
	}
	c := p.clock(b)
	chance := 1 - g.Survival(c.Lives(max(age-gap, 0), gap))
	if chance > likelyChance {
		return
	}
	switch before := b.Compared - dayMs(gap); {
	case p.Site.between(before, b.Compared):
		w.swept.add(changed, chance)
	case before >= p.Site.Wave && msDays(w.now-b.Compared) < w.window:
		w.recent.add(changed, chance)
		if changed && (w.first == 0 || b.Compared < w.first) {
			w.first = b.Compared
		}
	case msDays(w.now-b.Compared) >= w.window:
		w.usual.add(changed, chance)
	}
}

// site returns the knowledge about the site after the count.
func (w *waveDetector) site(s Site) Site {
	if s.Since == 0 {
		s.Since = w.now
	}
	if w.swept.looks > 0 && w.swept.looks >= s.Looks {
		share := max(0, w.swept.excess()/w.swept.looks)
		s.Waves, s.Share, s.Looks = max(0, s.Waves+share-s.Share), share, w.swept.looks
	}
	r := w.recent
	// If beliefs expect too little, as at first, they do so for all looks.
	r.expected *= max(1, (w.usual.changed+1)/(w.usual.expected+1))
	// Three standard deviations, and two looks for errors in the beliefs.
	if r.looks >= leastLooks && w.usual.looks >= leastLooks && r.excess() > leastWave*r.looks && r.excess() > 2+3*math.Sqrt(r.expected+1) {
		share := r.excess() / r.looks
		s.Wave, s.Share, s.Looks = w.first, share, 0
		s.Waves += share
	}
	return s
}

// msDays converts milliseconds to days, and dayMs days to milliseconds.
func msDays(ms int64) float64 { return float64(ms) / float64(day/time.Millisecond) }

func dayMs(days float64) int64 { return int64(days * float64(day/time.Millisecond)) }
