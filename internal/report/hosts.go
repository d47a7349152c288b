package report

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

// HostsQuery asks for the hosts of a crawl.
type HostsQuery struct {
	Crawl string
	Limit int // 0 is all
}

type hostLine struct {
	Host         string         `json:"host"`
	Delay        crawl.Duration `json:"delay"`
	NextFree     stamp          `json:"next_free"`
	BackoffUntil stamp          `json:"backoff_until"`
	Blocked      bool           `json:"blocked,omitempty"`
	Capped       crawl.Duration `json:"crawl_delay_capped,omitempty"` // what the site asks for, if max_crawl_delay cuts it
	Robots       []robotsLine   `json:"robots"`
	Waiting      int            `json:"waiting"`
	InFlight     bool           `json:"in_flight"`
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
	after, done := "", 0
	for take(q.Limit, done) > 0 {
		hosts, err := r.Store.ListHosts(ctx, record.ID, after, take(q.Limit, done))
		if err != nil {
			return err
		}
		if len(hosts) == 0 {
			break
		}
		if err := r.hostBatch(hosts, done == 0, now); err != nil {
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

func (r Reporter) hostBatch(hosts []store.HostRecord, head bool, now time.Time) error {
	if r.Format == JSON {
		for _, h := range hosts {
			if err := writeJSON(r.Out, hostOf(h)); err != nil {
				return err
			}
		}
		return nil
	}
	var header []string
	if head {
		header = []string{"HOST", "DELAY", "FREE", "BACK-OFF", "WAITING", "ROBOTS"}
	}
	t := newTable(r.Out, header...)
	for _, h := range hosts {
		t.row(h.Host, gapWords(h), free(h, now), backoff(h, now), strconv.Itoa(h.Waiting), robotsWords(h.Robots, now))
	}
	return t.flush()
}

func hostOf(h store.HostRecord) hostLine {
	line := hostLine{
		Host: h.Host, Delay: crawl.Duration(h.Delay), NextFree: stamp(h.NextFree), BackoffUntil: stamp(h.BackoffUntil),
		Blocked: h.Blocked, Robots: []robotsLine{}, Waiting: h.Waiting, InFlight: h.InFlight,
	}
	if h.Capped {
		line.Capped = crawl.Duration(h.CrawlDelay)
	}
	for _, o := range h.Robots {
		line.Robots = append(line.Robots, robotsLine{
			Origin: o.Origin, State: robotsStates[o.State], Status: o.Status, CrawlDelay: crawl.Duration(o.CrawlDelay),
			Expires: stamp(o.ExpiresAt), Problem: o.Problem,
		})
	}
	return line
}

// gapWords is the gap before a next request, and what the site asked for if it
// is asked faster than that.
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

// retryWords says when a robots.txt that could not be had is asked for again,
// which nothing else of its host may tell.
func retryWords(o store.RobotsRecord, now time.Time) string {
	if o.State != store.RobotsUnreachable || !o.ExpiresAt.After(now) {
		return ""
	}
	return ", tried again " + when(o.ExpiresAt, now)
}
