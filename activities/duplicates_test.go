package activities_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
)

// article is a page of n words, unlike any other, with a link.
func article(topic string, n int) string {
	var b strings.Builder
	b.WriteString("<title>" + topic + "</title><main><p>")
	for i := range n {
		fmt.Fprintf(&b, "%s%d ", topic, i*7919%1000)
	}
	return b.String() + `<p><a href="/next">next</a></main>`
}

// planned is seen with the plan.
func (w *world) planned(page crawl.PageRef, visit int, body string) (contract.DetectOut, contract.PlanOut) {
	w.t.Helper()
	in := w.detection(page, visit, body)
	out := run(w, contract.DetectChange, in)
	in.Fetch.Outcome = out.Outcome
	return out, run(w, contract.PlanRevisit, contract.PlanIn{Page: page, Visit: visit, Fetch: in.Fetch, Reasons: out.Reasons})
}

func TestDuplicateIsProbed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pages := w.living([]string{"http://localhost/a", "http://localhost/b?session=1"})
	original, other := pages[0], pages[1]
	w.plannedLinks(original, 1, article("rain", 200))
	markup := strings.Replace(article("rain", 200), "<main>", "<main class=b>", 1)
	out, plan := w.planned(other, 1, markup)
	if out.Outcome != crawl.OutcomeNew || out.Links != 0 || codes(out.Reasons) != "first-version duplicate-of" || out.Reasons[1].Text != original.URL {
		t.Errorf("the same text: %+v", out)
	}
	if plan.State != crawl.Duplicate || time.Until(plan.NextAt) < 100*24*time.Hour {
		t.Errorf("the duplicate is %s until %s", plan.State, plan.NextAt)
	}
	if _, plan := w.planned(other, 2, markup); plan.State != crawl.Duplicate {
		t.Errorf("unchanged, the duplicate is %s", plan.State)
	}

	w.planned(original, 2, article("sun", 200))
	if !slices.Equal(w.flows.rescheduled, []string{other.URL}) {
		t.Errorf("rescheduled are %v", w.flows.rescheduled)
	}
	if _, plan := w.planned(other, 3, markup); plan.State != crawl.Active || time.Until(plan.NextAt) > 4*24*time.Hour {
		t.Errorf("when its other page is another it is %s until %s", plan.State, plan.NextAt)
	}
	if out, plan := w.planned(other, 4, article("snow", 200)); plan.State != crawl.Active || out.Links != 1 {
		t.Errorf("with content of its own it is %s, %+v", plan.State, out)
	}
}

// The links of a mirror lead to its own pages.
func TestMirrorIsFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pages := w.living([]string{"http://127.0.0.1/a", "http://localhost/a"})
	w.planned(pages[0], 1, article("rain", 200))
	out, plan := w.planned(pages[1], 1, article("rain", 200))
	if out.Links != 1 || codes(out.Reasons) != "first-version duplicate-of" || plan.State != crawl.Duplicate {
		t.Errorf("%s, %+v", plan.State, out)
	}
}

// A near-duplicate is visited like any page, but its links are the other's.
func TestNearDuplicateIsVisited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pages := w.living([]string{"http://localhost/a", "http://localhost/bb"})
	w.plannedLinks(pages[0], 1, article("rain", 900))
	out, plan := w.planned(pages[1], 1, strings.Replace(article("rain", 900), "rain0 ", "hail0 ", 1))
	if codes(out.Reasons) != "first-version near-duplicate-of" || out.Links != 0 || plan.State != crawl.Active {
		t.Errorf("%s, %+v", plan.State, out)
	}
	if time.Until(plan.NextAt) > 4*24*time.Hour {
		t.Errorf("visited again at %s", plan.NextAt)
	}
}

// Short texts are on many pages that otherwise have nothing in common.
func TestShortTextsAreNoDuplicates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pages := w.living([]string{"http://localhost/a", "http://localhost/b"})
	w.planned(pages[0], 1, "<p>Please wait.<!-- 1 -->")
	if out, plan := w.planned(pages[1], 1, "<p>Please wait.<!-- 2 -->"); plan.State != crawl.Active || codes(out.Reasons) != "first-version" {
		t.Errorf("%s, %+v", plan.State, out)
	}
}
