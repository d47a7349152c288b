package workflows

import (
	"fmt"
	"strings"

	"go.temporal.io/sdk/workflow"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
)

func (c *crawlRun) show(doing string) {
	workflow.SetCurrentDetails(c.ctx, crawlDetails(&c.s, doing))
}

// crawlDetails is the crawl in Markdown.
func crawlDetails(s *contract.CrawlProgress, doing string) string {
	var b strings.Builder
	row := func(name, value string) { fmt.Fprintf(&b, "| %s | %s |\n", name, cell(value)) }
	b.WriteString("| | |\n|---|---|\n")
	row("Crawl", s.Name)
	row("State", s.State.String())
	row("Now", doing)
	if s.State == crawl.CrawlStopped {
		row("Closed", fmt.Sprintf("%d pages asked to complete", s.ClosedPages))
	}
	if !s.LastTurn.IsZero() {
		row("Last maintenance", clock(s.LastTurn))
	}
	row("Next maintenance", clock(s.NextTurn))
	if s.Problem != "" {
		row("Maintenance failed", s.Problem)
	}
	for _, step := range workflow.DeterministicKeys(s.Problems) {
		row("Maintenance of "+step+" failed", s.Problems[step])
	}
	row("Visits", fmt.Sprintf("%d so far, %d pages in line, %d overdue", s.Counts.Visits, s.Counts.Waiting, s.Counts.Overdue))
	row("Hosts", fmt.Sprintf("%d, of them %d in back-off", s.Counts.Hosts, s.Counts.Backoff))
	if r := s.Ranked; r != nil {
		row("Ranks", fmt.Sprintf("%d pages by %d links, made %s in %s, %d rounds", r.Pages, r.Links, clock(r.At), roughly(r.Took), r.Rounds))
	}
	if s.Evicted > 0 {
		row("Evicted", fmt.Sprintf("%d pages for better ones", s.Evicted))
	}
	if len(s.Counts.Pages) == 0 {
		return b.String()
	}
	b.WriteString("\n| Pages | |\n|---|---|\n")
	for _, state := range workflow.DeterministicKeys(s.Counts.Pages) {
		row(state, fmt.Sprint(s.Counts.Pages[state]))
	}
	return b.String()
}
