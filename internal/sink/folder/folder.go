// Package folder is the sink that keeps a folder of the latest versions: whatever happened,
// and however often it was cut off, the folder comes to what a fresh export in its format
// holds.
//
// An event only says which page to look at. The sender reads what the page is now, and makes
// the folder right for it, so that it does not matter whether events come twice, late, or
// without what came before them.
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
	// Document returns the version that a page has now; false if there is nothing of it in
	// an export of what stands.
	Document(ctx context.Context, page int64) (export.Exchange, bool, error)
	// Documents returns what Document does of the pages after one, in ascending order. It
	// looks at up to limit pages, those with ids up to through.
	Documents(ctx context.Context, after int64, limit int) (found []export.Exchange, through int64, more bool, err error)
	export.Bodies
}

// Collection is what the folder is of.
type Collection struct {
	Store  string // the store's identity, which page ids belong to
	Crawl  string
	Source Source
	// Rendering names how texts are made of bodies: with another, a folder of texts is
	// written anew. The program's version and the spec's content rules are part of it.
	Rendering string
	// Now is the store's clock or this machine's.
	Now func() time.Time
	// Selects chooses pages by their URL; nil takes all.
	Selects func(url string) bool
}

// Codes of stops.
const (
	CodeUnknown = "folder_unknown" // the operator allows no such folder
	CodeForeign = "folder_foreign" // it holds what is not ours
	CodeDamaged = "folder_damaged" // its index cannot be read
	CodeFormat  = "folder_format"
)

// Formats are those that a folder may have.
func Formats() []export.Format { return []export.Format{export.HTML, export.Text, export.Mirror} }

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
// folder inside, as NAME/SUB. What is wrong with the settings is a *sink.Stop.
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
	if format != export.HTML { // what is not just bytes depends on how it is made
		want.Rendering = c.Rendering
	}
	return &Sender{root: root, sub: sub, want: want, Collection: c}, nil
}

// checkSub refuses what leads elsewhere, or is hidden.
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
		all = all || slices.ContainsFunc(events, concernsAll)
		if err := k.startOver(all || k.isDue()); err != nil {
			return err
		}
		for more := !k.marker.Filled; more; {
			var err error
			if more, err = k.fill(ctx); err != nil {
				return err
			}
		}
		if all {
			return nil
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

// concernsAll: the event stands for changes of pages that have none of their own.
func concernsAll(e feed.Event) bool {
	switch e.Kind {
	case feed.FeedGap, feed.CrawlSpec:
		return true
	}
	return false
}

// Fill implements sink.Filler. Called when nothing happens, it still looks at all pages once
// a day.
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

// judge says what an error means to the sink. A full disk may be emptied, and another
// process that writes here comes to its end.
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
