package web

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/report"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

// forecasts is a store with one crawl of one host, whose pages change now and then.
type forecasts struct {
	report.Store
	report.Visits
	policy string
}

var forecastNow = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func (forecasts) Now(context.Context) (time.Time, error) { return forecastNow, nil }

func (f forecasts) Crawl(_ context.Context, name string) (store.CrawlRecord, error) {
	if name != "news" {
		return store.CrawlRecord{}, store.ErrNotFound
	}
	spec := crawl.DefaultSpec()
	spec.Name, spec.Revisit.Policy = name, f.policy
	return store.CrawlRecord{ID: 1, Spec: spec}, nil
}

func (forecasts) Steering(context.Context, int64, bool) (store.SteeringRecord, error) {
	return store.SteeringRecord{}, nil
}

func (forecasts) Status(context.Context, int64) (store.StatusRecord, error) {
	return store.StatusRecord{Pages: map[crawl.PageState]int{crawl.Active: 400}}, nil
}

func (forecasts) ListPages(_ context.Context, f store.PageFilter) ([]store.PageRecord, error) {
	if f.Sample != forecastPages {
		return nil, fmt.Errorf("%d pages are to be read", f.Sample)
	}
	var pages []store.PageRecord
	for i := range int64(100) {
		p := store.PageRecord{PageRef: crawl.PageRef{PageID: i + 1, URL: "https://<b>.example/"}, HostID: 1, State: crawl.Active, Visits: 3, LastAt: forecastNow.Add(-time.Hour), NextAt: forecastNow.Add(time.Hour)}
		p.Belief = schedule.Belief{Pairs: 2, Changes: float32(i % 5), Days: 9, Compared: p.LastAt.UnixMilli()}.Encode()
		pages = append(pages, p)
	}
	return pages, nil
}

func (forecasts) ListHosts(context.Context, store.HostFilter) ([]store.HostRecord, error) {
	return []store.HostRecord{{ID: 1, Host: "<b>.example", Delay: 10 * time.Minute, Visited: 400}}, nil
}

func (forecasts) HostLoads(context.Context, int64, []int64) ([]store.HostLoad, error) {
	return []store.HostLoad{{ID: 1}}, nil
}

// askForecast requests an address from a server with the store.
func askForecast(t *testing.T, f forecasts, address string) (status int, body string) {
	t.Helper()
	s := New(Options{Report: report.Reporter{Store: f, Visits: f, Out: io.Discard}, Log: slog.New(slog.DiscardHandler)})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost"+address, nil)
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

func TestForecastView(t *testing.T) {
	t.Parallel()
	sqrt, fixed := forecasts{policy: "sqrt"}, forecasts{policy: "fixed"}
	for _, c := range []struct {
		store   forecasts
		address string
		status  int
		want    []string
	}{
		{sqrt, "", 200, []string{"as now (400/day)", "2× (800/day)", "the most possible", "Computed from a sample of 100 pages", "&lt;b&gt;.example", "2d 18h"}},
		{sqrt, "?fresh=98%25", 200, []string{"not possible", "cannot be kept politely", `value="98%"`}},
		{sqrt, "?budget=3x&fresh=30%25", 200, []string{"3× (1200/day)", "possible", "30 % up to date costs"}},
		{sqrt, "?budget=%3Cscript%3E", 200, []string{`role="alert"`, "is not a budget", `value="&lt;script&gt;"`, "as now"}},
		{fixed, "?budget=2x", 200, []string{`role="alert"`, "keeps to no budget", "no budget changes anything"}},
		{sqrt, ".json?budget=3x", 200, []string{`"budget":"3×"`, `"budget_per_day":1200`}},
		{sqrt, ".json?budget=3", 400, []string{`"error":"budget cannot be understood:`}},
		{fixed, ".json?fresh=90%25", 400, []string{"keeps to no budget"}},
	} {
		status, body := askForecast(t, c.store, "/crawls/news/forecast"+c.address)
		if status != c.status {
			t.Errorf("%s: status %d: %s", c.address, status, body)
		}
		for _, want := range c.want {
			if !strings.Contains(body, want) {
				t.Errorf("%s: no %q in\n%s", c.address, want, body)
			}
		}
		if strings.Contains(body, "<b>.example") && !strings.HasPrefix(c.address, ".json") || strings.Contains(body, "<script>") {
			t.Errorf("%s: not escaped:\n%s", c.address, body)
		}
	}
	if status, _ := askForecast(t, sqrt, "/crawls/none/forecast"); status != http.StatusNotFound {
		t.Errorf("a crawl that is not there: status %d", status)
	}
}

// JSON is the object of `starter forecast --output json`.
func TestForecastAsJSON(t *testing.T) {
	t.Parallel()
	f := forecasts{policy: "sqrt"}
	_, body := askForecast(t, f, "/crawls/news/forecast.json")
	var want strings.Builder
	r := report.Reporter{Store: f, Visits: f, Out: &want, Format: report.JSON}
	if err := r.Forecast(t.Context(), report.ForecastQuery{Crawl: "news", Sample: forecastPages}); err != nil {
		t.Fatal(err)
	}
	if body != want.String() {
		t.Errorf("got\n%s\nwant\n%s", body, want.String())
	}
}
