package cli

import (
	"bytes"
	"fmt"
	"os"

	"recrawl/internal/crawl"
	"recrawl/internal/report"
	"recrawl/internal/report/survey"
)

type reportCmd struct {
	Name      string         `arg:"" help:"The crawl."`
	Other     string         `arg:"" optional:"" help:"Another crawl, to be shown beside it."`
	HTML      string         `placeholder:"FILE" help:"Write the same with plots as a page that stands alone, too."`
	Backlinks uint           `default:"2" placeholder:"G" help:"A page with more back-links than G is important (H/T)."`
	Unit      crawl.Duration `default:"1h" placeholder:"TIME" help:"The unit of the refresh queues: UrlQ(n) ends at 20 n² units."`
	Top       uint           `default:"10" placeholder:"N" help:"How many of the most important pages and hosts are named."`
}

// Help implements kong.HelpProvider.
func (reportCmd) Help() string {
	return `A crawl in the figures that crawlers are judged by: the share of important pages, diversity, pace, duplicates,
broken links, back-links by level, the most important pages and hosts, what pages are visited by, and what was not taken.
It reads all pages of the crawl. What a stopped crawl has found stays, and time counts until its stop.
Of two crawls, their settings and these figures stand side by side.

    starter report news
    starter report news docs
    starter report news --html report.html --backlinks 5`
}

// Run writes the report.
func (c reportCmd) Run(s *session) error {
	q := report.SurveyQuery{Crawl: c.Name, Options: survey.Options{Backlinks: int(c.Backlinks), Top: int(c.Top), Unit: c.Unit.Std()}}
	if c.Unit <= 0 {
		return usagef("--unit %s: write a time such as 1h", c.Unit)
	}
	var page bytes.Buffer
	if c.HTML != "" {
		q.HTML = &page
	}
	line := newProgress(s)
	defer line.clear()
	err := s.withReport(func(r report.Reporter) error { return c.write(s, line.of(r), q) })
	if err != nil || c.HTML == "" {
		return err
	}
	return replaceFile(c.HTML, page.Bytes())
}

func (c reportCmd) write(s *session, r report.Reporter, q report.SurveyQuery) error {
	if c.Other == "" {
		return orNoCrawl(c.Name, r.Survey(s.ctx, q))
	}
	if _, err := r.Store.Crawl(s.ctx, c.Other); err != nil {
		return orNoCrawl(c.Other, err)
	}
	return orNoCrawl(c.Name, r.Compare(s.ctx, report.CompareQuery{SurveyQuery: q, Other: c.Other}))
}

// replaceFile writes a file whole or not at all.
func replaceFile(path string, data []byte) error {
	part := path + ".part"
	if err := os.WriteFile(part, data, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(part, path); err != nil {
		os.Remove(part)
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
