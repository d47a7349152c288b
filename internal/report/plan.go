package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

// planOf explains a page's plan by present knowledge. It returns nil if its policy does not
// plan the page: it was not visited yet, or its last visit found no content.
func planOf(page store.PageRecord, spec crawl.RevisitSpec, now time.Time) (*schedule.Explanation, error) {
	belief := schedule.DecodeBelief(page.Belief)
	if page.State != crawl.Active || page.Visits == 0 || belief.Compared != page.LastAt.UnixMilli() {
		return nil, nil
	}
	rules, err := schedule.NewRules(spec)
	if err != nil {
		return nil, err
	}
	group := rules.At(rules.Group(page.URL))
	known := schedule.Page{ID: page.PageID, State: page.State, Visit: page.Visits, Failures: page.Failures, Belief: belief}
	e := schedule.Explain(group.Policy, known, group.Steer(page.Steering, page.HostSteering, page.Weight), now.Sub(page.LastAt))
	return &e, nil
}

// planLine is a plan as JSON. Rates are changes a day.
type planLine struct {
	Policy       string   `json:"policy"`
	Mean         float64  `json:"mean"`
	Low          float64  `json:"low"`
	High         float64  `json:"high"`
	Looks        int      `json:"looks"`
	Changes      int      `json:"changes"`
	Told         int      `json:"told"`
	Noisy        bool     `json:"noisy"`
	Index        float64  `json:"index"`
	Threshold    float64  `json:"threshold"`
	HostPrice    float64  `json:"host_price"`
	OwnThreshold bool     `json:"own_threshold"`
	Weight       float64  `json:"weight"`
	Wanted       string   `json:"wanted"`
	Jitter       float64  `json:"jitter"`
	Interval     string   `json:"interval"`
	Reasons      []string `json:"reasons"`
	WhatIf       []string `json:"what_if"`
	// ThresholdReasons says why the last maintenance pass put the crawl's threshold where
	// it is.
	ThresholdReasons []string `json:"threshold_reasons"`
}

func newPlanLine(e schedule.Explanation, s store.SteeringRecord) *planLine {
	return &planLine{
		Policy: e.Policy, Mean: e.Mean, Low: e.Low, High: e.High, Looks: e.Looks, Changes: e.Changes, Told: e.Told, Noisy: e.Noisy,
		Index: e.Index, Threshold: e.Threshold, HostPrice: e.HostPrice, OwnThreshold: e.OwnThreshold, Weight: e.Weight,
		Wanted: crawl.FormatDuration(e.Wanted), Jitter: e.Jitter, Interval: crawl.FormatDuration(e.Interval),
		Reasons: words(e.Reasons), WhatIf: words(e.WhatIf), ThresholdReasons: thresholdReasons(e, s),
	}
}

// thresholdReasons says why the threshold of a plan is where it is, if it is the crawl's.
func thresholdReasons(e schedule.Explanation, s store.SteeringRecord) []string {
	if e.Threshold <= 0 || e.OwnThreshold {
		return []string{}
	}
	return words(s.Reasons)
}

// planFacts returns the numbers behind a plan.
func (of Explained) planFacts() []Fact {
	var t facts
	e := *of.plan
	t.number("belief", fmt.Sprintf("%s changes a day (90 %%: %s to %s) from %s, %s",
		figure(e.Mean), figure(e.Low), figure(e.High), plural(e.Looks, "look"), plural(e.Changes, "change")))
	if of.looks != nil {
		t.number("estimates", estimatesWords(*of.looks))
	}
	for _, r := range e.Reasons {
		if r.Code == schedule.CodeAged {
			t.number("age", schedule.Word(r))
		}
	}
	if e.Threshold > 0 {
		t.number("index", indexWords(e))
	}
	if why := thresholdReasons(e, of.steer); len(why) > 0 {
		t.number("threshold", when(of.steer.At, of.now)+": "+strings.Join(why, ", "))
	}
	t.number("interval", fmt.Sprintf("%s after the last visit; wanted %s, jitter %+.1f %%",
		schedule.Rough(e.Interval), schedule.Rough(e.Wanted), 100*e.Jitter))
	for i, what := range e.WhatIf {
		t.number([]string{"what if", ""}[min(i, 1)], schedule.Word(what))
	}
	return t
}

func indexWords(e schedule.Explanation) string {
	text := fmt.Sprintf("%s now, weight %s; due at θ %s", figure(e.Index), figure(e.Weight), figure(e.Threshold))
	if e.OwnThreshold {
		text += ", which is that of a page that nothing is known of"
	}
	if e.HostPrice > e.Threshold {
		text += ", or rather at its host's price " + figure(e.HostPrice)
	}
	return text
}

// figure writes a number with three significant digits, and with an exponent only where the
// zeros would be more than people count.
func figure(x float64) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 3, 64), 64)
	if size := math.Abs(rounded); err != nil || size < 1e-5 && size > 0 || size >= 1e7 {
		return strconv.FormatFloat(x, 'g', 3, 64)
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}
