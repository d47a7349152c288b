package mail

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"

	"recrawl/internal/feed"
	"recrawl/internal/sink"
)

// Limits of a mail, in characters and lines.
const (
	maxSubject     = 120
	maxTitle       = 200
	maxURL         = 2000
	maxLine        = 500
	maxLines       = 100  // of a diff, in a mail of one change
	maxDigestLines = 20   // of a diff, in a digest
	maxAllLines    = 2000 // of all diffs of a digest
)

// letter is the content of a mail, in plain words without any markup.
type letter struct {
	id      string // of the event or digest
	crawl   string
	subject string
	intro   string // before the changes, "" for none
	changes []change
	outro   string // after the changes, "" for none
}

// change is one event in a letter.
type change struct {
	Heading string
	URL     string // as it is shown
	Link    string // URL if it is one that may be clicked, else ""
	When    string
	Detail  string
	Size    string
	Removed []string
	Added   []string
	Cut     bool
}

func letterOf(e feed.Event) letter {
	c := changeOf(e, maxLines)
	return letter{id: e.ID, crawl: e.Crawl, subject: c.Heading, changes: []change{c}}
}

func letterOfDigest(d sink.Digest) letter {
	pages := len(d.Events) + d.Left
	l := letter{
		id: d.ID, crawl: d.Crawl, subject: count(pages, "change"),
		intro: fmt.Sprintf("%s from %s to %s. Each page stands here once.", count(pages, "change"), stamp(d.From), stamp(d.To)),
	}
	room := maxAllLines
	for _, e := range d.Events {
		c := changeOf(e, min(maxDigestLines, room))
		room -= len(c.Added) + len(c.Removed)
		l.changes = append(l.changes, c)
	}
	if d.Left > 0 {
		l.outro = fmt.Sprintf("%s more, for which this mail has no room: starter changes %s shows all.", count(d.Left, "change"), clean(d.Crawl, maxTitle))
	}
	return l
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

func changeOf(e feed.Event, lines int) change {
	c := change{Heading: clean(headingOf(e), maxTitle), When: stamp(e.At), Detail: clean(detailOf(e), maxLine), Size: sizeOf(e.Diff)}
	if e.Page != nil {
		c.URL = clean(e.Page.URL, maxURL)
		c.Link = linkOf(e.Page.URL)
	}
	if e.Diff == nil {
		return c
	}
	removed, added := divide(len(e.Diff.Removed), len(e.Diff.Added), lines)
	c.Removed, c.Added = cleanLines(e.Diff.Removed[:removed]), cleanLines(e.Diff.Added[:added])
	c.Cut = e.Diff.Cut || removed < len(e.Diff.Removed) || added < len(e.Diff.Added)
	return c
}

// divide shares room lines between removed and added ones: half to each, and to one what
// the other does not need.
func divide(removed, added, room int) (int, int) {
	half := room / 2
	switch {
	case removed+added <= room:
		return removed, added
	case removed <= half:
		return removed, room - removed
	case added <= room-half:
		return room - added, added
	}
	return half, room - half
}

func cleanLines(lines []string) []string {
	var cleaned []string
	for _, l := range lines {
		cleaned = append(cleaned, clean(l, maxLine))
	}
	return cleaned
}

// linkOf returns the URL if it can be clicked without harm, else "".
func linkOf(page string) string {
	u, err := url.Parse(page)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || len(page) > maxURL || clean(page, maxURL) != page {
		return ""
	}
	return page
}

// compose writes the message. Only its date and the marks between its parts differ from one
// try to the next.
func (s *Sender) compose(l letter) ([]byte, error) {
	m := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	m.FromMailAddress(s.from)
	m.ToMailAddress(s.to...)
	m.Subject(unencoded(clean(prefixOf(l.crawl)+l.subject, maxSubject)))
	m.SetDateWithValue(s.now().UTC())
	m.SetMessageIDWithValue(s.messageID(l.id))
	m.SetGenHeader("List-Id", "<"+label(l.crawl)+".recrawl."+s.domain()+">")
	m.SetGenHeader("Auto-Submitted", "auto-generated")
	m.SetGenHeader("X-Auto-Response-Suppress", "All")
	m.SetBodyString(gomail.TypeTextPlain, plain(l))
	html, err := markup(l)
	if err != nil {
		return nil, err
	}
	m.AddAlternativeString(gomail.TypeTextHTML, html)
	var b bytes.Buffer
	if _, err := m.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("compose a mail: %w", err)
	}
	return b.Bytes(), nil
}

// unencoded breaks up encoded words (RFC 2047), which mail programs would decode, perhaps
// to the line ends that clean has taken out.
func unencoded(s string) string { return strings.ReplaceAll(s, "=?", "= ?") }

// prefixOf returns the beginning of the subject of a crawl's mails. Events of hosts belong
// to no crawl.
func prefixOf(crawl string) string {
	if crawl == "" {
		return ""
	}
	return "[" + crawl + "] "
}

// messageID returns the same id for each try of the same event or digest to the same
// receivers.
func (s *Sender) messageID(id string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %s", len(id), id)
	for _, a := range s.to {
		fmt.Fprintf(h, " %d %s", len(a.Address), a.Address)
	}
	return "recrawl." + hex.EncodeToString(h.Sum(nil)[:16]) + "@" + s.domain()
}

// domain returns the domain of the sender's address.
func (s *Sender) domain() string {
	return label(s.from.Address[strings.LastIndexByte(s.from.Address, '@')+1:])
}

// label keeps only characters that may stand in the name of a list.
func label(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '-' || r == '.' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(s))
	if s = strings.Trim(s, "."); s == "" {
		return "unknown"
	}
	return s[:min(len(s), 100)]
}
