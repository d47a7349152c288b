package cli

import (
	"recrawl/internal/config"
	"recrawl/internal/report"
)

type trapsCmd struct {
	Name     string `arg:"" help:"The crawl."`
	Release  string `placeholder:"TRAP" help:"Let the pages of this trap be visited, as the list names it, and guard it no more."`
	Prefixes uint   `default:"10" placeholder:"N" help:"How many of the hosts and prefixes with most pages are listed, by default 10."`
}

// Help implements kong.HelpProvider.
func (trapsCmd) Help() string {
	return `Parts of sites that seem to have no end, and why. Their pages are known and held: none is visited for the
first time, and none is lost. 'starter pages NAME --state held' lists them.

    starter traps news
    starter traps news --release example.com/print/#`
}

// Run lists traps or releases one.
func (c trapsCmd) Run(s *session) error {
	if c.Release == "" {
		q := report.TrapsQuery{Crawl: c.Name, Prefixes: int(c.Prefixes)}
		return s.withReport(func(r report.Reporter) error { return orNoCrawl(c.Name, r.Traps(s.ctx, q)) })
	}
	if s.places.Store == "" {
		return usage(config.ErrNoStore)
	}
	message, err := s.env.Backend.ReleaseTrap(s.ctx, s.target(), c.Name, c.Release)
	if err != nil {
		return err
	}
	return s.say("%s", message)
}
