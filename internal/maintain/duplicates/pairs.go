// Package duplicates finds all near-duplicates among the pages of a crawl at
// once, on disk, in memory that is bounded whatever the crawl's size: the sort and
// merge of Sizov's slides 5 ("Finding all near-duplicates", "DCM Steps"). Finding
// one page's candidates is the business of package change and the store.
package duplicates

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"recrawl/internal/change"
)

const (
	// manyPages is the most pages sharing a shingle that are all paired with each
	// other; of more, each is paired with the fewFirst of them, those with the best
	// claims. Otherwise a shingle of a site's boilerplate would cost the square of the
	// site, and the pages of a large cluster all resemble its original anyway.
	manyPages, fewFirst = 32, 2
	// enough is the part of the shared values of a pair at the threshold that must
	// have been counted before its sketches are compared.
	enough = 0.1
	// DefaultMemory is the size of the memory for sorting.
	DefaultMemory = 64 << 20
	minMemory     = 1 << 20
	checkEvery    = 1 << 14 // records between two looks at the context
)

// Page is a page with its content.
type Page struct {
	ID int64
	change.Content
	Claim change.Claim
}

// Pair are two pages with the same content, or nearly.
type Pair struct {
	A, B        int64 // A has the better claim, or the lower id if they are equal
	Exact       bool
	Resemblance float64
}

// Options of a search.
type Options struct {
	// Threshold is the least resemblance of a pair; 0 stands for
	// change.DefaultThreshold.
	Threshold float64
	// Memory bounds the memory for sorting, in bytes; 0 stands for DefaultMemory.
	// Besides it a search takes 60 bytes a page.
	Memory int64
	// Dir is where temporary files go; "" is the system's folder for them. They take
	// about 3 KB a page, and are removed at the end.
	Dir string
}

func (o Options) threshold() float64 {
	return cmp.Or(o.Threshold, change.DefaultThreshold)
}

// records is how many records half the memory holds: at most two sorters work at
// a time.
func (o Options) records() int {
	memory := o.Memory
	if memory == 0 {
		memory = DefaultMemory
	}
	return int(max(memory, minMemory)) / 2 / recordBytes
}

// Stats are the figures of a search.
type Stats struct {
	Pages    int
	Same     int   // pages with the content of one with a better claim
	Compared int   // pairs whose sketches were compared
	Near     int   // of these at or above the threshold
	Common   int   // shingles that more than 32 pages share
	Spilled  int64 // bytes that were sorted on disk
}

// Pairs finds the pairs of pages with the same content, then those of different
// contents whose sketches resemble each other by the threshold, and gives each to
// found. Pages must come in ascending order of their ids.
//
// Of pages with one content the one with the best claim stands for all: found gets it
// with each of the others, and only that one is compared with other contents. Of more
// than 32 pages that share the same values, each is only compared with the two that
// have the best claims. Near pairs come in the order of the claims of A.
func Pairs(ctx context.Context, pages iter.Seq2[Page, error], opts Options, found func(Pair) error) (stats Stats, err error) {
	s := &search{
		ctx: ctx, opts: opts, found: found,
		one: make([]record, 0, opts.records()), two: make([]record, 0, opts.records()),
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.divide(pages); err != nil {
		return s.stats, err
	}
	if err := s.compute(); err != nil {
		return s.stats, err
	}
	return s.stats, s.merge()
}

// search is one search for pairs. Pages are numbered as they come, and ranked by their
// claims. The records that are sorted are ranks.
type search struct {
	ctx      context.Context
	opts     Options
	found    func(Pair) error
	one, two []record // memory of the sorters that work at a time
	stats    Stats
	steps    int

	ids    []int64
	claims []change.Claim // until they are ranked
	rank   []int32        // by number
	number []int32        // by rank
	ends   []int64        // of the pages' sketches in the file
	file   *os.File
	exact  *sorter // by Content.Exact: pages
	values *sorter // by place of a sketch's value: pages
	pairs  *sorter // by pair of pages: how many values they share
}

// divide keeps the sketches in a file, and the pages by their exact keys.
func (s *search) divide(pages iter.Seq2[Page, error]) error {
	var err error
	if s.file, err = makeTemp(s.opts.Dir, "recrawl-sketches-*"); err != nil {
		return fmt.Errorf("keep sketches: %w", err)
	}
	out := bufio.NewWriterSize(s.file, maxReadBytes)
	s.exact = newSorter(s.opts.Dir, s.one, false)
	end := int64(0)
	for page, err := range pages {
		if err != nil {
			return fmt.Errorf("read pages: %w", err)
		}
		n := len(s.ids)
		if n > 0 && page.ID <= s.ids[n-1] {
			return fmt.Errorf("page %d comes after page %d", page.ID, s.ids[n-1])
		}
		encoded := slices.Concat(page.Sketch.Encode())
		if _, err := out.Write(encoded); err != nil {
			return fmt.Errorf("keep sketches: %w", err)
		}
		end += int64(len(encoded))
		s.ids, s.ends, s.claims = append(s.ids, page.ID), append(s.ends, end), append(s.claims, page.Claim)
		if page.Exact != 0 {
			if err := s.exact.add(record{page.Exact, uint64(n)}); err != nil {
				return err
			}
		}
		if err := s.alive(); err != nil {
			return err
		}
	}
	s.stats.Pages = len(s.ids)
	s.order()
	if err := out.Flush(); err != nil {
		return fmt.Errorf("keep sketches: %w", err)
	}
	return nil
}

// order ranks the pages by their claims.
func (s *search) order() {
	s.rank, s.number = make([]int32, len(s.ids)), make([]int32, len(s.ids))
	for n := range s.number {
		s.number[n] = int32(n)
	}
	slices.SortFunc(s.number, func(a, b int32) int { return cmp.Or(s.claims[a].Compare(s.claims[b]), cmp.Compare(a, b)) })
	for rank, n := range s.number {
		s.rank[n] = int32(rank)
	}
	s.claims = nil
}

// id is the id of the page with a rank.
func (s *search) id(rank uint64) int64 { return s.ids[s.number[rank]] }

// compute finds the pages with the same content, writes out the pairs
// ⟨value, page⟩ of the others' sketches, and makes of these, in the order of
// values, ⟨page, page, 1⟩ for the pages that share a value.
func (s *search) compute() error {
	same, err := s.same()
	if err != nil {
		return err
	}
	if err := s.exact.close(); err != nil {
		return err
	}
	s.exact = nil
	s.values = newSorter(s.opts.Dir, s.one, false)
	in := bufio.NewReaderSize(io.NewSectionReader(s.file, 0, s.end(len(s.ids)-1)), maxReadBytes)
	for n := range s.ids {
		sketch, err := readSketch(in, s.end(n)-s.end(n-1))
		if err != nil {
			return err
		}
		if same[n] || len(sketch) < change.MinShingles {
			continue
		}
		for _, value := range sketch {
			if err := s.values.add(record{change.Place(value), uint64(s.rank[n])}); err != nil {
				return err
			}
		}
		if err := s.alive(); err != nil {
			return err
		}
	}
	return s.invert()
}

// same finds the pages, by number, that have the content of one with a better claim.
func (s *search) same() ([]bool, error) {
	same := make([]bool, len(s.ids))
	var key uint64
	var group []int32 // ranks of the pages with the key's content
	settle := func() error {
		first := slices.Min(group)
		for _, rank := range group {
			if rank == first {
				continue
			}
			same[s.number[rank]] = true
			s.stats.Same++
			if err := s.found(Pair{A: s.id(uint64(first)), B: s.id(uint64(rank)), Exact: true, Resemblance: 1}); err != nil {
				return err
			}
		}
		return s.alive()
	}
	for r, err := range s.exact.sorted() {
		if err != nil {
			return nil, err
		}
		if len(group) > 0 && r.key != key {
			if err := settle(); err != nil {
				return nil, err
			}
			group = group[:0]
		}
		key, group = r.key, append(group, s.rank[r.value])
	}
	if len(group) > 0 {
		return same, settle()
	}
	return same, nil
}

// invert pairs the pages that share a value, value by value.
func (s *search) invert() error {
	s.pairs = newSorter(s.opts.Dir, s.two, true)
	group := sharers{search: s}
	for r, err := range s.values.sorted() {
		if err != nil {
			return err
		}
		if err := group.add(r.key, r.value); err != nil {
			return err
		}
		if err := s.alive(); err != nil {
			return err
		}
	}
	if err := group.end(); err != nil {
		return err
	}
	s.stats.Spilled = s.values.size
	err := s.values.close()
	s.values = nil
	return err
}

// sharers are the pages, by rank, that share a value.
type sharers struct {
	*search
	value uint64
	first []uint64 // at most manyPages
	many  bool     // there are more, and those in first have been paired
}

// add takes the next page, whose claim is worse than those of pages with the same value.
func (g *sharers) add(value, page uint64) error {
	if value != g.value {
		if err := g.end(); err != nil {
			return err
		}
		g.value, g.first, g.many = value, g.first[:0], false
	}
	if len(g.first) < manyPages {
		g.first = append(g.first, page)
		return nil
	}
	if !g.many {
		g.many = true
		g.stats.Common++
		if err := g.pairUp(fewFirst); err != nil {
			return err
		}
	}
	return g.pairWith(g.first[:fewFirst], page)
}

// end pairs the pages of a value that few share.
func (g *sharers) end() error {
	if g.many {
		return nil
	}
	return g.pairUp(manyPages)
}

// pairUp pairs each page with the first ones that come before it.
func (g *sharers) pairUp(with int) error {
	for i, page := range g.first {
		if err := g.pairWith(g.first[:min(i, with)], page); err != nil {
			return err
		}
	}
	return nil
}

// pairWith pairs a page with some that come before it.
func (s *search) pairWith(before []uint64, page uint64) error {
	for _, a := range before {
		if err := s.pairs.add(record{a<<32 | page, 1}); err != nil {
			return err
		}
	}
	return nil
}

// merge goes through the pairs of pages with the number of values they share,
// and compares the sketches of those that may resemble each other enough.
func (s *search) merge() error {
	before := -1 // the rank of the page whose sketch is a
	var a change.Sketch
	for r, err := range s.pairs.sorted() {
		if err != nil {
			return err
		}
		if err := s.alive(); err != nil {
			return err
		}
		first, second := int(r.key>>32), int(r.key&(1<<32-1))
		if first != before {
			if a, err = s.sketch(int(s.number[first])); err != nil {
				return err
			}
			before = first
		}
		if float64(r.value) < enough*s.opts.threshold()*float64(len(a)) {
			continue
		}
		b, err := s.sketch(int(s.number[second]))
		if err != nil {
			return err
		}
		s.stats.Compared++
		resemblance := a.Resemblance(b)
		if resemblance < s.opts.threshold() {
			continue
		}
		s.stats.Near++
		if err := s.found(Pair{A: s.id(uint64(first)), B: s.id(uint64(second)), Resemblance: resemblance}); err != nil {
			return err
		}
	}
	s.stats.Spilled += s.pairs.size
	return nil
}

// end is where in the file the n-th sketch ends.
func (s *search) end(n int) int64 {
	if n < 0 {
		return 0
	}
	return s.ends[n]
}

// sketch reads the sketch of the n-th page.
func (s *search) sketch(n int) (change.Sketch, error) {
	length := s.end(n) - s.end(n-1)
	return readSketch(io.NewSectionReader(s.file, s.end(n-1), length), length)
}

func readSketch(in io.Reader, length int64) (change.Sketch, error) {
	encoded := make([]byte, length)
	if _, err := io.ReadFull(in, encoded); err != nil {
		return nil, fmt.Errorf("read a sketch: %w", err)
	}
	head := min(len(encoded), change.HeadBytes)
	return change.DecodeSketch(encoded[:head], encoded[head:])
}

// alive returns the context's error, every now and then.
func (s *search) alive() error {
	if s.steps++; s.steps%checkEvery != 0 {
		return nil
	}
	return s.ctx.Err()
}

// close removes all files.
func (s *search) close() error {
	var errs []error
	for _, sorter := range []*sorter{s.exact, s.values, s.pairs} {
		if sorter != nil {
			errs = append(errs, sorter.close())
		}
	}
	if s.file != nil {
		errs = append(errs, dropTemp(s.file))
	}
	return errors.Join(errs...)
}
