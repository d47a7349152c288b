package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/report"
	"recrawl/internal/sim"
)

type simulateCmd struct {
	World []string `placeholder:"NAME" help:"Drawn worlds: see above."`
	Trace []string `placeholder:"FILE" help:"Recorded changes: lines of page,unix time, gzipped or not. NAME.pages.csv beside NAME.csv has births and deaths."`
	Crawl string   `placeholder:"NAME" help:"A crawl's own recorded history."`

	Policy  []string `placeholder:"NAME" help:"Only these policies or families: see above."`
	Budget  string   `placeholder:"VISITS" help:"Visits per time, such as 10000/day, or for each page, such as 0.1/page/day (the default; that of the crawl with --crawl)."`
	Mode    string   `enum:"work-conserving,capped,better,timers" default:"work-conserving" placeholder:"MODE" help:"What becomes of a slot in which no page is due: work-conserving (the default) gives it to the page that is due first, capped loses it, better runs both and takes the less stale; timers has no slots."`
	Weights string   `enum:"equal,pareto" default:"equal" placeholder:"HOW" help:"How important pages are: equal (the default), or pareto, so that few matter much."`
	Seeds   uint     `default:"5" placeholder:"N" help:"The number of seeds, from 1 on; 5 by default."`

	MaxInterval string `placeholder:"TIME" help:"Longest interval of our policies, such as 365d; that of the crawl, or 120d, without it."`

	Pages      uint    `default:"2000" placeholder:"N" help:"Pages of a drawn world; 2000 without it."`
	Days       float64 `placeholder:"N" help:"Days that are measured: by default 180 of a drawn world, and all that is left of a trace or crawl."`
	WarmupDays float64 `default:"-1" placeholder:"N" help:"Days before those, in which policies learn: by default 180, 365 of a trace, none of a crawl."`
	Start      string  `placeholder:"DATE" help:"Day on which a trace's warm-up starts, such as 2021-01-01; the first without it."`
	Hosts      string  `enum:"one,folder" default:"one" placeholder:"HOW" help:"Which pages of a trace are on one host: all of them (one, the default), or those of a folder."`

	SVG string `name:"svg" placeholder:"DIR" help:"Draw plots into this folder."`
}

// Help implements kong.HelpProvider.
func (simulateCmd) Help() string {
	var b strings.Builder
	b.WriteString(`Plays the product's policies, the schedulers that other crawlers ship and allocations that know every
page's rate against the same changes, and says how stale each one's copies are. All are given the same visits
and learn from their own only.

    starter simulate --world cho,host --budget 0.3/page/day
    starter simulate --trace changes.csv.gz --policy ours,shipped --svg plots
    starter simulate --crawl news --policy fresh,as-crawled --budget 5000/day

STALE is the share of time in which pages differ from their copies, AGE how old copies are on average, DELAY
how long a change waits for its visit, HARMONIC the mean harmonic number of unseen changes, LEAD by how much
a policy is less stale than the best that is shipped or simple.

Worlds:
`)
	for _, k := range sim.Kinds() {
		fmt.Fprintf(&b, "    %-17s %s\n", k.Name, k.Help)
	}
	family := sim.Family("")
	for _, p := range sim.Policies() {
		if p.Family != family {
			family = p.Family
			fmt.Fprintf(&b, "\nPolicies, family %s:\n", family)
		}
		fmt.Fprintf(&b, "    %-17s %s\n", p.Name, p.Help)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Run simulates.
func (c simulateCmd) Run(s *session) error {
	studies, err := c.studies(s)
	if err != nil {
		return err
	}
	for i, study := range studies {
		line := newProgress(s)
		study.Progress = func(done, all int) { line.show(fmt.Sprintf("%s: run %d of %d", study.Title, done, all)) }
		result, err := study.Do(s.ctx)
		line.clear()
		if err != nil {
			return err
		}
		if i > 0 && s.global.Output == report.Text {
			fmt.Fprintln(s.env.Stdout)
		}
		if err := c.write(s, result); err != nil {
			return err
		}
	}
	return nil
}

// studies are the simulations to be compared: one for each world, trace and crawl.
func (c simulateCmd) studies(s *session) ([]sim.Study, error) {
	if len(c.World)+len(c.Trace) == 0 && c.Crawl == "" {
		return nil, usagef("give --world NAME, --trace FILE or --crawl NAME (see `starter simulate --help`)")
	}
	base, err := c.base()
	if err != nil {
		return nil, err
	}
	var studies []sim.Study
	for _, name := range c.World {
		study, err := c.world(base, name)
		if err != nil {
			return nil, err
		}
		studies = append(studies, study)
	}
	for _, file := range c.Trace {
		study, err := c.trace(base, file)
		if err != nil {
			return nil, err
		}
		studies = append(studies, study)
	}
	if c.Crawl != "" {
		study, err := c.crawl(s, base)
		if err != nil {
			return nil, err
		}
		studies = append(studies, study)
	}
	return studies, nil
}

// The most that is simulated: a century, and pages for which a large machine has the memory.
const (
	mostDays  = 36_500
	mostPages = 10_000_000
)

func isSpan(days float64) bool { return days >= 0 && days <= mostDays }

// base holds the settings that all studies share.
func (c simulateCmd) base() (sim.Study, error) {
	study := sim.Study{Mode: sim.Mode(c.Mode), Budget: sim.Budget{Each: 0.1}}
	if c.Seeds < 1 || c.Seeds > 1000 {
		return study, usagef("--seeds %d: use 1 to 1000", c.Seeds)
	}
	for seed := range uint64(c.Seeds) {
		study.Seeds = append(study.Seeds, seed+1)
	}
	if c.Budget != "" {
		budget, err := sim.ParseBudget(c.Budget)
		if err != nil {
			return study, usagef("--budget: %w", err)
		}
		study.Budget = budget
	}
	if !isSpan(c.Days) || !isSpan(c.WarmupDays) && c.WarmupDays != -1 {
		return study, usagef("--days and --warmup-days are not negative, and at most %d", mostDays)
	}
	if c.Pages < 1 || c.Pages > mostPages {
		return study, usagef("--pages %d: a world has at least one page, and at most %d", c.Pages, mostPages)
	}
	names := c.Policy
	if c.Crawl != "" {
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == sim.AsCrawled })
	}
	if len(names) == 0 && len(c.Policy) > 0 {
		return study, nil // as-crawled alone
	}
	var err error
	if study.Policies, err = sim.Choose(names); err != nil {
		return study, usagef("--policy: %w", err)
	}
	return study, nil
}

// bound gives our policies a crawl's settings, or the default ones, with the flag's
// longest interval in place of theirs.
func (c simulateCmd) bound(study *sim.Study, settings crawl.RevisitSpec) error {
	study.Setup.Revisit = &settings
	if c.MaxInterval == "" {
		return nil
	}
	longest, err := crawl.ParseDuration(c.MaxInterval)
	if err != nil {
		return usagef("--max-interval: %w", err)
	}
	settings.MaxInterval = crawl.Duration(longest)
	if settings.MaxInterval < settings.MinInterval || settings.MaxInterval > crawl.LongestInterval {
		return usagef("--max-interval %s: use %s (min_interval) to %s", c.MaxInterval, settings.MinInterval, crawl.LongestInterval)
	}
	study.Notes = append(study.Notes, "Our policies visit a page after "+settings.MaxInterval.String()+" at the latest.")
	return nil
}

func (c simulateCmd) world(study sim.Study, kind string) (sim.Study, error) {
	if err := c.bound(&study, crawl.DefaultSpec().Revisit); err != nil {
		return study, err
	}
	days := or(c.Days, 0, 180)
	study.Warmup = or(c.WarmupDays, -1, 180)
	spec := sim.Spec{Pages: int(c.Pages), Days: study.Warmup + days, Weights: c.Weights}
	study.Title = "World " + kind + weighted(c.Weights)
	study.World = func(seed uint64) (*sim.World, error) {
		spec := spec
		spec.Seed = seed
		return sim.Draw(kind, spec)
	}
	// A wrong name is reported before anything runs.
	if !sim.HasKind(kind) {
		_, err := sim.Draw(kind, spec)
		return study, usagef("--world: %w", err)
	}
	return study, nil
}

func weighted(how string) string {
	if how == "equal" {
		return ""
	}
	return ", weights " + how
}

func (c simulateCmd) trace(study sim.Study, file string) (sim.Study, error) {
	trace, err := readTrace(file)
	if err != nil {
		return study, usagef("--trace: %w", err)
	}
	if err := c.bound(&study, crawl.DefaultSpec().Revisit); err != nil {
		return study, err
	}
	study.Warmup = or(c.WarmupDays, -1, 365)
	cut := sim.Cut{Start: trace.First, Grouping: sim.Grouping(c.Hosts), Weights: c.Weights}
	if c.Start != "" {
		if cut.Start, err = time.Parse(time.DateOnly, c.Start); err != nil {
			return study, usagef("--start %s: write a date such as 2021-01-01", c.Start)
		}
	}
	left := trace.Last.Sub(cut.Start).Hours() / 24
	if left <= study.Warmup {
		return study, usagef("--trace %s: has %.0f days from %s on, not more than the warm-up of %g: see --start and --warmup-days",
			file, max(0, left), cut.Start.Format(time.DateOnly), study.Warmup)
	}
	cut.Days = min(left, study.Warmup+or(c.Days, 0, left))
	study.Title = fmt.Sprintf("Trace %s, %s to %s%s", trace.Name, cut.Start.Format(time.DateOnly),
		cut.Start.Add(time.Duration(cut.Days*24*float64(time.Hour))).Format(time.DateOnly), weighted(c.Weights))
	study.World = func(seed uint64) (*sim.World, error) {
		cut := cut
		cut.Seed = seed
		return trace.World(cut)
	}
	return study, nil
}

// or is a flag's value, or its replacement when it was not given.
func or(value, absent, otherwise float64) float64 {
	if value == absent {
		return otherwise
	}
	return value
}

func (c simulateCmd) write(s *session, result *sim.Comparison) error {
	var err error
	if s.global.Output == report.JSON {
		err = result.WriteJSON(s.env.Stdout)
	} else {
		err = result.WriteText(s.env.Stdout)
	}
	if err != nil || c.SVG == "" {
		return err
	}
	if err := os.MkdirAll(c.SVG, 0o755); err != nil {
		return fmt.Errorf("--svg: %w", err)
	}
	for _, p := range result.Plots() {
		path := filepath.Join(c.SVG, result.First.Name+"-"+p.Name+".svg")
		if err := os.WriteFile(path, p.SVG, 0o644); err != nil {
			return fmt.Errorf("--svg: %w", err)
		}
		if s.global.Output == report.Text {
			fmt.Fprintln(s.env.Stdout, "drew", path)
		}
	}
	return nil
}
