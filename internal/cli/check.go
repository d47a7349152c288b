package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/report"
	"recrawl/internal/robots"
	"recrawl/internal/scope"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

type checkCmd struct {
	URL    checkURLCmd    `cmd:"" name:"url" help:"Show the form under which a URL is kept."`
	Scope  checkScopeCmd  `cmd:"" help:"Show whether a URL belongs to a crawl, and why."`
	Robots checkRobotsCmd `cmd:"" help:"Show whether robots.txt allows a URL, and which line decides."`
}

type checkURLCmd struct {
	URL string `arg:"" help:"Any http or https URL."`
}

// Run shows the canonical form.
func (c checkURLCmd) Run(s *session) error {
	u, err := urlkey.Canonical(c.URL)
	if err != nil {
		return usagef("%s: %w", c.URL, err)
	}
	return report.URLCheck{Input: c.URL, URL: u.String(), Steps: urlkey.Steps(c.URL, u)}.Write(s.env.Stdout, s.global.Output)
}

type checkScopeCmd struct {
	Name  string `arg:"" help:"The crawl."`
	URL   string `arg:"" help:"The URL."`
	Level int    `placeholder:"N" help:"Its distance from a seed, in links; by default what is known of it, or 1."`
}

// Help implements kong.HelpProvider.
func (checkScopeCmd) Help() string { return "    starter check scope news https://example.com/a" }

// Run shows the scope's verdict.
func (c checkScopeCmd) Run(s *session) error {
	u, err := urlkey.Canonical(c.URL)
	if err != nil {
		return usagef("%s: %w", c.URL, err)
	}
	return s.withStore(func(opened store.Store) error {
		record, err := opened.Crawl(s.ctx, c.Name)
		if err != nil {
			return orNoCrawl(c.Name, err)
		}
		limits, err := scope.New(record.Spec)
		if err != nil {
			return err
		}
		level, err := c.level(s, opened, u)
		if err != nil {
			return err
		}
		verdict := limits.Check(u, level)
		return report.ScopeCheck{
			URL: u.String(), Crawl: c.Name, Level: level, Accepted: verdict.Accept, Reason: verdict.Reason,
		}.Write(s.env.Stdout, s.global.Output)
	})
}

func (c checkScopeCmd) level(s *session, opened store.Store, u urlkey.URL) (int, error) {
	if c.Level > 0 {
		return c.Level, nil
	}
	pages, err := opened.FindPages(s.ctx, u.String(), c.Name)
	if err != nil || len(pages) == 0 {
		return 1, err
	}
	return pages[0].Level, nil
}

type checkRobotsCmd struct {
	URL   string `arg:"" help:"The URL."`
	Agent string `default:"${agent}" placeholder:"TOKEN" help:"Product token to be checked, by default ${agent}."`
	File  string `placeholder:"FILE" help:"Judge by this robots.txt instead of the one that was fetched last; - is standard input."`
}

// Help implements kong.HelpProvider.
func (checkRobotsCmd) Help() string {
	return `Makes no request: it judges by the robots.txt that was fetched last.

    starter check robots https://example.com/private
    starter check robots https://example.com/private --file robots.txt --agent GoogleBot`
}

// Run shows the verdict of robots.txt.
func (c checkRobotsCmd) Run(s *session) error {
	u, err := urlkey.Canonical(c.URL)
	if err != nil {
		return usagef("%s: %w", c.URL, err)
	}
	if c.File != "" {
		text, err := readFile(c.File, s.env.Stdin)
		if err != nil {
			return usage(err)
		}
		return c.write(s, u, robots.Parse(text).Check(c.Agent, u))
	}
	return s.withStore(func(opened store.Store) error {
		record, err := opened.Robots(s.ctx, u.Origin())
		if errors.Is(err, store.ErrNotFound) {
			return &failure{ExitNotFound, fmt.Sprintf("%s/robots.txt has not been fetched yet: crawl the site, or give the file with --file", u.Origin()), err}
		}
		if err != nil {
			return err
		}
		return c.write(s, u, report.RobotsVerdict(record, c.Agent, u))
	})
}

func (c checkRobotsCmd) write(s *session, u urlkey.URL, v robots.Verdict) error {
	return report.RobotsCheck{
		URL: u.String(), Allowed: v.Allowed, Agent: c.Agent, Rule: v.Rule, Line: v.Line, Reason: v.Reason,
	}.Write(s.env.Stdout, s.global.Output)
}

func readFile(name string, stdin io.Reader) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(io.LimitReader(stdin, robots.MaxBytes))
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("--file %s: %w", name, errors.Unwrap(err))
	}
	return text, nil
}

// defaultAgent is the product token of a spec that names none.
func defaultAgent() string { return strings.TrimSpace(crawl.DefaultSpec().Identity.Agent) }
