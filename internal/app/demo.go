package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"recrawl/internal/cli"
	"recrawl/internal/crawl"
	"recrawl/internal/durable"
	"recrawl/internal/report"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit/embedded"
	"recrawl/internal/testsite"
)

// demoFile remembers the demo's site, so that it goes on where it was.
const demoFile = "demo.json"

// defaultDemoPort is the site's port where it is free.
const defaultDemoPort = 8042

// demo is the site of `starter dev --demo`.
type demo struct {
	Seed      uint64    `json:"seed"`
	StartedAt time.Time `json:"started_at"`
	Port      int       `json:"port"`

	site *testsite.Site
}

// startDemo starts the demo's site, or goes on with the one that the data folder
// remembers.
func startDemo(ctx context.Context, dir *dataDir) (*demo, error) {
	d := &demo{Seed: 1}
	data, err := os.ReadFile(dir.file(demoFile))
	if err == nil {
		err = json.Unmarshal(data, d)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", dir.file(demoFile), err)
	}
	port, err := embedded.ChoosePort(embedded.Port{Number: portOr(d.Port, defaultDemoPort), Must: d.Port != 0}, "the demo's site, whose pages are kept under it")
	if err != nil {
		return nil, err
	}
	d.site = testsite.New(testsite.Options{Seed: d.Seed, Start: d.StartedAt})
	if err := d.site.Start(ctx, net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err != nil {
		return nil, fmt.Errorf("the demo's site: %w", err)
	}
	d.Port, d.StartedAt = port, d.site.StartedAt()
	if data, err = json.Marshal(d); err == nil {
		err = durable.Write(dir.file(demoFile), append(data, '\n'))
	}
	if err != nil {
		return nil, errors.Join(err, d.site.Close())
	}
	return d, nil
}

// demoVisits counts the collection's visits of one of the site's pages.
type demoVisits struct {
	page    store.PageRecord
	changed int // visits that found another text
	failed  int // visits that found no page
}

// summary compares the crawl's findings with the site's changes.
func (d *demo) summary(ctx context.Context, s report.Store, out io.Writer) error {
	record, err := s.Crawl(ctx, cli.DemoCrawl)
	if err != nil {
		return err
	}
	visits, err := d.visits(ctx, s, record.ID)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "\nWhat the site did, and what the crawl made of it:")
	t := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "PAGE\tWHAT IT DOES\tVISITS\tCHANGES FOUND\tFAILED\tSTATE\tNEXT VISIT AFTER")
	for _, host := range d.site.Hosts() {
		for _, p := range host.Pages {
			fmt.Fprintln(t, d.row(host, p, visits))
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return d.conduct(out, record.Spec.Politeness.Delay.Std())
}

func (d *demo) row(host testsite.Host, p testsite.Page, visits map[string]demoVisits) string {
	url := strings.TrimSuffix(d.site.URL(host.Name), "/") + p.Path
	name := strings.TrimSuffix(host.Name, ".localhost") + p.Path
	v, known := visits[url]
	if !known {
		return fmt.Sprintf("%s\t%s\t-\t-\t-\tnot found by links\t-", name, p.Words())
	}
	interval := "-"
	if !v.page.LastAt.IsZero() {
		interval = crawl.FormatDuration(v.page.NextAt.Sub(v.page.LastAt).Round(time.Second))
	}
	return fmt.Sprintf("%s\t%s\t%d\t%d\t%d\t%s\t%s", name, p.Words(), v.page.Visits, v.changed, v.failed, v.page.State, interval)
}

// visits reads the visits of the site's pages, by URL.
func (d *demo) visits(ctx context.Context, s report.Store, crawlID int64) (map[string]demoVisits, error) {
	found := map[string]demoVisits{}
	for after := int64(0); ; {
		pages, err := s.ListPages(ctx, store.PageFilter{CrawlID: crawlID, After: after, Limit: 500})
		if err != nil || len(pages) == 0 {
			return found, err
		}
		for _, p := range pages {
			if found[p.URL], err = countVisits(ctx, s, p); err != nil {
				return nil, err
			}
		}
		after = pages[len(pages)-1].PageID
	}
}

func countVisits(ctx context.Context, s report.Store, p store.PageRecord) (demoVisits, error) {
	v := demoVisits{page: p}
	visits, err := s.ListVisits(ctx, p.PageID, 0, 10_000)
	for _, visit := range visits {
		switch visit.Outcome {
		case crawl.OutcomeChanged:
			v.changed++
		case crawl.OutcomeFailed, crawl.OutcomeThrottled, crawl.OutcomeGone:
			v.failed++
		}
	}
	return v, err
}

// conduct says, from the site's own log, whether the crawl behaved.
func (d *demo) conduct(out io.Writer, delay time.Duration) error {
	log := d.site.Log()
	forbidden, asked := 0, map[string]int{}
	for _, r := range log {
		asked[r.Host]++
		if r.Forbidden {
			forbidden++
		}
	}
	fmt.Fprintf(out, "\nThe site counted %d requests: %s.\n", len(log), counts(asked))
	breaches := testsite.CheckPolite(log, delay)
	fmt.Fprintf(out, "Forbidden pages were %s; ", requested(forbidden))
	if len(breaches) == 0 {
		_, err := fmt.Fprintf(out, "no two requests to a host overlapped or came within %s, and every Retry-After was kept.\n", crawl.FormatDuration(delay))
		return err
	}
	fmt.Fprintln(out, "but the crawl was impolite:")
	for _, b := range breaches[:min(10, len(breaches))] {
		fmt.Fprintln(out, " ", b)
	}
	return fmt.Errorf("the crawl broke its own rules %d times", len(breaches))
}

func requested(times int) string {
	switch times {
	case 0:
		return "never requested"
	case 1:
		return "requested once"
	}
	return fmt.Sprintf("requested %d times", times)
}

func counts(by map[string]int) string {
	var parts []string
	for name, n := range by {
		parts = append(parts, fmt.Sprintf("%d %s", n, name))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}
