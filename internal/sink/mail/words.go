package mail

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"recrawl/internal/feed"
)

// clean makes one line of a stranger's text: without control characters, line ends, marks
// that change the direction of writing and invisible characters, of at most limit
// characters.
func clean(s string, limit int) string {
	var b strings.Builder
	n, space := 0, false
	for _, r := range s {
		switch {
		case r == utf8.RuneError, unicode.IsSpace(r), unicode.IsControl(r), r == '\u2028', r == '\u2029':
			space = true
			continue
		case r == '\u200c', r == '\u200d': // join letters of Persian, and emojis
		case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r), unicode.Is(unicode.Cs, r), r == '\u115f', r == '\u1160', r == '\u3164', r == '\uffa0', r == '\u034f':
			continue
		}
		if space && n > 0 {
			b.WriteByte(' ')
			n++
		}
		space = false
		if n++; n > limit {
			return strings.TrimRight(b.String(), " ") + "…"
		}
		b.WriteRune(r)
	}
	return b.String()
}

// headings say what happened, and stand before the title of the page.
var headings = map[feed.Kind]string{
	feed.PageNew: "New", feed.PageChanged: "Changed", feed.PageGone: "Gone", feed.PageBack: "Back", feed.PageMoved: "Moved",
	feed.PageFailing: "Fails", feed.PageRecovered: "Answers again", feed.PageExcluded: "Forbidden", feed.PageDuplicate: "Duplicate",
	feed.PageStopped: "Stopped", feed.PageEvicted: "Given up", feed.PageResumed: "Visited again", feed.PageForgotten: "Taken down",
	feed.CrawlState: "Crawl", feed.CrawlSpec: "Crawl", feed.TrapHeld: "Held", feed.HostBlocked: "Host", feed.SinkPaused: "Sink paused", feed.FeedGap: "Changes missed",
}

// headingOf says what happened and to what.
func headingOf(e feed.Event) string {
	heading := headings[e.Kind]
	if heading == "" {
		heading = e.Kind.String()
	}
	if e.Kind == feed.PageChanged && e.ReturnedTo > 0 {
		heading = "Changed back"
	}
	return heading + ": " + subjectOf(e)
}

// subjectOf names what an event is about.
func subjectOf(e feed.Event) string {
	switch e.Kind {
	case feed.CrawlState:
		return fmt.Sprintf("%s is %s", e.Crawl, e.State)
	case feed.CrawlSpec:
		return e.Crawl + " has another spec"
	case feed.HostBlocked:
		if e.Blocked {
			return e.Host + " is blocked"
		}
		return e.Host + " is no longer blocked"
	case feed.TrapHeld:
		return e.Pattern
	case feed.SinkPaused, feed.FeedGap:
		return e.Sink
	}
	switch {
	case e.Page == nil:
		return e.Crawl
	case e.Page.Title != "":
		return e.Page.Title
	case e.Page.URL != "":
		return e.Page.URL
	}
	return fmt.Sprintf("page %d", e.Page.ID)
}

// detailOf adds details that the heading leaves open, "" for none.
func detailOf(e feed.Event) string {
	switch e.Kind {
	case feed.PageMoved:
		if e.Location != "" {
			return "It leads to " + e.Location
		}
	case feed.PageChanged:
		if e.ReturnedTo > 0 {
			return fmt.Sprintf("It shows its version %d again", e.ReturnedTo)
		}
	case feed.PageGone:
		if e.Status > 0 {
			return fmt.Sprintf("It answers %d", e.Status)
		}
	case feed.PageForgotten:
		return "It was taken down here; what was sent before cannot be called back"
	case feed.SinkPaused:
		return "Nothing is delivered to it before somebody resumes it: " + e.Code
	case feed.FeedGap:
		return fmt.Sprintf("%d changes were removed before the sink had read them", e.Missed)
	}
	return e.Problem
}

// sizeOf says how much of a text changed.
func sizeOf(d *feed.EventDiff) string {
	if d == nil {
		return ""
	}
	return fmt.Sprintf("%s added, %s removed", count(d.WordsAdded, "word"), count(d.WordsRemoved, "word"))
}

func count(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}
