package sim

// shipped are the schedulers that other crawlers ship; each one's file says which
// version and class it is.
var shipped = []Policy{
	{Name: "nutch", Family: Shipped, Help: "Apache Nutch, DefaultFetchSchedule: every 30 days", make: newNutchFixed, alike: true},
	{Name: "nutch-adaptive", Family: Shipped, Help: "Apache Nutch, AdaptiveFetchSchedule", make: newNutchAdaptive},
	{Name: "storm", Family: Shipped, Help: "Apache StormCrawler, DefaultScheduler: every day", make: newStormFixed, alike: true},
	{Name: "storm-adaptive", Family: Shipped, Help: "Apache StormCrawler, AdaptiveScheduler", make: newStormAdaptive},
	{Name: "news-crawl", Family: Shipped, Help: "the same with Common Crawl's settings", make: newNewsCrawl},
	{Name: "heritrix", Family: Shipped, Help: "Heritrix 1.x, WaitEvaluator", make: newHeritrix},
	{Name: "frontera", Family: Shipped, Help: "Scrapinghub Frontera, revisiting backend: every day", make: newFrontera, alike: true},
	{Name: "aduana", Family: Shipped, Help: "Scrapinghub Aduana, FreqScheduler: in proportion to changes found", make: newAduana},
}
