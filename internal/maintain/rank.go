package maintain

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/rank"
	"recrawl/internal/store"
)

// How many pages and links are read, and how many ranks are written, at once.
const (
	pagesAtOnce = 5000
	linksAtOnce = 20_000
	ranksAtOnce = 1000
)

// RankStore is the part of a store that a ranking uses.
type RankStore interface {
	Ranking(ctx context.Context, crawlID int64) (last store.RankingRecord, links int, err error)
	RankedPages(ctx context.Context, crawlID, after int64, limit int) ([]store.RankedPage, error)
	PageLinks(ctx context.Context, after store.PageLink, limit int) ([]store.PageLink, error)
	SaveRanks(ctx context.Context, crawlID int64, ranks []store.PageRank) error
	SaveRanking(ctx context.Context, crawlID int64, r store.RankingRecord, hosts []store.HostRank) error
	Now(ctx context.Context) (time.Time, error)
}

// RankOptions are the options of a ranking.
type RankOptions struct {
	Damping float64 // see rank.Params; 0 is its default
	// Personalised makes readers start at the crawl's seeds only.
	Personalised bool
	Reason       crawl.Reason // why it is ranked, to be recorded
	// Progress, if set, is called with the ranking's progress after each batch.
	Progress func(RankProgress)
	// Rest, unless nil, is called after each batch. It waits for as long as others should have
	// the database to themselves; its error ends the ranking.
	Rest func(ctx context.Context) error
}

// RankProgress is the progress of a ranking.
type RankProgress struct {
	Phase string `json:"phase"` // reading pages, reading links, computing, writing
	Done  int    `json:"done"`  // of the phase, in pages or links
	Of    int    `json:"of,omitempty"`
}

// Rank ranks a crawl and returns the recorded ranking. It needs 4 bytes of memory a link and
// 60 a page, and some 10 s, besides the rests, for a million pages with ten million links in
// the embedded store. The ranks written by an interrupted run are valid; the next run starts
// from them and need not write them again.
func Rank(ctx context.Context, s RankStore, crawlID int64, o RankOptions) (store.RankingRecord, error) {
	rec, err := rankCrawl(ctx, s, crawlID, o)
	if err != nil {
		return store.RankingRecord{}, fmt.Errorf("rank crawl %d: %w", crawlID, err)
	}
	return rec, nil
}

func rankCrawl(ctx context.Context, s RankStore, crawlID int64, o RankOptions) (store.RankingRecord, error) {
	began, err := s.Now(ctx)
	if err != nil {
		return store.RankingRecord{}, err
	}
	last, links, err := s.Ranking(ctx, crawlID)
	if err != nil {
		return store.RankingRecord{}, err
	}
	r := ranking{store: s, crawlID: crawlID, options: o, links: links, builder: rank.NewBuilder(last.Pages+last.Pages/4, links)}
	if err := r.readPages(ctx); err != nil {
		return store.RankingRecord{}, err
	}
	if err := r.readLinks(ctx); err != nil {
		return store.RankingRecord{}, err
	}
	graph := r.builder.Graph()
	r.tell("computing", 0, graph.Links())
	params := rank.Params{Damping: o.Damping, Start: r.start}
	if o.Personalised {
		params.Seeds = r.seeds
	}
	res, err := graph.PageRank(params)
	if err != nil {
		return store.RankingRecord{}, err
	}
	rec := store.RankingRecord{
		Pages: graph.Pages(), Links: graph.Links(), Known: links, Rounds: res.Rounds, Residual: res.Residual,
		Damping: o.Damping, Personalised: o.Personalised, Reason: o.Reason,
	}
	if rec.Damping == 0 {
		rec.Damping = rank.DefaultDamping
	}
	if rec.Top, err = r.write(ctx, graph, res.Ranks); err != nil {
		return store.RankingRecord{}, err
	}
	ended, err := s.Now(ctx)
	if err != nil {
		return store.RankingRecord{}, err
	}
	hosts := hostRanks(graph, res.Ranks)
	rec.Hosts, rec.At, rec.Took = len(hosts), ended, ended.Sub(began)
	return rec, s.SaveRanking(ctx, crawlID, rec, hosts)
}

// ranking is one run of Rank.
type ranking struct {
	store   RankStore
	crawlID int64
	options RankOptions
	links   int // in the store, about
	builder *rank.Builder
	start   []float64 // ranks so far, by page
	seeds   []int64
}

func (r *ranking) tell(phase string, done, of int) {
	if r.options.Progress != nil {
		r.options.Progress(RankProgress{phase, done, of})
	}
}

// turn tells the progress after a batch, and rests.
func (r *ranking) turn(ctx context.Context, phase string, done, of int) error {
	r.tell(phase, done, of)
	if r.options.Rest == nil {
		return nil
	}
	return r.options.Rest(ctx)
}

func (r *ranking) readPages(ctx context.Context) error {
	return eachPage(ctx, r.store, r.crawlID, func(p store.RankedPage) error {
		if p.Seed {
			r.seeds = append(r.seeds, p.ID)
		}
		if r.start = append(r.start, p.Rank); len(r.start)%pagesAtOnce == 0 {
			if err := r.turn(ctx, "reading pages", len(r.start), 0); err != nil {
				return err
			}
		}
		return r.builder.Page(p.ID, p.HostID)
	})
}

// rankedPages lists the pages of a crawl with their ranks.
type rankedPages interface {
	RankedPages(ctx context.Context, crawlID, after int64, limit int) ([]store.RankedPage, error)
}

// eachPage calls f for each page of a crawl, in order of ids.
func eachPage(ctx context.Context, s rankedPages, crawlID int64, f func(store.RankedPage) error) error {
	for after := int64(0); ; {
		some, err := s.RankedPages(ctx, crawlID, after, pagesAtOnce)
		if err != nil {
			return err
		}
		for _, p := range some {
			after = p.ID
			if p.Source {
				continue // it is neither ranked nor exchanged for pages
			}
			if err := f(p); err != nil {
				return err
			}
		}
		if len(some) < pagesAtOnce {
			return nil
		}
	}
}

// readLinks reads the links of the pages. Those of other crawls lie between them; a
// stretch of these costs one batch at most.
func (r *ranking) readLinks(ctx context.Context) error {
	at, read := store.PageLink{}, 0
	for {
		from, ok := r.builder.Source(at.From)
		if !ok {
			return nil
		}
		if from != at.From {
			at = store.PageLink{From: from}
		}
		some, err := r.store.PageLinks(ctx, at, linksAtOnce)
		if err != nil {
			return err
		}
		for _, l := range some {
			if err := r.builder.Link(l.From, l.To); err != nil {
				return err
			}
		}
		if len(some) < linksAtOnce {
			return nil
		}
		at = some[len(some)-1]
		read += len(some)
		if err := r.turn(ctx, "reading links", read, r.links); err != nil {
			return err
		}
	}
}

// write saves the ranks of all pages and returns those of the most important ones. It
// goes host by host: the order of admission is an index by host, in which the pages of a
// batch then lie together.
func (r *ranking) write(ctx context.Context, graph *rank.Graph, ranks []float64) ([]store.PageRank, error) {
	links := graph.Backlinks()
	weights := rank.Importance(ranks, links)
	at := func(i int) store.PageRank {
		return store.PageRank{ID: graph.ID(i), Rank: ranks[i], Weight: weights[i], Backlinks: links[i]}
	}
	best := rank.NewShortlist(store.RankedTop, false)
	batch := make([]store.PageRank, 0, min(ranksAtOnce, len(ranks)))
	for n, page := range graph.ByHost() {
		i := int(page)
		best.Add(rank.Candidate{ID: int64(i), Importance: weights[i]})
		if batch = append(batch, at(i)); len(batch) < ranksAtOnce && n+1 < len(ranks) {
			continue
		}
		if err := r.store.SaveRanks(ctx, r.crawlID, batch); err != nil {
			return nil, err
		}
		batch = batch[:0]
		if err := r.turn(ctx, "writing", n+1, len(ranks)); err != nil {
			return nil, err
		}
	}
	var top []store.PageRank
	for _, c := range best.Candidates() {
		top = append(top, at(int(c.ID)))
	}
	return top, nil
}

func hostRanks(graph *rank.Graph, ranks []float64) []store.HostRank {
	links, sums := graph.Hosts(), graph.SumByHost(ranks)
	hosts := make([]store.HostRank, len(links))
	for i, l := range links {
		hosts[i] = store.HostRank{Rank: sums[i], HostLinks: l}
	}
	return hosts
}

// lastOf returns the part of a recorded ranking that decides whether the next one is due.
// Rankings of earlier releases did not note the links of the pages that they left out.
func lastOf(r store.RankingRecord) rank.Last {
	return rank.Last{At: r.At, Links: cmp.Or(r.Known, r.Links)}
}

// RankDue says why a crawl that is ranked at the given interval should be ranked
// now; nil if it should not.
func RankDue(ctx context.Context, s RankStore, crawlID int64, every time.Duration) (*crawl.Reason, error) {
	last, links, err := s.Ranking(ctx, crawlID)
	if err != nil {
		return nil, err
	}
	now, err := s.Now(ctx)
	if err != nil {
		return nil, err
	}
	due, why := rank.Due(lastOf(last), links, now, every)
	if !due {
		return nil, nil
	}
	return &why, nil
}
