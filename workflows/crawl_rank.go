package workflows

import (
	"recrawl/internal/contract"
)

// rank ranks the crawl's pages. Updates are answered meanwhile.
func (c *crawlRun) rank() error {
	c.show("ranking pages")
	out, err := contract.Rank.Run(ranking(c.ctx, "rank the pages"),
		contract.RankIn{Store: c.s.Store, CrawlID: c.s.CrawlID, Name: c.s.Name, Reason: *c.s.Rank})
	if err != nil {
		return c.shrug("ranking", err, rankFailed)
	}
	rankDone(&c.s, out)
	return nil
}

// replace exchanges a batch of pages if the collection is full. New limits that came meanwhile
// may allow another exchange.
func (c *crawlRun) replace() error {
	c.show("exchanging pages")
	reopened := c.reopened
	out, err := contract.Replace.Run(maintaining(c.ctx, "exchange pages of the collection"),
		contract.ReplaceIn{Store: c.s.Store, CrawlID: c.s.CrawlID, Name: c.s.Name})
	if err != nil {
		if err = c.shrug("exchanging pages", err, replaceFailed); err != nil {
			return err
		}
	} else {
		replaceDone(&c.s, out)
	}
	c.s.Replace = c.s.Replace || c.reopened != reopened && c.heedsMeanwhile()
	return nil
}

// shrug gives up work that a later pass repeats, unless the crawl has ended.
func (c *crawlRun) shrug(what string, err error, failed func(*contract.CrawlProgress, string)) error {
	if c.ctx.Err() != nil {
		return c.ctx.Err()
	}
	if troubleOf(err) == troubleMissing {
		c.log.Info("crawl closed: not in the store", "crawl", c.s.Name)
		return errClosed
	}
	c.log.Warn(what+" failed", "crawl", c.s.Name, "error", err)
	failed(&c.s, words(err))
	return nil
}
