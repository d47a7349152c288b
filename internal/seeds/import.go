package seeds

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/scope"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

const (
	// examples is the most examples of a reason that are kept, and maxExample the most
	// bytes of each.
	examples   = 3
	maxExample = 200
)

// Store is the part of a store that an import uses.
type Store interface {
	ImportSeeds(ctx context.Context, p store.ImportParams) (store.ImportResult, error)
	Import(ctx context.Context, crawlID int64, source string) (store.Import, error)
	EndImport(ctx context.Context, crawlID int64, source string) error
}

// Refused keeps the entries that are refused, each with its reason.
type Refused interface {
	io.Writer
	// Resume makes the list end after size bytes, as it did when an import was cut
	// off; 0 for a new one.
	Resume(size int64) error
	// Flush passes on the written entries.
	Flush() error
}

// Importer imports one list.
type Importer struct {
	Store   Store
	CrawlID int64
	// Source names the list, so that its import can go on; "" if it cannot.
	Source  string
	Judge   Judge
	Refused Refused // nil keeps none
	// Progress, unless nil, is called after each batch.
	Progress func(store.Import)
	// Yield, unless nil, is called between two batches: others write to the store too.
	Yield func(ctx context.Context) error
}

// Run imports the list, or the rest of it, and returns its progress, even if it
// fails. Imported seeds stay.
func (i *Importer) Run(ctx context.Context, list *Reader) (store.Import, error) {
	done, err := i.Store.Import(ctx, i.CrawlID, i.Source)
	if err != nil {
		return done, err
	}
	if err := i.resume(list, done); err != nil {
		return store.Import{}, err
	}
	for more := true; more; {
		var b batch
		var broken error
		b, broken = i.batch(list, done)
		if more = broken == nil; !more && !errors.Is(broken, io.EOF) {
			broken = fmt.Errorf("%w; the %d entries before it are imported, and the same command goes on after them", broken, b.progress.Entries)
		}
		if done, err = i.save(ctx, b, done); err != nil {
			return done, err
		}
		if !more && !errors.Is(broken, io.EOF) {
			return done, broken
		}
		if i.Yield != nil && more {
			if err := i.Yield(ctx); err != nil {
				return done, err
			}
		}
	}
	return done, i.Store.EndImport(ctx, i.CrawlID, i.Source)
}

// resume skips the entries imported before.
func (i *Importer) resume(list *Reader, done store.Import) error {
	for range done.Entries {
		if _, err := list.Next(); err != nil {
			return fmt.Errorf("it was longer when its import was cut off: %w", err)
		}
	}
	if i.Refused == nil {
		return nil
	}
	return i.Refused.Resume(done.Listed)
}

// batch is the data of one transaction.
type batch struct {
	seeds    []store.NewSeed
	progress store.Import
}

// batch reads entries until there are enough seeds. The error is io.EOF, or why the
// list cannot be read any further; the entries before it are in the batch.
func (i *Importer) batch(list *Reader, done store.Import) (batch, error) {
	b := batch{progress: done}
	b.progress.Refused = maps.Clone(done.Refused)
	for n := 0; len(b.seeds) < store.ImportBatch && n < 10*store.ImportBatch; n++ {
		entry, err := list.Next()
		if err != nil {
			return b, err
		}
		b.progress.Entries++
		u, refused := i.Judge.Seed(entry)
		if refused != "" {
			if err := i.refuse(&b.progress, refused, entry.Text); err != nil {
				return b, err
			}
			continue
		}
		b.seeds = append(b.seeds, store.NewSeed{URL: u.String(), Host: u.HostKey(), Spelling: spelling(u, entry.Text), Keys: scope.SeedKeys(u)})
	}
	return b, nil
}

// spelling is how an entry spells path and query of its URL, empty if it spells them as
// the URL does.
func spelling(u urlkey.URL, text string) string {
	if text == u.String() {
		return ""
	}
	_, spelling, _ := urlkey.Spelled(text) // which was read before
	return u.Spelling(spelling)
}

// refuse counts an entry that is no seed, and lists it.
func (i *Importer) refuse(into *store.Import, reason, text string) error {
	if into.Refused == nil {
		into.Refused = map[string]store.RefusedSeeds{}
	}
	of := into.Refused[reason]
	of.Entries++
	text = crawl.Clean(strings.Map(oneLine, text), maxExample)
	if len(of.Examples) < examples {
		of.Examples = append(of.Examples[:len(of.Examples):len(of.Examples)], text)
	}
	into.Refused[reason] = of
	return i.list(into, reason, text)
}

func (i *Importer) list(into *store.Import, reason, text string) error {
	if i.Refused == nil {
		return nil
	}
	n, err := fmt.Fprintf(i.Refused, "%s\t%s\n", reason, text)
	into.Listed += int64(n)
	if err != nil {
		return fmt.Errorf("list what was refused: %w", err)
	}
	return nil
}

func oneLine(r rune) rune {
	if r == '\t' || r == '\n' || r == '\r' {
		return ' '
	}
	return r
}

// save hands a batch to the store. The entries that it refuses are listed with the next
// one.
func (i *Importer) save(ctx context.Context, b batch, done store.Import) (store.Import, error) {
	if i.Refused != nil {
		if err := i.Refused.Flush(); err != nil {
			return done, fmt.Errorf("list what was refused: %w", err)
		}
	}
	res, err := i.Store.ImportSeeds(ctx, store.ImportParams{CrawlID: i.CrawlID, Source: i.Source, Seeds: b.seeds, Import: b.progress})
	if err != nil {
		return done, err
	}
	done = res.Import
	for _, url := range res.Forgotten {
		if err := i.list(&done, ReasonForgotten, url); err != nil {
			return done, err
		}
	}
	if i.Refused != nil {
		if err := i.Refused.Flush(); err != nil {
			return done, fmt.Errorf("list what was refused: %w", err)
		}
	}
	if i.Progress != nil {
		i.Progress(done)
	}
	return done, nil
}
