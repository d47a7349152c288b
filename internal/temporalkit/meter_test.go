package temporalkit

import (
	"maps"
	"testing"
	"time"
)

// heard remembers the figures that a Meter received.
type heard map[string]any

func (h heard) Counter(name string, labels map[string]string) func(int64) {
	return func(n int64) { h[name+labels["queue"]+labels["kind"]] = n }
}

func (h heard) Gauge(name string, labels map[string]string) func(float64) {
	return func(v float64) { h[name+labels["queue"]+labels["kind"]] = v }
}

func (h heard) Timer(name string, labels map[string]string) func(time.Duration) {
	return func(d time.Duration) { h[name+labels["queue"]+labels["kind"]] = d }
}

// The meter gets all of the SDK's measurements, with the labels of all levels, and Waits
// goes on receiving those that the bound on admission uses.
func TestMeter(t *testing.T) {
	t.Parallel()
	got, waits := heard{}, &Waits{}
	base := Options{Meter: got, Waits: waits}.metrics().WithTags(map[string]string{"queue": " q"})
	inner := base.WithTags(map[string]string{"kind": " k"})
	inner.Counter("c").Inc(3)
	inner.Gauge("g").Update(1.5)
	base.Timer("t").Record(time.Minute)
	inner.Timer(workflowWait).Record(2 * time.Second)
	want := heard{"c q k": int64(3), "g q k": 1.5, "t q": time.Minute, workflowWait + " q k": 2 * time.Second}
	if !maps.Equal(got, want) {
		t.Errorf("the meter heard %v, want %v", got, want)
	}
	if w := waits.Recent(); w != 2*time.Second {
		t.Errorf("tasks waited %s, want 2s", w)
	}
	Options{Meter: got}.metrics().Timer(workflowWait).Record(time.Second) // nobody else listens
	if got[workflowWait] != time.Second {
		t.Errorf("without Waits the meter heard %v", got)
	}
	if (Options{}).metrics() != nil {
		t.Error("nobody listens, and the SDK measures")
	}
}
