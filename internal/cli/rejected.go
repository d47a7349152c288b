package cli

import "recrawl/internal/report"

type rejectedCmd struct {
	Name   string `arg:"" help:"The crawl."`
	Reason string `placeholder:"REASON" help:"Only of this reason, as the first table writes it."`
	Limit  uint   `placeholder:"N" help:"Show at most N URLs; all that are kept without it."`
}

// Help implements kong.HelpProvider.
func (rejectedCmd) Help() string {
	return `Links that were found and are not pages of the crawl: how many for each reason, and some of them. All are
counted, and of each reason some dozens are kept. 'starter check scope' says why of any URL.

    starter rejected news
    starter rejected news --reason 'rule sorted lists'`
}

// Run lists rejected links.
func (c rejectedCmd) Run(s *session) error {
	q := report.RejectedQuery{Crawl: c.Name, Reason: c.Reason, Limit: int(c.Limit)}
	return s.withReport(func(r report.Reporter) error { return orNoCrawl(c.Name, r.Rejected(s.ctx, q)) })
}
