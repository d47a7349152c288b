package visits

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"recrawl/internal/bench"
	"recrawl/internal/crawl"
)

// crawlName is the benchmark's crawl.
const crawlName = "bench"

// measured measures a case: it times, or it counts.
type measured func(ctx context.Context, name string, s subject, done func(context.Context) error) error

// session is a product with a site to crawl.
type session struct {
	o     Options
	p     *product
	site  *bench.Site
	delay time.Duration
	// counting measures until each page was visited often enough, instead of for a time.
	counting bool
}

func (s *session) subject() subject {
	visits := func(context.Context) (int64, error) { return s.site.Counts().Answered, nil }
	return subject{at: s.p.place, worker: s.p.worker, visits: visits, counts: s.p.counts}
}

// await waits for a condition on the site's counts.
func (s *session) await(ctx context.Context, what string, holds func(bench.SiteCounts) bool) error {
	return bench.Await(ctx, what, 5*time.Millisecond, func(context.Context) (bool, error) { return holds(s.site.Counts()), nil }, s.p.worker)
}

// begin starts the crawl. Pages are visited once, and then sleep for the default interval,
// longer than the benchmark runs. Before a sleep of more than a day and a half a page
// begins a new run, and that would be counted.
func (s *session) begin(ctx context.Context) error {
	spec := crawl.DefaultSpec()
	spec.Name, spec.Seeds = crawlName, s.site.Seeds()
	spec.Politeness.Delay, spec.Politeness.Factor = crawl.Duration(s.delay), 0
	spec.Revisit.Policy, spec.Revisit.MinInterval = "fixed", crawl.Duration(time.Second)
	text, err := json.Marshal(spec)
	if err != nil {
		return fmt.Errorf("encode the spec: %w", err)
	}
	_, err = s.p.starter(ctx, bytes.NewReader(text), "crawl", "--spec", "-")
	return err
}

// revisit wakes all pages, which from then on are visited again after the timer.
func (s *session) revisit(ctx context.Context, timer time.Duration, more ...string) error {
	args := append([]string{"crawl", crawlName, "--default-interval", timer.String(), "--min-interval", "1s"}, more...)
	if _, err := s.p.starter(ctx, nil, args...); err != nil {
		return err
	}
	_, err := s.p.starter(ctx, nil, "retry", crawlName, "--state", "active")
	return err
}

// firstShare is the share of the pages whose first visits are measured, since the last ones
// wait for their hosts.
const firstShare = 0.95

// first measures the first visits, unless m is nil, and waits for the last ones.
func (s *session) first(ctx context.Context, m measured) error {
	begin := func(ctx context.Context) error {
		if err := s.begin(ctx); err != nil {
			return err
		}
		return s.await(ctx, "the crawl makes a request", func(c bench.SiteCounts) bool { return c.Answered > 0 })
	}
	if m != nil && s.counting { // from before the first workflow until after the last
		return m(ctx, First, s.subject(), func(ctx context.Context) error {
			if err := begin(ctx); err != nil {
				return err
			}
			return s.firstRecorded(ctx)
		})
	}
	if err := begin(ctx); err != nil {
		return err
	}
	if m != nil {
		enough := int64(firstShare * float64(s.site.Total()))
		err := m(ctx, First, s.subject(), func(ctx context.Context) error {
			return s.await(ctx, "most pages are visited", func(c bench.SiteCounts) bool { return c.Distinct >= enough })
		})
		if err != nil {
			return err
		}
	}
	return s.firstRecorded(ctx)
}

// firstRecorded waits until every page was visited and all the work that follows is done.
func (s *session) firstRecorded(ctx context.Context) error {
	err := s.await(ctx, "every page is visited", func(c bench.SiteCounts) bool { return c.Distinct == int64(s.site.Total()) })
	if err != nil {
		return err
	}
	return bench.Rest(ctx, s.o.Settle, s.p.worker)
}

// span waits for as long as revisits are measured.
func (s *session) span(ctx context.Context) error {
	if s.counting {
		return s.subject().more(ctx, s.o.cycles())
	}
	return bench.Rest(ctx, s.o.Window, s.p.worker)
}

// again measures revisits, first of pages that do not change, then of pages that always do.
func (s *session) again(ctx context.Context, m measured) error {
	before := s.site.Counts().Unchanged
	if err := s.revisit(ctx, s.o.Timer); err != nil {
		return err
	}
	rounds := before + 3*int64(s.site.Total())/2
	if err := s.await(ctx, "the pages are visited again", func(c bench.SiteCounts) bool { return c.Unchanged >= rounds }); err != nil {
		return err
	}
	if err := m(ctx, Unchanged, s.subject(), s.span); err != nil {
		return err
	}
	changed := s.site.Counts().Answered + 3*int64(s.site.Total())/2
	s.site.Changing.Store(true)
	if err := s.await(ctx, "the pages have changed", func(c bench.SiteCounts) bool { return c.Answered >= changed }); err != nil {
		return err
	}
	return m(ctx, Changed, s.subject(), s.span)
}

// Saturated hosts: the approximate time of a request besides the gap, the pages' timer, and
// how long a page waits in line, within the bounds of the gap. A short wait passes within
// one Acquire.
const (
	fullRequest  = 10 * time.Millisecond
	fullTimer    = time.Second
	fullWait     = 20 * time.Second
	fullDelayMin = 40 * time.Millisecond
	fullDelayMax = time.Second
)

// fullDelay returns the gap of a host with this many waiting pages.
func fullDelay(waiting int) time.Duration {
	return min(max(fullWait/time.Duration(waiting), fullDelayMin), fullDelayMax)
}

// fullPages returns the number of pages needed so that this many wait besides those that
// sleep.
func fullPages(waiting int) int {
	return waiting + int(fullTimer/(fullDelay(waiting)+fullRequest)) + 1
}

// full measures visits to a host that always has this many waiting pages. In the first round
// no page knows yet that it will have to wait, and each asks twice; so that round is not
// measured.
func (s *session) full(ctx context.Context, waiting int, m measured) error {
	if err := s.first(ctx, nil); err != nil {
		return err
	}
	settled := s.site.Counts().Answered + 3*int64(s.site.Total())/2
	if err := s.revisit(ctx, fullTimer, "--delay", fullDelay(waiting).String()); err != nil {
		return err
	}
	err := s.await(ctx, "each page has waited once", func(c bench.SiteCounts) bool { return c.Answered >= settled })
	if err != nil {
		return err
	}
	return m(ctx, Saturated(waiting), s.subject(), func(ctx context.Context) error { return s.subject().more(ctx, min(s.o.SaturatedVisits, 2*waiting)) })
}

// withProduct runs do with a product that crawls a site.
func (o Options) withProduct(ctx context.Context, d deployment, name string, counting bool, site bench.SiteOptions, do func(*session) error) (err error) {
	web, err := bench.NewSite(ctx, site)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, web.Close()) }()
	p, err := d.product(ctx, name, counting)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop(ctx)) }()
	return do(&session{o: o, p: p, site: web, delay: o.Delay})
}
