package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
)

// Budget is a budget that a forecast tries: a number of visits a day, or a multiple of the
// present one.
type Budget struct {
	PerDay, Times float64 // one of them is > 0
	text          string
}

// String returns the budget as it was written.
func (b Budget) String() string {
	switch {
	case b.text != "":
		return b.text
	case b.Times > 0:
		return strconv.FormatFloat(b.Times, 'g', -1, 64) + "×"
	}
	return strconv.FormatFloat(b.PerDay, 'g', -1, 64) + "/day"
}

func (b Budget) visits(present float64) float64 {
	if b.Times > 0 {
		return min(b.Times*present, mostVisits)
	}
	return b.PerDay
}

// mostVisits bounds the visits a day of a budget, and how many times the present one it is: far
// more than anybody makes, and far from the numbers that no computer can multiply.
const mostVisits = 1e15

// mostAsked bounds the number of budgets, and of promises, in one query.
const mostAsked = 10

// ParseBudgets reads a list of budgets, such as "2×,20000/day"; 2x is 2×.
func ParseBudgets(list string) ([]Budget, error) {
	var all []Budget
	for text := range fields(list) {
		b := Budget{text: text}
		number, is := strings.CutSuffix(strings.TrimSuffix(text, "x"), "×")
		var err error
		if is || strings.HasSuffix(text, "x") {
			b.Times, err = strconv.ParseFloat(strings.TrimSpace(number), 64)
			b.text = ""
		} else {
			b.PerDay, err = crawl.ParseBudget(text)
		}
		if err != nil || !(b.Times+b.PerDay > 0) || b.Times+b.PerDay > mostVisits {
			return nil, fmt.Errorf("%q is not a budget: write visits per time, such as 20000/day, or how many times the present one, such as 2×", text)
		}
		all = append(all, b)
	}
	return all, few(len(all), "budgets")
}

// ParseShares reads a list of shares of a collection, such as "95%,99.5 %".
func ParseShares(list string) ([]float64, error) {
	var all []float64
	for text := range fields(list) {
		x, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(text, "%")), 64)
		if err != nil || !(x > 0 && x < 100) {
			return nil, fmt.Errorf("%q is not a share that can be up to date: write one between 0 and 100 %%, such as 95%%", text)
		}
		all = append(all, x/100)
	}
	return all, few(len(all), "shares")
}

// fields yields the entries of a list with commas.
func fields(list string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for text := range strings.SplitSeq(list, ",") {
			if text = strings.TrimSpace(text); text != "" && !yield(text) {
				return
			}
		}
	}
}

func few(n int, what string) error {
	if n > mostAsked {
		return fmt.Errorf("%d %s at a time are too many: %d are the most", n, what, mostAsked)
	}
	return nil
}

func (f Forecast) write(out io.Writer) error {
	for _, line := range f.Basis() {
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	if len(f.Budgets) == 0 {
		return nil
	}
	fmt.Fprintln(out)
	t := newTable(out, "BUDGET", "VISITS A DAY", "UP TO DATE", "MEAN AGE", "A CHANGE WAITS", "FULL HOSTS")
	for _, b := range f.Budgets {
		w := b.Words()
		t.row(b.Name(), w.Visits, w.Fresh, w.Age, w.Delay, w.Full)
	}
	if err := t.flush(); err != nil {
		return err
	}
	if len(f.Promises) > 0 {
		fmt.Fprintln(out)
	}
	for _, p := range f.Promises {
		fmt.Fprintln(out, f.PromiseWords(p))
	}
	if len(f.Hosts) == 0 {
		return nil
	}
	fmt.Fprintln(out, "\nHosts that are the limit: one request at a time, and a tenth of the time is for new pages")
	t = newTable(out, "HOST", "PAGES", "ONE REQUEST EVERY", "ONE PASS TAKES", "VISITS A DAY AT MOST", "FULL FROM")
	for _, h := range f.Hosts {
		w := h.Words()
		t.row(h.Host, strconv.FormatInt(h.Pages, 10), w.Every, w.Pass, w.Most, w.From)
	}
	return t.flush()
}

// Basis says what a forecast is about, and from what it is computed, in a sentence each.
func (f Forecast) Basis() []string {
	if f.Pages == 0 {
		return []string{"crawl " + f.Crawl + " has no pages yet to forecast from"}
	}
	first := fmt.Sprintf("crawl %s by policy %s: %s", f.Crawl, f.Policy, plural(f.Pages, "page"))
	if f.Unvisited > 0 {
		first += fmt.Sprintf(", %d of them not visited yet", f.Unvisited)
	}
	lines := []string{first, "What to expect once every page has been visited, by what is believed of the pages now."}
	if f.Read < f.Pages {
		lines[1] += fmt.Sprintf(" Computed from a sample of %s.", plural(f.Read, "page"))
	}
	if f.Blocked > 0 {
		lines = append(lines, fmt.Sprintf("Without %s at hosts that are blocked.", plural(f.Blocked, "page")))
	}
	if !f.Budgeted {
		lines = append(lines, "The policy plans every page by itself, so no budget changes anything.")
	}
	return lines
}

// Name puts the budget into words.
func (b ForecastBudget) Name() string {
	switch {
	case b.PerDay == nil && b.Budget == "now":
		return "as now"
	case b.PerDay == nil:
		return "the most possible"
	case b.Budget == "now":
		return fmt.Sprintf("as now (%s/day)", visitsWords(*b.PerDay))
	case strings.HasSuffix(b.Budget, "×"):
		return fmt.Sprintf("%s (%s/day)", b.Budget, visitsWords(*b.PerDay))
	}
	return b.Budget
}

// PromiseWords says what a promise costs, or why it cannot be kept.
func (f Forecast) PromiseWords(p ForecastPromise) string {
	share := promised(p.Promised) + " % up to date"
	switch p.Why {
	case "politeness":
		text := fmt.Sprintf("%s cannot be kept politely: %s is the most, with %s visits a day", share, percentage(p.Fresh), visitsWords(p.Visits))
		if len(f.Hosts) > 0 {
			h := f.Hosts[0]
			text += fmt.Sprintf(". %s takes %s for one pass over its %s", h.Host, schedule.Rough(h.Pass.Std()), plural(int(h.Pages), "page"))
		}
		return text
	case "min_interval":
		return fmt.Sprintf("%s cannot be kept: %s is the most, with %s visits a day. Pages change too often to be visited every %s, which is revisit.min_interval",
			share, percentage(p.Fresh), visitsWords(p.Visits), f.MinInterval)
	}
	return fmt.Sprintf("%s costs %s visits a day; the budget is %s now", share, visitsWords(p.Visits), visitsWords(*f.Budgets[0].PerDay))
}

// promised writes a share as the percentage that was asked for: 100 times 0.58 is
// 57.99999999999999, of which the last digits are noise.
func promised(share float64) string {
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(100*share, 'f', 10, 64), "0"), ".")
}

// ForecastHostWords holds the figures of a host in words.
type ForecastHostWords struct{ Every, Pass, Most, From string }

// Words returns the figures for people.
func (h ForecastHost) Words() ForecastHostWords {
	w := ForecastHostWords{Every: schedule.Rough(h.Every.Std()), Pass: schedule.Rough(h.Pass.Std()), Most: visitsWords(h.Most), From: "any budget"}
	if h.From > 0 {
		w.From = visitsWords(h.From) + "/day"
	}
	return w
}

// ExpectedWords holds the expected figures in words.
type ExpectedWords struct{ Visits, Fresh, Age, Delay, Full string }

// Words returns the figures for people.
func (e Expected) Words() ExpectedWords {
	return ExpectedWords{visitsWords(e.Visits), percentage(e.Fresh), inDays(e.Age), inDays(e.Delay), strconv.Itoa(e.Full)}
}

// visitsWords writes a number of visits, with decimals if they are few.
func visitsWords(n float64) string {
	switch {
	case n < 1:
		return figure(n)
	case n < 10:
		return strconv.FormatFloat(n, 'f', 1, 64)
	}
	return strconv.FormatFloat(n, 'f', 0, 64)
}
