package feed

import "fmt"

var kindWords = map[Kind]string{
	PageNew: "new", PageChanged: "changed", PageGone: "gone", PageBack: "back", PageMoved: "moved",
	PageFailing: "failing", PageRecovered: "answers again", PageExcluded: "excluded", PageDuplicate: "duplicate",
	PageStopped: "stopped", PageEvicted: "evicted", PageResumed: "visited again", PageForgotten: "forgotten",
	CrawlState: "crawl", CrawlSpec: "another spec", TrapHeld: "held as a trap", HostBlocked: "host blocked",
	SinkPaused: "sink paused", FeedGap: "changes missed",
}

// What says in a few words what happened, without naming to what.
func (e Event) What() string {
	words, ok := kindWords[e.Kind]
	switch {
	case !ok:
		return e.Kind.String() // of a newer program
	case e.ReturnedTo > 0:
		return fmt.Sprintf("%s, as in version %d", words, e.ReturnedTo)
	case e.Kind == PageGone && e.Status > 0:
		return fmt.Sprintf("%s (%d)", words, e.Status)
	case e.Kind == CrawlState:
		return words + " " + e.State.String()
	case e.Kind == HostBlocked && !e.Blocked:
		return "host unblocked"
	case e.Kind == FeedGap:
		return count(int(e.Missed), "change") + " missed"
	}
	return words
}

// Where names what the event happened to: a URL, a host, a part of a site, a sink or a
// crawl.
func (e Event) Where() string {
	switch {
	case e.Page != nil && e.Page.URL != "":
		return e.Page.URL
	case e.Page != nil && e.URLHash != "":
		return fmt.Sprintf("page %d, whose URL has SHA-256 %s", e.Page.ID, e.URLHash)
	case e.Page != nil:
		return fmt.Sprintf("page %d, forgotten since", e.Page.ID)
	case e.Sink != "":
		return "sink " + e.Sink
	case e.Pattern != "":
		return e.Pattern
	case e.Host != "":
		return e.Host
	}
	return "crawl " + e.Crawl
}

// Detail says more: where a page has moved to, why it fails, or why a sink was paused; ""
// for nothing.
func (e Event) Detail() string {
	switch {
	case e.Kind == PageMoved && e.Location != "":
		return "to " + e.Location
	case e.Code != "":
		return e.Code
	}
	return e.Problem
}

// Title returns the title of the page's version since the event, or of the page.
func (e Event) Title() string {
	switch {
	case e.Version != nil && e.Version.Title != "":
		return e.Version.Title
	case e.Page != nil:
		return e.Page.Title
	}
	return ""
}

// Size says how many words came and went.
func (d EventDiff) Size() string {
	return fmt.Sprintf("%s added, %d removed", count(d.WordsAdded, "word"), d.WordsRemoved)
}

func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
