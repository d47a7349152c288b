package duplicates

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"recrawl/internal/change"
	"recrawl/internal/store"
)

// readAtOnce is how many contents, or duplicates, are read at once.
const readAtOnce = 1000

// Result counts the findings and changes of Find.
type Result struct {
	Stats
	Duplicates int // pages that are duplicates now
	Set, Unset int // of these and others: written, and removed
	Mirrors    int // pairs of hosts
}

// FindStore is the part of the store that the search among all pages uses.
type FindStore interface {
	Contents(ctx context.Context, crawlID, after int64, limit int) ([]store.ContentRecord, error)
	ListDuplicates(ctx context.Context, f store.DuplicateFilter) ([]store.DuplicateRecord, error)
	UpdateDuplicates(ctx context.Context, p store.UpdateDuplicatesParams) error
	SetMirrors(ctx context.Context, crawlID int64, mirrors []change.Mirror) error
}

// Find finds all duplicates of a crawl and its mirrored hosts, and replaces the store's
// records of them; maintenance then updates the schedule. Pages that were visited
// meanwhile, or are being visited, keep the records from the visit. In addition to the
// memory of Pairs, it takes some 50 bytes a page and 200 a duplicate.
//
// Each page is recorded as the duplicate of an original that it resembles itself: in
// the order of the pages' claims, a page that resembles no original so far is an
// original.
func Find(ctx context.Context, s FindStore, crawlID int64, opts Options) (Result, error) {
	f := finder{store: s, crawlID: crawlID, known: map[int64]store.NewDuplicate{}, same: map[int64]int64{}, near: map[int64]member{}, hosts: map[string]string{}}
	// First, because records from now on are about newer contents.
	err := f.readKnown(ctx)
	if err != nil {
		return f.Result, fmt.Errorf("find duplicates: %w", err)
	}
	if f.Stats, err = Pairs(ctx, f.contents(ctx), opts, f.found); err != nil {
		return f.Result, fmt.Errorf("find duplicates: %w", err)
	}
	if err := f.record(ctx); err != nil {
		return f.Result, fmt.Errorf("find duplicates: %w", err)
	}
	if err := s.SetMirrors(ctx, crawlID, f.mirrors()); err != nil {
		return f.Result, fmt.Errorf("find duplicates: %w", err)
	}
	return f.Result, nil
}

// finder is one run of Find.
type finder struct {
	store   FindStore
	crawlID int64
	known   map[int64]store.NewDuplicate // the store's records by page
	pages   []pageInfo                   // of all contents, in the order of ids
	same    map[int64]int64              // the original of pages with the same content
	near    map[int64]member             // the original of pages that are nearly the same
	nearly  change.Clusters              // of contents that mirrors count as one
	hosts   map[string]string            // each once, however many claims name it
	Result
}

// member says whose near-duplicate a page is.
type member struct {
	of          int64
	resemblance float64
}

// pageInfo is the data kept about a page besides its content.
type pageInfo struct{ page, version, host int64 }

// contents yields the crawl's contents and keeps the other data about them.
func (f *finder) contents(ctx context.Context) iter.Seq2[Page, error] {
	return func(yield func(Page, error) bool) {
		after := int64(0)
		for {
			some, err := f.store.Contents(ctx, f.crawlID, after, readAtOnce)
			if err != nil {
				yield(Page{}, err)
				return
			}
			if len(some) == 0 {
				return
			}
			for _, c := range some {
				f.pages = append(f.pages, pageInfo{c.PageID, c.Version, c.HostID})
				claim := change.NewClaim(c.URL, c.Canonical).Sharing(f.hosts)
				if after = c.PageID; !yield(Page{c.PageID, c.Content, claim}, nil) {
					return
				}
			}
		}
	}
}

// found records a pair.
func (f *finder) found(p Pair) error {
	if p.Exact {
		f.same[p.B] = p.A
		return nil
	}
	if p.Resemblance >= change.DefaultThreshold {
		f.nearly.Join(p.A, p.B)
	}
	// All pairs of a page with pages that come before it have been found already.
	if _, is := f.near[p.A]; is {
		return nil
	}
	if _, is := f.near[p.B]; !is {
		f.near[p.B] = member{p.A, p.Resemblance}
	}
	return nil
}

// info returns the data kept about a page, which must be one of the contents'.
func (f *finder) info(page int64) pageInfo {
	i, _ := slices.BinarySearchFunc(f.pages, page, func(p pageInfo, id int64) int { return cmp.Compare(p.page, id) })
	return f.pages[i]
}

// readKnown reads the store's records.
func (f *finder) readKnown(ctx context.Context) error {
	filter := store.DuplicateFilter{CrawlID: f.crawlID, Limit: readAtOnce}
	for {
		some, err := f.store.ListDuplicates(ctx, filter)
		if err != nil || len(some) == 0 {
			return err
		}
		for _, d := range some {
			filter.AfterOf, filter.After = d.Of.PageID, d.Page.PageID
			if d.Pending { // a record made with a visit is about a content that nobody else sees yet
				continue
			}
			f.known[d.Page.PageID] = store.NewDuplicate{
				PageVersion: store.PageVersion{PageID: d.Page.PageID, Version: d.Version},
				Of: store.DuplicateOf{
					PageVersion: store.PageVersion{PageID: d.Of.PageID, Version: d.OfVersion}, Exact: d.Exact, Resemblance: d.Resemblance,
				},
			}
		}
	}
}

// record writes the differences from the store's records.
func (f *finder) record(ctx context.Context) error {
	wanted := f.wanted()
	update := store.UpdateDuplicatesParams{CrawlID: f.crawlID}
	for page, known := range f.known {
		if _, ok := wanted[page]; !ok {
			update.Unset = append(update.Unset, known.PageVersion)
		}
	}
	for page, d := range wanted {
		if d != f.known[page] {
			update.Set = append(update.Set, d)
		}
	}
	f.Duplicates, f.Set, f.Unset = len(wanted), len(update.Set), len(update.Unset)
	return f.store.UpdateDuplicates(ctx, update)
}

// wanted returns the records of all duplicates by page. A page with the content of
// another is recorded as that one's duplicate, which may be a near-duplicate
// itself.
func (f *finder) wanted() map[int64]store.NewDuplicate {
	wanted := make(map[int64]store.NewDuplicate, len(f.same))
	add := func(page, of int64, exact bool, resemblance float64) {
		wanted[page] = store.NewDuplicate{
			PageVersion: store.PageVersion{PageID: page, Version: f.info(page).version},
			Of:          store.DuplicateOf{PageVersion: store.PageVersion{PageID: of, Version: f.info(of).version}, Exact: exact, Resemblance: resemblance},
		}
	}
	for page, of := range f.same {
		add(page, of, true, 1)
	}
	for page, m := range f.near {
		add(page, m.of, false, m.resemblance)
	}
	return wanted
}

// mirrors counts the hosts of each content, with near-duplicates taken as one.
func (f *finder) mirrors() []change.Mirror {
	type owner struct{ content, host int64 }
	owners := make([]owner, len(f.pages))
	for i, p := range f.pages {
		content := p.page
		if of, ok := f.same[content]; ok {
			content = of
		}
		owners[i] = owner{f.nearly.Oldest(content), p.host}
	}
	slices.SortFunc(owners, func(a, b owner) int { return cmp.Compare(a.content, b.content) })
	var counted change.Mirrors
	var hosts []int64
	for i, o := range owners {
		hosts = append(hosts, o.host)
		if i+1 == len(owners) || owners[i+1].content != o.content {
			counted.Add(hosts)
			hosts = hosts[:0]
		}
	}
	pairs := counted.Pairs()
	pairs = pairs[:min(len(pairs), store.MaxMirrors)]
	f.Mirrors = len(pairs)
	return pairs
}
