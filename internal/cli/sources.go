package cli

import (
	"recrawl/internal/report"
)

type sourcesCmd struct {
	Name  string `arg:"" help:"The crawl."`
	Host  string `placeholder:"HOST" help:"Only of this host."`
	Limit uint   `placeholder:"N" help:"Show at most N; all without it."`
}

// Help implements kong.HelpProvider.
func (sourcesCmd) Help() string {
	return `The sitemaps that robots.txt names and the feeds that pages name: how many URLs each had when it was last read,
how many of them with a date that is believed, and what was left out and why. A hit is a visit that was made
early by the source's word and found a change, a miss one that found none.

    starter sources news
    starter sources news --output json`
}

// Run lists sources.
func (c sourcesCmd) Run(s *session) error {
	host, err := hostFilter(c.Host)
	if err != nil {
		return err
	}
	q := report.SourcesQuery{Crawl: c.Name, Host: host, Limit: int(c.Limit)}
	return s.withReport(func(r report.Reporter) error { return orNoCrawl(c.Name, r.Sources(s.ctx, q)) })
}
