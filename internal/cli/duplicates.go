package cli

import (
	"recrawl/internal/config"
	"recrawl/internal/report"
)

type duplicatesCmd struct {
	Name    string `arg:"" help:"The crawl."`
	Mirrors bool   `help:"List the pairs of hosts with mostly the same contents instead."`
	Find    bool   `help:"Compare all pages of the crawl first, and find mirrors. Visits and maintenance compare only what is new."`
	Limit   uint   `placeholder:"N" help:"Show at most N; all without it."`
}

// FoundDuplicates are the findings of Backend.FindDuplicates.
type FoundDuplicates struct {
	Pages, Duplicates, Mirrors int
}

// Help implements kong.HelpProvider.
func (duplicatesCmd) Help() string {
	return `Pages whose content is that of another page, the original, or nearly. Exact duplicates are visited rarely, and
links of copies on one host are not followed. Near ones are listed with their resemblance, from
content.near_duplicate of the spec on, and are visited as any page. "(once)": no longer so.

    starter duplicates news
    starter duplicates news --find --mirrors`
}

// Run lists duplicates or mirrors.
func (c duplicatesCmd) Run(s *session) error {
	if s.places.Store == "" {
		return usage(config.ErrNoStore)
	}
	if c.Find {
		if _, err := s.env.Backend.FindDuplicates(s.ctx, s.target(), c.Name); err != nil {
			return orNoCrawl(c.Name, err)
		}
	}
	return s.withReport(func(r report.Reporter) error {
		if c.Mirrors {
			return orNoCrawl(c.Name, r.Mirrors(s.ctx, c.Name, int(c.Limit)))
		}
		return orNoCrawl(c.Name, r.Duplicates(s.ctx, c.Name, int(c.Limit)))
	})
}
