package cli

import (
	"errors"

	"recrawl/internal/report"
)

type forecastCmd struct {
	Name   string `arg:"" help:"The crawl."`
	Budget string `placeholder:"LIST" help:"Budgets to try: visits per time (20000/day), or how many times the present one (2×, also 2x)."`
	Fresh  string `placeholder:"LIST" help:"Shares of the copies that are to be up to date (95%): what do they cost?"`
}

// Help implements kong.HelpProvider.
func (forecastCmd) Help() string {
	return `What other budgets would make of a crawl, by what it believes of its pages now: how many copies would be up to
date, how old they would be, how long a change would wait for its visit, and which hosts can take no more.
It changes nothing. To try other policies, see starter simulate.

    starter forecast news
    starter forecast news --budget 2×,20000/day
    starter forecast news --fresh 95%                 (how many visits a day, or why politeness does not allow it)`
}

// Run writes the forecast.
func (c forecastCmd) Run(s *session) error {
	q := report.ForecastQuery{Crawl: c.Name}
	var err error
	if q.Budgets, err = report.ParseBudgets(c.Budget); err != nil {
		return usagef("--budget: %w", err)
	}
	if q.Fresh, err = report.ParseShares(c.Fresh); err != nil {
		return usagef("--fresh: %w", err)
	}
	return s.withReport(func(r report.Reporter) error {
		err := r.Forecast(s.ctx, q)
		if errors.Is(err, report.ErrNoBudget) {
			return usage(err)
		}
		return orNoCrawl(c.Name, err)
	})
}
