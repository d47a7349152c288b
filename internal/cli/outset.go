package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// DevStore is the part of a store that is read before a crawl starts in it.
type DevStore interface {
	store.Crawls
	Robots(ctx context.Context, origin string) (store.RobotsRecord, error)
}

// outset says, before a crawl starts, how fast it may be with its settings, and which flag
// changes that.
func (r crawlRequest) outset(ctx context.Context, s DevStore) (string, error) {
	spec, _, err := r.merge(ctx, s.Crawl, false)
	if err != nil {
		return "", err
	}
	hosts, asked := []string{}, map[string]time.Duration{}
	known := true
	for _, seed := range spec.Seeds {
		u, err := urlkey.Canonical(seed)
		if err != nil {
			return "", err
		}
		if !slices.Contains(hosts, u.Host()) {
			hosts = append(hosts, u.Host())
		}
		record, err := s.Robots(ctx, u.Origin())
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return "", err
		}
		known = known && err == nil && record.State != store.RobotsUnknown
		asked[u.Host()] = max(asked[u.Host()], record.CrawlDelay)
	}
	if len(hosts) == 0 {
		return "", nil
	}
	return pace{spec: spec, hosts: hosts, asked: asked, known: known}.words(), nil
}

// pace holds the facts that decide how fast a crawl may be at the hosts of its seeds.
type pace struct {
	spec  crawl.Spec
	hosts []string
	asked map[string]time.Duration // the Crawl-delay of a host, 0 for none
	known bool                     // robots.txt of all of them was read
}

// words are a few sentences.
func (p pace) words() string {
	slowest := slices.MaxFunc(p.hosts, func(a, b string) int { return int(p.gap(a) - p.gap(b)) })
	gap, whom := p.gap(slowest), slowest
	if len(p.hosts) > 1 {
		whom = fmt.Sprintf("each of %d hosts", len(p.hosts))
	}
	own := p.spec.Politeness.Delay.Std()
	least := p.least(gap)
	text := fmt.Sprintf("%s gets a request every %s at most", whom, schedule.Rough(own))
	switch {
	case least < gap:
		text = fmt.Sprintf("%s gets a request every %s to %s, by how it answers", whom, schedule.Rough(least), schedule.Rough(gap))
	case gap > own:
		text = fmt.Sprintf("%s gets a request every %s at most, for its robots.txt asks for %s", slowest, schedule.Rough(gap), schedule.Rough(p.asked[slowest]))
	}
	switch {
	case least < gap:
		text += fmt.Sprintf(": 1000 pages take about %s to %s there", schedule.Rough(1000*least), schedule.Rough(1000*gap))
	case gap > 0:
		text += fmt.Sprintf(": 1000 pages take about %s there", schedule.Rough(1000*gap))
	}
	text += "; "
	switch {
	case gap > own:
		text += "--delay cannot make that less"
	case !p.known:
		text += "--delay changes that. If robots.txt, which is not read yet, asks for more, that counts"
	default:
		text += "--delay changes that"
	}
	r := p.spec.Revisit
	return text + fmt.Sprintf(". A page is visited again after %s, and then as often as it changes; --default-interval changes that.",
		schedule.Rough(r.DefaultInterval.Std()))
}

// least is the shortest time between two requests to any of the hosts, where most is the
// longest: shorter than most only if the delay is automatic and no robots.txt asks for more.
func (p pace) least(most time.Duration) time.Duration {
	if o := p.spec.Politeness; !o.AutoDelay || most > o.Delay.Std() {
		return most
	}
	least := most
	for _, host := range p.hosts {
		least = min(least, max(polite.AutoLeast, p.asked[host]))
	}
	return least
}

// gap is the time between two requests to a host, the longest if the delay is automatic.
func (p pace) gap(host string) time.Duration {
	o := p.spec.Politeness
	return max(o.Delay.Std(), min(p.asked[host], max(o.Delay.Std(), o.MaxCrawlDelay.Std())))
}

// sayOutset says it, before the crawl of a request starts for the first time.
func (s *session) sayOutset(ctx context.Context, r crawlRequest, opened DevStore, client Client) error {
	running, err := client.Running(ctx, r.name)
	if err != nil || running {
		return err
	}
	text, err := r.outset(ctx, opened)
	if err != nil || text == "" {
		return err
	}
	return s.say("%s", strings.Map(crawl.Visible, text))
}
