// Package export writes what a crawl has gathered in formats that people and
// programs read: a tree of folders, WARC files with an index, JSON Lines.
// docs/exports.md describes them.
//
// An export is a folder named by a time, and holds the crawl as known then. It is made from
// a Source alone, without clock, network or database: the same source and options give the
// same bytes, even if the export was killed and continued any number of times. Memory is
// bounded whatever the size of the crawl.
package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/document"
	"recrawl/internal/feed"
)

// Errors that callers decide on; each is wrapped with what was wrong in one line.
var (
	// ErrForeign: the folder holds something that is not this export.
	ErrForeign = errors.New("cannot export there")
	// ErrBusy: another process is writing there.
	ErrBusy = errors.New("another export is being written there")
	// ErrSource: the source broke a promise of Source.
	ErrSource = errors.New("the source contradicts itself")
)

// Source provides the data of an export: one crawl's visits and the bodies of its versions.
// Package exporttest states its promises as a test.
type Source interface {
	// Exchanges yields a crawl's visits in ascending order of page id and, within a page,
	// of visit number; times ascend with the numbers. It yields everything that q asks for,
	// and may yield more. The visit that found a version is always among those of its page.
	// An error ends the sequence. A visit is yielded the same each time, unless it was
	// forgotten.
	Exchanges(ctx context.Context, q Query) iter.Seq2[Exchange, error]
	// Body opens a version's body, as it was decoded, by its digest. The error for a
	// missing body (forgotten meanwhile) wraps archive.ErrNotFound. For one that does not
	// hash to the digest, the error comes at the end of reading.
	Body(ctx context.Context, digest string) (io.ReadCloser, error)
	// Text returns the main text of the version that x found, UTF-8. It is asked only
	// of exchanges that Found a version with a body; its errors are those of Body.
	Text(ctx context.Context, x Exchange) (string, error)
	// Read returns the version that x found as a document. It is asked, and fails, as Text.
	Read(ctx context.Context, x Exchange) (document.Document, error)
}

// Changing is a source that also knows what changed. It yields the visits that Since and
// Through of a Query select.
type Changing interface {
	Source
	// Changes yields the events after since up to through, in their order.
	Changes(ctx context.Context, since, through feed.Cursor) iter.Seq2[feed.Event, error]
}

// Query is the part of a crawl that an export needs.
type Query struct {
	After int64     // pages with ids above it
	Until time.Time // visits at or before it
	// Found: only visits that found a version, or are Back.
	Found bool
	// Since and Through, unless zero, select in the place of Until: the visits after the one
	// and up to the other place in the feed that are changes, or found another version of the
	// same text. Sources that are not Changing do not know them.
	Since, Through feed.Cursor
}

// Exchange is one visit of a page, and the version that the page had after it.
type Exchange struct {
	Page    int64     // page id, > 0
	URL     string    // canonical
	Visit   int       // number, from 1
	At      time.Time // UTC, by the store's clock, in whole microseconds
	Outcome crawl.Outcome
	Status  int // HTTP status, 0 when there was none
	// Duration is how long the request took.
	Duration time.Duration
	Bytes    int64  // body bytes received, as coded
	Digest   string // SHA-256 in hex of the body that came or, after a 304, of the version; "" for none
	Problem  string // what went wrong, in plain words
	Location string // redirect target
	Reasons  []crawl.Reason
	// Request and Response are the heads of the HTTP exchange: a start line and
	// fields, in the syntax of HTTP/1.1 whatever the protocol was; empty where none
	// were kept. Fields about codings and length are those of the wire.
	Request, Response []byte
	// Protocol is the ALPN name of the protocol ("http/1.1", "h2"), "" if unknown.
	Protocol string
	// IP is the address that answered, "" if unknown.
	IP string
	// Version is the page's version after the visit, zero for none.
	Version Version
	// Back: the visit found Version again, after another. It is not always set for visits
	// before the page's last one.
	Back bool
	// Stands: the page is part of the collection as it stands at this reading. It has not
	// gone or moved, is not excluded, has not given its place away, and is not a list of
	// URLs.
	Stands bool
	// Requisite: the page is an image, style or font that others use, not a document. It
	// Stands if the site still has it.
	Requisite bool
	// TextAt is when the page last got another main text, up to this visit, as shown by the
	// kept visits.
	TextAt time.Time
	// Reserved holds what the site said about uses of Version, nil if it said nothing.
	Reserved []crawl.Reservation
}

// Version is one content of a page.
type Version struct {
	Seq    int       // from 1; 0: there is no version
	Visit  int       // number of the visit that found it
	At     time.Time // of that visit
	Digest string    // SHA-256 in hex of the decoded body, "" if it may not be kept
	Bytes  int64     // size of the decoded body
	// ContentType is the body's, as header text.
	ContentType string
	Title       string
	Canonical   string // rel=canonical, "" if none
	Language    string // BCP 47, "" if the page does not say
	// Fetched is At as in the store, whose clock may have been set back since.
	Fetched time.Time
}

// Found reports whether the visit found the version that the page has after it.
func (x Exchange) Found() bool { return x.Version.Seq > 0 && x.Version.Visit == x.Visit }

// brings reports whether the page has another version after the visit than before.
func (x Exchange) brings() bool { return x.Found() || x.Back }

// keeps reports whether the visit found a version whose body is kept.
func (x Exchange) keeps() bool { return x.Found() && x.Version.Digest != "" }

// Format is a format of exports.
type Format string

// The formats.
const (
	Dir   Format = "dir"   // a folder per host and path segment, the page inside
	HTML  Format = "html"  // the same for the pages that stand, as their sites served them
	Text  Format = "text"  // the same for the pages that stand, with their main text
	WARC  Format = "warc"  // WARC/1.1 files and a CDXJ index
	JSONL Format = "jsonl" // visits and versions as JSON Lines

	Markdown Format = "markdown" // the tree of Text, as Markdown with front matter
	Chunks   Format = "chunks"   // the tree of Text, cut at its headings, as JSON Lines
	Mirror   Format = "mirror"   // a folder that browses offline
	WACZ     Format = "wacz"     // WARC files in a package that replays
)

// Formats lists the formats of exports.
func Formats() []Format {
	return []Format{Dir, HTML, Text, Markdown, Chunks, Mirror, WARC, WACZ, JSONL}
}

func newWriter(ctx context.Context, src Source, j *job, o Options) (writer, error) {
	switch j.Format {
	case Dir, HTML, Text, Markdown, Chunks:
		return newTree(src, j)
	case Mirror:
		return newMirror(ctx, src, j, o)
	case WARC:
		return newWARC(src, j, o, "")
	case WACZ:
		return newWACZ(src, j, o)
	default:
		return newLines(src, j)
	}
}

const (
	// DefaultMaxFile is the size at which a WARC file is followed by the next: 10⁹
	// bytes (WARC/1.1 annex C).
	DefaultMaxFile = 1_000_000_000
	// DefaultSortMemory is the memory in bytes for sorting the index of WARC files.
	DefaultSortMemory = 16 << 20
)

// Options say what to export.
type Options struct {
	Format Format
	Crawl  string // the crawl's name
	// Article says that the source's Read gives the article alone. It is for formats of
	// documents only.
	Article bool
	// At is the time of the export, in whole seconds: later visits are left out. Zero means
	// the time of an unfinished export in the folder, or Now.
	At time.Time
	// Now is the store's clock. It counts only if At is zero.
	Now time.Time
	// Since, unless zero, exports only changes after it, up to Cursor; the source must be
	// Changing, and At only names the export.
	Since feed.Cursor
	// Cursor is the place in the feed up to which the export is complete, zero if that is
	// not known. A continued export keeps its cursor.
	Cursor feed.Cursor
	// Software names the program and its version ("recrawl/1.2.0"), for WARC files.
	Software string
	// MaxFile is the size in bytes at which a WARC file is followed by the next; 0 is
	// DefaultMaxFile. The last capture exceeds it.
	MaxFile int64
	// SortMemory is the approximate memory for sorting the index of WARC files, in bytes; 0
	// is DefaultSortMemory. It does not change the result.
	SortMemory int
	// Progress, if set, is called after each page, and now and then within one.
	Progress func(Counts)
	// Listing, if set, is called now and then while the pages of a mirror are listed, with
	// how many there are so far. Only then are they written.
	Listing func(pages int64)
}

// check refuses options for which there is no export.
func (o Options) check() error {
	if !slices.Contains(Formats(), o.Format) {
		return fmt.Errorf("%q is no format of exports: %v are", o.Format, Formats())
	}
	if o.Crawl == "" || strings.ContainsAny(o.Crawl, `/\`) {
		return fmt.Errorf("%q is no name of a crawl", o.Crawl)
	}
	if o.Article && !o.Format.hasArticles() {
		return fmt.Errorf("an export in format %s has no article alone: markdown and chunks have", o.Format)
	}
	if o.Since != (feed.Cursor{}) && o.Format == Mirror {
		return errors.New("a mirror is always whole, since its links depend on which pages are in it: leave --since away")
	}
	if o.Since != (feed.Cursor{}) && o.Cursor == (feed.Cursor{}) {
		return fmt.Errorf("an export since %s must know up to where", o.Since)
	}
	return nil
}

// Counts says how far an export is, or how much it holds.
type Counts struct {
	Pages    int64 `json:"pages"`
	Visits   int64 `json:"visits"`
	Versions int64 `json:"versions"` // with their bodies
	// Missing counts versions whose body the source no longer had.
	Missing int64 `json:"missing,omitempty"`
	// Damaged counts versions whose body the source has with other bytes than it found.
	Damaged int64 `json:"damaged,omitempty"`
	Bytes   int64 `json:"bytes"` // of bodies, as decoded
}

// Result is a finished export.
type Result struct {
	Folder string // its path
	At     time.Time
	Counts
	// Since and Cursor are those of the export's options.
	Since, Cursor feed.Cursor
	// Already: it was there before, and nothing was written.
	Already bool
}

// Export writes the export to a new folder below out, named by its time. If the
// folder is there and is that export, it is left as it is; if an earlier call ended
// while writing it, it is continued. The folder has its name only when it is whole.
// Before any of it is written, out is checked: it may hold nothing but exports of
// this crawl in this format (ErrForeign).
func Export(ctx context.Context, src Source, out string, o Options) (Result, error) {
	return export(ctx, src, out, o, internals{pages: checkpointPages, bytes: checkpointBytes})
}
