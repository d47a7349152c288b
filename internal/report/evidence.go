package report

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

// Requests holds a host's requests and what sites said; every store.Store is one.
type Requests interface {
	Terms(ctx context.Context, origin string) (store.TermsRecord, error)
	CrawlsAt(ctx context.Context, host string) ([]store.CrawlAt, error)
	RobotsHistory(ctx context.Context, host string) ([]store.RobotsEpoch, error)
	HostRequests(ctx context.Context, p store.HostRequestParams) (store.HostRequestsPage, error)
}

// EvidenceQuery asks what was requested of a host.
type EvidenceQuery struct {
	Host  string
	Since time.Time
	// MaxPages, unless 0, bounds the pages of a host whose requests are counted, since all
	// pages must be looked at.
	MaxPages int64
	// MaxRequests, unless 0, is the most requests that are counted.
	MaxRequests int
}

// Evidence answers a site's owner: what was requested of a host, by whom, and whether that
// was polite.
type Evidence struct {
	Host   string          `json:"host"`
	From   stamp           `json:"from"`
	Until  stamp           `json:"until"`
	Crawls []EvidenceCrawl `json:"crawls"`
	// Now says how the host is treated at the moment.
	Now EvidenceNow `json:"now"`
	// Requests is null if they were not counted: the host has more pages, or there were
	// more requests, than the query allows.
	Requests *EvidenceRequests `json:"requests"`
	Pages    int64             `json:"pages"`
	// Robots holds what the robots.txt of each origin said in that time, and which requests
	// it allowed.
	Robots []EvidenceRobots `json:"robots"`
	// RobotsUnknown counts the requests from times for which its contents are not known.
	RobotsUnknown int `json:"robots_unknown"`
	// Missing says what the evidence lacks.
	Missing []string `json:"missing"`
}

// EvidenceCrawl is a crawl that has pages at the host.
type EvidenceCrawl struct {
	Crawl   string `json:"crawl"`
	State   string `json:"state"`
	Agent   string `json:"agent"` // the product token for which robots.txt is read
	Contact orNull `json:"contact"`
	Pages   int64  `json:"pages"`
	Delay   string `json:"delay"` // in words
}

// EvidenceNow is how a host is treated now.
type EvidenceNow struct {
	Delay         crawl.Duration `json:"delay"` // between two requests
	DelayReason   orNull         `json:"delay_reason"`
	BackoffUntil  stamp          `json:"backoff_until"`
	BackoffReason orNull         `json:"backoff_reason"`
	Blocked       bool           `json:"blocked"`
}

// mostEvidence bounds the requests that are counted, for the sake of memory.
const mostEvidence = 3_000_000

// errNoRequests is the error of a Reporter without Requests.
var errNoRequests = errors.New("this report has no access to requests")

// EvidenceOf returns what was requested of a host; store.ErrNotFound if it is not known.
func (r Reporter) EvidenceOf(ctx context.Context, q EvidenceQuery) (Evidence, error) {
	if r.Requests == nil {
		return Evidence{}, errNoRequests
	}
	now, err := r.Store.Now(ctx)
	if err != nil {
		return Evidence{}, err
	}
	crawls, err := r.Requests.CrawlsAt(ctx, q.Host)
	if err != nil {
		return Evidence{}, err
	}
	e := Evidence{Host: q.Host, From: stamp(q.Since), Until: stamp(now), Crawls: []EvidenceCrawl{}}
	for _, c := range crawls {
		e.Pages += c.Pages
		e.Crawls = append(e.Crawls, evidenceCrawl(c, r.Contact))
	}
	epochs, err := r.Requests.RobotsHistory(ctx, q.Host)
	if err != nil {
		return Evidence{}, err
	}
	robots := newRobotsLog(epochs, q.Since)
	if q.MaxPages == 0 || e.Pages <= q.MaxPages {
		log := requestLog{}
		switch err := r.readRequests(ctx, q, crawls, &log, robots); {
		case err == nil:
			e.Requests = log.figures()
		case (q.MaxRequests > 0 || q.MaxPages > 0) && errors.Is(err, errManyRequests):
			robots = newRobotsLog(epochs, q.Since)
		default:
			return Evidence{}, err
		}
	}
	e.Robots, e.RobotsUnknown = robots.said(), robots.unknown
	e.Missing = evidenceMissing(q, e, crawls)
	e.Now, err = r.evidenceNow(ctx, crawls)
	return e, err
}

func evidenceCrawl(c store.CrawlAt, contact string) EvidenceCrawl {
	if own := c.Spec.Identity.Contact; own != "" {
		contact = own
	}
	return EvidenceCrawl{
		Crawl: c.Spec.Name, State: c.State.String(), Agent: c.Spec.Identity.Agent, Contact: orNull(contact),
		Pages: c.Pages, Delay: c.Spec.Politeness.DelayWords(),
	}
}

// The number of pages of a host that are looked at in one step: more while they bring few
// requests.
const (
	fewPages     = 50
	manyPages    = 5000
	requestsLook = 2000
)

// errManyRequests is wrapped if there were more requests than are counted.
var errManyRequests = errors.New("ask for a shorter time with --since")

// readRequests reads the host's requests into the logs.
func (r Reporter) readRequests(ctx context.Context, q EvidenceQuery, crawls []store.CrawlAt, log *requestLog, robots *robotsLog) error {
	agents, all := map[int64]string{}, 0
	for _, c := range crawls {
		agents[c.ID] = c.Spec.Identity.Agent
		all += int(c.Pages)
	}
	if len(crawls) == 0 {
		return nil
	}
	p := store.HostRequestParams{HostID: crawls[0].HostID, Since: q.Since, Pages: fewPages}
	most := mostEvidence
	if q.MaxRequests > 0 {
		most = q.MaxRequests
	}
	for pages := 0; ; {
		if q.MaxPages > 0 { // one more shows that there are more
			p.Pages = min(p.Pages, int(q.MaxPages)+1-pages)
		}
		part, err := r.Requests.HostRequests(ctx, p)
		if err != nil {
			return err
		}
		for _, request := range part.Requests {
			log.add(request)
			robots.judge(agents[request.CrawlID], request)
		}
		if len(log.all) > most {
			return fmt.Errorf("more than %d requests since %s: %w", most, q.Since.UTC().Format(time.RFC3339), errManyRequests)
		}
		pages += part.Pages
		r.sayRead(pages, all)
		if part.Next == nil {
			return nil
		}
		// Counts of pages may be behind, and a walk over many pages takes long though it brings
		// few requests.
		if q.MaxPages > 0 && int64(pages) > q.MaxPages {
			return fmt.Errorf("more than %d pages at %s: %w", q.MaxPages, q.Host, errManyRequests)
		}
		p.After = *part.Next
		if len(part.Requests) < requestsLook {
			p.Pages = min(2*p.Pages, manyPages)
		} else {
			p.Pages = max(p.Pages/2, fewPages)
		}
	}
}

// evidenceNow returns how the host is treated, by the strictest crawl.
func (r Reporter) evidenceNow(ctx context.Context, crawls []store.CrawlAt) (EvidenceNow, error) {
	var now EvidenceNow
	for _, c := range crawls {
		hosts, err := r.Store.ListHosts(ctx, store.HostFilter{CrawlID: c.ID, IDs: []int64{c.HostID}})
		if err != nil {
			return now, err
		}
		for _, h := range hosts {
			if now.DelayReason != "" && crawl.Duration(h.Delay) <= now.Delay {
				continue
			}
			now = EvidenceNow{
				Delay: crawl.Duration(h.Delay), DelayReason: orNull(polite.Words(h.GapReason)),
				BackoffUntil: stamp(h.BackoffUntil), Blocked: h.Blocked,
			}
			if h.BackoffReason.Code != "" {
				now.BackoffReason = orNull(polite.Words(h.BackoffReason))
			}
		}
	}
	return now, nil
}

// evidenceMissing says what the evidence cannot show.
func evidenceMissing(q EvidenceQuery, e Evidence, crawls []store.CrawlAt) []string {
	missing := []string{
		"Requests for robots.txt are not recorded one by one. They keep the same gaps, and there is one a day for each origin, and more while the file cannot be had.",
		"Requests whose worker died before it recorded them, and those for pages that were forgotten since, are not recorded.",
	}
	for _, c := range e.Crawls {
		if c.Contact == "" {
			missing = append(missing, fmt.Sprintf("The contact of crawl %s is that of its workers (RECRAWL_CONTACT), which is not known here.", c.Crawl))
		}
	}
	if slices.ContainsFunc(crawls, func(c store.CrawlAt) bool { return len(c.Spec.Purpose) > 0 }) {
		missing = append(missing, fmt.Sprintf("Requests for %s, which crawls with a purpose make, are not recorded one by one either. They keep the same gaps as well.", crawl.TermsPath))
	}
	for _, c := range crawls {
		if n := c.Spec.Retention.MaxVisits; n > 0 {
			missing = append(missing, fmt.Sprintf("Crawl %s keeps about %d visits of each page (retention.max_visits); earlier ones are gone.", c.Spec.Name, n))
		}
	}
	if e.Requests == nil {
		missing = append(missing, fmt.Sprintf("The requests were not counted, for they may be many: the host has %d pages. `starter evidence %s` counts them.", e.Pages, q.Host))
	}
	return missing
}

// retryAfterOf returns the Retry-After of an answer, if it had one.
func retryAfterOf(reasons []crawl.Reason) (time.Duration, bool) {
	for _, r := range reasons {
		if r.Code == schedule.CodeRetryAfter {
			return crawl.Seconds(r.Num["s"]), true
		}
	}
	return 0, false
}
