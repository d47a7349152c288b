package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"recrawl/internal/report"
)

// forecastPages is the number of pages from which a forecast shown here is computed: enough
// to give freshness to within a few points, and few enough to answer at once.
const forecastPages = 1000

// forecastMore holds the parts of a forecast's view that only people see, besides the
// figures.
type forecastMore struct {
	// Budget and Fresh are the requested values, as entered.
	Budget, Fresh string
	// Problem says why they were not understood; "" if they were.
	Problem string
}

// forecastView shows how a crawl would do with other budgets.
func forecastView(ctx context.Context, s *Server, r *http.Request) (answer, error) {
	name, form := value(r, "crawl"), r.URL.Query()
	more := forecastMore{Budget: form.Get("budget"), Fresh: form.Get("fresh")}
	q, problem := forecastQuery(name, more)
	if problem != nil && wantsJSON(r) {
		return answer{}, problem
	}
	f, err := s.Report.ForecastOf(ctx, q)
	if errors.Is(err, report.ErrNoBudget) {
		problem = fmt.Errorf("%w: %w", errBad, err)
		if wantsJSON(r) {
			return answer{}, problem
		}
		f, err = s.Report.ForecastOf(ctx, report.ForecastQuery{Crawl: name, Sample: forecastPages})
	}
	if err != nil {
		return answer{}, err
	}
	if problem != nil {
		more.Problem = problem.Error()
	}
	return answer{Title: "What if? " + name, Crawl: name, Now: time.Time(f.Now), Data: f, More: more}, nil
}

// forecastQuery reads what was asked for. If it returns an error, the query asks for
// nothing in particular.
func forecastQuery(name string, asked forecastMore) (report.ForecastQuery, error) {
	plain := report.ForecastQuery{Crawl: name, Sample: forecastPages}
	q := plain
	var err error
	if q.Budgets, err = report.ParseBudgets(asked.Budget); err != nil {
		return plain, fmt.Errorf("budget %w: %w", errBad, err)
	}
	if q.Fresh, err = report.ParseShares(asked.Fresh); err != nil {
		return plain, fmt.Errorf("share %w: %w", errBad, err)
	}
	return q, nil
}
