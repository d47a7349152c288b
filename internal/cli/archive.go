package cli

import (
	"fmt"
	"strings"
	"time"

	"recrawl/internal/archive/gc"
	"recrawl/internal/config"
	"recrawl/internal/crawl"
	"recrawl/internal/report"
)

type archiveCmd struct {
	Verify verifyCmd `cmd:"" help:"Read every content that a version has, and name those that are missing or damaged."`
	GC     gcCmd     `cmd:"" name:"gc" help:"Delete contents that no version has."`
}

// withArchive runs do if there is a place for it to act on.
func (s *session) withArchive(do func(Target) error) error {
	switch {
	case s.places.Store == "":
		return usage(config.ErrNoStore)
	case s.places.Archive == "":
		return usage(config.ErrNoArchive)
	}
	return do(s.target())
}

type verifyCmd struct{}

// Help implements kong.HelpProvider.
func (verifyCmd) Help() string {
	return `It may run beside crawls. The exit code is 1 if a content is missing or damaged. Restore it from a backup; if it
is a page's last, the page's next full answer brings it back too. With --output json there is a line for each of
them, and a last line with the counts.

    starter archive verify`
}

// Run reads every content.
func (verifyCmd) Run(s *session) error {
	return s.withArchive(func(at Target) error {
		line := newProgress(s)
		found, err := s.env.Backend.VerifyArchive(s.ctx, at, gc.VerifyOptions{
			Progress: line.archive(),
			Report: func(p gc.Problem) error {
				line.clear()
				return report.ArchiveProblem(p).Write(s.env.Stdout, s.global.Output)
			},
		})
		line.clear()
		if err != nil {
			return fmt.Errorf("after %s: %w", count(found.Contents, "content"), err)
		}
		if err := report.ArchiveVerified(found).Write(s.env.Stdout, s.global.Output); err != nil || found.Damaged() == 0 {
			return err
		}
		return fmt.Errorf("%d of %s cannot be had: restore what is missing or damaged from a backup", found.Damaged(), count(found.Contents, "content"))
	})
}

// leastAge is the smallest age that gc may be given.
const leastAge = time.Hour

type gcCmd struct {
	OlderThan string `default:"1d" placeholder:"AGE" help:"Only what was stored so long ago, by default 1d, at least 1h: younger ones may be a visit's that is under way."`
	DryRun    bool   `help:"Only say what would be deleted."`
}

// Help implements kong.HelpProvider.
func (gcCmd) Help() string {
	return `Maintenance and forget delete what they know of; this finds what nobody knows of any more, such as what a killed
worker had just stored. It may run beside crawls, which lose nothing. It refuses an archive that holds nothing of
this store's. An archive belongs to one store: of two that share one, each would delete what is the other's.

    starter archive gc --dry-run
    starter archive gc --older-than 7d`
}

// Run deletes contents that no version has.
func (c gcCmd) Run(s *session) error {
	age, err := crawl.ParseDuration(c.OlderThan)
	if err != nil || age < leastAge {
		return usagef("--older-than %s: write how long ago, at least 1h, such as 12h or 7d", c.OlderThan)
	}
	return s.withArchive(func(at Target) error {
		line := newProgress(s)
		found, err := s.env.Backend.CollectArchive(s.ctx, at, gc.CollectOptions{Age: age, Dry: c.DryRun, Progress: line.archive()})
		line.clear()
		if err != nil && found.Deleted > 0 && !c.DryRun {
			return fmt.Errorf("after %s were deleted: %w", count(found.Deleted, "content"), err)
		}
		if err != nil {
			return err
		}
		return report.ArchiveCollected{Collected: found, Age: age, Dry: c.DryRun}.Write(s.env.Stdout, s.global.Output)
	})
}

// progressLine is a line on a terminal that is overwritten.
type progressLine struct {
	s    *session
	full bool
}

// clearLine moves a terminal's cursor to the beginning of its line, and clears the line.
const clearLine = "\r\x1b[K"

// Between these a terminal cuts a line that is too long for it: of one that goes on in the next
// row, clearLine would leave the first row behind, with each update another.
const noWrap, wrap = "\x1b[?7l", "\x1b[?7h"

// inLine keeps words of others, such as why a workflow was stuck, from leaving the line.
func inLine(r rune) rune {
	if r == '\n' || r == '\t' {
		return ' '
	}
	return crawl.Visible(r)
}

func (l *progressLine) write(text string) {
	if l.s.env.draws() && l.s.global.Output == report.Text {
		fmt.Fprint(l.s.env.screen, clearLine, noWrap, strings.Map(inLine, text), wrap)
		l.full = true
	}
}

func (l *progressLine) clear() {
	if l.full {
		fmt.Fprint(l.s.env.screen, clearLine)
		l.full = false
	}
}
