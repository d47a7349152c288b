package feed

import (
	"time"

	"recrawl/internal/crawl"
)

// EventVersion is the version of the format of events. Fields are added without raising it;
// it is raised when a field changes its meaning or is removed.
const EventVersion = 1

// Event is a change as programs and people read it: a row of the feed joined with the page
// and its versions. It is the object of `starter changes --output json`, of webhooks and of
// programs. docs/changes.md describes it.
type Event struct {
	V int `json:"v"`
	// ID names the change for ever, in all stores, by its epoch and number. Cursor is the
	// place after it.
	ID     string    `json:"id"`
	Cursor Cursor    `json:"cursor"`
	Kind   Kind      `json:"kind"`
	At     time.Time `json:"at"`
	Crawl  string    `json:"crawl,omitempty"`
	// Page is set for changes of pages. After a takedown only its id and URLHash are known.
	Page    *EventPage `json:"page,omitempty"`
	URLHash string     `json:"url_sha256,omitempty"`
	// Visit found the change. Status is the status of its answer, Location where a page has
	// moved to, and Problem says why it fails.
	Visit    int    `json:"visit,omitempty"`
	Status   int    `json:"status,omitempty"`
	Location string `json:"location,omitempty"`
	Problem  string `json:"problem,omitempty"`
	// Version is the page's version since the change, Before the one that it had.
	// ReturnedTo is the number of an earlier version that it has again.
	Version    *EventVersionOf `json:"version,omitempty"`
	Before     *EventVersionOf `json:"before,omitempty"`
	ReturnedTo int             `json:"returned_to,omitempty"`
	// Diff is the difference of the texts of Before and Version. It is absent if one of the
	// bodies is not kept, or nobody asked for it.
	Diff *EventDiff `json:"diff,omitempty"`
	// State and Generation are those of a crawl, Host and Blocked those of a host, Trap and
	// Pattern those of a held part of a site.
	State      crawl.CrawlState `json:"state,omitempty"`
	Generation int64            `json:"generation,omitempty"`
	Host       string           `json:"host,omitempty"`
	Blocked    bool             `json:"blocked,omitempty"`
	Trap       int64            `json:"trap,omitempty"`
	Pattern    string           `json:"pattern,omitempty"`
	// For sink.paused and feed.gap, Sink is the sink, Code says why it was paused, and
	// Missed is the number of changes that it never read.
	Sink   string `json:"sink,omitempty"`
	Code   string `json:"code,omitempty"`
	Missed int64  `json:"missed,omitempty"`
}

// EventPage is the page of an event, as it is when the event is read, with its states
// before and after the change.
type EventPage struct {
	ID    int64           `json:"id"`
	URL   string          `json:"url,omitempty"`
	Host  string          `json:"host,omitempty"`
	Title string          `json:"title,omitempty"`
	Was   crawl.PageState `json:"was,omitempty"`
	State crawl.PageState `json:"state,omitempty"`
	// Source is sitemap or feed for a page that is read for links and dates only, and
	// requisite for one that pages need to look as they do.
	Source crawl.PageKind `json:"source,omitempty"`
}

// EventVersionOf is a version of the page of an event. Only Seq is known if the version is
// no longer kept.
type EventVersionOf struct {
	Seq         int       `json:"seq"`
	At          time.Time `json:"at,omitzero"`
	Digest      string    `json:"sha256,omitempty"`      // of the body
	TextDigest  string    `json:"text_sha256,omitempty"` // of the normalised text
	Bytes       int64     `json:"bytes,omitempty"`
	ContentType string    `json:"content_type,omitempty"`
	Title       string    `json:"title,omitempty"`
	Language    string    `json:"language,omitempty"`
}

// EventDiff is the difference of two texts.
type EventDiff struct {
	WordsAdded   int `json:"words_added"`
	WordsRemoved int `json:"words_removed"`
	// LinesAdded and LinesRemoved count the lines that came and went and are not blank.
	LinesAdded   int `json:"lines_added,omitempty"`
	LinesRemoved int `json:"lines_removed,omitempty"`
	// Added and Removed are the first of the lines that came and went; Cut says that there
	// are more, or that they are longer.
	Added   []string `json:"added,omitempty"`
	Removed []string `json:"removed,omitempty"`
	Cut     bool     `json:"cut,omitempty"`
}
