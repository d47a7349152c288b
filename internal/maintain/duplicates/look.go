package duplicates

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"recrawl/internal/change"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// lookAtOnce is how many pages are checked between two writes.
const lookAtOnce = 200

// LookStore is the part of a store that maintenance's search for duplicates uses.
type LookStore interface {
	Now(ctx context.Context) (time.Time, error)
	Unlooked(ctx context.Context, crawlID, after int64, limit int) ([]int64, error)
	Unsettled(ctx context.Context, crawlID, after int64, limit int) ([]int64, error)
	ContentsOf(ctx context.Context, pages []int64) ([]store.ContentRecord, error)
	KeySharers(ctx context.Context, crawlID int64, contents []store.ContentRecord) ([]int64, error)
	Lookalikes(ctx context.Context, p store.LookalikeParams) ([]store.ContentRecord, error)
	ListDuplicates(ctx context.Context, f store.DuplicateFilter) ([]store.DuplicateRecord, error)
	UpdateDuplicates(ctx context.Context, p store.UpdateDuplicatesParams) error
	SettleDuplicates(ctx context.Context, crawlID int64, settled []store.Settlement) ([]store.PageRecord, error)
	MarkLooked(ctx context.Context, looked []store.PageVersion, again []int64) error
}

// Looked counts the results of a look.
type Looked struct {
	Pages    int // that were checked
	Compared int // of these, with other pages one by one
	Resting  int // in all: that are duplicates now
	Woken    int // that are no longer duplicates
}

// Look compares the pages of a crawl whose contents are new, and those whose records no
// longer hold, with all others, older and younger. Both are few in most passes, and none
// in a crawl at rest. It holds lookAtOnce of them in memory. Most share no key with any
// other page, which is one question for a batch. The others cost some milliseconds each.
//
// A visit compares too, but cannot see a page whose visit is being recorded, and cannot
// change the records of others. Whatever was fetched first, a look finds the same
// originals: those with the best claims.
func Look(ctx context.Context, s LookStore, r Rule) (Looked, error) {
	l := looker{store: s, rule: r}
	l.rule.Threshold = cmp.Or(r.Threshold, change.DefaultThreshold)
	for _, list := range []func(context.Context, int64, int64, int) ([]int64, error){s.Unsettled, s.Unlooked} {
		if goOn, err := l.lookAtAll(ctx, list); !goOn || err != nil {
			return l.Looked, err
		}
	}
	return l.Looked, nil
}

// Rule holds the settings of a look.
type Rule struct {
	CrawlID   int64
	Threshold float64 // the least resemblance of a near-duplicate; 0 stands for change.DefaultThreshold
	// Rest is how long a duplicate is left alone.
	Rest func(page store.ContentRecord) time.Duration
	// Tell tells the workflows of pages the times of their next visits.
	Tell func(ctx context.Context, pages []store.PageRecord) error
	// Next, unless nil, is called after each batch: it waits for as long as others should
	// have their turn, and reports whether the look goes on. What is left comes in the next.
	Next func(ctx context.Context) (bool, error)
}

// looker is one look.
type looker struct {
	store LookStore
	rule  Rule
	Looked
	batch
}

// lookAtAll checks the pages of a list, and reports whether there is time for more.
func (l *looker) lookAtAll(ctx context.Context, list func(ctx context.Context, crawlID, after int64, limit int) ([]int64, error)) (bool, error) {
	for after := int64(0); ; {
		ids, err := list(ctx, l.rule.CrawlID, after, lookAtOnce)
		if err != nil || len(ids) == 0 {
			return true, err
		}
		if err := l.lookAt(ctx, ids); err != nil {
			return false, err
		}
		after = ids[len(ids)-1]
		if l.rule.Next == nil {
			continue
		}
		if goOn, err := l.rule.Next(ctx); !goOn || err != nil {
			return false, err
		}
	}
}

// batch holds the findings about a few pages that are not written yet.
type batch struct {
	now    time.Time
	of     map[int64]finding
	settle map[int64]store.Settlement
	again  map[int64]bool
}

// finding says whose duplicate a page is; of is zero if it is nobody's.
type finding struct {
	page store.PageVersion
	of   store.DuplicateOf
}

// lookAt checks some pages and carries out the findings. A page counts as checked once
// everything is written, so interrupted work is done again. A duplicate's record is
// written before the page rests, and removed after the page is woken and told. So a page
// that rests has a record, and so does one that may not have been told.
func (l *looker) lookAt(ctx context.Context, ids []int64) error {
	now, err := l.store.Now(ctx)
	if err != nil {
		return err
	}
	l.batch = batch{now: now, of: map[int64]finding{}, settle: map[int64]store.Settlement{}, again: map[int64]bool{}}
	pages, err := l.store.ContentsOf(ctx, ids)
	if err != nil {
		return err
	}
	slices.SortFunc(pages, func(a, b store.ContentRecord) int { return claimOf(a).Compare(claimOf(b)) })
	sharers, err := l.store.KeySharers(ctx, l.rule.CrawlID, pages)
	if err != nil {
		return err
	}
	var looked []store.PageVersion
	for _, p := range pages {
		delete(l.batch.again, p.PageID)
		if _, shares := slices.BinarySearch(sharers, p.PageID); shares || p.State == crawl.Duplicate || p.Of.PageID != 0 {
			l.Compared++
			if err := l.look(ctx, p); err != nil {
				return err
			}
		}
		looked = append(looked, store.PageVersion{PageID: p.PageID, Version: p.Version})
	}
	l.Pages += len(ids)
	return l.write(ctx, looked)
}

func (l *looker) write(ctx context.Context, looked []store.PageVersion) error {
	var rest, wake []store.Settlement
	for _, s := range l.batch.settle {
		if s.Duplicate {
			rest = append(rest, s)
		} else {
			wake = append(wake, s)
		}
	}
	p := store.UpdateDuplicatesParams{CrawlID: l.rule.CrawlID}
	for _, f := range l.batch.of {
		if f.of.PageID == 0 {
			p.Unset = append(p.Unset, f.page)
		} else {
			p.Set = append(p.Set, store.NewDuplicate{PageVersion: f.page, Of: f.of})
		}
	}
	for _, do := range []func() error{
		func() error { return l.settleAll(ctx, wake, &l.Woken) },
		func() error { return l.store.UpdateDuplicates(ctx, p) },
		func() error { return l.settleAll(ctx, rest, &l.Resting) },
		func() error {
			return l.store.MarkLooked(ctx, looked, slices.Sorted(maps.Keys(l.batch.again)))
		},
	} {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

func (l *looker) settleAll(ctx context.Context, settled []store.Settlement, count *int) error {
	if len(settled) == 0 {
		return nil
	}
	pages, err := l.store.SettleDuplicates(ctx, l.rule.CrawlID, settled)
	if err != nil {
		return err
	}
	*count += len(pages)
	return l.rule.Tell(ctx, pages)
}

// look decides about a page, and about those with the same content.
func (l *looker) look(ctx context.Context, p store.ContentRecord) error {
	found, err := l.store.Lookalikes(ctx, store.LookalikeParams{CrawlID: l.rule.CrawlID, Page: p.PageID, Content: p.Content, Limit: lookalikes, Least: l.rule.Threshold})
	if err != nil {
		return err
	}
	p = l.known(p)
	for i, other := range found {
		found[i] = l.known(other)
	}
	same, err := l.same(ctx, p, found)
	if err != nil {
		return err
	}
	original := slices.MinFunc(same, func(a, b store.ContentRecord) int { return claimOf(a).Compare(claimOf(b)) })
	l.gather(original, same)
	if original.PageID != p.PageID {
		return nil
	}
	return l.near(ctx, p, found)
}

// known is a page with this batch's findings about it.
func (l *looker) known(p store.ContentRecord) store.ContentRecord {
	if f, ok := l.batch.of[p.PageID]; ok && f.page.Version == p.Version {
		p.Of = f.of
	}
	return p
}

// same returns the page and those with the same content: the oldest of them, and those
// that they are known to duplicate, which may be younger.
func (l *looker) same(ctx context.Context, p store.ContentRecord, found []store.ContentRecord) ([]store.ContentRecord, error) {
	same := []store.ContentRecord{p}
	for _, other := range found {
		if p.Compare(candidateOf(other)).Exact {
			same = append(same, other)
		}
	}
	there := map[int64]bool{}
	for _, other := range same {
		there[other.PageID] = true
	}
	var more []int64
	for _, other := range same {
		if other.Copies() && !there[other.Of.PageID] {
			there[other.Of.PageID] = true
			more = append(more, other.Of.PageID)
		}
	}
	originals, err := l.store.ContentsOf(ctx, more)
	if err != nil {
		return nil, err
	}
	for _, o := range originals {
		if p.Compare(candidateOf(o)).Exact {
			same = append(same, l.known(o))
		}
	}
	return same, nil
}

// gather makes all other pages of a content duplicates of the original. A page that
// becomes the original though it has the same content as before takes the next visit of
// the one that it replaces; one that has lost its original is visited at once, since it
// may have changed as well.
func (l *looker) gather(original store.ContentRecord, same []store.ContentRecord) {
	next := l.batch.now
	for _, p := range same {
		if p.PageID == original.PageID {
			continue
		}
		of := store.DuplicateOf{PageVersion: store.PageVersion{PageID: original.PageID, Version: original.Version}, Exact: true, Resemblance: 1}
		if p.Of != of {
			l.record(p, of)
		}
		if p.State == crawl.Active {
			l.rests(p)
			if original.Copies() && original.Of.PageID == p.PageID {
				next = p.NextAt
			}
		}
	}
	// An active page with a record was woken by a look that was cut off.
	if original.State == crawl.Duplicate || original.State == crawl.Active && original.Copies() {
		l.batch.settle[original.PageID] = store.Settlement{PageVersion: versionOf(original), NextAt: next}
	}
	if original.Copies() {
		l.record(original, store.DuplicateOf{})
	}
}

// rests schedules a page's visits as rarely as the crawl allows.
func (l *looker) rests(p store.ContentRecord) {
	if _, settled := l.batch.settle[p.PageID]; settled {
		return
	}
	l.batch.settle[p.PageID] = store.Settlement{PageVersion: versionOf(p), Duplicate: true, NextAt: l.batch.now.Add(l.rule.Rest(p))}
}

func (l *looker) record(p store.ContentRecord, of store.DuplicateOf) {
	l.batch.of[p.PageID] = finding{page: versionOf(p), of: of}
}

func versionOf(p store.ContentRecord) store.PageVersion {
	return store.PageVersion{PageID: p.PageID, Version: p.Version}
}

func claimOf(c store.ContentRecord) change.Claim { return change.NewClaim(c.URL, c.Canonical) }

// near decides whether p, which stands for its content, is a near-duplicate, and of which of
// the pages it resembles: the one with the best claim among those that stand for a cluster. It
// stays with its present original as long as that one stands. If p stands for a cluster
// itself, those with a worse claim are checked again; if it no longer stands, those for which
// it stood are.
func (l *looker) near(ctx context.Context, p store.ContentRecord, found []store.ContentRecord) error {
	p = l.known(p)
	claim := claimOf(p)
	var best change.Match
	var of store.DuplicateOf
	var worse []int64
	for _, other := range found {
		m := p.Compare(candidateOf(other))
		if m.Exact || m.Resemblance < l.rule.Threshold || other.Of.PageID != 0 {
			continue
		}
		if m.Claim.Compare(claim) > 0 {
			worse = append(worse, other.PageID)
			continue
		}
		stays := p.Of.PageID == m.Page
		if best.Page == 0 || stays || p.Of.PageID != best.Page && cmp.Or(m.Claim.Compare(best.Claim), cmp.Compare(m.Page, best.Page)) < 0 {
			best, of = m, store.DuplicateOf{PageVersion: versionOf(other), Resemblance: m.Resemblance}
		}
	}
	if p.Of != of {
		l.record(p, of)
	}
	if best.Page == 0 {
		for _, id := range worse {
			l.batch.again[id] = true
		}
		return nil
	}
	if p.Of.PageID != 0 {
		return nil
	}
	stood, err := l.store.ListDuplicates(ctx, store.DuplicateFilter{CrawlID: l.rule.CrawlID, Of: p.PageID, Limit: readAtOnce})
	for _, d := range stood {
		if !d.Exact {
			l.batch.again[d.Page.PageID] = true
		}
	}
	return err
}
