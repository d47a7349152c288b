package cli

import (
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/report"
	"recrawl/internal/urlkey"
)

type checkCmd struct {
	URL    checkURLCmd    `cmd:"" name:"url" help:"Show the form under which a URL is kept."`
	Scope  checkScopeCmd  `cmd:"" help:"Show whether a URL belongs to a crawl, and why."`
	Robots checkRobotsCmd `cmd:"" help:"Show whether robots.txt allows a URL, and which line decides."`
}

type checkURLCmd struct {
	URL   string `arg:"" help:"Any http or https URL."`
	Crawl string `placeholder:"NAME" help:"Apply the URL rules of this crawl too."`
}

// Help implements kong.HelpProvider.
func (checkURLCmd) Help() string {
	return `    starter check url 'HTTP://Example.com:80/%7Ea?utm_source=x#top'
    starter check url 'https://example.com/a?utm_source=x' --crawl news`
}

// Run shows the form under which a URL is kept, and how it came about.
func (c checkURLCmd) Run(s *session) error {
	u, err := urlkey.Canonical(c.URL)
	if err != nil {
		return usagef("%s: %w", c.URL, err)
	}
	steps := urlkey.Steps(c.URL, u)
	if c.Crawl != "" {
		rules, err := c.rules(s)
		if err != nil {
			return err
		}
		kept, more := rules.Apply(u)
		u, steps = kept, append(steps, more...)
	}
	return report.URLCheck{Input: c.URL, URL: u.String(), Steps: steps}.Write(s.env.Stdout, s.global.Output)
}

func (c checkURLCmd) rules(s *session) (rules urlkey.Rules, err error) {
	err = s.withStore(func(opened Opened) error {
		record, err := opened.Crawl(s.ctx, c.Crawl)
		rules = urlkey.NewRules(record.Spec.URLs)
		return orNoCrawl(c.Crawl, err)
	})
	return rules, err
}

// defaultAgent is the product token of a spec that names none.
func defaultAgent() string { return strings.TrimSpace(crawl.DefaultSpec().Identity.Agent) }
