package monitor

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"recrawl/internal/crawl"
)

// Bounds of histograms, in seconds: for calls of a store or an archive, for requests to a
// site, and for waits.
var (
	shortBounds = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5}
	fetchBounds = []float64{0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60}
	waitBounds  = []float64{0.01, 0.1, 0.5, 1, 2, 4, 10, 30}
	stepBounds  = []float64{0.1, 1, 5, 15, 60, 180, 600, 1800}
	lagBounds   = []float64{1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 24 * 3600, 7 * 24 * 3600}
)

// Metrics are those of one process.
type Metrics struct {
	registry *prometheus.Registry
	engine   *Engine
	crawls   *crawlFigures

	visits     *prometheus.CounterVec
	lag        prometheus.Histogram
	denied     prometheus.Counter
	backoffs   *prometheus.CounterVec
	robots     *prometheus.CounterVec
	answers    *prometheus.CounterVec
	gateWait   *prometheus.HistogramVec
	storeTook  *prometheus.HistogramVec
	storeErr   *prometheus.CounterVec
	fetches    *prometheus.HistogramVec
	received   prometheus.Counter
	inFlight   prometheus.Gauge
	filesTook  *prometheus.HistogramVec
	filesErr   *prometheus.CounterVec
	filesBytes prometheus.Counter
	stepTook   *prometheus.HistogramVec
}

// NewMetrics returns the metrics of a process of this version.
func NewMetrics(version string) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), engine: newEngine()}
	m.crawls = newCrawlFigures()
	m.visits = counters("visits_total", "Visits that this process recorded, by outcome. Those of outcome changed are changes.", "outcome")
	m.lag = prometheus.NewHistogram(histogram("visit_lag_seconds", "How long pages waited for a visit after it was due. First visits are left out.", lagBounds))
	m.denied = prometheus.NewCounter(prometheus.CounterOpts{Name: "recrawl_robots_denials_total", Help: "Visits that robots.txt forbade."})
	m.backoffs = counters("backoffs_total", "Back-offs that requests of this process caused their hosts, by the host's answer.", "answer")
	m.robots = counters("robots_fetches_total", "Requests for a robots.txt, by what followed.", "result")
	m.answers = counters("gate_answers_total", "What pages that asked for a permit were told. For answer wait, the reason is why.", "answer", "reason")
	m.gateWait = histograms("gate_wait_seconds", "How long pages waited in this process for a permit (acquire), and then for its host to be free (begin).", waitBounds, "step")
	m.storeTook = histograms("store_seconds", "How long calls of the store took.", shortBounds, "call")
	m.storeErr = counters("store_errors_total", "Calls of the store that failed.", "call", "kind")
	m.fetches = histograms("fetch_seconds", "How long requests to sites took, by the class of the answer's status; none if there was no answer.", fetchBounds, "status")
	m.received = prometheus.NewCounter(prometheus.CounterOpts{Name: "recrawl_fetch_received_bytes_total", Help: "Bytes of bodies that were received."})
	m.inFlight = prometheus.NewGauge(prometheus.GaugeOpts{Name: "recrawl_requests_in_flight", Help: "Requests to sites that are under way."})
	m.filesTook = histograms("archive_seconds", "How long calls of the archive took.", shortBounds, "call")
	m.filesErr = counters("archive_errors_total", "Calls of the archive that failed.", "call", "kind")
	m.filesBytes = prometheus.NewCounter(prometheus.CounterOpts{Name: "recrawl_archive_stored_bytes_total", Help: "Bytes that were stored in the archive, before compression."})
	m.stepTook = histograms("maintenance_seconds", "How long steps of maintenance took, with their rests.", stepBounds, "step")

	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "recrawl_build_info", Help: "1, with this program's version.", ConstLabels: prometheus.Labels{"version": version}})
	build.Set(1)
	m.registry.MustRegister(m.engine, m.crawls, build, m.visits, m.lag, m.denied, m.backoffs, m.robots, m.answers, m.gateWait, m.storeTook,
		m.storeErr, m.fetches, m.received, m.inFlight, m.filesTook, m.filesErr, m.filesBytes, m.stepTook,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.begin()
	return m
}

// begin creates the series that alerts and boards read before anything has happened: a rate
// that begins with its first event misses that event.
func (m *Metrics) begin() {
	for _, o := range crawl.Outcomes() {
		m.visits.WithLabelValues(o.String())
	}
	for _, answer := range []string{"throttled", "failed"} {
		m.backoffs.WithLabelValues(answer)
	}
	for _, kind := range storeKinds {
		m.storeErr.WithLabelValues("record_visit", kind)
	}
	for _, kind := range archiveKinds {
		m.filesErr.WithLabelValues("commit", kind)
	}
	m.filesErr.WithLabelValues("read", kindCorrupt)
}

// Engine is for the engine's library.
func (m *Metrics) Engine() *Engine { return m.engine }

// RobotsDenied counts a visit that robots.txt forbade.
func (m *Metrics) RobotsDenied() { m.denied.Inc() }

// Maintained records how long a step of maintenance took.
func (m *Metrics) Maintained(step string, took time.Duration) {
	m.stepTook.WithLabelValues(step).Observe(took.Seconds())
}

// Handler answers a scrape.
func (m *Metrics) Handler() http.Handler {
	// Metrics that cannot be gathered must not hide the rest.
	written := promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.crawls.refresh(context.WithoutCancel(r.Context())) // others get the same figures
		written.ServeHTTP(w, r)
	})
}

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "recrawl_" + name, Help: help}, labels)
}

func histogram(name, help string, bounds []float64) prometheus.HistogramOpts {
	return prometheus.HistogramOpts{Name: "recrawl_" + name, Help: help, Buckets: bounds}
}

func histograms(name, help string, bounds []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(histogram(name, help, bounds), labels)
}
