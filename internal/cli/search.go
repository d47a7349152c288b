package cli

import (
	"errors"
	"fmt"
	"strings"

	"recrawl/internal/config"
	"recrawl/internal/report"
)

type searchCmd struct {
	Name    string   `arg:"" help:"The crawl."`
	Words   []string `arg:"" optional:"" help:"What to look for: words, in any order. No character has a meaning of its own."`
	Host    string   `placeholder:"HOST" help:"Only pages of this host."`
	Prefix  string   `placeholder:"URL" help:"Only pages whose URL starts with it."`
	Limit   uint     `default:"10" placeholder:"N" help:"Show at most N pages, 10 by default."`
	Offset  uint     `placeholder:"N" help:"Leave out the first N pages."`
	Rebuild bool     `help:"Fill the index anew first. It is never needed, and does no harm."`
}

// Help implements kong.HelpProvider.
func (searchCmd) Help() string {
	return `Pages that have all of the words, best first; if there is none, pages that have some of them. The crawl needs a
sink of the kind search, which keeps the index up to date.

    starter search docs retry policy
    starter search docs 東京 --prefix https://docs.example.com/ja/ --output json
    starter search docs --rebuild`
}

// Run finds pages, or rebuilds the index.
func (c searchCmd) Run(s *session) error {
	words := strings.Join(c.Words, " ")
	if strings.TrimSpace(words) == "" && !c.Rebuild {
		return usagef("say what to look for: starter search %s WORDS", c.Name)
	}
	host, err := hostFilter(c.Host)
	if err != nil {
		return err
	}
	if c.Rebuild {
		if err := c.rebuild(s); err != nil || strings.TrimSpace(words) == "" {
			return err
		}
	}
	return s.withReport(func(r report.Reporter) error {
		if s.places.Archive == "" {
			return usage(config.ErrNoArchive)
		}
		files, err := s.env.Backend.OpenArchive(s.ctx, s.places.Archive)
		if err != nil {
			return fmt.Errorf("cannot open the archive: %w", err)
		}
		return c.orUnknown(r.Found(s.ctx, files, report.SearchQuery{
			Crawl: c.Name, Words: words, Host: host, Prefix: c.Prefix, Limit: int(c.Limit), Offset: int(c.Offset),
		}))
	})
}

func (c searchCmd) rebuild(s *session) error {
	return s.withArchive(func(at Target) error {
		line := newProgress(s)
		pages, err := s.env.Backend.RebuildIndex(s.ctx, at, c.Name, func(pages int) { line.show(count(pages, "page")) })
		line.clear()
		if err != nil {
			return c.orUnknown(err)
		}
		return s.say("the search index of crawl %s is filled anew: %s", c.Name, count(pages, "page"))
	})
}

// orUnknown gives the errors for a crawl that does not exist, or has no index, their exit
// codes.
func (c searchCmd) orUnknown(err error) error {
	if errors.Is(err, report.ErrNotSearchable) {
		return &failure{ExitNotFound, "", err}
	}
	return orNoCrawl(c.Name, err)
}
