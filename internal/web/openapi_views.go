package web

import (
	"recrawl/internal/feed"
	"recrawl/internal/report"
)

// Parameters that several lists have.
var (
	limitParam = param{name: "limit", about: "At most so many rows, up to 500; 50 without it.", kind: "integer"}
	afterParam = param{name: "after", about: "Where the part begins: next of the part before has it."}
	hostParam  = param{name: "host", about: "Only of this host."}
	kindsParam = param{name: "kinds", about: "Only these kinds, such as page.new,page.changed or page.*."}
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
		{
			pattern: "/crawls/{crawl}/url", summary: "What the crawl has of a URL: its page, or why there is none.", of: report.URLAnswer{},
			params: []param{{name: "url", about: "Any http or https URL.", required: true}},
		},
		{pattern: "/crawls/{crawl}/hosts", summary: "Hosts by name.", of: list[report.HostItem]{}, params: []param{
			{name: "text", about: "Stands somewhere in the name."}, {name: "trouble", about: "1: only those from which nothing can be fetched now."}, afterParam, limitParam,
		}},
		{pattern: "/crawls/{crawl}/hosts/{host}", summary: "A host.", of: report.HostItem{}},
		{pattern: "/crawls/{crawl}/rejected", summary: "How many links were not taken, why, and examples.", of: rejectedAnswer{}, params: []param{
			{name: "reason", about: "Only examples of this reason."}, limitParam,
		}},
		{pattern: "/crawls/{crawl}/traps", summary: "Parts of sites that seem to have no end.", of: trapsAnswer{}, params: []param{afterParam, limitParam}},
		{pattern: "/crawls/{crawl}/duplicates", summary: "Pages with the content of another page, or nearly.", of: duplicatesAnswer{}, params: []param{afterParam, limitParam}},
		{pattern: "/crawls/{crawl}/sources", summary: "Sitemaps and feeds.", of: list[report.SourceItem]{}, params: []param{hostParam, afterParam, limitParam}},
		{pattern: "/crawls/{crawl}/sinks", summary: "Sinks, and how they stand with their receivers.", of: list[report.SinkItem]{}},
		{pattern: "/crawls/{crawl}/sinks/{sink}/failed", summary: "Changes that a sink could not deliver.", of: list[report.FailedLine]{}, params: []param{afterParam, limitParam}},
	}
}

// buttonOperations describe the buttons. A test says which one is missing.
func buttonOperations() []operation {
	return []operation{
		{pattern: "/crawls/{crawl}/do/{change}", summary: "Pause, resume, stop, rank or repair a crawl."},
		{pattern: "/crawls/{crawl}/retry", summary: "Visit failing pages now.", params: []param{hostParam}},
		{pattern: "/crawls/{crawl}/sinks/{sink}/{command}", summary: "Test, pause, resume, skip or replay a sink.", params: []param{
			{name: "after", about: "Of replay: the cursor after which everything is sent again."},
		}},
		{pattern: "/crawls/{crawl}/hosts/{host}/{block}", summary: "Block or unblock a host, for all crawls."},
		{pattern: "/crawls/{crawl}/traps/{trap}/release", summary: "Let the pages of a trap be visited."},
	}
}
