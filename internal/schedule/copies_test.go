package schedule

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule/gamma"
)

// Pages that share no prior get the one that fits them: the beliefs about their copies then
// come true, though they change ten times as often as an unknown page. Copies with a prior
// keep it.
func TestFit(t *testing.T) {
	t.Parallel()
	begin, random := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), rand.New(rand.NewPCG(1, 2))
	const pages, looks = 500, 3
	truth := gamma.Distribution{A: 2, B: 4} // changes every two days
	var copies []Copy
	fresh := 0.0
	for i := range pages {
		rate := truth.Quantile((float64(i) + 0.5) / pages)
		b := Belief{}.observe(Observation{Outcome: crawl.OutcomeNew, At: begin}, daily)
		for look := range looks {
			seen := Observation{Outcome: crawl.OutcomeUnchanged, Gap: day, At: begin.Add(time.Duration(look+1) * day)}
			if random.Float64() < -math.Expm1(-rate) {
				seen.Outcome = crawl.OutcomeChanged
			}
			b = b.observe(seen, daily)
		}
		copies = append(copies, Copy{Belief: b, Parameters: daily, Looked: b.ComparedAt(), Due: b.ComparedAt().Add(day)})
		fresh += math.Exp(-rate) / pages
	}
	now := begin.Add((looks + 1) * day)
	sum := func(copies []Copy) (all Copies) {
		for _, c := range copies {
			all.Add(c, now)
		}
		return all
	}
	if before := sum(copies).Fresh(); before < fresh+0.05 {
		t.Fatalf("by the first prior %.3f are fresh, and %.3f are: nothing needs to be fitted", before, fresh)
	}
	own := copies[0]
	own.Parameters.Prior = gamma.Distribution{A: 1, B: 1}
	copies = append(copies, own)
	Fit(copies)
	if copies[pages].Parameters.Prior != own.Parameters.Prior {
		t.Errorf("a page with a prior got another: %+v", copies[pages].Parameters.Prior)
	}
	all := sum(copies[:pages])
	if math.Abs(all.Fresh()-fresh) > 0.02 {
		t.Errorf("%.3f are believed to be fresh, and %.3f are", all.Fresh(), fresh)
	}
	// At the time of the next visit a copy is as little fresh as ever.
	if all.Count() != pages || all.Planned() < all.Fresh() || all.Age() <= 0 || all.Age() > 1 || math.Abs(all.Delay()-0.5) > 1e-9 {
		t.Errorf("%d copies, %.3f planned, age %.3f, delay %.3f", all.Count(), all.Planned(), all.Age(), all.Delay())
	}
	if e := all.Error(); e <= 0 || e > 0.02 {
		t.Errorf("standard error %.4f", e)
	}
	if none := (Copies{}); none.Fresh() != 0 || none.Delay() != 0 || none.Error() != 1 {
		t.Errorf("of no copies: %v, %v, %v", none.Fresh(), none.Delay(), none.Error())
	}
}
