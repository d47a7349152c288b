package report

import (
	"fmt"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

// estimatedVisits is the number of a page's last visits from which estimates are made.
const estimatedVisits = 500

// looksOf returns the comparisons among a page's visits, the latest visit first. Visits
// that saw no content neither count nor end the time between two looks.
func looksOf(visits []store.VisitRecord) []schedule.Look {
	var looks []schedule.Look
	var later *store.VisitRecord
	for i := range visits {
		v := &visits[i]
		if !v.Outcome.Observes() {
			continue
		}
		if later != nil && later.Outcome != crawl.OutcomeNew && later.At.After(v.At) {
			looks = append(looks, schedule.Look{Days: later.At.Sub(v.At).Hours() / 24, Changed: later.Outcome.Changed()})
		}
		later = v
	}
	return looks
}

// estimatesLine holds the estimates of the literature's estimators from a page's looks, as
// JSON. Rates are changes a day.
type estimatesLine struct {
	Looks   int     `json:"looks"`
	Changes int     `json:"changes"`
	Days    float64 `json:"days"`
	// Count is the number of changes found over the days; Log is Cho and Garcia-Molina's
	// correction of it; Likelihood is the rate of greatest likelihood.
	Count      float64 `json:"count"`
	Log        float64 `json:"log"`
	Likelihood float64 `json:"likelihood"`
}

func newEstimatesLine(e schedule.Estimates) *estimatesLine {
	return &estimatesLine{Looks: e.Looks, Changes: e.Changes, Days: e.Days, Count: e.Count, Log: e.Log, Likelihood: e.Likelihood}
}

func estimatesWords(e schedule.Estimates) string {
	return fmt.Sprintf("%s changes a day by counting, %s by Cho & Garcia-Molina, %s by likelihood (from %s, %s)",
		figure(e.Count), figure(e.Log), figure(e.Likelihood), plural(e.Looks, "look"), plural(e.Changes, "change"))
}
