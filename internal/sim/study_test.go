package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
)

// smallStudy compares some policies on three small worlds.
func smallStudy(t *testing.T, kind string, names ...string) Study {
	t.Helper()
	policies, err := Choose(names)
	if err != nil {
		t.Fatal(err)
	}
	return Study{
		Title: "World " + kind, Notes: []string{"A note."}, Seeds: []uint64{1, 2, 3}, Policies: policies,
		Budget: Budget{Each: 0.2}, Mode: WorkConserving, Warmup: 50,
		World: func(seed uint64) (*World, error) {
			return Draw(kind, Spec{Pages: 100, Days: 100, Seed: seed, Weights: "equal"})
		},
	}
}

func do(t *testing.T, s Study) *Comparison {
	t.Helper()
	c, err := s.Do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func rowOf(t *testing.T, c *Comparison, name string) (*Row, int) {
	t.Helper()
	for i := range c.Rows {
		if c.Rows[i].Name == name {
			return &c.Rows[i], i
		}
	}
	t.Fatalf("no row %s", name)
	return nil, 0
}

// The gap is measured between uniform and the optimum of the objective, which are run for
// that even if nobody asked for them.
func TestGaps(t *testing.T) {
	t.Parallel()
	c := do(t, smallStudy(t, "cho", "uniform", "optimum-age", "age", "nutch-adaptive"))
	for _, objective := range Objectives() {
		uniform, _ := rowOf(t, c, "uniform")
		if g := uniform.Gap(objective); g.Low != 0 || g.High != 0 {
			t.Errorf("uniform closed %+v of the gap of %s", g, objective)
		}
	}
	optimum, _ := rowOf(t, c, "optimum-age")
	if g := optimum.Gap("age"); g.Low != 1 || g.High != 1 {
		t.Errorf("the optimum closed %+v of its own gap", g)
	}
	age, i := rowOf(t, c, "age")
	if g := age.Gap("age"); g.Median < 0.7 || g.Median > 1 || len(age.Gaps["age"]) != 3 {
		t.Errorf("age closed %+v of its gap, in %d worlds", g, len(age.Gaps["age"]))
	}
	// The best shipped or simple scheduler is uniform here.
	uniform, _ := rowOf(t, c, "uniform")
	want := make([]float64, 3)
	for seed := range want {
		want[seed] = uniform.Runs[seed].Staleness - age.Runs[seed].Staleness
	}
	if got := c.Lead(i); got != spreadOf(want) {
		t.Errorf("lead %+v, want %+v", got, spreadOf(want))
	}
}

// A study of one policy alone has no lead, and of a world without an optimum no
// gaps.
func TestNoGaps(t *testing.T) {
	t.Parallel()
	c := do(t, smallStudy(t, "burst", "sqrt"))
	if c.Stationary || !math.IsNaN(c.Rows[0].Gap("sqrt").Median) || !math.IsNaN(c.Lead(0).Median) {
		t.Errorf("%+v", c.Rows[0].Gaps)
	}
}

// Where all visits go to one page, uniform is the optimum: there is no gap to close, in numbers
// that JSON has.
func TestNothingToGain(t *testing.T) {
	t.Parallel()
	s := smallStudy(t, "cho", "sqrt")
	s.World = func(seed uint64) (*World, error) {
		return Draw("cho", Spec{Pages: 1, Days: 100, Seed: seed, Weights: "equal"})
	}
	c := do(t, s)
	var out bytes.Buffer
	if err := c.WriteText(&out); err != nil || !c.Stationary || strings.Contains(out.String(), "NaN") {
		t.Errorf("%v: %s", err, out.String())
	}
	out.Reset()
	if err := c.WriteJSON(&out); err != nil || !strings.Contains(out.String(), `"gap_closed":{"age":null,`) {
		t.Errorf("%v: %s", err, out.String())
	}
}

// Better takes the better mode.
func TestBetter(t *testing.T) {
	t.Parallel()
	s := smallStudy(t, "cho", "nutch", "nutch-adaptive")
	s.Mode = Better
	better := do(t, s)
	s.Mode = WorkConserving
	conserving := do(t, s)
	s.Mode = Capped
	capped := do(t, s)
	for i := range better.Rows {
		for seed := range better.Rows[i].Runs {
			got, a, b := better.Rows[i].Runs[seed], conserving.Rows[i].Runs[seed], capped.Rows[i].Runs[seed]
			if got.Staleness != min(a.Staleness, b.Staleness) || got.Mode != WorkConserving && got.Mode != Capped {
				t.Errorf("%s: %v in mode %s, of %v and %v", better.Rows[i].Name, got.Staleness, got.Mode, a.Staleness, b.Staleness)
			}
		}
	}
}

// A study reports its progress, and ends with its context.
func TestStudyEnds(t *testing.T) {
	t.Parallel()
	s := smallStudy(t, "cho", "uniform", "nutch")
	var last atomic.Int64
	s.Progress = func(done, all int) {
		if all != 3*6 { // and the four optima
			t.Errorf("%d runs in all", all)
		}
		last.Store(int64(done))
	}
	do(t, s)
	if last.Load() != 18 {
		t.Errorf("%d runs in the end", last.Load())
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.Progress = func(int, int) { cancel() }
	if _, err := s.Do(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped with %v", err)
	}
	broken := errors.New("no world")
	s.World = func(uint64) (*World, error) { return nil, broken }
	if _, err := s.Do(t.Context()); !errors.Is(err, broken) {
		t.Errorf("without a world: %v", err)
	}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	names := func(policies []Policy) string {
		var all []string
		for _, p := range policies {
			all = append(all, p.Name)
		}
		return strings.Join(all, " ")
	}
	for _, c := range []struct{ choice, want string }{
		{"", strings.Join(policyNames(), " ")},
		{"age uniform", "age uniform"},
		{"simple age simple", "uniform age"},
		{"shipped nutch", "nutch nutch-adaptive storm storm-adaptive news-crawl heritrix frontera aduana"},
	} {
		got, err := Choose(strings.Fields(c.choice))
		if err != nil || names(got) != c.want {
			t.Errorf("%q: %s, %v; want %s", c.choice, names(got), err, c.want)
		}
	}
	if _, err := Choose([]string{"googlebot"}); err == nil || !strings.Contains(err.Error(), "sqrt, fresh, age") {
		t.Errorf("an unknown policy: %v, want an error that lists the known ones", err)
	}
	for _, p := range Policies() {
		if p.Help == "" || p.Family == "" || strings.Contains(p.Help, "\n") {
			t.Errorf("%s: family %q, help %q", p.Name, p.Family, p.Help)
		}
	}
}

func TestSpread(t *testing.T) {
	t.Parallel()
	if got := spreadOf([]float64{3, 1, 2}); got != (Spread{2, 1, 3}) || got.half() != 1 {
		t.Errorf("%+v", got)
	}
	if got := spreadOf([]float64{4, 1}); got != (Spread{2.5, 1, 4}) {
		t.Errorf("%+v", got)
	}
}

// The text says what was compared and has a line for each policy.
func TestText(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := do(t, smallStudy(t, "cho", "sqrt", "nutch", "uniform"))
	if err := c.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"World cho\n100 pages on 1 host with ", "Budget 0.2/page/day (20 visits a day at the end), work-conserving", "Measured for 50 days after 50 days of warm-up", "median of 3 seeds ± half the range", "A note.",
		"\nPOLICY  ", "STALE %", "AGE d", "DELAY d", "LEAD %", "\nsqrt  ", "\nnutch  ", "\nuniform  ",
		"Share of the gap between uniform and the optimum of each objective that was closed, % (least to most):", "* what the policy is for",
	} {
		if !strings.Contains(strings.ReplaceAll(out.String(), "\n", " "), strings.ReplaceAll(want, "\n", " ")) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
	for _, line := range strings.Split(out.String(), "\n") {
		if strings.Contains(line, "NaN") || strings.Contains(line, "Inf") || strings.HasSuffix(line, " ") {
			t.Errorf("%q", line)
		}
	}
}

// JSON is one object for each policy.
func TestJSON(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := smallStudy(t, "cho", "sqrt", "nutch")
	s.Seeds = s.Seeds[:1]
	c := do(t, s)
	if err := c.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(&out)
	for i, name := range []string{"sqrt", "nutch"} {
		var l struct {
			World, Policy, Family, Budget, Mode string
			Pages                               int
			Days, Warmup                        float64
			Measured                            map[string]Spread
			Lead                                *Spread
			GapClosed                           map[string]Spread `json:"gap_closed"`
			Freshness                           []*float64
		}
		if err := dec.Decode(&l); err != nil {
			t.Fatal(err)
		}
		if l.World != "cho" || l.Policy != name || l.Budget != "0.2/page/day" || l.Mode != "work-conserving" || l.Pages != 100 || l.Days != 50 || l.Warmup != 50 {
			t.Errorf("%+v", l)
		}
		if l.Measured["staleness"].Median != c.Rows[i].Runs[0].Staleness || len(l.Measured) != 10 || l.Measured["found_per_day"].Median != c.Rows[i].Runs[0].Found {
			t.Errorf("%s: %+v", name, l.Measured)
		}
		if len(l.GapClosed) != 4 || len(l.Freshness) != parts || (l.Lead == nil) != (name == "nutch") {
			t.Errorf("%s: %d gaps, %d parts, lead %v", name, len(l.GapClosed), len(l.Freshness), l.Lead)
		}
	}
	if err := dec.Decode(new(any)); !errors.Is(err, io.EOF) {
		t.Errorf("more lines than policies: %v", err)
	}
}

var svgNumber = regexp.MustCompile(` (?:x|y|x1|x2|y1|y2|cx|cy|width|height)="([^"]*)"`)

// Plots are XML, have no NaN, and stay within their frames.
func TestPlots(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: many simulations")
	}
	t.Parallel()
	for kind, want := range map[string]string{"cho": "freshness gap visits", "burst": "freshness metrics visits", "e1": "freshness gap visits"} {
		var names []string
		for _, p := range do(t, smallStudy(t, kind, "ours", "shipped", "uniform", "optimum-fresh")).Plots() {
			names = append(names, p.Name)
			dec := xml.NewDecoder(bytes.NewReader(p.SVG))
			for {
				if _, err := dec.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("%s %s: %v", kind, p.Name, err)
				}
			}
			text := string(p.SVG)
			if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
				t.Errorf("%s %s: a number is none", kind, p.Name)
			}
			for _, m := range svgNumber.FindAllStringSubmatch(text, -1) {
				if strings.HasPrefix(m[1], "-") || len(m[1]) > 6 {
					t.Errorf("%s %s: %s leaves the drawing", kind, p.Name, m[0])
				}
			}
			for _, policy := range []string{">sqrt<", ">heritrix<"} {
				if !strings.Contains(text, policy) {
					t.Errorf("%s %s does not name %s", kind, p.Name, policy)
				}
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: plots %s, want %s", kind, got, want)
		}
	}
}

func TestAxis(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		axis axis
		n    int
		want string
	}{
		{axis{from: 0, to: 360}, 8, "0 50 100 150 200 250 300 350"},
		{axis{from: -1, to: 1}, 3, "-1 0 1"},
		{axis{from: 61.3, to: 74.9}, 5, "65 70"},
		{axis{from: 0.0012, to: 0.0019}, 4, "0.0012 0.0014 0.0016 0.0018"},
		{axis{from: 0.003, to: 40, log: true}, 5, "0.01 0.1 1 10"},
	} {
		var got []string
		for _, tick := range c.axis.ticks(c.n) {
			got = append(got, tickText(tick))
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%+v: ticks %s, want %s", c.axis, text, c.want)
		}
	}
	a := axis{from: 1, to: 100, start: 0, end: 200, log: true}
	if a.at(10) != 100 || a.at(0.1) != 0 || a.at(1e6) != 200 {
		t.Errorf("10 is at %v, 0.1 at %v, 1e6 at %v", a.at(10), a.at(0.1), a.at(1e6))
	}
}

func TestApart(t *testing.T) {
	t.Parallel()
	got := apart([]float64{0, 1, 2, 95, 96, 97}, 10, 0, 100)
	for i, want := range []float64{0, 10, 20, 80, 90, 100} {
		if got[i] != want {
			t.Errorf("place %d: %v, want %v", i, got[i], want)
		}
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ got, want string }{
		{number(Spread{12.345, 12, 13}), "12.3 ±0.5"},
		{number(Spread{0.012345, 0.012345, 0.012345}), "0.0123"},
		{number(Spread{1234.5, 1234.5, 1234.5}), "1234"},
		{number(Spread{}), "0"},
		{percent(Spread{-0.00001, -0.00001, -0.00001}), "0.00"},
		{percent(Spread{0.1234, 0.1, 0.2}), "12.34 ±5.00"},
		{percent(spreadOf(nil)), "-"},
		{interval(Spread{0.876, 0.81, 0.93}), "88 (81 to 93)"},
		{interval(Spread{-20, -30, 0.5}), "<-999 (<-999 to 50)"},
		{strings.Join(wrap("one two three four", 9), "|"), "one two|three|four"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
