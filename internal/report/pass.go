package report

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

// HostPass says how long one pass over a host's pages takes, with one request for each.
type HostPass struct {
	Host        string         `json:"host"`
	State       HostState      `json:"state"`
	Why         orNull         `json:"why"`       // for all states but ok
	Pages       int64          `json:"pages"`     // that live, or wait for their first visit
	Unvisited   int64          `json:"unvisited"` // that wait for it
	Delay       crawl.Duration `json:"delay"`     // between two requests
	DelayReason orNull         `json:"delay_reason"`
	Every       crawl.Duration `json:"every"` // from the start of a request to that of the next
	Pass        crawl.Duration `json:"pass"`
}

// Passes returns at most limit hosts of a crawl where one pass takes longest, the longest
// first.
func (r Reporter) Passes(ctx context.Context, name string, limit int) ([]HostPass, error) {
	record, now, err := r.open(ctx, name)
	if err != nil {
		return nil, err
	}
	hosts, err := r.Store.ListHosts(ctx, store.HostFilter{CrawlID: record.ID, Limit: limit, Slowest: store.WorkPass})
	if err != nil {
		return nil, err
	}
	ex := r.excluder(record.Spec)
	all := make([]HostPass, 0, len(hosts))
	for _, h := range hosts {
		state, why, err := ex.state(ctx, h, h.Robots, now)
		if err != nil {
			return nil, err
		}
		all = append(all, passOf(h, state, why))
	}
	slices.SortStableFunc(all, func(a, b HostPass) int { return cmp.Compare(b.Pass, a.Pass) })
	return all, nil
}

func passOf(h store.HostRecord, state HostState, why string) HostPass {
	p := HostPass{
		Host: h.Host, State: state, Why: orNull(why), Pages: h.Unvisited + h.Visited, Unvisited: h.Unvisited,
		Delay: crawl.Duration(h.Delay), DelayReason: orNull(polite.Words(h.GapReason)), Every: crawl.Duration(h.Delay + h.Mean),
	}
	p.Pass = crawl.Duration(times(p.Pages, h.Delay+h.Mean))
	return p
}

// times returns n times d, at most a hundred years.
func times(n int64, d time.Duration) time.Duration {
	const most = 100 * 365 * 24 * time.Hour
	if d > 0 && n > int64(most/d) {
		return most
	}
	return time.Duration(n) * d
}

// FirstPass describes the first visits that are left in a crawl. It is an estimate from
// present knowledge: each visit may find more pages.
type FirstPass struct {
	Done int `json:"done"` // pages that live and were visited
	Left int `json:"left"` // pages that have a place and were not visited; free places count
	// Without counts pages, of Left or beyond it, at hosts from which nothing can be
	// fetched for now. No other figure includes them. Only the hosts that are busy longest
	// are looked at; there may be more.
	Without int `json:"without,omitempty"`
	// Host is the host that takes longest, "" if the pass does not wait for one; Every is
	// the time from one request there to the next.
	Host  string         `json:"host,omitempty"`
	Every crawl.Duration `json:"every,omitempty"`
	Takes crawl.Duration `json:"takes"` // 0 if nobody knows
	Ends  stamp          `json:"ends"`  // null then, and while the crawl is paused

	hosts int  // that have a part in it, at least
	some  bool // not all hosts were looked at
}

// Bar draws the share that is done.
func (p FirstPass) Bar() string {
	const width = 20
	full := width * p.Done / max(1, p.Done+p.Left)
	return strings.Repeat("█", full) + strings.Repeat("░", width-full)
}

// fewNew is the share of a crawl's pages below which those that were never visited are
// called new pages instead of a first pass.
const fewNew = 0.05

// few reports whether nearly all pages were visited, as in a crawl that finds new ones.
func (p FirstPass) few() bool { return float64(p.Left) < fewNew*float64(p.Done+p.Left) }

// firstPassHosts is the number of hosts, those that are busy longest, by which a first pass
// is judged; morePassHosts is how many are looked at if nothing can be fetched from any of these.
const (
	firstPassHosts = 30
	morePassHosts  = 1000
)

// firstPass reads the state of a first pass; nil if it is over. Nor does a stopped crawl have
// one: its pages have no place until it starts again, whether they were visited or not.
func (r Reporter) firstPass(ctx context.Context, c store.CrawlRecord, s store.StatusRecord, now time.Time) (*FirstPass, error) {
	if s.Pages[crawl.Known]+s.Demand.Own == 0 || c.State == crawl.CrawlStopped {
		return nil, nil
	}
	work, err := r.firstWork(ctx, c, firstPassHosts, now)
	if err == nil && len(work) == firstPassHosts && !slices.ContainsFunc(work, hostWork.answers) {
		work, err = r.firstWork(ctx, c, morePassHosts, now)
	}
	if err != nil {
		return nil, err
	}
	return firstPassOf(c, s, work, now), nil
}

// firstWork returns the hosts that are busy longest with first visits.
func (r Reporter) firstWork(ctx context.Context, c store.CrawlRecord, limit int, now time.Time) ([]hostWork, error) {
	hosts, err := r.Store.ListHosts(ctx, store.HostFilter{CrawlID: c.ID, Limit: limit, Slowest: store.WorkFirst})
	if err != nil {
		return nil, err
	}
	ex := r.excluder(c.Spec)
	work := make([]hostWork, 0, len(hosts))
	for _, h := range hosts {
		state, _, err := ex.state(ctx, h, h.Robots, now)
		if err != nil {
			return nil, err
		}
		work = append(work, hostWork{h, state})
	}
	return work, nil
}

// Progress returns the numbers of a crawl, and the state of its first pass, nil if it has
// none.
func (r Reporter) Progress(ctx context.Context, c store.CrawlRecord) (store.StatusRecord, *FirstPass, error) {
	s, err := r.Store.Status(ctx, c.ID)
	if err != nil {
		return s, nil, err
	}
	now, err := r.Store.Now(ctx)
	if err != nil {
		return s, nil, err
	}
	first, err := r.firstPass(ctx, c, s, now)
	return s, first, err
}

type hostWork struct {
	store.HostRecord
	state HostState
}

// answers reports whether pages can be fetched from the host, sooner or later.
func (h hostWork) answers() bool { return h.state == HostOK || h.state == HostThrottled }

// firstPassOf estimates a first pass from the hosts that are busy longest with it. Hosts
// run side by side, so the slowest decides; if the engine admits no more pages, its own
// pace does. nil means that nothing is left that can be visited.
func firstPassOf(c store.CrawlRecord, s store.StatusRecord, hosts []hostWork, now time.Time) *FirstPass {
	living := livingOf(s.Pages)
	share := roomShare(s.Pages, c.Spec.Limits.MaxPages)
	p := FirstPass{Done: max(0, living-s.Demand.Own), Left: s.Demand.Own + int(math.Round(share*float64(s.Pages[crawl.Known])))}
	if p.Left == 0 {
		return nil
	}
	takes, without, looked := time.Duration(0), 0.0, 0
	for _, h := range hosts {
		looked += int(h.Unvisited)
		placed := unvisitedOf(h.HostRecord, share)
		if !h.answers() {
			without += placed
			continue
		}
		if t := h.first(placed, c.Spec.Revisit.DefaultInterval.Std(), now); t > takes {
			takes, p.Host, p.Every = t, h.Host, crawl.Duration(h.Delay+h.Mean)
		}
	}
	if paced := enginePace(c, s, p.Left, now); paced > takes {
		takes, p.Host, p.Every = paced, "", 0
	}
	if p.Without = int(math.Round(without)); p.Without >= p.Left {
		return nil
	}
	p.Left, p.hosts, p.some = max(1, p.Left-p.Without), len(hosts), looked < s.Demand.Own+s.Pages[crawl.Known]
	if takes == 0 {
		return &p // nothing is known of a host that answers
	}
	takes = max(takes.Round(time.Second), time.Second) // nobody waits for parts of one
	p.Takes = crawl.Duration(takes)
	if c.State == crawl.CrawlRunning {
		p.Ends = stamp(now.Add(takes))
	}
	return &p
}

// livingOf counts the pages that have a place.
func livingOf(pages map[crawl.PageState]int) int {
	living := 0
	for _, state := range crawl.LivingStates() {
		living += pages[state]
	}
	return living
}

// roomShare returns the share (0 to 1) of the pages without a place for which a crawl has room.
// most is the number of pages that it may have, 0 for no limit.
func roomShare(pages map[crawl.PageState]int, most int) float64 {
	known := pages[crawl.Known]
	if most == 0 || known == 0 {
		return 1
	}
	return float64(min(known, max(0, most-livingOf(pages)))) / float64(known)
}

// unvisitedOf returns how many of a host's unvisited pages have a place, or will have one if
// there is room for a share of those without.
func unvisitedOf(h store.HostRecord, share float64) float64 {
	return float64(h.Unvisited-h.Known) + share*float64(h.Known)
}

// first returns when a host will have had the first visits of a number of pages, 0 for none.
// Visited pages come back meanwhile, if that takes longer than an interval.
func (h hostWork) first(pages float64, interval time.Duration, now time.Time) time.Duration {
	if pages <= 0 {
		return 0
	}
	left, every := max(1, int64(pages)), h.Delay+h.Mean
	wait := max(0, h.NextFree.Sub(now), h.BackoffUntil.Sub(now))
	takes := times(left, every)
	if takes <= interval || interval <= 0 {
		return wait + takes
	}
	load := (float64(h.Visited) + float64(left)/2) * float64(every) / float64(interval)
	return wait + time.Duration(min(float64(takes)/max(1-load, discovery(h.HostRecord).Kept), float64(times(1<<62, every))))
}

// enginePace returns how long the pages take at the pace of the last hour, if the bound on
// pages on their way holds them up; else 0. A few free places do not count: they are left
// until they are worth a refill.
func enginePace(c store.CrawlRecord, s store.StatusRecord, left int, now time.Time) time.Duration {
	if s.Bound.Pages == 0 || s.Bound.Room(s.Demand) > 0 || s.LastHour == 0 {
		return 0
	}
	span := min(time.Hour, max(now.Sub(c.CreatedAt), time.Minute))
	return times(int64(left), span/time.Duration(s.LastHour))
}

// String says how much is left, and for how long.
func (p FirstPass) String() string {
	text := fmt.Sprintf("%d of %d pages visited; %d to go", p.Done, p.Done+p.Left, p.Left)
	if p.Host != "" {
		text += fmt.Sprintf(", one every %s at %s", schedule.Rough(p.Every.Std()), p.Host)
	}
	if p.Takes > 0 {
		text += ", about " + schedule.Rough(p.Takes.Std())
	}
	if p.Host != "" && p.hosts > 1 {
		text += "; hosts run side by side"
	}
	if p.Without > 0 {
		least := ""
		if p.some {
			least = "at least "
		}
		text += fmt.Sprintf("; without %s%s at hosts in trouble", least, plural(p.Without, "page"))
	}
	return strings.Map(printable, text)
}
