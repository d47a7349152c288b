package contract

import "go.temporal.io/sdk/temporal"

// Priorities of the tasks that wait for a worker: a server that orders them gives those with the
// smaller key first. What a person asks for must not wait behind the visits of pages that are
// late: a crawl, whose tasks are few, always overtakes them, and a page does from a person's
// command on until it has been visited.
var (
	CrawlPriority = temporal.Priority{PriorityKey: 1}
	AskedPriority = temporal.Priority{PriorityKey: 2}
	PagePriority  = temporal.Priority{PriorityKey: 3} // the server's default
)
