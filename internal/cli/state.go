package cli

import (
	"recrawl/internal/store"
)

type visitCmd struct {
	URL   string `arg:"" help:"The page."`
	Crawl string `placeholder:"NAME" help:"The crawl, if several have the page."`
}

// Help implements kong.HelpProvider.
func (visitCmd) Help() string {
	return `The visit goes before others, never past the host's delay, back-off or robots.txt.

    starter visit https://example.com/news`
}

// Run asks for a visit.
func (c visitCmd) Run(s *session) error {
	url, err := canonical(c.URL)
	if err != nil {
		return err
	}
	page, err := s.findPage(url, c.Crawl)
	if err != nil {
		return err
	}
	return s.withTemporal(func(client Client) error {
		message, err := client.VisitNow(s.ctx, page)
		if err != nil {
			return err
		}
		return s.say("%s", message)
	})
}

// findPage returns the one page of a URL.
func (s *session) findPage(url, crawlName string) (page store.PageRecord, err error) {
	err = s.withStore(func(opened store.Store) error {
		pages, err := opened.FindPages(s.ctx, url, crawlName)
		if err == nil && len(pages) == 0 {
			err = store.ErrNotFound
		}
		if err != nil {
			return orNoPage(url, crawlName, err)
		}
		if len(pages) > 1 {
			return usagef("%s is in crawls %s: choose one with --crawl", url, crawlsOf(pages))
		}
		page = pages[0]
		return nil
	})
	return page, err
}

type stopCmd struct {
	Name string `arg:"" help:"The crawl."`
}

// Run stops a crawl.
func (c stopCmd) Run(s *session) error { return s.change(c.Name, Stop) }

type pauseCmd struct {
	Name string `arg:"" help:"The crawl."`
}

// Run pauses a crawl.
func (c pauseCmd) Run(s *session) error { return s.change(c.Name, Pause) }

type resumeCmd struct {
	Name string `arg:"" help:"The crawl."`
}

// Run resumes a crawl.
func (c resumeCmd) Run(s *session) error { return s.change(c.Name, Resume) }

func (s *session) change(name string, change Change) error {
	if err := checkName(name, nil); err != nil {
		return err
	}
	return s.withTemporal(func(client Client) error {
		message, err := client.ChangeCrawl(s.ctx, name, change)
		if err != nil {
			return orNoCrawl(name, err)
		}
		return s.say("%s", message)
	})
}
