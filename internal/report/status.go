package report

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"recrawl/internal/admission"
	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

// StatusLine is one crawl in numbers.
type StatusLine struct {
	Crawl string `json:"crawl"`
	// Purpose holds the uses that the crawl names for its pages.
	Purpose    []crawl.Use      `json:"purpose,omitempty"`
	State      crawl.CrawlState `json:"state"`
	Generation int64            `json:"generation"`
	CreatedAt  stamp            `json:"created_at"`
	Now        stamp            `json:"now"`
	// Pages and Outcomes have every state and outcome, so that a program also finds those
	// with a count of 0.
	Pages        map[string]int `json:"pages"`
	Outcomes     map[string]int `json:"outcomes"`
	Visits       int            `json:"visits"`
	VisitsLastH  int            `json:"visits_last_hour"`
	Versions     int            `json:"versions"`
	Links        int            `json:"links"`
	Rejected     map[string]int `json:"rejected"` // links by reason
	Hosts        int            `json:"hosts"`
	HostsBackoff int            `json:"hosts_in_backoff"`
	InTrouble    int            `json:"hosts_in_trouble"`
	// HostsBlocked are those of them that an operator has blocked, and Delays the automatic
	// delays of the hosts. Both are for metrics.
	HostsBlocked int           `json:"-"`
	Delays       store.Delays  `json:"-"`
	HostTroubles []HostTrouble `json:"host_troubles"` // some of them
	// HostsNeedYou counts the hosts in trouble that need a person.
	HostsNeedYou int            `json:"hosts_need_you"`
	Waiting      int            `json:"waiting"`
	Admission    *admissionLine `json:"admission,omitempty"`
	Overdue      int            `json:"overdue"`
	// OverdueMore says that not all pages that may be overdue were counted.
	OverdueMore bool           `json:"overdue_more,omitempty"`
	Lag         crawl.Duration `json:"lag"`
	NextDue     stamp          `json:"next_due"` // null while the crawl is paused or stopped
	Policy      string         `json:"policy"`
	Budget      orNull         `json:"budget"`
	// As of the last maintenance pass. AskedPerDay is how many visits the crawl would plan if
	// Temporal and the workers could make all of them; OverAsked says that they cannot.
	PlannedPerDay float64 `json:"planned_per_day"`
	AskedPerDay   float64 `json:"asked_per_day"`
	OverAsked     orNull  `json:"over_asked,omitempty"`
	// Of a policy that shares a budget, likewise.
	BudgetPerDay float64 `json:"budget_per_day"`
	Threshold    float64 `json:"threshold"`
	// ThresholdReasons says why that pass put the threshold where it is.
	ThresholdReasons []string `json:"threshold_reasons"`
	// Evictions are those of the last 30 days, LastEviction the last of them.
	Evictions    int           `json:"evictions"`
	LastEviction *evictionLine `json:"last_eviction"`
	// Held are the workers that make no request, of any crawl.
	Held []heldLine `json:"held"`
	// Backlog counts the tasks that wait in Temporal's task queue, for all crawls; left out
	// if none has waited for long.
	Backlog *backlogLine `json:"backlog,omitempty"`
	// Sinks are those of the crawl's spec, left out if there are none.
	Sinks []SinkLine `json:"sinks,omitempty"`
	// Freshness is null as long as there are no copies, and FirstPass once it is over, or the
	// crawl is stopped.
	Freshness *Freshness `json:"freshness"`
	FirstPass *FirstPass `json:"first_pass"`
	// Imports are imports of seeds that are not complete, left out if there are none.
	Imports  []ImportLine  `json:"imports,omitempty"`
	Troubles []troubleLine `json:"troubles"`
}

type evictionLine struct {
	URL    string `json:"url"`
	For    orNull `json:"for"` // the page that took its place
	At     stamp  `json:"at"`
	Reason string `json:"reason"`
}

// admissionLine is the bound on pages on their way to their first visit, and their number:
// of all running crawls, and of this one.
type admissionLine struct {
	Bound  int    `json:"bound"`
	Taken  int    `json:"taken"`
	Own    int    `json:"own"`
	Since  stamp  `json:"since"` // null: it has not moved yet
	Reason string `json:"reason"`
}

// Status writes one crawl in numbers.
func (r Reporter) Status(ctx context.Context, name string) error {
	record, now, err := r.open(ctx, name)
	if err != nil {
		return err
	}
	return r.status(ctx, record, now)
}

// StatusOf returns one crawl in numbers.
func (r Reporter) StatusOf(ctx context.Context, name string) (StatusLine, error) {
	record, now, err := r.open(ctx, name)
	if err != nil {
		return StatusLine{}, err
	}
	s, more, err := r.readStatus(ctx, record, now)
	return statusOf(record, s, more, now), err
}

// StatusOfAll returns every crawl in numbers.
func (r Reporter) StatusOfAll(ctx context.Context) ([]StatusLine, error) {
	crawls, err := r.Store.ListCrawls(ctx)
	if err != nil {
		return nil, err
	}
	now, err := r.Store.Now(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]StatusLine, 0, len(crawls))
	for _, c := range crawls {
		s, more, err := r.readStatus(ctx, c, now)
		if err != nil {
			return nil, err
		}
		all = append(all, statusOf(c, s, more, now))
	}
	return all, nil
}

func (r Reporter) status(ctx context.Context, c store.CrawlRecord, now time.Time) error {
	s, more, err := r.readStatus(ctx, c, now)
	if err != nil {
		return err
	}
	if r.Format == JSON {
		return writeJSON(r.Out, statusOf(c, s, more, now))
	}
	return r.statusText(c, s, more, now)
}

func (r Reporter) readStatus(ctx context.Context, c store.CrawlRecord, now time.Time) (s store.StatusRecord, more statusMore, err error) {
	if s, err = r.Store.Status(ctx, c.ID); err != nil {
		return s, more, err
	}
	if more.steering, err = r.Store.Steering(ctx, c.ID, false); err != nil {
		return s, more, err
	}
	if s.Evicted > 0 {
		if more.evicted, err = r.Store.Evictions(ctx, c.ID, false, 1); err != nil {
			return s, more, err
		}
	}
	if more.rejections, err = r.Store.Rejections(ctx, c.ID); err != nil {
		return s, more, err
	}
	if more.held, err = r.held(ctx); err != nil {
		return s, more, err
	}
	if more.troubles, more.backlog, err = r.troubles(ctx, c, now); err != nil {
		return s, more, err
	}
	if more.hosts, more.troubled, err = r.Trouble(ctx, c, now, troubleRead); err != nil {
		return s, more, err
	}
	if more.fresh, err = r.freshness(ctx, c, s, now); err != nil {
		return s, more, err
	}
	if more.first, err = r.firstPass(ctx, c, s, now); err != nil {
		return s, more, err
	}
	if more.imports, err = r.UnfinishedImports(ctx, c); err != nil {
		return s, more, err
	}
	more.sinks, err = r.sinks(ctx, c, now)
	return s, more, err
}

// statusMore holds the parts of a status besides the numbers of pages and visits.
type statusMore struct {
	steering   store.SteeringRecord
	rejections []store.RejectionCount
	evicted    []store.Eviction // the last
	held       []store.HeldWorker
	backlog    store.BacklogRecord
	troubles   []store.TroubleRecord
	hosts      []HostTrouble // in trouble
	troubled   int
	sinks      []SinkLine
	fresh      *Freshness
	first      *FirstPass
	imports    []ImportLine
}

// shown returns the hosts in trouble that a status names.
func (m statusMore) shown() []HostTrouble { return m.hosts[:min(troubleShown, len(m.hosts))] }

// needYou counts the hosts in trouble that need a person. blocked is the number of hosts
// that somebody has blocked on purpose.
func (m statusMore) needYou(blocked int) int {
	n := 0
	for _, h := range m.hosts {
		if h.State.needsSomebody() {
			n++
		}
		if h.State == HostBlocked {
			blocked--
		}
	}
	unseen := m.troubled - len(m.hosts) - max(blocked, 0)
	return n + max(unseen, 0)
}

// rejectedWords names the most frequent reasons.
func rejectedWords(rejections []store.RejectionCount) string {
	const most = 4
	var parts []string
	for i, r := range rejections {
		if i == most {
			parts = append(parts, fmt.Sprintf("and for %d more reasons", len(rejections)-most))
			break
		}
		parts = append(parts, fmt.Sprintf("%d %s", r.Links, r.Reason))
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// purposeWords says what a crawl is for, and what follows from that.
func purposeWords(purpose []crawl.Use) string {
	uses := make([]string, len(purpose))
	for i, use := range purpose {
		uses[i] = string(use)
	}
	return strings.Join(uses, ", ") + ": pages whose sites reserve that are excluded"
}

func statusOf(c store.CrawlRecord, s store.StatusRecord, more statusMore, now time.Time) StatusLine {
	line := StatusLine{
		Crawl: c.Spec.Name, State: c.State, Generation: c.Generation, CreatedAt: stamp(c.CreatedAt), Now: stamp(now),
		Pages: map[string]int{}, Outcomes: map[string]int{}, Rejected: map[string]int{},
		Visits: s.Visits, VisitsLastH: s.LastHour, Versions: s.Versions, Links: s.Links,
		Hosts: s.Hosts, HostsBackoff: s.Backoff, InTrouble: more.troubled, HostsBlocked: s.Blocked, Delays: s.Delays,
		HostTroubles: more.shown(), HostsNeedYou: more.needYou(s.Blocked), Waiting: s.Waiting, Overdue: s.Overdue, OverdueMore: s.OverdueMore,
		Lag: crawl.Duration(s.Lag), NextDue: stamp(nextDue(c.State, s).At),
		Purpose: c.Spec.Purpose,
		Policy:  c.Spec.Revisit.Policy, Budget: orNull(c.Spec.Revisit.Budget),
		PlannedPerDay: more.steering.Planned, AskedPerDay: more.steering.Asked, OverAsked: orNull(overAsked(c, more.steering)), BudgetPerDay: more.steering.Budget, Threshold: more.steering.Threshold,
		ThresholdReasons: words(more.steering.Reasons), Evictions: s.Evicted,
		Held: heldLines(more.held), Backlog: backlogOf(more.backlog), Troubles: troubleLines(more.troubles), Sinks: more.sinks,
		Freshness: more.fresh, FirstPass: more.first, Imports: more.imports,
	}
	for _, e := range more.evicted {
		line.LastEviction = &evictionLine{URL: e.Page.URL, For: orNull(e.By.URL), At: stamp(e.At), Reason: evictionWords(e.Reason)}
	}
	if s.Bound.Pages > 0 {
		line.Admission = &admissionLine{Bound: s.Bound.Pages, Taken: s.Demand.Taken, Own: s.Demand.Own, Since: stamp(s.Bound.At), Reason: admission.Words(s.Bound.Reason)}
	}
	for _, state := range crawl.PageStates() {
		if state == crawl.Kept && s.Pages[state] == 0 {
			continue // of crawls that keep no requisites
		}
		line.Pages[state.String()] = s.Pages[state]
	}
	for _, o := range crawl.Outcomes() {
		line.Outcomes[o.String()] = s.Outcomes[o]
	}
	for _, r := range more.rejections {
		line.Rejected[r.Reason] = r.Links
	}
	return line
}

func (r Reporter) statusText(c store.CrawlRecord, s store.StatusRecord, more statusMore, now time.Time) error {
	t := newTable(r.Out, "crawl", c.Spec.Name+" ("+c.State.String()+")")
	for _, w := range more.held {
		t.row("held", heldWords(w, now))
	}
	for _, trouble := range more.troubles {
		t.row("trouble", troublePart(trouble.Part)+": "+troubleWords(trouble, now))
	}
	if words := backlogWords(more.backlog); words != "" {
		t.row("backlog", words)
	}
	troubleRows(t, more.shown(), more.troubled, now)
	t.row("pages", nonZero(crawl.PageStates(), s.Pages))
	if more.first != nil {
		t.row("first pass", more.first.Bar()+" "+more.first.String())
	}
	for _, i := range more.imports {
		t.row("import", importRow(i, now))
	}
	if more.fresh != nil {
		t.row("fresh", more.fresh.words())
		for _, line := range more.fresh.details() {
			t.row("", line)
		}
	}
	for _, e := range more.evicted {
		t.row("evicted", fmt.Sprintf("%d in the last %s; the last %s: %s", s.Evicted, schedule.Rough(store.EvictionsKept), when(e.At, now), lastEviction(e)))
	}
	t.row("visits", fmt.Sprintf("%d, %d in the last hour: %s", s.Visits, s.LastHour, nonZero(crawl.Outcomes(), s.Outcomes)))
	t.row("versions", strconv.Itoa(s.Versions))
	t.row("links", strconv.Itoa(s.Links))
	t.row("rejected", rejectedWords(more.rejections))
	t.row("hosts", fmt.Sprintf("%d, %d in back-off", s.Hosts, s.Backoff))
	if s.Bound.Pages > 0 {
		t.row("admission", admissionWords(s))
	}
	t.row("waiting", strconv.Itoa(s.Waiting)+" in hosts' lines")
	t.row("overdue", overdue(s))
	t.row("next due", nextDue(c.State, s).words(now))
	for i, l := range more.sinks {
		t.row([]string{"sinks", ""}[min(i, 1)], l.words(c.Spec.Name, now))
	}
	t.row("policy", policy(c.Spec.Revisit))
	if len(c.Spec.Purpose) > 0 {
		t.row("purpose", purposeWords(c.Spec.Purpose))
	}
	if words := overAsked(c, more.steering); words != "" {
		t.row("engine", words)
	}
	if steering := more.steering; steering.Threshold > 0 {
		t.row("planned", fmt.Sprintf("%.0f visits a day of %.0f, at θ %s", steering.Planned, steering.Budget, figure(steering.Threshold)))
		if len(steering.Reasons) > 0 {
			why := slices.DeleteFunc(slices.Clone(steering.Reasons), func(r crawl.Reason) bool { return r.Code == schedule.CodeEngine })
			t.row("", when(steering.At, now)+": "+schedule.Words(why))
		}
	}
	return t.flush()
}

// admissionWords says how many pages of all crawls may be on their way at a time, and why.
func admissionWords(s store.StatusRecord) string {
	return fmt.Sprintf("at most %d pages of all crawls at a time on their way to a first visit, %d now: %s",
		s.Bound.Pages, s.Demand.Taken, admission.Words(s.Bound.Reason))
}

func lastEviction(e store.Eviction) string {
	text := e.Page.URL
	if e.By.URL != "" {
		text += " for " + e.By.URL
	}
	return text + ", " + evictionWords(e.Reason)
}

// pausedSinks writes those sinks of all crawls that need a person.
func (r Reporter) pausedSinks(ctx context.Context, crawls []store.CrawlRecord, now time.Time) error {
	for _, c := range crawls {
		lines, err := r.sinks(ctx, c, now)
		if err != nil {
			return err
		}
		for _, l := range lines {
			if l.State != "paused" {
				continue
			}
			if _, err := fmt.Fprintf(r.Out, "crawl %s, sink %s\n", c.Spec.Name, l.words(c.Spec.Name, now)); err != nil {
				return err
			}
		}
	}
	return nil
}

// nonZero lists counts in the order of their keys: "120 known, 16 active".
func nonZero[K interface {
	comparable
	fmt.Stringer
}](order []K, counts map[K]int) string {
	var parts []string
	for _, k := range order {
		if counts[k] != 0 {
			parts = append(parts, strconv.Itoa(counts[k])+" "+strings.ReplaceAll(k.String(), "_", " "))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// nextDue returns the next visit of a crawl's pages.
func nextDue(state crawl.CrawlState, s store.StatusRecord) Next {
	return NextVisit(Waits{Crawl: state, State: crawl.Active, Due: s.NextDue}, time.Time{})
}

func overdue(s store.StatusRecord) string {
	if s.Overdue == 0 && !s.OverdueMore {
		return "none"
	}
	return fmt.Sprintf("%s, the oldest by %s", overdueCount(s.Overdue, s.OverdueMore), schedule.Rough(s.Lag))
}

// overdueCount writes a number of overdue pages; more says that not all were counted.
func overdueCount(n int, more bool) string {
	if more {
		return fmt.Sprintf("at least %d", n)
	}
	return strconv.Itoa(n)
}

func policy(r crawl.RevisitSpec) string {
	text := fmt.Sprintf("%s, %s by default, %s to %s", r.Policy, r.DefaultInterval, r.MinInterval, r.MaxInterval)
	if r.Budget != "" {
		text += ", budget " + r.Budget
	}
	return text
}
