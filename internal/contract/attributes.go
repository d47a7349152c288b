package contract

import (
	"go.temporal.io/sdk/temporal"

	"recrawl/internal/crawl"
)

// States of a Crawl workflow in AttrState.
const (
	AttrRunning  = "running"
	AttrPaused   = "paused"
	AttrStopping = "stopping"
)

// CrawlAttributes are the search attributes of a Crawl.
func CrawlAttributes(name string, state crawl.CrawlState) temporal.SearchAttributes {
	word := AttrRunning
	switch state {
	case crawl.CrawlPaused:
		word = AttrPaused
	case crawl.CrawlStopped:
		word = AttrStopping
	}
	return temporal.NewSearchAttributes(AttrCrawl.ValueSet(AttrValue(name)), AttrState.ValueSet(word))
}

// DiscoverAttributes are the search attributes of a Discover.
func DiscoverAttributes(crawlName string) temporal.SearchAttributes {
	return temporal.NewSearchAttributes(AttrCrawl.ValueSet(AttrValue(crawlName)))
}
