// Package atom writes events as a feed for news readers (Atom, RFC 4287).
package atom

import (
	"crypto/sha1"
	"encoding/xml"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"recrawl/internal/feed"
)

// Feed is the feed to write.
type Feed struct {
	// Name is the crawl's, "" for all of them.
	Name string
	// Chosen says which of its changes the feed has, "" if all. Feeds that choose differently
	// are different feeds to readers.
	Chosen string
	// Self is the address of the feed, "" if it has none.
	Self string
	// Epoch is the feed's; see feed.Cursor.
	Epoch string
	// Updated is the time of a feed without events.
	Updated  time.Time
	Software string // name and version, such as recrawl/1.2.0
	Events   []feed.Event
}

// Chosen is Feed.Chosen of a feed with some kinds of changes and hosts, in one way for each
// choice.
func Chosen(kinds, hosts []string) string {
	filters := url.Values{}
	if kinds = ordered(kinds); len(kinds) > 0 {
		filters.Set("kinds", strings.Join(kinds, ","))
	}
	if hosts = ordered(hosts); len(hosts) > 0 {
		filters["host"] = hosts
	}
	return filters.Encode()
}

// ordered has each text once, without the space around it, in order.
func ordered(texts []string) []string {
	var all []string
	for _, t := range texts {
		if t = strings.TrimSpace(t); t != "" {
			all = append(all, t)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

const namespace = "http://www.w3.org/2005/Atom"

type feedElement struct {
	XMLName   xml.Name  `xml:"feed"`
	Namespace string    `xml:"xmlns,attr"`
	ID        string    `xml:"id"`
	Title     string    `xml:"title"`
	Updated   string    `xml:"updated"`
	Self      *link     `xml:"link"`
	Author    string    `xml:"author>name"`
	Generator generator `xml:"generator"`
	Entries   []entry   `xml:"entry"`
}

type generator struct {
	Version string `xml:"version,attr,omitempty"`
	Name    string `xml:",chardata"`
}

type entry struct {
	ID       string    `xml:"id"`
	Title    string    `xml:"title"`
	Updated  string    `xml:"updated"`
	Link     *link     `xml:"link"`
	Category *category `xml:"category"`
	Content  content   `xml:"content"`
}

type link struct {
	Rel  string `xml:"rel,attr"`
	HRef string `xml:"href,attr"`
}

type category struct {
	Term string `xml:"term,attr"`
}

type content struct {
	Type string `xml:"type,attr"`
	Text string `xml:",chardata"`
}

// Write writes the feed, its newest event first. The same change has the same id in every
// feed of its store.
func Write(w io.Writer, f Feed) error {
	name, version, _ := strings.Cut(f.Software, "/")
	title := "Changes of all crawls"
	if f.Name != "" {
		title = "Changes of " + f.Name
	}
	id := []string{"feed", f.Epoch, f.Name}
	if f.Chosen != "" {
		id = append(id, f.Chosen)
	}
	root := feedElement{
		Namespace: namespace, ID: urn(id...), Title: title, Updated: stamp(f.Updated),
		Author: name, Generator: generator{Version: version, Name: name},
	}
	if f.Self != "" {
		root.Self = &link{Rel: "self", HRef: f.Self}
	}
	newest := time.Time{}
	for i := len(f.Events) - 1; i >= 0; i-- {
		e := f.Events[i]
		if e.At.After(newest) {
			newest = e.At
			root.Updated = stamp(newest)
		}
		root.Entries = append(root.Entries, entryOf(e))
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", " ")
	if err := enc.Encode(root); err != nil {
		return fmt.Errorf("atom: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func entryOf(e feed.Event) entry {
	title := e.Title()
	if title == "" {
		title = e.Where()
	}
	made := entry{
		ID: urn("event", e.ID), Title: e.What() + ": " + title, Updated: stamp(e.At),
		Category: &category{Term: e.Kind.String()}, Content: content{Type: "text", Text: text(e)},
	}
	if e.Page != nil && e.Page.URL != "" {
		made.Link = &link{Rel: "alternate", HRef: e.Page.URL}
	}
	return made
}

// text describes the event in lines.
func text(e feed.Event) string {
	lines := []string{e.What() + ": " + e.Where()}
	if detail := e.Detail(); detail != "" {
		lines = append(lines, detail)
	}
	if d := e.Diff; d != nil {
		lines = append(lines, d.Size())
		for _, line := range d.Removed {
			lines = append(lines, "- "+line)
		}
		for _, line := range d.Added {
			lines = append(lines, "+ "+line)
		}
		if d.Cut {
			lines = append(lines, "…")
		}
	}
	return strings.Join(lines, "\n")
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// urn returns a name that follows from its parts: a UUID of version 5 (RFC 9562).
func urn(parts ...string) string {
	// The namespace of URLs.
	h := sha1.New()
	h.Write([]byte{0x6b, 0xa7, 0xb8, 0x11, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8})
	io.WriteString(h, "recrawl:"+strings.Join(parts, ":"))
	u := h.Sum(nil)[:16]
	u[6], u[8] = u[6]&0x0f|0x50, u[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}
