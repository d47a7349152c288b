package monitor

import (
	"context"
	"io"
	"strconv"

	"recrawl/activities"
	"recrawl/internal/fetch"
)

// Fetcher counts and times requests.
func (m *Metrics) Fetcher(f activities.Fetcher) activities.Fetcher { return &meteredFetcher{f, m} }

type meteredFetcher struct {
	activities.Fetcher
	m *Metrics
}

// Do makes one request.
func (f *meteredFetcher) Do(ctx context.Context, req fetch.Request, sink io.Writer) fetch.Result {
	f.m.inFlight.Inc()
	defer f.m.inFlight.Dec()
	r := f.Fetcher.Do(ctx, req, sink)
	f.m.fetches.WithLabelValues(statusClass(r)).Observe(r.Duration.Seconds())
	f.m.received.Add(float64(r.Bytes))
	return r
}

// statusClass is 2xx and so on, none without an answer, and local if the request failed on
// our side.
func statusClass(r fetch.Result) string {
	switch {
	case r.Local:
		return "local"
	case r.Status < 100 || r.Status > 599:
		return "none"
	}
	return strconv.Itoa(r.Status/100) + "xx"
}
