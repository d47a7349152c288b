// Package folder is the sink that keeps a folder of the latest versions: whatever happened,
// and however often it was cut off, the folder ends up equal to a fresh export in its
// format.
//
// An event only says which page to look at. The sender reads the page's present state, and
// brings the folder up to date with it. So it does not matter whether events come twice,
// late, or without earlier ones.
package folder

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/export"
	"recrawl/internal/feed"
	"recrawl/internal/sink"
)

// Source is the crawl whose pages the folder holds; package export/source has it.
type Source interface {
	// Document returns a page's present version; false if an export of standing pages has
	// none of it.
	Document(ctx context.Context, page int64) (export.Exchange, bool, error)
	// Documents does what Document does, for the pages after one, in ascending order. It
	// looks at up to limit pages, those with ids up to through.
	Documents(ctx context.Context, after int64, limit int) (found []export.Exchange, through int64, more bool, err error)
	export.Bodies
}

// Collection describes the folder's contents.
type Collection struct {
	Store  string // the store's identity, to which page ids belong
	Crawl  string
	Source Source
	// Rendering identifies how texts are made from bodies: when it changes, a folder of
	// texts is written anew. The program's version and the spec's content rules are part of
	// it.
	Rendering string
	// Now is the store's clock or this machine's.
	Now func() time.Time
	// Selects chooses pages by their URL; nil takes all.
	Selects func(url string) bool
}

// Codes of stops.
const (
	CodeUnknown = "folder_unknown" // the operator allows no such folder
	CodeForeign = "folder_foreign" // it holds files that are not ours
	CodeDamaged = "folder_damaged" // its index cannot be read
	CodeFormat  = "folder_format"
)

// Formats are those that a folder may have.
func Formats() []export.Format {
	return []export.Format{export.HTML, export.Text, export.Markdown, export.Chunks, export.Mirror}
}

// Sender implements sink.Sender and sink.Filler. It holds nothing between calls: the folder
// is opened, locked and checked by each.
type Sender struct {
	root string // that the operator allows
	sub  string // below it, "." for itself
	want marker
	Collection
	fault func() error // of tests; see keeper.step
}

var (
	_ sink.Filler  = (*Sender)(nil)
	_ sink.Checker = (*Sender)(nil)
)

// New makes the sender of a sink: To is the NAME of one of the operator's folders, or a
// folder inside, as NAME/SUB. Wrong settings give a *sink.Stop.
func New(spec crawl.SinkSpec, folders map[string]string, c Collection) (*Sender, error) {
	name, sub, nested := strings.Cut(spec.To, "/")
	root, ok := folders[name]
	if !ok {
		return nil, &sink.Stop{Code: CodeUnknown, Reason: fmt.Sprintf("there is no folder %.80q: whoever runs the workers names it in RECRAWL_SINK_FOLDERS", name)}
	}
	if !nested {
		sub = "."
	} else if err := checkSub(sub); err != nil {
		return nil, &sink.Stop{Code: CodeUnknown, Reason: err.Error()}
	}
	format := export.Format(spec.Format)
	if format == "" {
		format = export.HTML
	}
	if !slices.Contains(Formats(), format) {
		return nil, &sink.Stop{Code: CodeFormat, Reason: fmt.Sprintf("%.40q is no format of a folder: write one of %v", spec.Format, Formats())}
	}
	if c.Selects == nil {
		c.Selects = func(string) bool { return true }
	}
	want := marker{Recrawl: markerVersion, Store: c.Store, Crawl: c.Crawl, Format: format}
	if format != export.HTML { // other formats than plain bytes depend on how they are made
		want.Rendering = c.Rendering
	}
	return &Sender{root: root, sub: sub, want: want, Collection: c}, nil
}

// checkSub refuses paths that lead elsewhere, or are hidden.
func checkSub(sub string) error {
	for part := range strings.SplitSeq(sub, "/") {
		if !crawl.ValidName(part) {
			return fmt.Errorf("%.80q is no folder below one of the operator's: write NAME/SUB, of a-z 0-9 . _ -", sub)
		}
	}
	return nil
}

// Send implements sink.Sender.
func (s *Sender) Send(ctx context.Context, e feed.Event) error {
	return s.send(ctx, []feed.Event{e}, false)
}

// SendDigest implements sink.Sender. If there were more pages than the digest has room for,
// all pages are looked at.
func (s *Sender) SendDigest(ctx context.Context, d sink.Digest) error {
	return s.send(ctx, d.Events, d.Left > 0)
}

func (s *Sender) send(ctx context.Context, events []feed.Event, all bool) error {
	return s.with(func(k *keeper) error {
		if all || slices.ContainsFunc(events, concernsAll) {
			return k.startAnew() // Fill goes on: a look at all pages may take longer than a delivery
		}
		for _, e := range events {
			if e.Page == nil {
				continue
			}
			if err := k.refresh(ctx, e.Page.ID); err != nil {
				return err
			}
		}
		return nil
	})
}

// concernsAll: the event stands for changes of pages without events of their own.
func concernsAll(e feed.Event) bool {
	switch e.Kind {
	case feed.FeedGap, feed.CrawlSpec:
		return true
	}
	return false
}

// Fill implements sink.Filler. Called without new events, it still looks at all pages again
// from time to time; see lookAfter.
func (s *Sender) Fill(ctx context.Context) (more bool, err error) {
	err = s.with(func(k *keeper) error {
		if err := k.startOver(k.isDue()); err != nil || k.marker.Filled {
			return err
		}
		more, err = k.fill(ctx)
		return err
	})
	return more, err
}

// Check implements sink.Checker: the folder is there, or can be made, and is ours.
func (s *Sender) Check(context.Context) error {
	return s.with(func(*keeper) error { return nil })
}

// Close implements sink.Sender.
func (s *Sender) Close() error { return nil }

// with opens the folder for one call.
func (s *Sender) with(do func(*keeper) error) error {
	k, err := s.open()
	if err != nil {
		return s.judge(err)
	}
	err = do(k)
	return s.judge(errors.Join(err, k.close()))
}

// judge says what an error means for the sink. A full disk may be emptied, and another
// process that writes here will end.
func (s *Sender) judge(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return &sink.Later{Reason: fmt.Sprintf("the disk of folder %s is full: %s", s.path(), err)}
	case errors.Is(err, errBusy):
		return &sink.Later{Reason: fmt.Sprintf("another process writes to folder %s", s.path())}
	}
	return err
}

func (s *Sender) path() string { return path.Join(s.root, s.sub) }
