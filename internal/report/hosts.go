package report

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

// HostsQuery asks for the hosts of a crawl.
type HostsQuery struct {
	Crawl string
	Limit int // 0 is all
}

// HostLine is a host of a crawl.
type HostLine struct {
	Host         string         `json:"host"`
	State        HostState      `json:"state"`
	Why          orNull         `json:"why"` // for all states but ok
	Delay        crawl.Duration `json:"delay"`
	DelayReason  orNull         `json:"delay_reason"`
	NextFree     stamp          `json:"next_free"`
	BackoffUntil stamp          `json:"backoff_until"`
	Blocked      bool           `json:"blocked,omitempty"`
	Capped       crawl.Duration `json:"crawl_delay_capped,omitempty"` // the site's Crawl-delay, if max_crawl_delay cuts it
	Robots       []robotsLine   `json:"robots"`
	Unvisited    int64          `json:"unvisited"` // pages, and the share of requests kept for them
	Kept         float64        `json:"kept"`
	Waiting      int            `json:"waiting"`
	InFlight     bool           `json:"in_flight"`
	Ranked       *rankedLine    `json:"ranked,omitempty"` // left out before a ranking that knows the host
}

// rankedLine is a host in the last ranking.
type rankedLine struct {
	Rank         float64 `json:"rank"` // the sum of its pages' ranks; the mean page of the crawl has 1
	LinkingHosts int     `json:"linking_hosts"`
	LinkingPages int     `json:"linking_pages"` // of other hosts
}

type robotsLine struct {
	Origin     string         `json:"origin"`
	State      string         `json:"state"`
	Status     int            `json:"status"`
	CrawlDelay crawl.Duration `json:"crawl_delay"`
	Expires    stamp          `json:"expires"`
	Problem    string         `json:"problem,omitempty"`
}

var robotsStates = map[store.RobotsState]string{
	store.RobotsUnknown: "unknown", store.RobotsParsed: "parsed", store.RobotsAllowAll: "allow_all",
	store.RobotsUnreachable: "unreachable", store.RobotsRedirected: "redirected",
}

// Hosts writes the hosts of a crawl by name.
func (r Reporter) Hosts(ctx context.Context, q HostsQuery) error {
	record, now, err := r.open(ctx, q.Crawl)
	if err != nil {
		return err
	}
	ex := r.excluder(record.Spec)
	after, done := "", 0
	for take(q.Limit, done) > 0 {
		hosts, err := r.Store.ListHosts(ctx, store.HostFilter{CrawlID: record.ID, After: after, Limit: take(q.Limit, done)})
		if err != nil {
			return err
		}
		if len(hosts) == 0 {
			break
		}
		if err := r.hostBatch(ctx, hosts, ex, done == 0, now); err != nil {
			return err
		}
		done += len(hosts)
		after = hosts[len(hosts)-1].Host
	}
	if done == 0 && r.Format == Text {
		fmt.Fprintln(r.Out, "no hosts yet")
	}
	return nil
}

func (r Reporter) hostBatch(ctx context.Context, hosts []store.HostRecord, ex *excluder, head bool, now time.Time) error {
	var header []string
	if head && r.Format == Text {
		header = []string{"HOST", "STATE", "DELAY", "FREE", "BACK-OFF", "WAITING", "KEPT", "ROBOTS", "WHY"}
	}
	t := newTable(r.Out, header...)
	for _, h := range hosts {
		state, why, err := ex.state(ctx, h, h.Robots, now)
		if err != nil {
			return err
		}
		if r.Format == Text {
			t.row(h.Host, string(state), gapWords(h), free(h, now), backoff(h, now), strconv.Itoa(h.Waiting),
				fmt.Sprintf("%.0f %%", 100*discovery(h).Kept), robotsWords(h.Robots, now), hostReasons(h, why))
			continue
		}
		if err := writeJSON(r.Out, hostOf(h, state, why)); err != nil {
			return err
		}
	}
	return t.flush()
}

// discovery returns the share of the host that is kept for pages that were never visited.
func discovery(h store.HostRecord) polite.Discovery { return polite.Discover(h.Unvisited, h.Visited) }

// hostReasons says why a host has its state, and its gap if that is not the crawl's delay.
func hostReasons(h store.HostRecord, why string) string {
	var all []string
	if why != "" {
		all = append(all, why)
	}
	if code := h.GapReason.Code; code != "" && code != polite.GapDelay {
		all = append(all, polite.Words(h.GapReason))
	}
	return some(strings.Join(all, "; "))
}

func hostOf(h store.HostRecord, state HostState, why string) HostLine {
	line := HostLine{
		Host: h.Host, State: state, Why: orNull(why), DelayReason: orNull(polite.Words(h.GapReason)), Unvisited: h.Unvisited, Kept: discovery(h).Kept,
		Delay: crawl.Duration(h.Delay), NextFree: stamp(h.NextFree), BackoffUntil: stamp(h.BackoffUntil),
		Blocked: h.Blocked, Robots: []robotsLine{}, Waiting: h.Waiting, InFlight: h.InFlight,
	}
	if h.Capped {
		line.Capped = crawl.Duration(h.CrawlDelay)
	}
	if k := h.Ranked; k != nil {
		line.Ranked = &rankedLine{Rank: k.Rank, LinkingHosts: k.LinkingHosts, LinkingPages: k.LinkingPages}
	}
	for _, o := range h.Robots {
		line.Robots = append(line.Robots, robotsLine{
			Origin: o.Origin, State: robotsStates[o.State], Status: o.Status, CrawlDelay: crawl.Duration(o.CrawlDelay),
			Expires: stamp(o.ExpiresAt), Problem: o.Problem,
		})
	}
	return line
}

// gapWords puts the gap before the next request into words, and the site's Crawl-delay if
// that is longer.
func gapWords(h store.HostRecord) string {
	if h.Capped {
		return fmt.Sprintf("%s (asked %s)", schedule.Rough(h.Delay), schedule.Rough(h.CrawlDelay))
	}
	return schedule.Rough(h.Delay)
}

func free(h store.HostRecord, now time.Time) string {
	switch {
	case h.Blocked:
		return "blocked"
	case h.InFlight:
		return "in flight"
	case !h.NextFree.After(now):
		return "now"
	}
	return when(h.NextFree, now)
}

func backoff(h store.HostRecord, now time.Time) string {
	if !h.BackoffUntil.After(now) {
		return "-"
	}
	return when(h.BackoffUntil, now)
}

// robotsWords says how the robots.txt of each of a host's origins decides.
func robotsWords(origins []store.RobotsRecord, now time.Time) string {
	parts := make([]string, 0, len(origins))
	for _, o := range origins {
		scheme, _, _ := strings.Cut(o.Origin, "://")
		text := scheme + " " + strings.ReplaceAll(robotsStates[o.State], "_", " ")
		if o.CrawlDelay > 0 {
			text += ", Crawl-delay " + schedule.Rough(o.CrawlDelay)
		}
		if o.Problem != "" {
			text += ": " + o.Problem
		}
		parts = append(parts, text+retryWords(o, now))
	}
	return some(strings.Join(parts, "; "))
}

// retryWords says when a robots.txt that could not be fetched is asked for again, which may
// be shown nowhere else.
func retryWords(o store.RobotsRecord, now time.Time) string {
	if o.State != store.RobotsUnreachable || !o.ExpiresAt.After(now) {
		return ""
	}
	return ", tried again " + when(o.ExpiresAt, now)
}
