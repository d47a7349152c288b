package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/report"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

type statusCmd struct {
	Name  string `arg:"" optional:"" help:"A crawl; all of them without it."`
	Watch bool   `help:"Show it again every two seconds until Ctrl-C."`
}

// Help implements kong.HelpProvider.
func (statusCmd) Help() string {
	return `    starter status
    starter status news --watch`
}

// Run shows one crawl or all of them.
func (c statusCmd) Run(s *session) error {
	write := func(r report.Reporter) error {
		if c.Name == "" {
			return r.StatusAll(s.ctx)
		}
		return orNoCrawl(c.Name, r.Status(s.ctx, c.Name))
	}
	if c.Watch {
		return s.watch(write)
	}
	return s.withReport(write)
}

type pagesCmd struct {
	Name         string   `arg:"" help:"The crawl."`
	State        []string `placeholder:"STATE" help:"Only pages in these states: known, active, failing, gone, redirect, duplicate, excluded, evicted, stopped, held, kept."`
	Host         string   `placeholder:"HOST" help:"Only pages of this host."`
	ChangedSince string   `placeholder:"WHEN" help:"Only pages that changed since a date (2026-03-01), a time (2026-03-01T12:00:00Z), or for so long (7d)."`
	Limit        uint     `placeholder:"N" help:"Show at most N; all without it."`
}

// Help implements kong.HelpProvider.
func (pagesCmd) Help() string {
	return `In the order in which they were found.

    starter pages news --state failing,gone
    starter pages news --changed-since 7d --output json`
}

// Run lists pages.
func (c pagesCmd) Run(s *session) error {
	host, err := hostFilter(c.Host)
	if err != nil {
		return err
	}
	q := report.PagesQuery{Crawl: c.Name, Limit: int(c.Limit), Host: host}
	if q.States, err = parseStates(c.State); err != nil {
		return err
	}
	if c.ChangedSince != "" {
		if err := parseSince(c.ChangedSince, &q); err != nil {
			return err
		}
	}
	return s.withReport(func(r report.Reporter) error { return orNoCrawl(c.Name, r.Pages(s.ctx, q)) })
}

func parseStates(names []string) ([]crawl.PageState, error) {
	var states []crawl.PageState
	for _, text := range names {
		var state crawl.PageState
		if err := state.UnmarshalText([]byte(text)); err != nil {
			return nil, usagef("--state %s: %w: use %s", text, err, strings.Join(stateNames(), ", "))
		}
		states = append(states, state)
	}
	return states, nil
}

func stateNames() []string {
	var names []string
	for _, state := range crawl.PageStates() {
		names = append(names, state.String())
	}
	return names
}

func parseSince(text string, q *report.PagesQuery) error {
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			q.ChangedSince = t
			return nil
		}
	}
	d, err := crawl.ParseDuration(text)
	if err != nil || d == 0 {
		return usagef("--changed-since %s: write a date (2026-03-01), a time (2026-03-01T12:00:00Z), or how long ago (7d)", text)
	}
	q.ChangedWithin = d
	return nil
}

type historyCmd struct {
	URL   string `arg:"" help:"The page."`
	Crawl string `placeholder:"NAME" help:"Only in this crawl."`
	Limit uint   `placeholder:"N" help:"Show at most N; all without it."`

	Versions bool `help:"List the distinct contents that were found, instead of the visits."`
}

// Help implements kong.HelpProvider.
func (historyCmd) Help() string {
	return `    starter history https://example.com/
    starter history https://example.com/ --versions
    starter diff https://example.com/ 3 5             (what changed between two of them)`
}

// Run lists visits or versions, newest first.
func (c historyCmd) Run(s *session) error {
	url, err := canonical(c.URL)
	if err != nil {
		return err
	}
	q := report.HistoryQuery{URL: url, Crawl: c.Crawl, Limit: int(c.Limit)}
	return s.withReport(func(r report.Reporter) error {
		if c.Versions {
			return orNoPage(url, c.Crawl, r.Versions(s.ctx, q))
		}
		return orNoPage(url, c.Crawl, r.History(s.ctx, q))
	})
}

// canonical is the form under which a page is stored.
func canonical(url string) (string, error) {
	if err := checkURLs([]string{url}); err != nil {
		return "", err
	}
	u, err := urlkey.Canonical(url)
	return u.String(), err
}

// orNoPage gives the error for a missing page helpful words.
func orNoPage(url, crawlName string, err error) error {
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	where := "no crawl has"
	if crawlName != "" {
		where = fmt.Sprintf("crawl %q does not have", crawlName)
	}
	return &failure{ExitNotFound, fmt.Sprintf("%s the page %s: `starter pages NAME` lists the pages of a crawl", where, url), err}
}

// crawlsOf names the crawls of some pages.
func crawlsOf(pages []store.PageRecord) string {
	var names []string
	for _, p := range pages {
		names = append(names, p.Crawl)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
