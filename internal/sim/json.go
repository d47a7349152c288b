package sim

import (
	"encoding/json"
	"io"
	"math"
)

// line holds the results of one policy, as JSON. Times are days, shares are 0 to 1, spreads
// are over the seeds.
type line struct {
	World    string   `json:"world"`
	Notes    []string `json:"notes,omitempty"`
	Pages    int      `json:"pages"`
	Hosts    int      `json:"hosts"`
	Changes  int      `json:"changes"`
	Days     float64  `json:"days"` // measured
	Warmup   float64  `json:"warmup"`
	Budget   string   `json:"budget"`
	Mode     Mode     `json:"mode"`
	Seeds    []uint64 `json:"seeds"`
	Policy   string   `json:"policy"`
	Family   Family   `json:"family"`
	Measured measured `json:"measured"`
	// Lead is how much less stale the policy is than the best shipped or simple scheduler.
	Lead *Spread `json:"lead"`
	// GapClosed is by objective; null in worlds that have no optimum, and of an objective for
	// which nothing can be gained.
	GapClosed map[string]*Spread `json:"gap_closed"`
	// Freshness is the first seed's, in equal parts of its whole time.
	Freshness []optional `json:"freshness"`
}

type measured struct {
	Staleness Spread `json:"staleness"`
	Age       Spread `json:"age"`
	Delay     Spread `json:"delay"`
	Unseen    Spread `json:"unseen"`
	Harmonic  Spread `json:"harmonic"`
	Visits    Spread `json:"visits_per_day"`
	Found     Spread `json:"found_per_day"`
	Wasted    Spread `json:"wasted"`
	Idle      Spread `json:"idle"`
	HostPeak  Spread `json:"host_peak"`
}

// optional is a number that may be NaN, which JSON lacks.
type optional float64

// MarshalJSON implements json.Marshaler.
func (o optional) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(o)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(o))
}

// WriteJSON writes the comparison as JSON Lines: one object for each policy.
func (c *Comparison) WriteJSON(out io.Writer) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for i := range c.Rows {
		if err := enc.Encode(c.line(i)); err != nil {
			return err
		}
	}
	return nil
}

func (c *Comparison) line(i int) line {
	r := &c.Rows[i]
	l := line{
		World: c.First.Name, Notes: c.Notes, Pages: len(c.First.Pages), Hosts: c.First.Hosts, Changes: c.First.Changes(),
		Days: c.First.Days - c.Warmup, Warmup: c.Warmup, Budget: c.Budget.String(), Mode: c.Mode, Seeds: c.Seeds,
		Policy: r.Name, Family: r.Family,
		Measured: measured{
			Staleness: r.Of(func(m Metrics) float64 { return m.Staleness }),
			Age:       r.Of(func(m Metrics) float64 { return m.Age }),
			Delay:     r.Of(func(m Metrics) float64 { return m.Delay }),
			Unseen:    r.Of(func(m Metrics) float64 { return m.Unseen }),
			Harmonic:  r.Of(func(m Metrics) float64 { return m.Harmonic }),
			Visits:    r.Of(func(m Metrics) float64 { return m.Visits }),
			Found:     r.Of(func(m Metrics) float64 { return m.Found }),
			Wasted:    r.Of(func(m Metrics) float64 { return m.Wasted }),
			Idle:      r.Of(func(m Metrics) float64 { return m.Idle }),
			HostPeak:  r.Of(func(m Metrics) float64 { return float64(m.HostPeak) }),
		},
	}
	if lead := c.Lead(i); !math.IsNaN(lead.Median) {
		l.Lead = &lead
	}
	if c.Stationary {
		l.GapClosed = map[string]*Spread{}
		for _, objective := range Objectives() {
			l.GapClosed[objective] = nil
			if gap := r.Gap(objective); !math.IsNaN(gap.Median) {
				l.GapClosed[objective] = &gap
			}
		}
	}
	for _, f := range r.Runs[0].Freshness {
		l.Freshness = append(l.Freshness, optional(f))
	}
	return l
}
