// Package sitemap reads lists of URLs that sites publish (sitemaps, their indexes,
// feeds) and decides which of their dates to believe, and which pages to visit
// sooner for them. A date is a hint and never proof: its worth shows when the page
// has been visited.
package sitemap

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"recrawl/internal/urlkey"
)

const (
	// MaxBytes bounds a list, both as it is sent and decompressed: 50 MiB, as
	// sitemaps.org does.
	MaxBytes = 50 << 20
	// MaxNesting is how many indexes may lie above a list. sitemaps.org allows one;
	// more are seen.
	MaxNesting = 3

	// maxToken bounds one text, tag or comment of a list in bytes: the part that must
	// be in memory at once.
	maxToken = 1 << 20
	// maxDepth bounds how deep elements are nested.
	maxDepth = 64
	// maxURLs bounds the URLs of a list in bytes together.
	maxURLs = 8 << 20
	// maxURL bounds one URL as it is written.
	maxURL = 8 << 10
	// maxDate bounds a date as it is written.
	maxDate = 64
)

// Format is the format of a list.
type Format string

// The formats.
const (
	FormatURLs  Format = "sitemap"
	FormatIndex Format = "sitemap index"
	FormatText  Format = "text"
	FormatRSS   Format = "RSS"
	FormatAtom  Format = "Atom"
	FormatJSON  Format = "JSON Feed"
)

// Reasons why a part of a list is left out. They are stored; never change them.
const (
	DropNoURL      = "entry without a URL"
	DropMalformed  = "malformed URL"
	DropTooLong    = "URL too long"
	DropRepeated   = "repeated"
	DropMany       = "beyond max_urls"
	DropMuch       = "URLs beyond 8 MiB"
	DropBroken     = "unreadable part"
	DropDate       = "unreadable date"
	DropFuture     = "date in the future"
	DropDatesEqual = "dates all the same"
	DropDatesNow   = "dates always now"
)

// ErrNoList: the body is no sitemap, no feed and no list of URLs.
var ErrNoList = errors.New("neither a sitemap nor a feed")

// Entry is one URL of a list.
type Entry struct {
	URL urlkey.URL
	// Spelling is how the list spells path and query, empty if it spells them as URL does.
	Spelling string
	// Modified is the date that the list gives, zero for none; for a date without a
	// time, its first moment.
	Modified time.Time
	// Timed: the date has a time of day.
	Timed bool
	// Sitemap: the URL is another list, of an index.
	Sitemap bool
}

// List is the readable part of a source.
type List struct {
	Format Format
	// Entries are the URLs, each once, in the order of the list.
	Entries []Entry
	// Dropped counts the entries left out, by the Drop reasons.
	Dropped map[string]int
	// Problem says why the rest could not be read, "" if everything was read.
	Problem string

	index map[urlkey.URL]int
	bytes int
}

func (l *List) drop(reason string, n int) {
	if n == 0 {
		return
	}
	if l.Dropped == nil {
		l.Dropped = map[string]int{}
	}
	l.Dropped[reason] += n
}

// found is an entry as it is written.
type found struct {
	href, date string
	bare       string // text of the entry itself that may be its URL
	sitemap    bool
	base       urlkey.Base // of href, in XML
}

// add adds an entry, or counts why not.
func (l *List) add(base urlkey.Base, f found, most int) {
	href := strings.TrimSpace(f.href)
	switch {
	case href == "":
		l.drop(DropNoURL, 1)
		return
	case len(href) > maxURL:
		l.drop(DropTooLong, 1)
		return
	case !utf8.ValidString(href), strings.ContainsRune(href, utf8.RuneError):
		// Nobody knows which characters these were. The URL would be another one.
		l.drop(DropBroken, 1)
		return
	}
	u, spelling, err := base.Spelled(href)
	switch {
	case errors.Is(err, urlkey.ErrTooLong):
		l.drop(DropTooLong, 1)
		return
	case err != nil:
		l.drop(DropMalformed, 1)
		return
	}
	e := Entry{URL: u, Spelling: spelling, Sitemap: f.sitemap}
	if date := strings.TrimSpace(f.date); date != "" {
		var ok bool
		if e.Modified, ok = ParseDate(date); !ok {
			l.drop(DropDate, 1)
		}
		e.Timed = ok && timed(date)
	}
	l.keep(e, most)
}

func (l *List) keep(e Entry, most int) {
	i, known := l.index[e.URL]
	switch size := len(e.URL.String()); {
	case known:
		l.drop(DropRepeated, 1)
		if e.Modified.After(l.Entries[i].Modified) {
			l.Entries[i].Modified, l.Entries[i].Timed = e.Modified, e.Timed
		}
	case len(l.Entries) >= most:
		l.drop(DropMany, 1)
	case l.bytes+size > maxURLs:
		l.drop(DropMuch, 1)
	default:
		if l.index == nil {
			l.index = map[urlkey.URL]int{}
		}
		l.index[e.URL] = len(l.Entries)
		l.Entries = append(l.Entries, e)
		l.bytes += size
	}
}

// Digest returns the SHA-256 in hex of the set of URLs with their dates: the
// order of the list does not count.
func (l *List) Digest() string {
	lines := make([]string, len(l.Entries))
	for i, e := range l.Entries {
		lines[i] = e.URL.String() + "\t"
		if !e.Modified.IsZero() {
			lines[i] += e.Modified.UTC().Format(time.RFC3339Nano)
		}
	}
	slices.Sort(lines)
	sum := sha256.New()
	for _, line := range lines {
		sum.Write([]byte(line))
		sum.Write([]byte{'\n'})
	}
	return hex.EncodeToString(sum.Sum(nil))
}
