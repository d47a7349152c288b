package cli

import (
	"recrawl/internal/crawl"
	"recrawl/internal/report"
	"recrawl/internal/store"
)

// pageArg names one page.
type pageArg struct {
	URL   string `arg:"" help:"The page."`
	Crawl string `placeholder:"NAME" help:"The crawl, if several have the page."`
}

// change sends a request to the page's workflow and prints its answer.
func (p pageArg) change(s *session, change PageChange, arg string) error {
	url, err := canonical(p.URL)
	if err != nil {
		return err
	}
	page, err := s.findPage(url, p.Crawl)
	if err != nil {
		return err
	}
	message, err := s.operator().ChangePage(s.ctx, page, change, arg)
	if err != nil {
		return err
	}
	return s.say("%s", message)
}

type visitCmd struct{ pageArg }

// Help implements kong.HelpProvider.
func (visitCmd) Help() string {
	return `The visit goes before others, never past the host's delay, back-off or robots.txt. A page that was
stopped comes back by it, with its history.

    starter visit https://example.com/news`
}

// Run asks for a visit.
func (c visitCmd) Run(s *session) error { return c.change(s, VisitNow, "") }

type snoozeCmd struct {
	pageArg
	For crawl.Duration `arg:"" help:"For how long; 0 ends a snooze."`
}

// Help implements kong.HelpProvider.
func (snoozeCmd) Help() string {
	return `    starter snooze https://example.com/news 3d
    starter snooze https://example.com/news 0          (end it)`
}

// Run snoozes the page.
func (c snoozeCmd) Run(s *session) error { return c.change(s, Snooze, c.For.String()) }

type setIntervalCmd struct {
	pageArg
	Every crawl.Duration `arg:"" help:"Time between two visits; 0 returns to the crawl's policy."`
}

// Help implements kong.HelpProvider.
func (setIntervalCmd) Help() string {
	return `    starter set-interval https://example.com/news 2h
    starter set-interval https://example.com/news 0    (let the policy decide again)`
}

// Run fixes the page's interval.
func (c setIntervalCmd) Run(s *session) error { return c.change(s, SetInterval, c.Every.String()) }

type stopPageCmd struct{ pageArg }

// Help implements kong.HelpProvider.
func (stopPageCmd) Help() string {
	return `What is known of the page stays, and links to it do not bring it back. A visit that is under way is
recorded first. 'starter visit' brings the page back with its history; so does naming it as a seed, and
the start of a crawl that was stopped as a whole.

    starter stop-page https://example.com/old
    starter visit https://example.com/old              (bring it back)`
}

// Run stops the page.
func (c stopPageCmd) Run(s *session) error { return c.change(s, StopPage, "") }

type retryCmd struct {
	Name  string   `arg:"" help:"The crawl."`
	State []string `placeholder:"STATE" help:"Pages in these states, by default failing."`
	Host  string   `placeholder:"HOST" help:"Only pages of this host."`
}

// Help implements kong.HelpProvider.
func (retryCmd) Help() string {
	return `Asks for a visit of every page that failed. The visits go before others, one after the other as the
hosts' delays allow.

    starter retry news
    starter retry news --state failing,gone --host example.com`
}

// Run asks for a visit of each page.
func (c retryCmd) Run(s *session) error {
	states, err := parseStates(c.State)
	if err != nil {
		return err
	}
	asked, err := s.operator().Retry(s.ctx, c.Name, states, c.Host)
	if err != nil {
		return err
	}
	return s.say("%s", asked)
}

// findPage returns the one page of a URL.
func (s *session) findPage(url, crawlName string) (page store.PageRecord, err error) {
	err = s.withStore(func(opened Opened) error {
		page, err = findPage(s, opened, url, crawlName)
		return err
	})
	return page, err
}

func findPage(s *session, opened report.Store, url, crawlName string) (store.PageRecord, error) {
	pages, err := opened.FindPages(s.ctx, url, crawlName)
	if err == nil && len(pages) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.PageRecord{}, orNoPage(url, crawlName, err)
	}
	if len(pages) > 1 {
		return store.PageRecord{}, usagef("%s is in crawls %s: choose one with --crawl", url, crawlsOf(pages))
	}
	return pages[0], nil
}
