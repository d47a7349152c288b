package cli

import (
	"errors"

	"recrawl/internal/report"
	"recrawl/internal/store"
)

type explainCmd struct{ pageArg }

// Help implements kong.HelpProvider.
func (explainCmd) Help() string {
	return `Says when the page is visited next and why then: what the policy concluded from its visits, what a person
asked for, what its host allows, and what robots.txt says. What its workflow does at this moment is
told when Temporal can be reached. Of a link that was not taken it says why, if it is one of those
that 'starter rejected' lists.

    starter explain https://example.com/news`
}

// Run explains a page.
func (c explainCmd) Run(s *session) error {
	url, err := canonical(c.URL)
	if err != nil {
		return err
	}
	return s.withStore(func(opened Opened) error {
		reporter := report.Reporter{Store: opened.Store, Out: s.env.Stdout, Format: s.global.Output}
		page, err := findPage(s, opened, url, c.Crawl)
		if errors.Is(err, store.ErrNotFound) {
			if told, failed := reporter.ExplainRejected(s.ctx, url, c.Crawl); told || failed != nil {
				return failed
			}
		}
		if err != nil {
			return err
		}
		live, err := s.live(page)
		if err != nil {
			return err
		}
		return reporter.Explain(s.ctx, page, live)
	})
}

// live asks the page's workflow. Its silence is part of the answer.
func (s *session) live(page store.PageRecord) (live report.Live, err error) {
	err = s.withTemporal(func(client Client) error {
		live, err = client.Explain(s.ctx, page)
		return err
	})
	switch {
	case err == nil:
		return live, nil
	case errors.Is(err, store.ErrNotFound):
		return report.Live{Problem: "the page has no workflow"}, nil
	case s.ctx.Err() != nil:
		return live, err
	}
	return report.Live{Problem: oneLine(err)}, nil
}
