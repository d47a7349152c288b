package cli

import (
	"fmt"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/export"
	"recrawl/internal/feed"
	"recrawl/internal/report"
)

type exportCmd struct {
	Name    string        `arg:"" help:"The crawl."`
	Out     string        `arg:"" help:"A folder for exports of this crawl in this format; it is made if it does not exist."`
	Format  export.Format `enum:"${formats}" required:"" placeholder:"FORMAT" help:"One of ${formats}: a tree of folders (dir: all pages; html, text, markdown, chunks: those that stand), a mirror that browses offline, WARC files with an index, a WACZ file that replays, or JSON Lines."`
	Article bool          `help:"With --format markdown or chunks: only the article of each page, for reading."`
	At      string        `placeholder:"TIME" xor:"when" help:"What was known then (2026-03-01T12:00:00Z), by default now."`
	Since   string        `placeholder:"CURSOR" xor:"when" help:"Only what changed since an earlier export: the cursor that it printed."`
}

// exportFormats lists the formats as an enum tag wants them.
func exportFormats() string {
	var names []string
	for _, f := range export.Formats() {
		names = append(names, string(f))
	}
	return strings.Join(names, ",")
}

// Help implements kong.HelpProvider.
func (exportCmd) Help() string {
	return `Each export is a folder of its own in OUT, named by its time. It may run beside the crawl; what was interrupted
goes on when it is called again.

    starter export news --format warc ./exports/news-warc
    starter export news --format dir ./exports/news --at 2026-03-01T00:00:00Z
    starter export news --format jsonl ./exports/changes --since c1.5f2a9c01.4711`
}

// Run writes an export.
func (c exportCmd) Run(s *session) error {
	if c.Article && c.Format != export.Markdown && c.Format != export.Chunks {
		return usagef("--article is for --format markdown and chunks: %s has pages as they are", c.Format)
	}
	o := export.Options{Format: c.Format, Crawl: c.Name, Article: c.Article}
	if c.At != "" {
		at, err := time.Parse(time.RFC3339, c.At)
		if err != nil {
			return usagef("--at %s: write a time such as 2026-03-01T12:00:00Z", c.At)
		}
		o.At = at.UTC().Truncate(time.Second)
	}
	if c.Since != "" {
		since, err := feed.ParseCursor(c.Since)
		if err != nil {
			return usagef("--since %w", err)
		}
		o.Since = since
	}
	return s.withArchive(func(at Target) error {
		line, left, all := newProgress(s), remaining{}, s.visitedPages(o)
		o.Progress = func(n export.Counts) {
			line.show(fmt.Sprintf("%s, %s", count(int(n.Pages), "page"), count(int(n.Visits), "visit")) + left.words(share(int(n.Pages), all), time.Now()))
		}
		o.Listing = func(pages int64) { line.show("listing: " + count(int(pages), "page")) }
		done, err := s.env.Backend.Export(s.ctx, at, c.Out, o)
		line.clear()
		if err != nil {
			return orGone(orNoCrawl(c.Name, err))
		}
		s.warnDamaged(done)
		return report.Exported(done).Write(s.env.Stdout, s.global.Output)
	})
}

// warnDamaged says what to do about an export that lacks bytes because they are damaged.
func (s *session) warnDamaged(done export.Result) {
	if done.Damaged == 0 {
		return
	}
	fmt.Fprintf(s.env.Stderr, "starter: the export lacks the bytes of %s, which are damaged: `starter archive verify` names them; once they are back from a backup, delete %s and export again\n",
		count(int(done.Damaged), "version"), done.Folder)
}

// visitedPages is how many pages an export of everything holds; 0 for a partial export, or
// if the number is not known. It is only for the progress.
func (s *session) visitedPages(o export.Options) (n int) {
	if o.Since != (feed.Cursor{}) || !o.At.IsZero() {
		return 0
	}
	err := s.withStore(func(opened Opened) error {
		record, err := opened.Crawl(s.ctx, o.Crawl)
		if err != nil {
			return err
		}
		status, err := opened.Status(s.ctx, record.ID)
		n = status.Outcomes[crawl.OutcomeNew]
		return err
	})
	if err != nil {
		return 0
	}
	return n
}
