package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
	"recrawl/internal/store"
)

// HostState says whether pages of a host can be fetched. It is shown wherever its pages
// are.
type HostState string

// The states of a host.
const (
	HostOK          HostState = "ok"
	HostThrottled   HostState = "throttled"   // it asked for quiet, and has it
	HostUnreachable HostState = "unreachable" // its connections fail, or its robots.txt cannot be fetched
	HostForbidden   HostState = "forbidden"   // robots.txt forbids everything
	HostBlocked     HostState = "blocked"     // by an operator
)

// stateOf returns the state of a host, or of one of its origins, and the reason for it.
// forbidden: one of its robots.txt files forbids everything.
func stateOf(h store.HostRecord, origins []store.RobotsRecord, forbidden bool, now time.Time) (HostState, string) {
	if h.Blocked {
		return HostBlocked, blockedWords
	}
	for _, r := range origins {
		if r.State == store.RobotsUnreachable {
			return HostUnreachable, robotsTrouble(r)
		}
	}
	switch {
	case h.BackoffUntil.After(now) && h.Failures > 0:
		return HostUnreachable, backoffWords(h)
	case h.BackoffUntil.After(now):
		return HostThrottled, backoffWords(h)
	case forbidden:
		return HostForbidden, "robots.txt forbids everything"
	}
	return HostOK, ""
}

// state is stateOf with the robots.txt files' verdicts for this crawl.
func (e *excluder) state(ctx context.Context, h store.HostRecord, origins []store.RobotsRecord, now time.Time) (HostState, string, error) {
	forbidden := false
	for _, o := range origins {
		all, err := e.forbidsAll(ctx, o)
		if err != nil {
			return HostOK, "", err
		}
		forbidden = forbidden || all
	}
	state, why := stateOf(h, origins, forbidden, now)
	return state, why, nil
}

// HostTrouble is a host from which nothing can be fetched for now.
type HostTrouble struct {
	Host  string    `json:"host"`
	State HostState `json:"state"`
	Why   string    `json:"why"`
	Until stamp     `json:"until"` // null if a person decides that
}

// String says what is wrong.
func (t HostTrouble) String() string {
	return strings.Map(printable, fmt.Sprintf("%s is %s: %s", t.Host, t.State, t.Why))
}

func (t HostTrouble) words(now time.Time) string {
	text := t.String()
	if until := time.Time(t.Until); until.After(now) {
		text += "; tried again " + when(until, now)
	}
	return text
}

// Trouble lists hosts of a crawl from which nothing can be fetched for now, at most limit,
// and counts them all; see store.Reports.
func (r Reporter) Trouble(ctx context.Context, c store.CrawlRecord, now time.Time, limit int) ([]HostTrouble, int, error) {
	hosts, total, err := r.Store.TroubledHosts(ctx, c.ID, limit)
	if err != nil {
		return nil, 0, err
	}
	ex := r.excluder(c.Spec)
	all := make([]HostTrouble, 0, len(hosts))
	for _, h := range hosts {
		state, why, err := ex.state(ctx, h, h.Robots, now)
		if err != nil {
			return nil, 0, err
		}
		if state == HostOK { // another crawl's agent is forbidden
			total--
			continue
		}
		all = append(all, HostTrouble{Host: h.Host, State: state, Why: why, Until: stamp(troubleUntil(h, state))})
	}
	slices.SortFunc(all, func(a, b HostTrouble) int { return cmp.Compare(a.Host, b.Host) })
	return all, total, nil
}

// Hindrance says when a page for which somebody asked a visit can be visited at the
// earliest, and why not now; "" if only the order of its host's line matters.
func (r Reporter) Hindrance(ctx context.Context, page store.PageRecord) (string, error) {
	record, now, err := r.open(ctx, page.Crawl)
	if err != nil {
		return "", err
	}
	page.NextAt = now
	is, err := r.prospect(ctx, record, page, Live{}, now)
	if err != nil {
		return "", err
	}
	switch is.By {
	case PartDue, PartLine, PartGap, PartUnderway, PartAdmission, PartSnooze:
		return "", nil
	}
	return is.words(now), nil
}

// troubleUntil returns when the host is tried again, zero if somebody must act.
func troubleUntil(h store.HostRecord, state HostState) time.Time {
	until := h.BackoffUntil
	switch state {
	case HostBlocked, HostForbidden:
		return time.Time{}
	}
	for _, o := range h.Robots {
		if o.State == store.RobotsUnreachable && o.ExpiresAt.After(until) {
			until = o.ExpiresAt
		}
	}
	return until
}

// troubleShown is the number of hosts in trouble that a status names.
const troubleShown = 5

// troubleRead is the number of them that it reads to count those that need somebody.
const troubleRead = 20

func troubleRows(t *table, hosts []HostTrouble, total int, now time.Time) {
	for i, h := range hosts {
		t.row([]string{"trouble", ""}[min(i, 1)], h.words(now))
	}
	if more := total - len(hosts); more > 0 {
		t.row("", fmt.Sprintf("and %d more: `starter hosts` lists them", more))
	}
}

// kept puts the share of a host that is kept for pages that were never visited into words.
func kept(h store.HostRecord) string {
	return polite.Words(discovery(h).Reason)
}

// outlook holds what is known of pages besides their rows.
type outlook struct {
	crawl   store.CrawlRecord
	now     time.Time
	hosts   map[int64]store.HostRecord
	stands  map[int64]store.Standing
	exclude *excluder
}

// outlook reads it, for a batch of one crawl's pages.
func (r Reporter) outlook(ctx context.Context, c store.CrawlRecord, pages []store.PageRecord, ex *excluder, now time.Time) (outlook, error) {
	o := outlook{crawl: c, now: now, hosts: map[int64]store.HostRecord{}, exclude: ex}
	var ids []int64
	hosts := make([]int64, 0, len(pages))
	for _, p := range pages {
		ids = append(ids, p.PageID)
		hosts = append(hosts, p.HostID)
	}
	slices.Sort(hosts)
	found, err := r.Store.ListHosts(ctx, store.HostFilter{CrawlID: c.ID, IDs: slices.Compact(hosts)})
	if err != nil {
		return o, err
	}
	for _, h := range found {
		o.hosts[h.ID] = h
	}
	o.stands, err = r.Store.Standings(ctx, ids)
	return o, err
}

// prospect returns the prospect of one page.
func (r Reporter) prospect(ctx context.Context, c store.CrawlRecord, p store.PageRecord, live Live, now time.Time) (prospect, error) {
	ex := r.excluder(c.Spec)
	o, err := r.outlook(ctx, c, []store.PageRecord{p}, ex, now)
	if err != nil {
		return prospect{}, err
	}
	return o.of(ctx, p, live)
}

// prospect is a page's next visit, and the state of its host with the reason.
type prospect struct {
	Next
	host     *store.HostRecord // nil if nothing is known of it
	state    HostState
	trouble  string
	standing store.Standing
}

// of returns a page's prospect; live is the answer of its workflow, if it was asked.
func (o outlook) of(ctx context.Context, p store.PageRecord, live Live) (prospect, error) {
	w := Waits{Crawl: o.crawl.State, State: p.State, Due: p.NextAt, Snoozed: live.Snoozed, Standing: o.stands[p.PageID]}
	if !live.Due.IsZero() {
		w.Due = live.Due
	}
	out := prospect{state: HostOK, standing: w.Standing}
	var err error
	if h, ok := o.hosts[p.HostID]; ok {
		w.Host, out.host = &h, &h
		var origin []store.RobotsRecord
		for _, r := range h.Robots {
			if originOf(p.URL) == r.Origin {
				origin, w.Robots = append(origin, r), r
			}
		}
		if out.state, out.trouble, err = o.exclude.state(ctx, h, origin, o.now); err != nil {
			return out, err
		}
	}
	if p.State == crawl.Excluded && w.Excluded == "" {
		if w.Excluded, err = o.exclude.why(ctx, p); err != nil {
			return out, err
		}
	}
	out.Next = NextVisit(w, o.now)
	return out, nil
}

// originOf returns scheme://host[:port] of a canonical URL.
func originOf(url string) string {
	scheme, rest, _ := strings.Cut(url, "://")
	host, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + host
}
