package cli

import (
	"context"
	"errors"

	"recrawl/internal/config"
	"recrawl/internal/report"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

type explainCmd struct{ pageArg }

// Help implements kong.HelpProvider.
func (explainCmd) Help() string {
	return `Says when the page is visited next and why then: what the policy concluded from its visits, what a person
asked for, what its host allows, and what robots.txt says. What its workflow does at this moment is
told when Temporal can be reached. Of a URL that is no page it says why the crawl's rules of today do not
take it, and when a link to it was rejected, if that is one of those that 'starter rejected' lists. Filter
programs are those of RECRAWL_FILTERS, as for the worker.

    starter explain https://example.com/news`
}

// Run explains a page.
func (c explainCmd) Run(s *session) error {
	url, err := canonical(c.URL)
	if err != nil {
		return err
	}
	return s.withStore(func(opened Opened) error {
		reporter := report.Reporter{Store: opened.Store, Requests: opened.Requests, Out: s.env.Stdout, Format: s.global.Output}
		page, err := findPage(s, opened, url, c.Crawl)
		if errors.Is(err, store.ErrNotFound) {
			if told, failed := reporter.ExplainRejected(s.ctx, url, c.Crawl, c.judge(s, opened)); told || failed != nil {
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

// judge judges a URL that is no page as 'check scope' does.
func (c explainCmd) judge(s *session, opened Opened) report.ScopeJudge {
	return func(record store.CrawlRecord, url string) (report.ScopeCheck, error) {
		u, err := urlkey.Canonical(url)
		if err != nil {
			return report.ScopeCheck{}, err
		}
		check, err := checkScopeCmd{}.stored(s, opened, record, u)
		if exitCode(err) == ExitUsage { // from RECRAWL_FILTERS, which may differ on the worker
			return report.ScopeCheck{URL: url, Problem: oneLine(err)}, nil
		}
		return check, err
	}
}

// NewScopeJudge judges URLs that are no pages, as 'starter explain' does, until ctx ends.
func NewScopeJudge(ctx context.Context, cfg config.Config, opened Opened) report.ScopeJudge {
	return explainCmd{}.judge(&session{ctx: ctx, cfg: cfg}, opened)
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
