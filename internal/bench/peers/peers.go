// Package peers measures the first pass over a site beside other crawlers: pages a second,
// processor time a page, bytes written. docs/benchmarks.md says how to read the results,
// and what each crawler does not do.
package peers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"recrawl/internal/bench"
	"recrawl/internal/crawl"
)

// Options says what to measure.
type Options struct {
	Hosts, Pages int // pages in all
	// Delays are the gaps between two requests to a host, a pass for each.
	Delays []time.Duration
	Rounds int
	// Programs is the folder of the starter, Colly the program of tools/colly, Root the
	// repository's folder, and Folder the place of all data.
	Programs, Colly, Root, Folder string
	// Progress gets a line for each step, JSON one for each figure; either may be nil.
	Progress, JSON io.Writer
}

// Default returns the options for a site of 2000 pages on 20 hosts.
func Default() Options {
	return Options{Hosts: 20, Pages: 2000, Delays: []time.Duration{10 * time.Millisecond, 0}, Rounds: 2}
}

// Quick shows in under a minute that everything works.
func Quick() Options {
	return Options{Hosts: 4, Pages: 80, Delays: []time.Duration{10 * time.Millisecond}, Rounds: 1}
}

// Check says what is wrong with the options, or returns nil.
func (o Options) Check() error {
	switch {
	case o.Hosts < 1 || o.Hosts > 250:
		return fmt.Errorf("hosts %d: use 1 to 250", o.Hosts)
	case o.Pages < o.Hosts || o.Pages%o.Hosts != 0:
		return fmt.Errorf("pages %d: use a multiple of the hosts, %d", o.Pages, o.Hosts)
	case len(o.Delays) == 0 || o.Rounds < 1:
		return errors.New("use one delay and one round at least")
	}
	return nil
}

// Pass is one first pass of one crawler.
type Pass struct {
	Crawler string        `json:"crawler"`
	Delay   time.Duration `json:"delay"`
	Round   int           `json:"round"`
	Pages   int64         `json:"pages"`
	Asked   int64         `json:"requests"` // for pages, including repeated ones
	Seconds float64       `json:"seconds"`
	CPU     float64       `json:"cpu_ms"`  // a page
	Written int64         `json:"written"` // bytes in its folder at the end
}

// run is one pass to make.
type run struct {
	o     Options
	site  *bench.Site
	delay time.Duration
	dir   string // its folder, which is empty
}

// crawler is one that is measured.
type crawler struct {
	name string
	// lacks names what recrawl does and it does not.
	lacks string
	// missing says what to install, or "".
	missing func(o Options) string
	// crawl makes a pass and returns the processor time that it used.
	crawl func(ctx context.Context, r run) (time.Duration, error)
}

// recrawl is the name of ours.
const recrawl = "recrawl"

func crawlers() []crawler {
	return []crawler{
		{recrawl, bench.Unknown, func(Options) string { return "" }, crawlRecrawl},
		{
			"wget", "visits again by a plan; one host beside another; goes on after a crash; history, changes; politeness after a restart",
			needs("wget"), program(wget),
		},
		{
			"Scrapy", "visits again by a plan; goes on after a crash (JOBDIR needs a clean end); history, changes; politeness after a restart",
			needs("scrapy"), program(scrapy),
		},
		{
			"colly", "visits again by a plan; goes on after a crash; history, changes; politeness after a restart; retries",
			func(o Options) string {
				if o.Colly == "" {
					return "its program was not given: run `make bench-peers`"
				}
				return ""
			},
			program(colly),
		},
	}
}

func needs(name string) func(Options) string {
	return func(Options) string {
		if _, err := exec.LookPath(name); err != nil {
			debian := map[string]string{"scrapy": "python3-scrapy"}
			pkg, ok := debian[name]
			if !ok {
				pkg = name
			}
			return name + " is not installed (apt-get install " + pkg + ")"
		}
		return ""
	}
}

// Report holds all measurements.
type Report struct {
	Options Options
	Passes  []Pass
	Missing []string // crawlers that are not there, and why
}

// Run measures. Measurements before an error are in the report.
func Run(ctx context.Context, o Options) (*Report, error) {
	r := &Report{Options: o}
	if err := o.Check(); err != nil {
		return r, err
	}
	var there []crawler
	for _, c := range crawlers() {
		if why := c.missing(o); why != "" {
			r.Missing = append(r.Missing, c.name+": "+why)
			continue
		}
		there = append(there, c)
	}
	for _, delay := range o.Delays {
		for round := range o.Rounds {
			for _, c := range there {
				err := r.pass(ctx, c, delay, round+1)
				if err != nil && (ctx.Err() != nil || c.name == recrawl) {
					return r, fmt.Errorf("%s: %w", c.name, err)
				}
				if err != nil { // the others go on
					r.Missing = append(r.Missing, fmt.Sprintf("%s in round %d with delay %s: %v", c.name, round+1, delay, err))
				}
			}
		}
	}
	return r, nil
}

// pass makes one pass on a site of its own.
func (r *Report) pass(ctx context.Context, c crawler, delay time.Duration, round int) (err error) {
	site, err := bench.NewSite(ctx, bench.SiteOptions{Net: 50, Hosts: r.Options.Hosts, Pages: r.Options.Pages / r.Options.Hosts})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, site.Close()) }()
	dir, err := os.MkdirTemp(r.Options.Folder, "pass-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	begun := time.Now()
	used, err := c.crawl(ctx, run{r.Options, site, delay, dir})
	if err != nil {
		return err
	}
	p := Pass{Crawler: c.name, Delay: delay, Round: round, Pages: site.Counts().Distinct, Asked: site.Counts().Answered, Seconds: site.LastNew().Sub(begun).Seconds()}
	if p.Pages == 0 {
		return errors.New("it asked for no page")
	}
	p.CPU = used.Seconds() * 1000 / float64(p.Pages)
	if p.Written, err = bench.FolderSize(dir); err != nil {
		return err
	}
	r.Passes = append(r.Passes, p)
	if o := r.Options; o.Progress != nil {
		fmt.Fprintf(o.Progress, "delay %s, round %d: %s: %d of %d pages, %s pages/s, CPU a page %s ms\n",
			delay, round, c.name, p.Pages, site.Total(), bench.Figure(float64(p.Pages)/p.Seconds), bench.Figure(p.CPU))
	}
	if r.Options.JSON == nil {
		return nil
	}
	return json.NewEncoder(r.Options.JSON).Encode(struct {
		Kind  string    `json:"kind"`
		At    time.Time `json:"at"`
		Value Pass      `json:"value"`
	}{"pass", time.Now().UTC(), p})
}

// program makes a pass with a program that ends when nothing is left to do.
func program(command func(r run) bench.Command) func(ctx context.Context, r run) (time.Duration, error) {
	return func(ctx context.Context, r run) (time.Duration, error) {
		c := command(r)
		c.Env, c.Dir = bench.CleanEnv(r.dir), r.dir
		p, err := bench.Start(c, nil)
		if err != nil {
			return 0, err
		}
		select {
		case <-p.Done():
			if p.ExitCode() != 0 && r.site.Counts().Answered == 0 {
				return 0, p.Stop() // says how it ended, with its last output
			}
			return p.Used(), nil
		case <-ctx.Done():
			return 0, errors.Join(context.Cause(ctx), p.Stop())
		}
	}
}

func wget(r run) bench.Command {
	args := []string{
		"--recursive", "--level=inf", "--no-verbose", "--no-parent", "--span-hosts", "--domains=" + strings.Join(r.site.Addresses(), ","),
		"--tries=3", "--wait=" + fmt.Sprintf("%.3f", r.delay.Seconds()),
	}
	return bench.Command{Path: "wget", Args: append(args, r.site.Seeds()...)}
}

func scrapy(r run) bench.Command {
	args := []string{"runspider", filepath.Join(r.o.Root, "tools", "scrapy", "spider.py"), "-a", "seeds=" + strings.Join(r.site.Seeds(), ","), "-a", "out=" + r.dir}
	for _, setting := range []string{
		"LOG_LEVEL=ERROR", "TELNETCONSOLE_ENABLED=False", "ROBOTSTXT_OBEY=True", "DOWNLOAD_DELAY=" + fmt.Sprintf("%.3f", r.delay.Seconds()),
		"RANDOMIZE_DOWNLOAD_DELAY=False", "CONCURRENT_REQUESTS=64", "CONCURRENT_REQUESTS_PER_DOMAIN=1",
	} {
		args = append(args, "-s", setting)
	}
	return bench.Command{Path: "scrapy", Args: args}
}

func colly(r run) bench.Command {
	return bench.Command{Path: r.o.Colly, Args: append([]string{"-delay", r.delay.String(), "-out", r.dir}, r.site.Seeds()...)}
}

// crawlRecrawl makes a pass with `starter dev`, which does not end by itself: the pages
// sleep then.
func crawlRecrawl(ctx context.Context, r run) (used time.Duration, err error) {
	cli := os.Getenv("RECRAWL_TEMPORAL_CLI")
	if cli == "" {
		cli = filepath.Join(r.o.Root, "bin", "temporal")
	}
	dev, err := bench.StartDev(ctx, bench.DevOptions{Starter: filepath.Join(r.o.Programs, "starter"), CLI: cli, Folder: r.dir})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, dev.Stop()) }()
	spec := crawl.DefaultSpec()
	spec.Name, spec.Seeds = "bench", r.site.Seeds()
	spec.Politeness.Delay, spec.Politeness.Factor = crawl.Duration(r.delay), 0
	text, err := json.Marshal(spec)
	if err != nil {
		return 0, fmt.Errorf("encode the spec: %w", err)
	}
	if _, err := dev.Run(ctx, bytes.NewReader(text), "crawl", "--spec", "-"); err != nil {
		return 0, err
	}
	err = bench.Await(ctx, "every page is visited", 20*time.Millisecond, func(context.Context) (bool, error) {
		return r.site.Counts().Distinct == int64(r.site.Total()), nil
	}, dev.Process)
	if err != nil {
		return 0, err
	}
	return bench.TreeCPU(dev.PID())
}

// Mark names the place of the tables in docs/benchmarks.md.
const Mark = "bench-peers"

// Tables writes the report with a way to write a table.
func (r *Report) Tables(write func(*bench.Table) string) string {
	var b strings.Builder
	for _, delay := range r.Options.Delays {
		table := &bench.Table{Head: []string{"crawler", "pages", "pages/s", "requests a page", "CPU ms a page", "bytes written a page", "does not do"}}
		for _, c := range crawlers() {
			var rates, cpu, asked, written []float64
			var pages int64
			for _, p := range r.Passes {
				if p.Crawler != c.name || p.Delay != delay {
					continue
				}
				n := float64(p.Pages)
				pages = p.Pages
				rates, cpu, asked, written = append(rates, n/p.Seconds), append(cpu, p.CPU), append(asked, float64(p.Asked)/n), append(written, float64(p.Written)/n)
			}
			if len(rates) > 0 {
				table.Add(c.name, fmt.Sprint(pages), bench.SpreadOf(rates...).String(), bench.Figure(bench.SpreadOf(asked...).Median),
					bench.SpreadOf(cpu...).String(), bench.Figure(bench.SpreadOf(written...).Median), c.lacks)
			}
		}
		if len(table.Rows) > 0 {
			fmt.Fprintf(&b, "First pass over %d pages on %d hosts, one request at a time to each, delay %s:\n\n%s\n", r.Options.Pages, r.Options.Hosts, delay, write(table))
		}
	}
	for _, missing := range r.Missing {
		fmt.Fprintf(&b, "Left out: %s.\n\n", missing)
	}
	return b.String()
}
