package schedule

import (
	"math"
	"slices"

	"recrawl/internal/schedule/gamma"
)

const (
	// missed is the chance that a page does not change at its time after all, and also
	// the chance that a look finds a change made at another time.
	missed, besides = 0.05, 0.02
	// adopted is by how much the logarithm of the looks' probability must be greater with a
	// timetable than without for it to be believed; doubted is by how much less it may
	// become before the timetable is given up.
	adopted, doubted = 6, 2
	// proven is by how much it must be greater for visits to rely on the timetable, without
	// testing it now and then: a page that is visited once after each of its times has
	// changed at every visit, whenever that is, and knowledge fades.
	proven = 9
	// likely is how much less likely than the likeliest times others may be and still
	// count.
	likely = 2
	// fewLooks is how many looks are too few to tell where the times of a timetable are: after a
	// long gap only those since then are kept.
	fewLooks = 8
	// recent is the weight of a look, for each one after it, in a timetable that was
	// believed before: it may move, or end.
	recent = 0.95
)

// logOf has the logarithm of a look's probability: by whether it found a change, and by
// how many times of the timetable there were since the look before, three or more alike.
var logOf = func() (table [2][4]float64) {
	for n := range table[0] {
		same := math.Pow(missed, float64(n)) * (1 - besides)
		table[0][n], table[1][n] = math.Log(same), math.Log1p(-same)
	}
	return table
}()

// judge returns the timetable that the looks suggest, given the one believed
// before.
func (l *timedLooks) judge(before Timetable) Timetable {
	if before.Period != 0 {
		still := l.fit(before.Period, recent)
		own := l.likelihood(periods[before.Period], int64(before.By), recent)
		ahead := max(own, still.likelihood) - l.steady(recent)
		if ahead < -doubted {
			return Timetable{}
		}
		if l.n < fewLooks && before.Within < still.Within && own >= still.likelihood-likely {
			still.By, still.Within = before.By, before.Within
		}
		still.Doubtful = ahead < proven
		return still.Timetable
	}
	// Having no timetable explains more than all of them: at the likeliest rate, or already at
	// one that needs no search. That settles it for most pages.
	explained := -adopted - math.Log(float64(l.n))
	if l.atRate(l.guess(), 1) > explained {
		return Timetable{}
	}
	without := l.steady(1)
	if without > explained {
		return Timetable{}
	}
	var best fitted
	for number := 1; number < len(periods); number++ {
		if fit := l.fit(uint8(number), 1); best.Period == 0 || fit.likelihood > best.likelihood {
			best = fit
		}
	}
	// This is the best of many times, and one of them would be best by chance.
	if best.likelihood-math.Log(float64((len(periods)-1)*(l.n+1))) < without+adopted {
		return Timetable{}
	}
	best.Doubtful = true
	return best.Timetable
}

// fitted is a timetable with the logarithm of the probability of the looks under it.
type fitted struct {
	Timetable
	likelihood float64
}

// fit returns the times of a period at which the looks are likeliest. All times between
// two looks are alike.
func (l *timedLooks) fit(number uint8, fades float64) fitted {
	p := periods[number]
	var ends [recalled + 1]int64
	cells := ends[:0]
	for _, at := range l.at[:l.n+1] {
		cells = append(cells, (at%p.slots+p.slots)%p.slots)
	}
	slices.Sort(cells)
	cells = slices.Compact(cells)
	var scores [recalled + 1]float64
	best := 0
	for i, phase := range cells {
		scores[i] = l.likelihood(p, phase, fades)
		if scores[i] > scores[best] {
			best = i
		}
	}
	from, to := best, best // cells are (from-1, from]
	around := func(i int) int { return (i + len(cells)) % len(cells) }
	for around(from-1) != to && scores[around(from-1)] > scores[best]-likely {
		from = around(from - 1)
	}
	for around(to+1) != from && scores[around(to+1)] > scores[best]-likely {
		to = around(to + 1)
	}
	within := (cells[to] - cells[around(from-1)] + p.slots) % p.slots
	if within == 0 {
		within = p.slots
	}
	return fitted{Timetable{Period: number, By: uint16(cells[to]), Within: uint16(within)}, scores[best]}
}

// likelihood returns the logarithm of the looks' probability if the page changes at a
// slot after the beginning of each period. Each look counts less, by a factor, than the
// one after it.
func (l *timedLooks) likelihood(p period, phase int64, fades float64) float64 {
	sum, weight := 0.0, 1.0
	after := p.upTo(l.at[l.n], phase)
	for i := l.n - 1; i >= 0; i-- {
		before := p.upTo(l.at[i], phase)
		sum += weight * logOf[bit(l.changed[i])][min(max(after-before, 0), 3)]
		after, weight = before, weight*fades
	}
	return sum
}

// steady returns the logarithm of the looks' probability if the page changes at a
// constant rate, the one under which they are likeliest.
func (l *timedLooks) steady(fades float64) float64 {
	rate := l.guess()
	if rate == 0 || math.IsInf(rate, 1) {
		return 0 // then they could not be otherwise
	}
	for range 12 {
		rise, falls := l.slopes(rate, fades)
		if math.Abs(rise) < 1e-3*falls || !(falls > 0) {
			break
		}
		rate *= math.Exp(min(max(rise/falls, -2), 2))
	}
	return l.atRate(rate, fades)
}

// guess returns a rate of changes a slot near the likeliest: that at which as many looks
// would find a change if all gaps were alike. It is 0 if no look found one, and infinite if
// all did, as the likeliest is.
func (l *timedLooks) guess() float64 {
	changed := 0
	for _, is := range l.changed[:l.n] {
		changed += int(bit(is))
	}
	if changed == 0 {
		return 0
	}
	gap := max(float64(l.at[l.n]-l.at[0])/float64(l.n), 0.5)
	return -math.Log1p(-float64(changed)/float64(l.n)) / gap
}

// gap returns how many slots before a look the one before it was, which is somewhere in its
// slot.
func (l *timedLooks) gap(i int) float64 { return max(float64(l.at[i+1]-l.at[i]), 0.5) }

// atRate returns the logarithm of the looks' probability at a rate of changes a slot, which
// may be infinite.
func (l *timedLooks) atRate(rate, fades float64) float64 {
	sum, weight := 0.0, 1.0
	for i := l.n - 1; i >= 0; i-- {
		x := rate * l.gap(i)
		if l.changed[i] {
			sum += weight * gamma.LogChange(x)
		} else {
			sum -= weight * x
		}
		weight *= fades
	}
	return sum
}

// slopes returns the slope of atRate over the logarithm of the rate, and minus the slope of
// that.
func (l *timedLooks) slopes(rate, fades float64) (rise, falls float64) {
	weight := 1.0
	for i := l.n - 1; i >= 0; i-- {
		x := rate * l.gap(i)
		if l.changed[i] {
			s := x / math.Expm1(x)
			rise += weight * s
			falls += weight * s * (x + s - 1)
		} else {
			rise -= weight * x
			falls += weight * x
		}
		weight *= fades
	}
	return rise, falls
}
