package cli

import (
	"errors"
	"fmt"
	"time"

	"recrawl/internal/report"
	"recrawl/internal/store"
)

type evidenceCmd struct {
	Host     string `arg:"" help:"The host as in 'starter hosts': example.com, or example.com:8080."`
	Since    string `default:"1d" placeholder:"WHEN" help:"Since a date (2026-03-01), a time (2026-03-01T12:00:00Z), or for so long (7d); by default a day."`
	Markdown bool   `help:"Write Markdown, to be sent in a mail or put into an issue."`
}

// Help implements kong.HelpProvider.
func (evidenceCmd) Help() string {
	return `What to answer when the owner of a site asks "was it you?": the requests to the host by hour and the gaps between
them, what its robots.txt said at each time and whether it allowed them, each 429 and 503 with its Retry-After and when
the next request came, who asks, and what is not recorded. All crawls of the store count. It reads all pages of the host.

    starter evidence example.com
    starter evidence example.com --since 7d --markdown > evidence.md`
}

// Run writes the evidence.
func (c evidenceCmd) Run(s *session) error {
	host, err := hostKey(c.Host)
	if err != nil {
		return err
	}
	since, within, err := parseWhen(c.Since)
	if err != nil {
		return usagef("--since %w", err)
	}
	if c.Markdown && s.global.Output == report.JSON {
		return usagef("--markdown and --output json: choose one")
	}
	line := newProgress(s)
	defer line.clear()
	return s.withReport(func(r report.Reporter) error {
		r = line.of(r)
		if c.Markdown {
			r.Format = report.Markdown
		}
		if within > 0 {
			now, err := r.Store.Now(s.ctx)
			if err != nil {
				return err
			}
			since = now.Add(-within)
		}
		err := r.Evidence(s.ctx, report.EvidenceQuery{Host: host, Since: since.Truncate(time.Second)})
		if errors.Is(err, store.ErrNotFound) {
			return &failure{ExitNotFound, fmt.Sprintf("no crawl knows the host %s: `starter hosts NAME` lists the hosts of a crawl", host), err}
		}
		return err
	})
}
