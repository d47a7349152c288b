// Package survey sums up a collection page by page: the figures by which crawlers are
// judged. It computes, and does nothing else.
//
// Several are of Acevedo, Agosto & Ortiz, "JoMaGic: a web crawler" ("Metrics"):
// the share of important pages H/T, the diversity of hosts, pages per time, duplicate
// pages, broken links, back-link counts by level, and the most important pages. The
// refresh queues and the categories of update activity are of Singhal, Dixit & Sharma.
package survey

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
	"recrawl/internal/urlkey"
)

// Page holds the data of a page that a survey needs.
type Page struct {
	URL, Host string
	Level     int
	State     crawl.PageState
	// Left is the state in which the last visit left the page. It differs from State for a
	// stopped or evicted page.
	Left   crawl.PageState
	Visits int
	LastAt time.Time // of the last visit
	// Downloaded: a version of it is kept. Type and Bytes are the last one's.
	Downloaded bool
	Type       string
	Bytes      int64
	// Backlinks counts the pages that link to it; Weight is its importance, 0 for none.
	Backlinks int
	Weight    float64
	// Interval is the time from its last visit to the next one, 0 without.
	Interval time.Duration
	// Rate is the believed number of changes a day; Compared says that there is a belief.
	Rate     float64
	Compared bool
	// ChangedAt is when its last change was found, zero if none was. Title is the last
	// version's.
	ChangedAt time.Time
	Title     string
	// Lag is how far its copy is expected to be behind; Lags says that there is a copy with
	// a known time.
	Lag  schedule.Lag
	Lags bool
}

// Options choose what is counted.
type Options struct {
	// Backlinks is G: a page with more back-links is important.
	Backlinks int
	// Top is the number of the most important pages and hosts that are named.
	Top int
	// Unit is the unit of the refresh queues; 0 means schedule.RefreshUnit.
	Unit time.Duration
}

// Survey counts pages one by one, in memory that grows with hosts and levels only.
type Survey struct {
	options Options
	result  Result
	hosts   map[string]*Host
	levels  map[int]*Level
	types   map[string]*Type
}

// New begins a survey.
func New(o Options) *Survey {
	if o.Unit <= 0 {
		o.Unit = schedule.RefreshUnit
	}
	s := &Survey{options: o, hosts: map[string]*Host{}, levels: map[int]*Level{}, types: map[string]*Type{}}
	s.result.Pages = map[crawl.PageState]int{}
	s.result.Backlinks, s.result.Unit = o.Backlinks, o.Unit
	s.result.Queues = make([]int, schedule.RefreshQueues)
	s.result.Activities = make([]int, len(schedule.Activities()))
	return s
}

// Result holds the figures.
type Result struct {
	Known int                     // pages in all
	Pages map[crawl.PageState]int // by state

	// Downloaded is T, the pages of which there is a version; Important is H, those of
	// them with more than Backlinks back-links.
	Downloaded, Important, Backlinks int
	Bytes                            int64 // of the last versions
	Visited                          int   // pages that were requested

	// Hosts and Domains count those with a downloaded page; KnownHosts all.
	Hosts, Domains, KnownHosts int
	// Largest is the share of downloads of the host with most; Effective is the number of
	// hosts of equal size that would be as diverse (1/Σ share², Simpson).
	Largest, Effective float64

	LastVisit time.Time // of any page

	// Duplicates are pages whose content is another page's, Broken those that answered 404
	// or 410: both by the last visit, whether or not they are still visited. BrokenLinks
	// are the links to the broken ones, of Links in all.
	Duplicates                 int
	Broken, BrokenLinks, Links int

	Copies int // pages with a Lag, whose sums are:

	fresh, age, rate, delay float64

	Levels     []Level
	Types      []Type
	Queues     []int // pages by schedule.RefreshQueue, from UrlQ(1) on
	Unit       time.Duration
	Activities []int // pages by schedule.Activity
	Unknown    int   // living pages without a belief

	// TopPages and TopHosts are the most important ones, without those that traps hold.
	TopPages []Page
	TopHosts []Host
	// TopReferred are the pages with most back-links, without those that traps hold.
	TopReferred []Page
	// LastChanged are the pages that changed last, without those that traps hold.
	LastChanged []Page
}

// Level counts the pages at one number of links from a seed.
type Level struct {
	Level, Pages, Downloaded, Backlinks int
}

// Mean returns the level's mean back-link count.
func (l Level) Mean() float64 { return ratio(l.Backlinks, l.Pages) }

// Type counts the downloaded pages of one media type.
type Type struct {
	Name  string
	Pages int
	Bytes int64
}

// Host sums up the pages of one host. Pages that a trap holds count only as Held: a site
// can make any number of them, and of links to them.
type Host struct {
	Name                         string
	Pages, Downloaded, Backlinks int
	Held                         int
	Weight                       float64 // sum of the pages'
}

// Add counts a page.
func (s *Survey) Add(p Page) {
	r := &s.result
	r.Known++
	r.Pages[p.State]++
	r.Links += p.Backlinks
	h, l := entry(s.hosts, p.Host), entry(s.levels, p.Level)
	h.Name, l.Level = p.Host, p.Level
	l.Pages, l.Backlinks = l.Pages+1, l.Backlinks+p.Backlinks
	h.add(p)
	if p.Visits > 0 {
		r.Visited++
	}
	if p.LastAt.After(r.LastVisit) {
		r.LastVisit = p.LastAt
	}
	if p.Left == crawl.Duplicate {
		r.Duplicates++
	}
	if p.Left == crawl.Gone {
		r.Broken++
		r.BrokenLinks += p.Backlinks
	}
	if p.Downloaded {
		h.Downloaded, l.Downloaded = h.Downloaded+1, l.Downloaded+1
		s.addDownload(p)
	}
	s.addSchedule(p)
	if p.Lags {
		r.Copies++
		r.fresh, r.age = r.fresh+p.Lag.Fresh, r.age+p.Lag.Age
		r.rate, r.delay = r.rate+p.Lag.Rate, r.delay+p.Lag.Delay
	}
	if p.State != crawl.Held {
		s.result.TopPages = keepBest(s.result.TopPages, p, s.options.Top, moreImportant)
		s.result.TopReferred = keepBest(s.result.TopReferred, p, s.options.Top, moreBacklinks)
		if !p.ChangedAt.IsZero() {
			s.result.LastChanged = keepBest(s.result.LastChanged, p, s.options.Top, changedLater)
		}
	}
}

func (h *Host) add(p Page) {
	if p.State == crawl.Held {
		h.Held++
		return
	}
	h.Pages, h.Backlinks, h.Weight = h.Pages+1, h.Backlinks+p.Backlinks, h.Weight+p.Weight
}

func (s *Survey) addDownload(p Page) {
	r := &s.result
	r.Downloaded++
	r.Bytes += p.Bytes
	if p.Backlinks > s.options.Backlinks {
		r.Important++
	}
	t := entry(s.types, p.Type)
	t.Name = p.Type
	t.Pages++
	t.Bytes += p.Bytes
}

func (s *Survey) addSchedule(p Page) {
	if !p.State.Lives() || p.Visits == 0 {
		return
	}
	s.result.Queues[schedule.RefreshQueue(p.Interval, s.options.Unit)-1]++
	if p.Compared {
		s.result.Activities[schedule.ActivityOf(p.Rate)]++
	} else {
		s.result.Unknown++
	}
}

// Result completes the figures of the pages counted so far.
func (s *Survey) Result() Result {
	r := s.result
	domains := map[string]bool{}
	var squares float64
	for _, name := range slices.Sorted(maps.Keys(s.hosts)) {
		h := s.hosts[name]
		r.KnownHosts++
		r.TopHosts = keepBest(r.TopHosts, *h, s.options.Top, moreReferred)
		if h.Downloaded == 0 {
			continue
		}
		r.Hosts++
		domains[urlkey.RegistrableDomain(name)] = true
		share := ratio(h.Downloaded, r.Downloaded)
		squares += share * share
		r.Largest = max(r.Largest, share)
	}
	r.Domains = len(domains)
	if squares > 0 {
		r.Effective = 1 / squares
	}
	for _, level := range slices.Sorted(maps.Keys(s.levels)) {
		r.Levels = append(r.Levels, *s.levels[level])
	}
	for _, name := range slices.Sorted(maps.Keys(s.types)) {
		r.Types = append(r.Types, *s.types[name])
	}
	slices.SortStableFunc(r.Types, func(a, b Type) int { return cmp.Compare(b.Pages, a.Pages) })
	return r
}

// Freshness returns the expected share of copies that are up to date (Sizov's F).
func (r Result) Freshness() float64 { return r.fresh / float64(max(r.Copies, 1)) }

// Age returns the expected mean age of the copies in days (Sizov's A).
func (r Result) Age() float64 { return r.age / float64(max(r.Copies, 1)) }

// Delay returns the mean number of days that a change is expected to wait for its visit
// (Sizov's D, for each change).
func (r Result) Delay() float64 {
	if r.rate == 0 {
		return 0
	}
	return r.delay / r.rate
}

// Importance returns H/T, the share of the downloaded pages that are important, 0 to 1.
func (r Result) Importance() float64 { return ratio(r.Important, r.Downloaded) }

// BrokenShare returns the share of the links that lead to a page that is gone, 0 to 1.
func (r Result) BrokenShare() float64 { return ratio(r.BrokenLinks, r.Links) }

// moreImportant orders pages by weight, then by back-links.
func moreImportant(a, b Page) int {
	return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(b.Backlinks, a.Backlinks), cmp.Compare(a.URL, b.URL))
}

// moreBacklinks orders pages by back-links, as JoMaGic does, then by weight.
func moreBacklinks(a, b Page) int {
	return cmp.Or(cmp.Compare(b.Backlinks, a.Backlinks), cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.URL, b.URL))
}

// changedLater orders pages by their last change, the latest first.
func changedLater(a, b Page) int {
	return cmp.Or(b.ChangedAt.Compare(a.ChangedAt), cmp.Compare(a.URL, b.URL))
}

func moreReferred(a, b Host) int {
	return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(b.Backlinks, a.Backlinks), cmp.Compare(a.Name, b.Name))
}

// keepBest adds one to a list of the n best in order.
func keepBest[T any](best []T, one T, n int, order func(a, b T) int) []T {
	at, _ := slices.BinarySearchFunc(best, one, order)
	if at >= n {
		return best
	}
	best = slices.Insert(best, at, one)
	return best[:min(n, len(best))]
}

func entry[K comparable, V any](m map[K]*V, key K) *V {
	v := m[key]
	if v == nil {
		v = new(V)
		m[key] = v
	}
	return v
}

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}
