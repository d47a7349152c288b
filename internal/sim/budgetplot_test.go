package sim

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"testing"
)

// The plot over budgets is an image that has a line for each policy with an objective, and
// none for others.
func TestPlotBudgets(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: many simulations")
	}
	t.Parallel()
	var studies []*Comparison
	for _, each := range []float64{0.1, 1} {
		s := smallStudy(t, "cho", "sqrt", "fresh", "frmax", "uniform")
		s.Budget = Budget{Each: each}
		c, err := s.Do(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		studies = append(studies, c)
	}
	plot := PlotBudgets(studies)
	for name, want := range map[string]bool{"sqrt": true, "fresh": true, "frmax": false, "uniform": false} {
		if got := bytes.Contains(plot.SVG, []byte(">"+name+"<")); got != want {
			t.Errorf("%s is drawn: %t, want %t", name, got, want)
		}
	}
	dec := xml.NewDecoder(bytes.NewReader(plot.SVG))
	for {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
