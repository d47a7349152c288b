package temporalkit

import (
	"maps"
	"time"

	"go.temporal.io/sdk/client"
)

// Meter receives the SDK's measurements: for each metric, named and labelled by the
// SDK, it returns the function that takes the next figure.
type Meter interface {
	Counter(name string, labels map[string]string) func(int64)
	Gauge(name string, labels map[string]string) func(float64)
	Timer(name string, labels map[string]string) func(time.Duration)
}

// metrics is where the SDK's figures go; nil means nowhere.
func (o Options) metrics() client.MetricsHandler {
	switch {
	case o.Meter != nil:
		return meterHandler{meter: o.Meter, waits: o.Waits}
	case o.Waits != nil:
		return o.Waits.handler()
	}
	return nil
}

// meterHandler gives the SDK a Meter, and Waits the timers that it listens to.
type meterHandler struct {
	meter  Meter
	waits  *Waits // may be nil
	labels map[string]string
}

// WithTags implements client.MetricsHandler.
func (h meterHandler) WithTags(tags map[string]string) client.MetricsHandler {
	labels := maps.Clone(h.labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, tags)
	h.labels = labels
	return h
}

// Counter implements client.MetricsHandler.
func (h meterHandler) Counter(name string) client.MetricsCounter {
	return counter(h.meter.Counter(name, h.labels))
}

// Gauge implements client.MetricsHandler.
func (h meterHandler) Gauge(name string) client.MetricsGauge {
	return gauge(h.meter.Gauge(name, h.labels))
}

// Timer implements client.MetricsHandler.
func (h meterHandler) Timer(name string) client.MetricsTimer {
	record := h.meter.Timer(name, h.labels)
	if h.waits == nil {
		return timer(record)
	}
	heard := h.waits.handler().Timer(name)
	return timer(func(d time.Duration) {
		record(d)
		heard.Record(d)
	})
}

type counter func(int64)

// Inc implements client.MetricsCounter.
func (c counter) Inc(n int64) { c(n) }

type gauge func(float64)

// Update implements client.MetricsGauge.
func (g gauge) Update(v float64) { g(v) }

type timer func(time.Duration)

// Record implements client.MetricsTimer.
func (t timer) Record(d time.Duration) { t(d) }
