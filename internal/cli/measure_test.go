//go:build measure

package cli

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recrawl/internal/sim"
)

const (
	policiesDoc  = "../../docs/policies.md"
	policyImages = "../../docs/images"
	measuredFrom = "<!-- measured: made by `make policies-tables` -->\n"
	measuredTo   = "<!-- end of what was measured -->\n"
)

// Writes the measured tables of docs/policies.md and their plots. It takes three
// quarters of an hour of one processor; RECRAWL_TRACES names the folder of the recorded changes.
func TestMeasurePolicies(t *testing.T) {
	traces := os.Getenv("RECRAWL_TRACES")
	if traces == "" {
		t.Fatal("RECRAWL_TRACES is not set: run make policies-tables TRACES=DIR")
	}
	var b strings.Builder
	m := measuring{t: t, out: &b}
	m.worlds()
	m.patience()
	m.learning()
	m.traces(traces, "equal", "0.02", "0.05")
	m.traces(traces, "pareto", "0.02")
	page, err := os.ReadFile(policiesDoc)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), measuredFrom)
	_, after, ends := strings.Cut(rest, measuredTo)
	if !ok || !ends {
		t.Fatalf("%s has no place for what is measured", policiesDoc)
	}
	if err := os.WriteFile(policiesDoc, []byte(before+measuredFrom+b.String()+measuredTo+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// measuring runs studies as starter simulate does, and writes of them.
type measuring struct {
	t   *testing.T
	out *strings.Builder
}

func (m measuring) printf(format string, args ...any) { fmt.Fprintf(m.out, format, args...) }

func (m measuring) do(study sim.Study, err error) *sim.Comparison {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
	result, err := study.Do(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Logf("%s, %s: done", study.Title, study.Budget)
	return result
}

// command is starter simulate with its defaults.
func command(weights, budget string, seeds uint, policies ...string) simulateCmd {
	return simulateCmd{
		Policy: policies, Budget: budget, Mode: "work-conserving", Weights: weights, Seeds: seeds,
		Pages: 2000, WarmupDays: -1, Hosts: "one",
	}
}

func (m measuring) world(c simulateCmd, kind string) *sim.Comparison {
	base, err := c.base()
	if err != nil {
		m.t.Fatal(err)
	}
	return m.do(c.world(base, kind))
}

var budgeted = []string{"sqrt", "fresh", "age", "harmonic"}

func (m measuring) worlds() {
	m.printf("Share of the gap between uniform and the optimum of its own objective that each policy\n"+
		"closed, %%: median of 5 seeds (least to most); 180 days measured after 180 days of warm-up.\n"+
		"`starter simulate --world WORLD --budget BUDGET/page/day --policy %s`\n\n", strings.Join(budgeted, ","))
	m.header("world, budget")
	for _, kind := range []string{"cho", "host", "e1", "e2", "e3", "e3-limited"} {
		budgets := []string{"0.1", "1"}
		if kind == "cho" || kind == "host" {
			budgets = []string{"0.02", "0.05", "0.1", "0.3", "1"}
		}
		var studies []*sim.Comparison
		for _, budget := range budgets {
			c := m.world(command("equal", budget+"/page/day", 5, budgeted...), kind)
			m.gaps(kind+" "+budget, c)
			studies = append(studies, c)
		}
		if len(studies) > 2 {
			m.draw(kind, sim.PlotBudgets(studies))
		}
	}
	m.printf("\nMore than 100 %% means that the optimum lets its pages wait for full hosts, and ours join the line\nsooner.\n")
	all := m.world(command("equal", "0.1/page/day", 5), "cho")
	for _, plot := range all.Plots() {
		m.draw("cho", plot)
	}
	m.printf("\n")
}

func (m measuring) header(first string) {
	m.printf("| %s | %s |\n|%s\n", first, strings.Join(budgeted, " | "), strings.Repeat(" --- |", 1+len(budgeted)))
}

func (m measuring) gaps(name string, c *sim.Comparison) {
	m.printf("| %s |", name)
	for i := range c.Rows {
		gap := c.Rows[i].Gap(c.Rows[i].Objective)
		m.printf(" %.0f (%.0f to %.0f) |", 100*gap.Median, 100*gap.Low, 100*gap.High)
	}
	m.printf("\n")
}

func (m measuring) draw(name string, plot sim.Plot) {
	path := filepath.Join(policyImages, "policies-"+name+"-"+plot.Name+".svg")
	if err := os.WriteFile(path, plot.SVG, 0o644); err != nil {
		m.t.Fatal(err)
	}
}

// patience is the rest of the gap when pages that are not worth a visit need not
// have one so soon.
func (m measuring) patience() {
	m.printf("The same where pages may wait for a year (`--max-interval 365d`), which the optimum may always:\n\n")
	m.header("world, budget")
	for _, kind := range []string{"cho", "host"} {
		for _, budget := range []string{"0.02", "0.05", "0.1"} {
			c := command("equal", budget+"/page/day", 5, budgeted...)
			c.MaxInterval = "365d"
			m.gaps(kind+" "+budget, m.world(c, kind))
		}
	}
	m.printf("\n")
}

// learning is the rest of the gap when there was more time to learn.
func (m measuring) learning() {
	m.printf("And with 3 seeds after 2 years of warm-up (`--seeds 3 --warmup-days 720 --max-interval 365d`), so\nwithout most of what learning costs:\n\n")
	m.header("world, budget")
	for _, kind := range []string{"cho", "host"} {
		for _, budget := range []string{"0.02", "0.05"} {
			c := command("equal", budget+"/page/day", 3, budgeted...)
			c.WarmupDays, c.MaxInterval = 720, "365d"
			m.gaps(kind+" "+budget, m.world(c, kind))
		}
	}
	m.printf("\n")
}

// recordings are the traces, and the day from which they are used where that is not
// their first.
var recordings = []struct{ name, start string }{
	{"golang-website", "2021-07-01"},
	{"http-drafts", ""},
	{"hugo-docs", "2025-01-01"},
	{"k8s-community", "2018-01-01"},
	{"nodejs-org", "2018-01-01"},
	{"php-web", "2016-01-01"},
	{"rust-blog", ""},
	{"rust-book", ""},
}

func (m measuring) traces(folder, weights string, budgets ...string) {
	m.printf("Recorded changes, weights %s: median of 3 seeds ± half the range. Under each policy of\n"+
		"ours what it is for, and beside it the best that any other crawler, rule of a paper or uniform\n"+
		"reached; **bold** is the better one. The last column is the best delay of our other policies.\n"+
		"`starter simulate --trace NAME.csv.gz --start DATE --seeds 3 --weights %s --budget BUDGET/page/day`\n\n", weights, weights)
	m.printf("| trace, budget | stale %%: `fresh` | best other | delay d: `sqrt` | best other | age d: `age` | best other | delay d: best of ours |\n|%s\n", strings.Repeat(" --- |", 8))
	for _, r := range recordings {
		for _, budget := range budgets {
			c := command(weights, budget+"/page/day", 3, "ours", "shipped", "simple")
			c.Start = r.start
			base, err := c.base()
			if err != nil {
				m.t.Fatal(err)
			}
			m.traceRow(r.name+" "+budget, m.do(c.trace(base, filepath.Join(folder, r.name+".csv.gz"))))
		}
	}
	m.printf("\n")
}

func (m measuring) traceRow(name string, c *sim.Comparison) {
	m.printf("| %s |", name)
	staleness := func(x sim.Metrics) float64 { return 100 * x.Staleness }
	delay := func(x sim.Metrics) float64 { return x.Delay }
	age := func(x sim.Metrics) float64 { return x.Age }
	m.compare(c, "fresh", staleness)
	m.compare(c, "sqrt", delay)
	m.compare(c, "age", age)
	best := bestOf(c, func(r *sim.Row) bool { return r.Family == sim.Ours && r.Objective != "" && r.Name != "sqrt" }, delay)
	m.printf(" %s %s |\n", best.Name, measuredText(best.Of(delay)))
}

func (m measuring) compare(c *sim.Comparison, name string, metric func(sim.Metrics) float64) {
	ours := bestOf(c, func(r *sim.Row) bool { return r.Name == name }, metric)
	other := bestOf(c, func(r *sim.Row) bool { return r.Objective == "" }, metric)
	mine, theirs := measuredText(ours.Of(metric)), other.Name+" "+measuredText(other.Of(metric))
	if ours.Of(metric).Median <= other.Of(metric).Median {
		mine = "**" + mine + "**"
	} else {
		theirs = "**" + theirs + "**"
	}
	m.printf(" %s | %s |", mine, theirs)
}

func bestOf(c *sim.Comparison, among func(*sim.Row) bool, metric func(sim.Metrics) float64) *sim.Row {
	var best *sim.Row
	for i := range c.Rows {
		if r := &c.Rows[i]; among(r) && (best == nil || r.Of(metric).Median < best.Of(metric).Median) {
			best = r
		}
	}
	return best
}

// measuredText is a number in three digits with its spread.
func measuredText(s sim.Spread) string {
	decimals := max(0, 2-int(math.Floor(math.Log10(s.Median))))
	text := fmt.Sprintf("%.*f", decimals, s.Median)
	if half := (s.High - s.Low) / 2; half > 0 {
		text += fmt.Sprintf(" ± %.*f", decimals, half)
	}
	return text
}
