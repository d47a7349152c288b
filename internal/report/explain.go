package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
	"recrawl/internal/robots"
	"recrawl/internal/robots/reserve"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// Live is the state that a page's workflow reports.
type Live struct {
	Doing    string    `json:"doing,omitempty"` // sleeping, waiting, fetching, …
	Due      time.Time `json:"-"`
	Interval string    `json:"interval,omitempty"` // set by a person
	Snoozed  time.Time `json:"-"`
	Reasons  []string  `json:"reasons,omitempty"`
	// Problem says why the workflow did not answer; then nothing else is set.
	Problem string `json:"problem,omitempty"`
}

// Explanation says when a page is visited next, and why then.
type Explanation struct {
	URL     string          `json:"url"`
	Crawl   string          `json:"crawl"`
	AskedAs string          `json:"asked_as,omitempty"` // path and query as its server or its link spells them, if not as url
	Kind    crawl.PageKind  `json:"kind"`
	State   crawl.PageState `json:"state"`
	Visits  int             `json:"visits"`
	Changes int             `json:"changes"`
	// AsInVersion is the earlier version to which the page has returned, if it has.
	AsInVersion int `json:"as_in_version,omitempty"`
	// Importance is that of the last ranking, 0 if the page was in none.
	Importance float64 `json:"importance"`
	NextAt     stamp   `json:"next_at"` // the earliest possible time; null if that is not known
	nextLine
	Due       stamp     `json:"due"` // by its policy
	HostState HostState `json:"host_state"`
	HostWhy   orNull    `json:"host_why"`
	Evicted   orNull    `json:"evicted"`   // why the page gave its place to another
	HintedBy  orNull    `json:"hinted_by"` // the sitemap or feed whose hint makes it early
	// Suspect is the visit whose finding counts only after a second look; 0 for none.
	Suspect int       `json:"suspect_visit"`
	Policy  string    `json:"policy"`
	Reasons []string  `json:"reasons"` // of the last visit's decision
	Plan    *planLine `json:"plan"`    // by present knowledge; null if the policy does not plan the page
	// Estimates are those of the literature's estimators from the same visits; null if the
	// page was never compared.
	Estimates *estimatesLine `json:"estimates"`
	Workflow  liveLine       `json:"workflow"`
	// Reserved holds what the site said about uses of the page's version, if anything.
	Reserved []crawl.Reservation `json:"reserved,omitempty"`
	Host     *HostLine           `json:"host"`
	Robots   *RobotsCheck        `json:"robots"`
}

type liveLine struct {
	Live
	Due     stamp `json:"due"`
	Snoozed stamp `json:"snoozed_until"`
}

// Explained holds everything that explains when and why a page is visited.
type Explained struct {
	page   store.PageRecord
	crawl  store.CrawlRecord
	visits []store.VisitRecord // the last of them, newest first
	last   *store.VisitRecord
	is     prospect
	robots *RobotsCheck
	origin store.RobotsRecord // of the robots.txt
	live   Live
	now    time.Time
	source *store.SourceRecord   // nil for a page
	hint   *store.SourceRecord   // whose hint makes the next visit early, if any
	plan   *schedule.Explanation // nil for a page that its policy does not plan
	looks  *schedule.Estimates   // nil for a page that was never compared
	steer  store.SteeringRecord  // of the crawl
	// reserved holds what the site said about uses of the page's version.
	reserved []crawl.Reservation
}

// Explain writes when and why a page is visited next: its policy, its host, robots.txt, and
// what its workflow does.
func (r Reporter) Explain(ctx context.Context, page store.PageRecord, live Live) error {
	e, err := r.Explained(ctx, page, live)
	if err != nil {
		return err
	}
	if r.Format == JSON {
		return writeJSON(r.Out, e.Explanation())
	}
	t := newTable(r.Out)
	for _, f := range e.Facts() {
		t.row(f.Name, f.Text)
	}
	return t.flush()
}

// Explained finds out when and why a page is visited next.
func (r Reporter) Explained(ctx context.Context, page store.PageRecord, live Live) (Explained, error) {
	e := Explained{page: page, live: live}
	var err error
	if e.crawl, e.now, err = r.open(ctx, page.Crawl); err != nil {
		return e, err
	}
	if e.visits, err = r.Store.ListVisits(ctx, page.PageID, 0, estimatedVisits); err != nil {
		return e, err
	}
	if len(e.visits) > 0 {
		e.last = &e.visits[0]
	}
	if found, ok := schedule.EstimatesOf(looksOf(e.visits)); ok {
		e.looks = &found
	}
	if e.is, err = r.prospect(ctx, e.crawl, page, live, e.now); err != nil {
		return e, err
	}
	if e.robots, e.origin, err = r.robotsOf(ctx, page, e.crawl.Spec); err != nil {
		return e, err
	}
	if e.reserved, err = r.reservedOf(ctx, page); err != nil {
		return e, err
	}
	if e.plan, err = planOf(page, e.crawl.Spec.Revisit, e.now); err != nil {
		return e, err
	}
	if e.plan != nil {
		if e.steer, err = r.Store.Steering(ctx, page.CrawlID, false); err != nil {
			return e, err
		}
	}
	if e.hint, err = r.source(ctx, page.CrawlID, page.HintedBy); err != nil {
		return e, err
	}
	if page.Kind.IsSource() {
		if e.source, err = r.source(ctx, page.CrawlID, page.PageID); err != nil {
			return e, err
		}
	}
	return e, nil
}

// reservedOf returns what the site said about uses of a page's present version.
func (r Reporter) reservedOf(ctx context.Context, page store.PageRecord) ([]crawl.Reservation, error) {
	if page.Last.Seq == 0 {
		return nil, nil
	}
	v, err := r.Store.Version(ctx, page.PageID, page.Last.Seq)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil // forgotten meanwhile
	}
	return v.Reserved, err
}

func (r Reporter) robotsOf(ctx context.Context, page store.PageRecord, spec crawl.Spec) (*RobotsCheck, store.RobotsRecord, error) {
	agent := spec.Identity.Agent
	u, err := urlkey.Canonical(page.URL)
	if err != nil { // an earlier release took it
		check := NewRobotsCheck(page.URL, agent, robots.Verdict{Reason: noURL})
		return &check, store.RobotsRecord{}, nil
	}
	record, err := r.Store.Robots(ctx, u.Origin())
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, store.RobotsRecord{}, err
	}
	purpose := spec.Purpose
	if page.Kind.IsSource() {
		purpose = nil
	}
	check := NewRobotsCheck(page.URL, agent, NewRobotsJudge(record, purpose...)(agent, u))
	return &check, record, nil
}

// Explanation returns the answer for programs.
func (e Explained) Explanation() Explanation {
	revisit, _ := e.revisit()
	line := Explanation{
		URL: e.page.URL, Crawl: e.page.Crawl, AskedAs: e.page.Respelling.Spelling, Kind: e.page.Kind, State: e.page.State, Visits: e.page.Visits, Changes: e.page.Changes, AsInVersion: asInVersion(e.page),
		Importance: e.page.Weight, Suspect: suspectVisit(e.page), NextAt: stamp(e.is.At), nextLine: nextLineOf(e.is.Next), Due: stamp(e.page.NextAt), HostState: e.is.state, HostWhy: orNull(e.is.trouble), Policy: revisit.Policy, Reasons: []string{}, Robots: e.robots,
		Reserved: e.reserved,
		Workflow: liveLine{Live: e.live, Due: stamp(e.live.Due), Snoozed: stamp(e.live.Snoozed)},
	}
	if e.last != nil {
		line.Reasons = append(trouble(*e.last), words(e.last.Reasons)...)
	}
	if e.hint != nil {
		line.HintedBy = orNull(e.hint.URL)
	}
	if e.plan != nil {
		line.Plan = newPlanLine(*e.plan, e.steer)
	}
	if e.looks != nil {
		line.Estimates = newEstimatesLine(*e.looks)
	}
	if !e.is.standing.Evicted.At.IsZero() {
		line.Evicted = orNull(evictedWords(e.is.standing))
	}
	if e.is.host != nil {
		host := hostOf(*e.is.host, e.is.state, e.is.trouble)
		line.Host = &host
	}
	return line
}

// Fact is one known fact about a page, in words.
type Fact struct {
	Name string // "" continues the fact before
	Text string
	// Mathematics: it is about the plan and the numbers behind it.
	Mathematics bool
}

// facts are collected one by one.
type facts []Fact

func (f *facts) row(name, text string) { *f = append(*f, Fact{Name: name, Text: text}) }

func (f *facts) number(name, text string) {
	*f = append(*f, Fact{Name: name, Text: text, Mathematics: true})
}

// Facts returns everything that explains the page's next visit, in words.
func (e Explained) Facts() []Fact {
	t := &facts{}
	t.row("page", fmt.Sprintf("%s in crawl %s (%s)", e.page.URL, e.page.Crawl, e.page.State))
	if as := e.page.Respelling.Spelling; as != "" {
		t.row("asked as", as)
	}
	if e.source != nil {
		t.row(e.page.Kind.String(), strings.Join(append([]string{plural(e.source.Entries, "URL"), recordWords(*e.source)}, notes(*e.source)...), ", "))
	}
	if e.page.Kind == crawl.KindRequisite {
		t.row(e.page.Kind.String(), "an image, a style or a font that pages need to look as they do; no page of the collection")
	}
	t.row("visits", fmt.Sprintf("%s, %s", plural(e.page.Visits, "visit"), plural(e.page.Changes, "change")))
	if e.page.Last.Back > 0 {
		t.row("shows", fmt.Sprintf("version %d again, since visit %d: a return counts as no change", e.page.Last.Seq, e.page.Last.Back))
	}
	if e.page.Weight > 0 {
		t.row("importance", fmt.Sprintf("%s: PageRank %s, linked from %s and %s",
			figure(e.page.Weight), figure(e.page.Rank), plural(e.page.Backlinks, "page"), plural(e.page.LinkingHosts, "other host")))
	}
	t.row("next", e.next())
	if e.hint != nil {
		t.row("early", hintWords(*e.hint))
	}
	if visit := suspectVisit(e.page); visit > 0 {
		t.row("suspect", fmt.Sprintf("what visit %d found counts if the next look finds such a thing, too: `starter show %s --visit %d` shows it", visit, e.page.URL, visit))
	}
	t.number("policy", e.policy())
	if e.last != nil {
		t.number("because", why(*e.last))
		t.row("last", fmt.Sprintf("visit %d, %s: %s", e.last.Visit, when(e.last.At, e.now), e.last.Outcome))
	}
	if e.plan != nil {
		*t = append(*t, e.planFacts()...)
	}
	t.row("workflow", e.doing())
	for _, reason := range e.live.Reasons {
		t.row("", reason)
	}
	if at := e.is.standing.Evicted.At; !at.IsZero() {
		t.row("eviction", when(at, e.now)+", "+evictedWords(e.is.standing))
	}
	if e.is.host != nil {
		t.row("host", hostWords(*e.is.host, e.now))
		if e.is.state != HostOK {
			t.row("", fmt.Sprintf("%s: %s", e.is.state, e.is.trouble))
		}
		t.row("", kept(*e.is.host))
	}
	t.row("robots", e.robots.text()+retryWords(e.origin, e.now))
	if len(e.reserved) > 0 {
		t.row("reserved", fmt.Sprintf("of version %d the site %s", e.page.Last.Seq, reserve.Words(e.reserved)))
	}
	return *t
}

func (e Explained) next() string {
	if e.is.By == PartAdmission {
		return "none: the collection has no place for it yet"
	}
	return e.is.words(e.now)
}

// revisit returns the settings by which the page is planned: the crawl's, or those of the
// first rule that matches, which is named.
func (e Explained) revisit() (spec crawl.RevisitSpec, rule string) {
	spec = e.crawl.Spec.Revisit
	for _, r := range spec.Rules {
		if urlkey.PagesOf(r.Prefix, r.Host).Has(e.page.URL) {
			return spec.With(r), cmp.Or(r.Prefix, r.Host)
		}
	}
	return spec, ""
}

func (e Explained) policy() string {
	spec, rule := e.revisit()
	if spec.Policy != e.crawl.Spec.Revisit.Policy {
		spec.Budget = "" // it takes no part in it
	}
	text := policy(spec)
	if rule != "" {
		text += ", by the rule for " + rule
	}
	return text
}

func (e Explained) doing() string {
	if e.live.Problem != "" {
		return "unknown: " + e.live.Problem
	}
	return e.live.Doing
}

func hostWords(h store.HostRecord, now time.Time) string {
	words := []string{h.Host, "a request every " + schedule.Rough(h.Delay), "free " + free(h, now), fmt.Sprintf("%d waiting", h.Waiting)}
	if h.GapReason.Code != polite.GapDelay && h.GapReason.Code != "" {
		words = append(words, polite.Words(h.GapReason))
	}
	if h.BackoffUntil.After(now) {
		words = append(words, fmt.Sprintf("in back-off, which ends %s: %s", when(h.BackoffUntil, now), backoffWords(h)))
	}
	return strings.Join(words, ", ")
}
