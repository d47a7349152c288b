package cli

import (
	"errors"
	"fmt"

	"recrawl/internal/config"
	"recrawl/internal/crawl"
)

type deleteCmd struct {
	Name        string `arg:"" help:"The crawl."`
	KeepArchive bool   `help:"Leave its bytes in the archive; 'starter archive gc' removes them later, unless another crawl has them."`
	Yes         bool   `help:"Do it; without this flag, only say what would be deleted."`
}

// Help implements kong.HelpProvider.
func (deleteCmd) Help() string {
	return `Removes a crawl for good: its workflows, pages, visits, versions and seeds, and the bytes that no other
crawl has. Hosts with their politeness and robots.txt, and what was forgotten, are everybody's, and stay. Without
--yes it only says what it would do. It may be cut off: the same command goes on. Then the name is free again.

    starter delete news --yes`
}

// DeleteOptions say how a crawl is deleted.
type DeleteOptions struct {
	Dry         bool // only count
	KeepArchive bool
	// Progress is called as it goes on, unless it is a dry run.
	Progress func(ForgetProgress)
}

// Deleted counts what a deletion removed.
type Deleted struct {
	Pages, Contents, Workflows int
	// Left says what remains and for how long, a sentence each.
	Left []string
}

// Run deletes the crawl.
func (c deleteCmd) Run(s *session) error {
	if !crawl.ValidName(c.Name) {
		return checkName(c.Name, nil)
	}
	if s.places.Store == "" {
		return usage(config.ErrNoStore)
	}
	progress := newProgress(s).atOnce()
	done, err := s.env.Backend.Delete(s.ctx, s.target(), c.Name, DeleteOptions{Dry: !c.Yes, KeepArchive: c.KeepArchive, Progress: progress.takedown()})
	progress.clear()
	if s.ctx.Err() != nil {
		return fmt.Errorf("cut off after %s: the same command goes on", count(done.Pages, "page"))
	}
	if err != nil {
		return orNoCrawl(c.Name, err)
	}
	if !c.Yes {
		return s.say("would delete crawl %s: %s, for good; do it with --yes", c.Name, count(done.Pages, "page"))
	}
	err = s.say("deleted crawl %s: %s, %s, %s", c.Name, count(done.Pages, "page"), count(done.Contents, "content"), count(done.Workflows, "workflow"))
	for _, left := range done.Left {
		err = errors.Join(err, s.say("%s", left))
	}
	return err
}
