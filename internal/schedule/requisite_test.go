package schedule

import (
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
)

func TestAfterRequisite(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	p := Parameters{Round: day, Min: time.Hour, Max: 120 * day}
	for _, c := range []struct {
		seen     Observation
		failures int
		state    crawl.PageState
		interval time.Duration // 0: that of a back-off
		words    string
	}{
		{Observation{Outcome: crawl.OutcomeNew}, 0, crawl.Kept, 30 * day, "kept, and asked for again when a new version of a page needs it after 30d"},
		{Observation{Outcome: crawl.OutcomeChanged}, 2, crawl.Kept, 30 * day, "kept"},
		{Observation{Outcome: crawl.OutcomeUnchanged}, 0, crawl.Kept, 30 * day, "kept"},
		{Observation{Outcome: crawl.OutcomeGone}, 0, crawl.Kept, 30 * day, "gone, no copy"},
		{Observation{Outcome: crawl.OutcomeExcluded}, 0, crawl.Kept, 30 * day, "excluded"},
		{Observation{Outcome: crawl.OutcomeTooLarge}, 0, crawl.Kept, 30 * day, "over the size limit"},
		{Observation{Outcome: crawl.OutcomeUnsupported}, 0, crawl.Kept, 30 * day, "content type not wanted"},
		{Observation{Outcome: crawl.OutcomeRedirected}, 0, crawl.Kept, 30 * day, "answers with a redirect"},
		{Observation{Outcome: crawl.OutcomeFailed}, 0, crawl.Failing, 0, "failed"},
		{Observation{Outcome: crawl.OutcomeThrottled}, 1, crawl.Failing, 0, "asked for quiet"},
		{Observation{Outcome: crawl.OutcomeTimedOut}, 2, crawl.Kept, day, "3"},
		{Observation{Outcome: crawl.OutcomeThrottled}, 2, crawl.Kept, day, "after 1d"},
	} {
		page := Page{ID: 7, State: crawl.Active, Visit: 1, Failures: c.failures}
		plan := AfterRequisite(page, c.seen, p)
		words := Words(plan.Reasons())
		if plan.State != c.state || c.interval != 0 && plan.Interval != c.interval || c.interval == 0 && plan.Interval <= 0 || !strings.Contains(words, c.words) {
			t.Errorf("%s after %d failures: %s for %s: %s", c.seen.Outcome, c.failures, plan.State, plan.Interval, words)
		}
		if fails := plan.State == crawl.Failing; fails != (plan.Failures == c.failures+1) || !fails && plan.Failures != 0 {
			t.Errorf("%s after %d failures: %d", c.seen.Outcome, c.failures, plan.Failures)
		}
		page.State = crawl.Stopped
		if got := AfterRequisite(page, c.seen, p).State; got != crawl.Stopped {
			t.Errorf("%s of one that was stopped: %s", c.seen.Outcome, got)
		}
	}
	again := AfterRequisite(Page{ID: 7, State: crawl.Active}, Observation{Outcome: crawl.OutcomeRedirected, Respelled: true}, p)
	if again.State != crawl.Active || again.Interval != 0 {
		t.Errorf("another spelling: %s for %s", again.State, again.Interval)
	}
}
