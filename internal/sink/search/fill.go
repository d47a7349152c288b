package search

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"time"

	"recrawl/internal/archive"
	"recrawl/internal/extract"
	index "recrawl/internal/search"
	"recrawl/internal/store"
)

const (
	// fillAtOnce is the number of pages at which one step of a fill looks, and readAtOnce
	// about the bytes of bodies that it reads: forgetting a page meanwhile waits for its
	// end.
	fillAtOnce = 200
	readAtOnce = 16 << 20
	// putAtOnce is about the bytes of texts that are put at once.
	putAtOnce = 2 << 20
	// lookEvery is the time between two looks at all pages: a new importance is not in the
	// feed, nor is a body that may no longer be kept.
	lookEvery = 24 * time.Hour
)

func (s *Sender) progress(ctx context.Context) (index.Progress, error) {
	cursor, err := s.index.Cursor(ctx, s.Crawl)
	return index.ParseProgress(cursor), err
}

// startOver begins a look at all pages, unless one is under way.
func (s *Sender) startOver(ctx context.Context) error {
	return s.index.Together(ctx, s.Crawl, func(x index.Index) error {
		cursor, err := x.Cursor(ctx, s.Crawl)
		if err != nil || cursor == "" {
			return err
		}
		p := index.ParseProgress(cursor)
		p.Again = true // from the beginning: the look under way has passed pages already
		return x.SetCursor(ctx, s.Crawl, p.String())
	})
}

// fill looks at the next pages, and reports whether there are more.
func (s *Sender) fill(ctx context.Context) (more bool, err error) {
	err = s.index.Together(ctx, s.Crawl, func(x index.Index) error {
		cursor, err := x.Cursor(ctx, s.Crawl)
		if err != nil {
			return err
		}
		p := index.ParseProgress(cursor)
		if p.Looking == nil || p.Looking.Rendering != s.Rendering {
			if p.Looking == nil && p.Filled && !p.Again && p.Rendering == s.Rendering && s.Now().Sub(p.Looked) < lookEvery {
				return nil
			}
			p.Looking, p.Again = &index.Look{Rendering: s.Rendering}, false
		}
		if more, err = s.step(ctx, x, p.Looking); err != nil {
			return err
		}
		if !more {
			p = index.Progress{Filled: true, Again: p.Again, Looked: s.Now().UTC(), Rendering: s.Rendering, Pages: p.Looking.Pages}
			more = p.Again
		}
		return x.SetCursor(ctx, s.Crawl, p.String())
	})
	return more, err
}

// step looks at the next pages of a look.
func (s *Sender) step(ctx context.Context, x index.Index, l *index.Look) (more bool, err error) {
	found, through, more, err := s.Source.Records(ctx, l.After, fillAtOnce)
	if err != nil {
		return false, err
	}
	if !more {
		through = math.MaxInt64
	}
	read := int64(0)
	for i, p := range found {
		if read += p.Last.Bytes; read > readAtOnce && i > 0 {
			found, through, more = found[:i], found[i-1].PageID, true
			break
		}
	}
	if err := s.settle(ctx, x, l.After, through, found); err != nil {
		return false, err
	}
	l.After = through
	l.Pages += len(found)
	return more, nil
}

// refresh brings the index up to date for one page.
func (s *Sender) refresh(ctx context.Context, page int64) error {
	return s.index.Together(ctx, s.Crawl, func(x index.Index) error {
		p, ok, err := s.Source.Record(ctx, page)
		if err != nil {
			return err
		}
		var found []store.PageRecord
		if ok {
			found = append(found, p)
		}
		return s.settle(ctx, x, page-1, page, found)
	})
}

// settle brings the index up to date for the pages after one number and up to another: it
// then has the found ones and no others.
func (s *Sender) settle(ctx context.Context, x index.Index, after, through int64, found []store.PageRecord) error {
	held, err := x.Held(ctx, s.Crawl, after, through)
	if err != nil {
		return err
	}
	weights := map[int64]float64{}
	var batch batch
	for _, p := range found {
		if !s.Selects(p.URL) {
			continue
		}
		have, is := held[p.PageID]
		mark, weight := s.mark(p), importanceOf(p)
		if is && have.Mark == mark {
			delete(held, p.PageID)
			if math.Abs(have.Importance-weight) > 0.01*weight {
				weights[p.PageID] = weight
			}
			continue
		}
		d, err := s.document(ctx, p)
		if archive.Lost(err) { // given up since, which is an event, or damaged
			continue
		}
		if err != nil {
			return err
		}
		d.Mark, d.Importance = mark, weight
		if err := batch.add(ctx, x, d); err != nil {
			return err
		}
		delete(held, p.PageID)
	}
	if err := batch.put(ctx, x); err != nil {
		return err
	}
	if err := x.Weigh(ctx, s.Crawl, weights); err != nil {
		return err
	}
	var gone []int64
	for page := range held {
		gone = append(gone, page)
	}
	return x.Delete(ctx, s.Crawl, gone)
}

// batch collects documents that are put at once.
type batch struct {
	documents []index.Document
	bytes     int // of their texts
}

// add adds a document, and puts the batch when it is large enough.
func (b *batch) add(ctx context.Context, x index.Index, d index.Document) error {
	b.documents = append(b.documents, d)
	if b.bytes += len(d.Text); b.bytes < putAtOnce {
		return nil
	}
	return b.put(ctx, x)
}

func (b *batch) put(ctx context.Context, x index.Index) error {
	if len(b.documents) == 0 {
		return nil
	}
	err := x.Put(ctx, b.documents)
	*b = batch{}
	return err
}

// mark identifies what the index holds of a page.
func (s *Sender) mark(p store.PageRecord) string {
	sum := sha256.Sum256([]byte(s.Rendering + "\n" + p.Last.Digest + "\n" + p.Last.ContentType))
	return fmt.Sprintf("%d.%s", p.Last.Seq, hex.EncodeToString(sum[:8]))
}

// importanceOf returns the importance of the page's last ranking.
func importanceOf(p store.PageRecord) float64 {
	if p.Weight <= 0 {
		return 1
	}
	return p.Weight
}

// document reads a page as it is indexed.
func (s *Sender) document(ctx context.Context, p store.PageRecord) (index.Document, error) {
	read, err := s.Source.ReadPage(ctx, p)
	if err != nil {
		return index.Document{}, fmt.Errorf("%s: %w", p.URL, err)
	}
	d := index.Document{
		Crawl: s.Crawl, Page: p.PageID, Version: p.Last.Seq, URL: p.URL, Host: p.Host, Title: p.Last.Title,
		Headings: headingsOf(read), Text: read.Displayed, At: p.Last.At,
	}
	if d.Text != "" {
		sum := sha256.Sum256([]byte(d.Text))
		d.Digest = hex.EncodeToString(sum[:16])
	}
	return d, nil
}

// headingsOf returns the words of a page's headings.
func headingsOf(read extract.Markdown) []string {
	headings := make([]string, 0, len(read.Headings))
	for _, h := range read.Headings {
		headings = append(headings, h.Text)
	}
	return headings
}
