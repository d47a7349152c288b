package optimum

import (
	"fmt"
	"math"
	"testing"

	"recrawl/internal/schedule"
)

// Of pages that change from ten times a day to once in three years, as many of each
// kind (Cho & Garcia-Molina 2000), fresh learns which to give up. Without early
// looks it closes half of the gap.
func TestLearnsWhatToGiveUp(t *testing.T) {
	t.Parallel()
	l := newLife(schedule.Fresh{}, 3, 360, 0.1, false)
	for i := range l.elements {
		l.elements[i].Lambda = 10 * math.Pow(12000, -float64(i)/360)
		l.elements[i].Host = 0
	}
	penalty, _ := l.run(180, 360)
	same := mean(l.elements, inProportion(l.elements, l.budget, uniform), l.policy.Penalty)
	best := mean(l.elements, Allocate(schedule.Fresh{}, l.elements, l.budget, nil).Visits, l.policy.Penalty)
	closed := fmt.Sprintf("%.1f %% of the gap closed", 100*(same-penalty)/(same-best))
	t.Log(closed)
	if (same-penalty)/(same-best) < 0.75 {
		t.Error(closed + ", want 75")
	}
}
