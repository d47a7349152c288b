package webhook

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"recrawl/internal/feed"
	"recrawl/internal/sink"
)

// Lengths of the parts of a message.
const (
	maxTitle = 200
	maxValue = 300
	maxShown = 300 // of a line of the difference
)

// message is a change for people, in parts: some are our words, and some come from a page,
// which formats must keep apart.
type message struct {
	at         time.Time
	headline   string // our words
	title, url string // of the page, "" if it has none
	facts      []fact
	lines      []string // of the difference, each with its sign
	more       bool     // there are more of them
}

// fact is something about a change. The value may come from a page.
type fact struct{ name, value string }

// messageOf shows an event.
func messageOf(e feed.Event) message {
	m := message{at: e.At, headline: headline(e)}
	if e.Page != nil {
		m.title, m.url = e.Page.Title, e.Page.URL
	}
	if e.Version != nil && m.title == "" {
		m.title = e.Version.Title
	}
	add := func(name, value string) {
		if value != "" {
			m.facts = append(m.facts, fact{name, value})
		}
	}
	add("crawl", e.Crawl)
	add("host", e.Host)
	add("moved to", e.Location)
	add("problem", e.Problem)
	if e.Status != 0 && e.Status != 200 {
		add("answer", strconv.Itoa(e.Status))
	}
	add("part", e.Pattern)
	add("reason", e.Code)
	if e.Diff != nil {
		add("words", words(*e.Diff))
		m.lines, m.more = difference(*e.Diff)
	}
	return m
}

func words(d feed.EventDiff) string {
	return fmt.Sprintf("%d added, %d removed", d.WordsAdded, d.WordsRemoved)
}

// difference returns the lines of a difference with their signs, removed ones first.
func difference(d feed.EventDiff) (lines []string, more bool) {
	for _, part := range []struct {
		sign  string
		lines []string
	}{{"- ", d.Removed}, {"+ ", d.Added}} {
		for _, l := range part.lines {
			if l = plain(l, maxShown); l != "" {
				lines = append(lines, part.sign+l)
			}
		}
	}
	return lines, d.Cut
}

// diff returns the first lines of the difference as one text, "" if there is none.
func (m message) diff(n int) string {
	lines := m.lines[:n:n]
	if len(m.lines) > 0 && (m.more || n < len(m.lines)) {
		lines = append(lines, "…")
	}
	return strings.Join(lines, "\n")
}

// name returns the page's title, or else its address.
func (m message) name() string {
	if title := plain(m.title, maxTitle); title != "" {
		return title
	}
	return plain(m.url, maxTitle)
}

// pageWords are the headlines of changes of a page.
var pageWords = map[feed.Kind]string{
	feed.PageNew: "New page", feed.PageChanged: "Page changed", feed.PageGone: "Page is gone",
	feed.PageBack: "Page is back", feed.PageMoved: "Page has moved", feed.PageFailing: "Page fails",
	feed.PageRecovered: "Page answers again", feed.PageExcluded: "Page is excluded",
	feed.PageDuplicate: "Page is a duplicate", feed.PageStopped: "Page was stopped",
	feed.PageEvicted: "Page gave its place to a better one", feed.PageResumed: "Page is visited again",
	feed.PageForgotten: "Page was forgotten",
}

// headline says in our words what happened.
func headline(e feed.Event) string {
	switch e.Kind {
	case feed.PageChanged:
		if e.ReturnedTo > 0 {
			return fmt.Sprintf("Page is as in version %d again", e.ReturnedTo)
		}
	case feed.CrawlState:
		return "Crawl is " + plain(e.State.String(), maxTitle)
	case feed.CrawlSpec:
		return "Crawl has a new spec"
	case feed.TrapHeld:
		return "A part of a site without end is held"
	case feed.HostBlocked:
		if e.Blocked {
			return "Host is blocked"
		}
		return "Host is no longer blocked"
	case feed.SinkPaused:
		return "Sink " + plain(e.Sink, maxTitle) + " is paused"
	case feed.FeedGap:
		return fmt.Sprintf("Sink %s missed %d changes, which are no longer kept", plain(e.Sink, maxTitle), e.Missed)
	}
	if w, ok := pageWords[e.Kind]; ok {
		return w
	}
	return plain(e.Kind.String(), maxTitle) // of a newer release
}

// list is a digest for people.
type list struct {
	headline string
	to       time.Time
	items    []message
	left     int // pages that it does not name
}

func listOf(d sink.Digest) list {
	n := len(d.Events) + d.Left
	l := list{headline: fmt.Sprintf("%d pages changed in crawl %s", n, plain(d.Crawl, maxTitle)), to: d.To, left: d.Left}
	if n == 1 {
		l.headline = "1 page changed in crawl " + plain(d.Crawl, maxTitle)
	}
	for _, e := range d.Events {
		l.items = append(l.items, messageOf(e))
	}
	return l
}

// rest says how many pages follow the first n, "" if none do.
func (l list) rest(n int) string {
	if more := len(l.items) - n + l.left; more > 0 {
		return fmt.Sprintf("… and %d more", more)
	}
	return ""
}

// words says how much changed in an item, "" if that was not counted.
func (m message) words() string {
	for _, f := range m.facts {
		if f.name == "words" {
			return f.value
		}
	}
	return ""
}
