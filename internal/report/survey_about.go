package report

// tableAbout explains the tables of a report by their titles, and figureAbout the figures by
// their names.
var (
	tableAbout = map[string]string{
		"Pages by state":                           "What the last visit made of each page. Known pages wait for their first visit.",
		"Visits by outcome":                        "What visits found, from the beginning.",
		"Back-links by level":                      "The level is how many links a page is away from a seed. A crawl that takes important pages first has few back-links on deep levels (JoMaGic).",
		"Refresh queues (time between visits)":     "Pages by the time from one visit to the next, in the queues of Singhal, Dixit and Sharma: UrlQ(n) ends at 20 n² units.",
		"Update activity (changes about every)":    "Pages by how often they are believed to change, in the same authors' categories.",
		"Changes of a page in a day, by estimator": "What the estimators of the papers make of the same visits. Counting misses changes between two visits; the others allow for them.",
		"Changes foreseen and found":               "Before each visit the crawl gives a change a chance. Of the visits in a row, as many should find one as were foreseen.",
		"Intervals between changes, found (bars) and of Poisson processes (marks)": "All estimators assume that changes come by chance, at a rate of the page's own (a Poisson process). Bars and marks differ where pages do otherwise.",
		"Content types":                      "What was downloaded.",
		"Most important pages":               "By a blend of PageRank and back-links of pages and hosts; the mean page has weight 1.",
		"Pages with most back-links":         "By the pages that link to them, as JoMaGic counts.",
		"Most important hosts":               "By the sum of their pages' weights.",
		"Hosts and prefixes with most pages": "Where most addresses come from. A folder that has most of a site's may be one without an end.",
		"Links that were not taken":          "By the rule that they did not pass.",
		"Held as traps":                      "Pages that wait since they look as if there were no end of them.",
	}
	figureAbout = map[string]string{
		"pages":      "Known are all addresses that were taken, downloaded those of which there is a copy.",
		"pace":       "How fast the crawl is.",
		"importance": "H/T, the share of important pages among those downloaded (JoMaGic): how well a crawl chooses.",
		"diversity":  "How many sites the pages are from (JoMaGic), and of how many equal ones they would be as mixed (Simpson).",
		"duplicates": "Pages with the content of another page.",
		"broken":     "Pages that are gone, and the links that lead to them.",
		"ranked":     "When importance was last computed.",
		"freshness":  "Sizov's metrics: how far copies are behind, as far as the crawl can know.",
		"foreseen":   "Whether what is believed of pages is right: the two shares should be alike.",
		"intervals":  "Whether pages change as all estimators assume; below p = 0.01 they do not.",
		"planned":    "What the budget allows, and what is planned of it.",
	}
)
