package web

import (
	"recrawl/internal/feed"
	"recrawl/internal/report"
)

// Parameters that several lists have.
var (
	limitParam  = param{name: "limit", about: "How many rows at most: up to 500, 50 by default.", kind: "integer"}
	afterParam  = param{name: "after", about: "Where the part begins: next of the part before has it."}
	hostParam   = param{name: "host", about: "Only of this host."}
	beforeParam = param{name: "before", about: "Where the part begins: next of the part before has it."}
	viewParam   = param{name: "view", about: "What of the page: text, all, body or head; text without it."}
	kindsParam  = param{name: "kinds", about: "Only these kinds, such as page.new,page.changed or page.*."}
)

// viewOperations describe the views. A test says which one is missing.
func viewOperations() []operation {
	return []operation{
		{pattern: "/{$}", summary: "All crawls in numbers.", of: list[report.StatusLine]{}},
		{pattern: "/crawls/{crawl}", summary: "A crawl in numbers.", of: report.StatusLine{}},
		{pattern: "/crawls/{crawl}/changes", summary: "What changed, the newest first.", of: list[feed.Event]{}, params: []param{
			kindsParam, hostParam,
			{name: "diff", about: "1: also what changed in the texts, as far as these are kept."},
			{name: "before", about: "Where the part begins: next of the part before has it."},
			limitParam,
		}},
		{pattern: "/crawls/{crawl}/pages", summary: "Pages in the order in which they were found.", of: list[report.PageItem]{}, params: []param{
			{name: "text", about: "Stands somewhere in the URL. In ASCII, capital letters are as good as small ones."},
			{name: "prefix", about: "How the URL begins."},
			hostParam,
			{name: "state", about: "Only pages in this state, or in these, separated by commas."},
			afterParam, limitParam,
		}},
		{pattern: "/crawls/{crawl}/search", summary: "Pages by their words, best first.", of: searchAnswer{}, params: []param{
			{name: "q", about: "Words, in any order. No character has a meaning of its own."},
			hostParam,
			{name: "prefix", about: "How the URL begins."},
			{name: "offset", about: "Where the part begins: next of the part before has it.", kind: "integer"},
			{name: "limit", about: "How many pages at most: up to 100, 10 by default.", kind: "integer"},
		}},
		{
			pattern: "/crawls/{crawl}/url", summary: "What the crawl has of a URL: its page, or why there is none.", of: report.URLAnswer{},
			params: []param{{name: "url", about: "Any http or https URL.", required: true}},
		},
		{pattern: "/crawls/{crawl}/hosts", summary: "Hosts by name.", of: list[report.HostItem]{}, params: []param{
			{name: "text", about: "Stands somewhere in the name."}, {name: "trouble", about: "1: only those from which nothing can be fetched now."}, afterParam, limitParam,
		}},
		{pattern: "/crawls/{crawl}/hosts/{host}", summary: "A host.", of: report.HostItem{}},
		{pattern: "/crawls/{crawl}/hosts/{host}/evidence", summary: "What was asked of a host and when, for its owner.", of: report.Evidence{}, params: []param{
			{name: "since", about: "How far back, such as 7d, up to 31d; 1d without it."},
			{name: "count", about: "all: also count the requests of a host that has many. This may take a while."},
		}},
		{pattern: "/crawls/{crawl}/forecast", summary: "What budgets and promises would cost and bring.", of: report.Forecast{}, params: []param{
			{name: "budget", about: "Budgets, separated by commas: 2x is twice the present one, 20000/day a number of visits."},
			{name: "fresh", about: "Shares of the pages that shall be fresh, separated by commas, such as 95%."},
		}},
		{pattern: "/crawls/{crawl}/pages/{page}", summary: "A page, and why it is visited when.", of: report.Explanation{}},
		{pattern: "/crawls/{crawl}/pages/{page}/visits", summary: "Visits of a page, the newest first.", of: list[report.VisitLine]{}, params: []param{beforeParam, limitParam}},
		{pattern: "/crawls/{crawl}/pages/{page}/versions", summary: "Versions of a page, the newest first.", of: list[report.VersionLine]{}, params: []param{beforeParam, limitParam}},
		{pattern: "/crawls/{crawl}/pages/{page}/versions/{seq}", summary: "A version and its text.", of: report.Shown{}, params: []param{viewParam}},
		{pattern: "/crawls/{crawl}/pages/{page}/read", summary: "A page as a document: its text as Markdown.", of: readAnswer{}, params: []param{
			{name: "extent", about: "How much of the page: main, article or all; main without it."},
			{name: "version", about: "The number of a version; the last one without it.", kind: "integer"},
			{name: "at", about: "Instead of version: a date, for the version that the page had at its end, or a time."},
		}},
		{pattern: "/crawls/{crawl}/pages/{page}/diff", summary: "What changed between two versions.", of: report.Difference{}, params: []param{{name: "from", about: "The older version.", kind: "integer"}, {name: "to", about: "The newer version.", kind: "integer"}, viewParam}},
		{pattern: "/crawls/{crawl}/pages/{page}/duplicates", summary: "Duplicates of a page.", of: list[report.CopyLine]{}, params: []param{afterParam, limitParam}},
		{pattern: "/crawls/{crawl}/pages/{page}/backlinks", summary: "Pages that link to a page.", of: list[report.BacklinkLine]{}, params: []param{afterParam, limitParam}},
		{pattern: "/crawls/{crawl}/rejected", summary: "How many links were not taken, why, and examples.", of: rejectedAnswer{}, params: []param{
			{name: "reason", about: "Only examples of this reason."}, afterParam, limitParam,
		}},
		{pattern: "/crawls/{crawl}/traps", summary: "Parts of sites that seem to have no end.", of: trapsAnswer{}, params: []param{hostParam, afterParam, limitParam}},
		{pattern: "/crawls/{crawl}/duplicates", summary: "Pages with the content of another page, or nearly.", of: duplicatesAnswer{}, params: []param{
			{name: "host", about: "Only those of which one side is of this host."}, afterParam, limitParam,
		}},
		{pattern: "/crawls/{crawl}/sources", summary: "Sitemaps and feeds.", of: list[report.SourceItem]{}, params: []param{hostParam, afterParam, limitParam}},
		{pattern: "/crawls/{crawl}/sinks", summary: "Sinks, and how they stand with their receivers.", of: list[report.SinkItem]{}},
		{pattern: "/crawls/{crawl}/sinks/{sink}/failed", summary: "Changes that a sink could not deliver.", of: list[report.FailedLine]{}, params: []param{afterParam, limitParam}},
	}
}

// buttonOperations describe the buttons. A test says which one is missing.
func buttonOperations() []operation {
	return []operation{
		{pattern: "/crawls/{crawl}/do/{change}", summary: "Pause, resume, stop, rank or repair a crawl."},
		{pattern: "/crawls/{crawl}/retry", summary: "Visit failing pages now.", params: []param{{name: "host", about: "Only those of this host; of all hosts without it."}}},
		{pattern: "/crawls/{crawl}/sinks/{sink}/{command}", summary: "Test, pause, resume, skip or replay a sink.", params: []param{
			{name: "after", about: "Of replay: the cursor after which everything is sent again."},
			{name: failedField, about: "Of replay: 1 to send again what the receiver refused, the oldest first."},
		}},
		{pattern: "/crawls/{crawl}/hosts/{host}/{block}", summary: "Block or unblock a host, for all crawls."},
		{pattern: "/crawls/{crawl}/pages/{page}/{change}", summary: "Visit a page now, snooze it, set its interval, or stop its visits.", params: []param{{name: "for", about: "Of snooze and set-interval: a duration, such as 2h or 7d."}}},
		{pattern: "/crawls/{crawl}/traps/{trap}/release", summary: "Let the pages of a trap be visited."},
	}
}
