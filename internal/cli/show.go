package cli

import (
	"errors"
	"fmt"
	"time"

	"recrawl/internal/archive"
	"recrawl/internal/config"
	"recrawl/internal/extract"
	"recrawl/internal/report"
	"recrawl/internal/store"
)

type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run(s *session) error { return s.say("recrawl %s", config.VersionText()) }

type showCmd struct {
	pageArg
	Version uint `placeholder:"N" xor:"which" help:"The version, by default the newest."`
	Visit   uint `placeholder:"N" xor:"which" help:"What visit N found, such as something suspect, while it is kept."`
	Text    bool `xor:"text" help:"Its text instead of its markup: the text that changes are found in."`
	All     bool `xor:"all" help:"All the text that a reader sees, with navigation, adverts and what the crawl ignores."`
	Head    bool `xor:"text,all" help:"The request and the head of the answer."`

	At       string `placeholder:"TIME" xor:"which" help:"The version that the page had then: 2026-03-01, the end of that day in UTC, or 2026-03-01T12:00:00Z."`
	Markdown bool   `xor:"text,all" help:"That text as Markdown with tables, code and links, behind what is known of it in YAML."`
	Article  bool   `help:"With --markdown: only the article, for reading."`
}

// Help implements kong.HelpProvider.
func (showCmd) Help() string {
	return `    starter show https://example.com/ > page.html
    starter show https://example.com/ --version 3 --text
    starter show https://example.com/ --version 3 --all
    starter show https://example.com/ --markdown --at 2026-03-01
    starter history https://example.com/ --versions      (the versions there are)`
}

// Run prints a version.
func (c showCmd) Run(s *session) error {
	at, err := c.at()
	if err != nil {
		return err
	}
	view := report.ViewBody
	switch {
	case c.Article && !c.Markdown:
		return usagef("--article says how much of a page --markdown shows: give both")
	case c.Markdown && c.Visit > 0:
		return usagef("--markdown shows versions: give --version or --at")
	case c.All: // with or without --text
		view = report.ViewAll
	case c.Text:
		view = report.ViewText
	case c.Head:
		view = report.ViewHead
	}
	return c.withVersions(s, func(r report.Reporter, files archive.Store, page store.PageRecord) error {
		switch {
		case c.Visit > 0:
			return r.ShowVisit(s.ctx, files, page, int(c.Visit), view)
		case c.Markdown:
			return r.ShowDocument(s.ctx, files, page, c.document(at))
		}
		version := int(c.Version)
		if !at.IsZero() {
			if version, err = r.VersionAt(s.ctx, page, at); err != nil {
				return err
			}
		}
		return r.Show(s.ctx, files, page, version, view)
	})
}

// at is the time of --at, zero if there is none.
func (c showCmd) at() (time.Time, error) {
	if c.At == "" {
		return time.Time{}, nil
	}
	if day, err := time.Parse(time.DateOnly, c.At); err == nil {
		return day.AddDate(0, 0, 1).Add(-time.Microsecond), nil
	}
	at, err := time.Parse(time.RFC3339, c.At)
	if err != nil {
		return at, usagef("--at %s: write a day such as 2026-03-01, or a time such as 2026-03-01T12:00:00Z", c.At)
	}
	return at, nil
}

// document returns the output of --markdown.
func (c showCmd) document(at time.Time) report.DocumentQuery {
	q := report.DocumentQuery{Reading: extract.ReadMain, Version: int(c.Version), At: at}
	if c.Article {
		q.Reading = extract.ReadArticle
	}
	return q
}

type diffCmd struct {
	URL   string `arg:"" help:"The page."`
	From  uint   `arg:"" optional:"" help:"A version, by default the last but one."`
	To    uint   `arg:"" optional:"" help:"A version, by default the newest."`
	Crawl string `placeholder:"NAME" help:"The crawl, if several have the page."`
	All   bool   `xor:"view" help:"Compare all the text that a reader sees, with navigation, adverts and what the crawl ignores."`
	HTML  bool   `name:"html" xor:"view" help:"Compare the markup instead of the text."`
}

// Help implements kong.HelpProvider.
func (diffCmd) Help() string {
	return `A unified diff of the text that changes are found in, a paragraph a line, by the rules that the crawl has now;
with colours on a terminal unless NO_COLOR is set.

    starter diff https://example.com/
    starter diff https://example.com/ --all
    starter diff https://example.com/ 3 5 --html`
}

// Run compares two versions.
func (c diffCmd) Run(s *session) error {
	q := report.DiffQuery{From: int(c.From), To: int(c.To), View: report.ViewText, Colour: s.env.draws() && s.env.Getenv("NO_COLOR") == ""}
	switch {
	case c.All:
		q.View = report.ViewAll
	case c.HTML:
		q.View = report.ViewBody
	}
	return pageArg{c.URL, c.Crawl}.withVersions(s, func(r report.Reporter, files archive.Store, page store.PageRecord) error {
		if q.Colour {
			r.Out = s.env.screen // the diff is made visible before it is coloured
		}
		return r.Diff(s.ctx, files, page, q)
	})
}

// withVersions finds the page and opens the archive for as long as do runs.
func (p pageArg) withVersions(s *session, do func(report.Reporter, archive.Store, store.PageRecord) error) error {
	url, err := canonical(p.URL)
	if err != nil {
		return err
	}
	return s.withReport(func(r report.Reporter) error {
		page, err := findPage(s, r.Store, url, p.Crawl)
		if err != nil {
			return err
		}
		if s.places.Archive == "" {
			return usage(config.ErrNoArchive)
		}
		files, err := s.env.Backend.OpenArchive(s.ctx, s.places.Archive)
		if err != nil {
			return fmt.Errorf("cannot open the archive: %w", err)
		}
		err = do(r, files, page)
		if errors.Is(err, report.ErrNoBody) {
			return &failure{ExitNotFound, "", err}
		}
		return err
	})
}
