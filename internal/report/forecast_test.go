package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

func (f *fake) HostLoads(_ context.Context, _ int64, ids []int64) (loads []store.HostLoad, err error) {
	for _, id := range ids {
		loads = append(loads, store.HostLoad{ID: id, Others: f.others[id]})
	}
	return loads, f.fail
}

// forecastable is a crawl of many pages: of a large host, a slow one, a blocked one and
// many small ones. A tenth of the pages have not been visited yet.
func forecastable() *fake {
	f := sample()
	f.pages, f.hosts = nil, nil
	add := func(id int64, host string, pages int, delay time.Duration, blocked bool) {
		h := store.HostRecord{ID: id, Host: host, Delay: delay, Mean: 200 * time.Millisecond, Blocked: blocked}
		for i := range pages {
			n := int64(len(f.pages) + 1)
			p := store.PageRecord{
				PageRef: crawl.PageRef{CrawlID: 1, Crawl: "news", PageID: n, Host: host, URL: fmt.Sprintf("https://%s/%d", host, i)}, HostID: id,
				State: crawl.Active, Visits: 5, LastAt: now.Add(-time.Hour), NextAt: now.Add(47 * time.Hour), Steering: steered,
			}
			p.Belief = schedule.Belief{Pairs: 4, Changes: float32(i % 7), Days: 20, Compared: p.LastAt.UnixMilli()}.Encode()
			h.Visited++
			if n%10 == 0 {
				p.State, p.Visits, p.Belief = crawl.Known, 0, nil
				h.Visited, h.Unvisited, h.Known = h.Visited-1, h.Unvisited+1, h.Known+1
			}
			f.pages = append(f.pages, p)
		}
		f.hosts = append(f.hosts, h)
	}
	add(1, "large.example", 900, 10*time.Second, false)
	add(2, "slow.example", 300, 5*time.Minute, false)
	add(3, "blocked.example", 50, 10*time.Second, true)
	for i := range int64(10) {
		add(4+i, fmt.Sprintf("small-%d.example", i), 5, 10*time.Second, false)
	}
	states := map[crawl.PageState]int{}
	for _, p := range f.pages {
		states[p.State]++
	}
	f.status[1] = store.StatusRecord{Pages: states}
	return f
}

func TestForecastGolden(t *testing.T) {
	t.Parallel()
	for name, q := range map[string]ForecastQuery{
		"forecast":          {Crawl: "news"},
		"forecast-budgets":  {Crawl: "news", Budgets: budgetsAsked(t, "2x, 20/day,1e9/day")},
		"forecast-promises": {Crawl: "news", Fresh: []float64{0.2, 0.9, 0.995}},
		"forecast-none":     {Crawl: "empty"},
	} {
		f := forecastable()
		f.crawls = append(f.crawls, store.CrawlRecord{ID: 9, Spec: named(f.crawls[0].Spec, "empty")})
		answers(t, name, Reporter{Store: f, Visits: f}, func(r Reporter) error { return r.Forecast(t.Context(), q) })
	}
}

func budgetsAsked(t *testing.T, list string) []Budget {
	t.Helper()
	budgets, err := ParseBudgets(list)
	if err != nil {
		t.Fatal(err)
	}
	return budgets
}

func named(s crawl.Spec, name string) crawl.Spec { s.Name = name; return s }

// A tenth of a host's requests is kept for new pages, and visits that other crawls plan
// there are theirs.
func TestForecastOfHosts(t *testing.T) {
	t.Parallel()
	f := forecastable()
	alone, err := Reporter{Store: f, Visits: f}.ForecastOf(t.Context(), ForecastQuery{Crawl: "news"})
	if err != nil {
		t.Fatal(err)
	}
	can := schedule.HostLimit(5*time.Minute, 200*time.Millisecond, polite.Discover(0, 300).Kept)
	if len(alone.Hosts) == 0 || alone.Hosts[0].Host != "slow.example" || math.Abs(alone.Hosts[0].Most-can) > 0.01 || alone.Hosts[0].Pass.Std() != 300*(5*time.Minute+200*time.Millisecond) {
		t.Fatalf("%+v, want slow.example first, with %v visits a day", alone.Hosts, can)
	}
	f.others = map[int64]float64{2: 100}
	shared, err := Reporter{Store: f, Visits: f}.ForecastOf(t.Context(), ForecastQuery{Crawl: "news"})
	if err != nil {
		t.Fatal(err)
	}
	if got := shared.Hosts[0].Most; math.Abs(got-(can-100)) > 0.01 {
		t.Errorf("%v visits a day beside 100 of another crawl, want %v", got, can-100)
	}
}

// A sample gives nearly the same as all pages.
func TestForecastOfASample(t *testing.T) {
	t.Parallel()
	q := ForecastQuery{Crawl: "news", Budgets: budgetsAsked(t, "1x,4x,20x")}
	f := forecastable()
	all, err := Reporter{Store: f, Visits: f}.ForecastOf(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	kept := f.pages[:0]
	for i, p := range f.pages {
		if i%4 == 0 || i%4 == 1 && p.State == crawl.Known {
			kept = append(kept, p)
		}
	}
	f.pages = kept
	some, err := Reporter{Store: f, Visits: f}.ForecastOf(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if some.Read >= all.Read || math.Abs(float64(some.Pages-all.Pages)) > 10 {
		t.Errorf("%d of %d pages read, of all %d of %d", some.Read, some.Pages, all.Read, all.Pages)
	}
	for i, b := range all.Budgets {
		if other := some.Budgets[i]; math.Abs(b.Fresh-other.Fresh) > 0.03 || math.Abs(b.Visits/other.Visits-1) > 0.05 {
			t.Errorf("%s: %+v, by a sample %+v", b.Budget, b.Expected, other.Expected)
		}
	}
}

func TestForecastWithoutBudget(t *testing.T) {
	t.Parallel()
	f := forecastable()
	f.crawls[1].Spec.Revisit.Policy = "fixed"
	r := Reporter{Store: f, Visits: f, Out: io.Discard, Format: JSON}
	if err := r.Forecast(t.Context(), ForecastQuery{Crawl: "news", Fresh: []float64{0.9}}); !errors.Is(err, ErrNoBudget) {
		t.Errorf("a promise under fixed: %v", err)
	}
	got, err := r.ForecastOf(t.Context(), ForecastQuery{Crawl: "news"})
	if err != nil {
		t.Fatal(err)
	}
	if got.Budgeted || len(got.Budgets) != 1 || got.Budgets[0].PerDay != nil || got.Budgets[0].Fresh <= 0 || got.Budgets[0].Visits <= 0 {
		t.Errorf("%+v", got)
	}
}

// The smallest crawl has a forecast too, and that of a full crawl leaves out pages without
// room.
func TestForecastOfFewPages(t *testing.T) {
	t.Parallel()
	f := forecastable()
	f.pages, f.status[1] = f.pages[:1], store.StatusRecord{Pages: map[crawl.PageState]int{crawl.Active: 1}}
	f.crawls[1].Spec.Revisit.DefaultInterval = f.crawls[1].Spec.Revisit.MaxInterval
	var out bytes.Buffer
	if err := (Reporter{Store: f, Visits: f, Out: &out, Format: JSON}).Forecast(t.Context(), ForecastQuery{Crawl: "news", Fresh: []float64{0.99}}); err != nil || !json.Valid(out.Bytes()) {
		t.Errorf("%v: %s", err, out.String())
	}
	full := forecastable()
	full.crawls[1].Spec.Limits.MaxPages = full.status[1].Pages[crawl.Active]
	got, err := Reporter{Store: full, Visits: full}.ForecastOf(t.Context(), ForecastQuery{Crawl: "news"})
	if err != nil || got.Unvisited != 0 || got.Pages != 1125 {
		t.Errorf("a full crawl: %v, %+v", err, got)
	}
}

// Known pages for which a full crawl has no room take nothing of their hosts' capacity.
func TestForecastOfAFullCrawl(t *testing.T) {
	t.Parallel()
	q := ForecastQuery{Crawl: "news", Fresh: []float64{0.995}}
	full := forecastable()
	full.crawls[1].Spec.Limits.MaxPages = full.status[1].Pages[crawl.Active]
	want, err := Reporter{Store: full, Visits: full}.ForecastOf(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 9 * 900 {
		p := full.pages[9]
		p.PageID = int64(10_000 + i)
		full.pages = append(full.pages, p)
	}
	full.hosts[0].Unvisited += 9 * 900
	full.hosts[0].Known += 9 * 900
	full.status[1].Pages[crawl.Known] += 9 * 900
	got, err := Reporter{Store: full, Visits: full}.ForecastOf(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Hosts, want.Hosts) || !reflect.DeepEqual(got.Budgets, want.Budgets) || !reflect.DeepEqual(got.Promises, want.Promises) {
		t.Errorf("with ten times as many known pages at one host:\n%+v\nwant\n%+v", got, want)
	}
}

// A page that robots.txt excluded before its first visit waits for none.
func TestForecastOfForbiddenPages(t *testing.T) {
	t.Parallel()
	f := forecastable()
	want, err := Reporter{Store: f, Visits: f}.ForecastOf(t.Context(), ForecastQuery{Crawl: "news"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		p := f.pages[0]
		p.PageID, p.State, p.Visits, p.Belief = int64(10_000+i), crawl.Excluded, 0, nil
		f.pages = append(f.pages, p)
	}
	f.hosts[0].Visited += 300 // attempted, as the store has it
	f.status[1].Pages[crawl.Excluded] += 300
	got, err := Reporter{Store: f, Visits: f}.ForecastOf(t.Context(), ForecastQuery{Crawl: "news"})
	if err != nil {
		t.Fatal(err)
	}
	if got.Pages != want.Pages || got.Unvisited != want.Unvisited || math.Abs(got.Budgets[0].Fresh-want.Budgets[0].Fresh) > 1e-3 {
		t.Errorf("with 300 forbidden pages:\n%+v\nwant\n%+v", got, want)
	}
}

func TestForecastMistakes(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{
		"2": "not a budget", "-2x": "not a budget", "0/day": "not a budget", "x": "not a budget", "20000/fortnight": "not a budget", "infx": "not a budget", "1e308x": "not a budget", "1e300/s": "not a budget", "NaNx": "not a budget",
		strings.Repeat("2x,", 11): "10 are the most",
	} {
		if all, err := ParseBudgets(list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", list, all, err)
		}
	}
	for list, want := range map[string]string{"0": "not a share", "100%": "not a share", "NaN": "not a share", "most": "not a share", strings.Repeat("95%,", 11): "10 are the most"} {
		if all, err := ParseShares(list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", list, all, err)
		}
	}
	budgets, err := ParseBudgets(" 2× , 0.5x,500/h,")
	if err != nil || len(budgets) != 3 || budgets[0].Times != 2 || budgets[1].String() != "0.5×" || budgets[2].PerDay != 12000 {
		t.Errorf("%+v, %v", budgets, err)
	}
	shares, err := ParseShares("95%,99.5 %")
	if err != nil || len(shares) != 2 || shares[1] != 0.995 {
		t.Errorf("%v, %v", shares, err)
	}
	if err := (Reporter{Store: forecastable()}).Forecast(t.Context(), ForecastQuery{Crawl: "none"}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a crawl that is not there: %v", err)
	}
}

// A share is written as it was asked for, whatever numbers with a point make of it.
func TestPromisedShares(t *testing.T) {
	t.Parallel()
	for _, share := range []string{"7", "29", "50", "57", "58", "95", "99.5", "0.07", "99.999"} {
		asked, err := ParseShares(share + "%")
		if err != nil {
			t.Fatal(err)
		}
		f := Forecast{Budgets: []ForecastBudget{{PerDay: new(float64)}}}
		if got := f.PromiseWords(ForecastPromise{Promised: asked[0], Kept: true}); !strings.HasPrefix(got, share+" % up to date costs ") {
			t.Errorf("%s %%: %s", share, got)
		}
	}
}
