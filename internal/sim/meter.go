package sim

// meter integrates over time how pages differ from their copies. Every number is
// the exact integral of a step function or of a line: nothing is sampled.
type meter struct {
	from, to float64 // the measured time
	sums     sums
	line     timeline
}

// sums are integrals over the measured time, each page's times its weight.
type sums struct {
	time     float64 // of life
	fresh    float64 // of life with a copy that equals the page
	age      float64 // of the time since the first change that the copy lacks
	unseen   float64 // of the number of changes that the copy lacks
	harmonic float64 // of its harmonic number
	changes  float64 // number of changes
}

func newMeter(from, to float64, parts int) meter {
	return meter{from: from, to: to, line: newTimeline(to, parts)}
}

// within returns the measured part of a span of time.
func (m *meter) within(start, end float64) (from, to float64) {
	from, to = max(start, m.from), min(end, m.to)
	return from, max(from, to)
}

// span accounts for a copy that was taken at start and held until end, and the
// changes of the page after start until end, both inclusive of end.
func (m *meter) span(weight, start, end float64, changes []float64) {
	stale := end
	if len(changes) > 0 {
		stale = changes[0]
	}
	m.line.add(start, stale, end, weight)
	from, to := m.within(start, end)
	m.sums.time += weight * (to - from)
	from, to = m.within(start, stale)
	m.sums.fresh += weight * (to - from)
	from, to = m.within(stale, end)
	m.sums.age += weight * (to - from) * ((to+from)/2 - stale)
	for i, c := range changes {
		if c >= m.from && c < m.to {
			m.sums.changes += weight
		}
		from, to = m.within(c, end)
		m.sums.unseen += weight * (to - from)
		m.sums.harmonic += weight * (to - from) / float64(i+1)
	}
}

// timeline holds how fresh copies are in each part of a world's time.
type timeline struct {
	width       float64
	fresh, life steps
}

func newTimeline(days float64, parts int) timeline {
	return timeline{days / float64(parts), newSteps(parts), newSteps(parts)}
}

func (l *timeline) add(start, stale, end, weight float64) {
	l.fresh.add(start/l.width, stale/l.width, weight)
	l.life.add(start/l.width, end/l.width, weight)
}

// freshness returns the share of life with a fresh copy, for each part; NaN where nothing
// lives.
func (l *timeline) freshness() []float64 {
	fresh, life := l.fresh.totals(), l.life.totals()
	for i := range fresh {
		fresh[i] /= life[i]
	}
	return fresh
}

// steps sums up step functions over parts of length 1, at a constant cost for
// each.
type steps struct {
	part []float64 // heights that cover only a part of the part
	all  []float64 // differences of the heights that cover all of it
}

func newSteps(parts int) steps {
	return steps{make([]float64, parts+1), make([]float64, parts+1)}
}

// add counts a height from one place to another.
func (s *steps) add(from, to, height float64) {
	i, j := int(from), min(int(to), len(s.part)-1)
	if i == j {
		s.part[i] += height * (to - from)
		return
	}
	s.part[i] += height * (float64(i+1) - from)
	s.part[j] += height * (to - float64(j))
	s.all[i+1] += height
	s.all[j] -= height
}

func (s *steps) totals() []float64 {
	totals := make([]float64, len(s.part)-1)
	height := 0.0
	for i := range totals {
		height += s.all[i]
		totals[i] = s.part[i] + height
	}
	return totals
}
