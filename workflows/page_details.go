package workflows

import (
	"fmt"
	"strings"

	"go.temporal.io/sdk/workflow"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
)

// show puts the page's details where the Temporal UI shows them. They are not part of the
// history. Every run sets them again, since continue-as-new drops the details that the first
// run was started with.
func (p *page) show(doing string) {
	workflow.SetCurrentDetails(p.ctx, pageDetails(&p.s, doing))
}

// pageDetails is the page in Markdown.
func pageDetails(s *contract.PageIn, doing string) string {
	v := pageView(s, doing)
	var b strings.Builder
	row := func(name, value string) { fmt.Fprintf(&b, "| %s | %s |\n", name, cell(value)) }
	b.WriteString("| | |\n|---|---|\n")
	row("URL", v.URL)
	row("Crawl", v.Crawl)
	row("State", v.State.String())
	row("Now", v.Doing)
	row("Next", fmt.Sprintf("visit %d, %s: %s", v.Visits+1, clock(v.Due), v.Why))
	if len(v.Recent) == 0 {
		return b.String()
	}
	b.WriteString("\n| Visit | At | Outcome | Status | Note |\n|---|---|---|---|---|\n")
	for _, line := range v.Recent {
		status := ""
		if line.Status != 0 {
			status = fmt.Sprint(line.Status)
		}
		fmt.Fprintf(&b, "| %d | %s | %s | %s | %s |\n", line.Visit, clock(line.At), line.OutcomeWord(), status, cell(line.Note))
	}
	return b.String()
}

// pageView is the answer to the state query. It shares no memory with the state, which a
// later step could change.
func pageView(s *contract.PageIn, doing string) contract.PageView {
	due, why := dueAt(s)
	if s.Waiting != "" {
		doing += ": " + s.Waiting
	}
	return contract.PageView{
		URL: s.Page.URL, Crawl: s.Page.Crawl, Host: s.Page.Host, State: s.State, Doing: doing,
		Visits: s.Visit, Due: due, Why: why, Snoozed: s.Snoozed,
		Recent: append([]contract.VisitLine(nil), s.Recent...),
	}
}

// explain is the answer to the explain query: everything in the state that affects the next
// visit, in words.
func explain(s *contract.PageIn, doing string) contract.ExplainView {
	v := contract.ExplainView{PageView: pageView(s, doing)}
	add := func(format string, args ...any) { v.Reasons = append(v.Reasons, fmt.Sprintf(format, args...)) }
	if s.Stopping {
		add("the page is being stopped: no further visit")
	}
	if s.Asked {
		add("a person asked for a visit now")
	}
	if s.Why != "" || !s.Due.IsZero() {
		add("the policy's next visit: %s: %s", clock(s.Due), s.Why)
	}
	if s.Interval > 0 {
		v.Interval = crawl.FormatDuration(s.Interval)
		add("a person set a visit every %s", v.Interval)
	}
	if !s.Snoozed.IsZero() {
		add("a person snoozed the page until %s", clock(s.Snoozed))
	}
	if s.Unrecorded != nil {
		add("visit %d was made (%s) and is not recorded yet", s.Visit+1, contract.Unmarked(s.Unrecorded.Fetch.Outcome, s.Unrecorded.Fetch.Returned))
	}
	if s.Waiting != "" {
		add("now: %s", s.Waiting)
	}
	if s.Visit == 0 {
		add("the page has not been visited yet")
	}
	return v
}
