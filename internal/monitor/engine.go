package monitor

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// engineBounds are for timers of the engine's library: from a local call to a long wait.
var engineBounds = []float64{0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 120}

// Engine keeps the measurements of the engine's client library. The library names its
// metrics and chooses their labels, which may differ between two metrics of a name.
// Counters get the suffix _total and timers _seconds, as its own documentation writes them
// for Prometheus.
type Engine struct {
	mu      sync.Mutex
	metrics map[string]prometheus.Metric
}

func newEngine() *Engine { return &Engine{metrics: map[string]prometheus.Metric{}} }

// Describe implements prometheus.Collector: nothing is known before the first
// measurement.
func (e *Engine) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (e *Engine) Collect(to chan<- prometheus.Metric) {
	e.mu.Lock()
	all := slices.Collect(maps.Values(e.metrics))
	e.mu.Unlock()
	for _, m := range all {
		to <- m
	}
}

// Counter returns a function that adds to a counter.
func (e *Engine) Counter(name string, labels map[string]string) func(int64) {
	m, ok := e.metric(name+"_total", labels, func(name string) prometheus.Metric {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: engineHelp, ConstLabels: labels})
	}).(prometheus.Counter)
	return func(n int64) {
		if ok && n > 0 {
			m.Add(float64(n))
		}
	}
}

// Gauge returns a function that sets a gauge.
func (e *Engine) Gauge(name string, labels map[string]string) func(float64) {
	m, ok := e.metric(name, labels, func(name string) prometheus.Metric {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: engineHelp, ConstLabels: labels})
	}).(prometheus.Gauge)
	return func(v float64) {
		if ok {
			m.Set(v)
		}
	}
}

// Timer returns a function that records a duration.
func (e *Engine) Timer(name string, labels map[string]string) func(time.Duration) {
	m, ok := e.metric(name+"_seconds", labels, func(name string) prometheus.Metric {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: engineHelp, ConstLabels: labels, Buckets: engineBounds})
	}).(prometheus.Histogram)
	return func(d time.Duration) {
		if ok && d >= 0 {
			m.Observe(d.Seconds())
		}
	}
}

const engineHelp = "Of Temporal's Go SDK: docs.temporal.io/references/sdk-metrics."

// metric returns the metric of a name and its labels, made if it is new.
func (e *Engine) metric(name string, labels map[string]string, made func(name string) prometheus.Metric) prometheus.Metric {
	key := strings.Builder{}
	key.WriteString(name)
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		key.WriteString("\x00" + label + "\x00" + labels[label])
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if known, ok := e.metrics[key.String()]; ok {
		return known
	}
	m := made(name)
	e.metrics[key.String()] = m
	return m
}
