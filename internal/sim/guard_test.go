package sim

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// losable is the share of uniform's own penalty that a policy may have on a recorded
// collection. A collection is one draw: uniform's own penalties at neighbouring budgets
// have a standard deviation of more than one percent.
const losable = 1.02

// No policy is worse on its own measure than visiting all pages alike on the recorded
// changes of a book's 279 pages. Nearly all of them are of many pages at once, so next to
// nothing can be gained there.
func TestNoWorseThanUniformRecorded(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: many simulations")
	}
	t.Parallel()
	noWorseThanUniform(t, filepath.Join("testdata", "book.csv.gz"), 0.1)
}

// The same on all collections in the folder RECRAWL_TRACES.
func TestNoWorseThanUniformTraces(t *testing.T) {
	folder := os.Getenv("RECRAWL_TRACES")
	if folder == "" {
		t.Skip("RECRAWL_TRACES does not name a folder of recorded changes")
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	played := 0
	for _, file := range files {
		if strings.HasSuffix(file, ".pages.csv.gz") {
			continue
		}
		played++
		t.Run(strings.TrimSuffix(filepath.Base(file), ".csv.gz"), func(t *testing.T) {
			noWorseThanUniform(t, file, 0.05, 0.1)
		})
	}
	if played == 0 {
		t.Fatalf("%s has no recorded changes", folder)
	}
}

// noWorseThanUniform plays the policies that share a budget, and uniform, on a recorded
// collection. For each budget (visits a day for each page) it compares their means at the
// budgets 4 % below and above, which halves the variance by chance.
func noWorseThanUniform(t *testing.T, file string, budgets ...float64) {
	t.Helper()
	w := recordedWorld(t, file)
	names := []string{"sqrt", "fresh", "age", "harmonic"}
	policies, err := Choose(append(names, "uniform"))
	if err != nil {
		t.Fatal(err)
	}
	for _, budget := range budgets {
		shares := map[string]float64{}
		near := []float64{0.96 * budget, 1.04 * budget}
		for _, each := range near {
			o := Options{Budget: Budget{Each: each}, Mode: WorkConserving, Warmup: 365, Seed: 1}
			uniform := Run(w, policies[len(names)], o)
			for i, name := range names {
				shares[name] += Run(w, policies[i], o).Penalty(name) / uniform.Penalty(name) / float64(len(near))
			}
		}
		for _, name := range names {
			t.Logf("%s, %v visits a day: %.3f of what uniform is penalised", name, budget, shares[name])
			if shares[name] > losable {
				t.Errorf("%s, %v visits a day: %.3f of what uniform is penalised, want at most %v", name, budget, shares[name], losable)
			}
		}
	}
}

// recordedWorld reads a whole recorded collection: NAME.csv.gz, and NAME.pages.csv.gz
// beside it.
func recordedWorld(t *testing.T, file string) *World {
	t.Helper()
	name := strings.TrimSuffix(file, ".csv.gz")
	trace, err := ReadTrace(filepath.Base(name), unzipped(t, file), unzipped(t, name+".pages.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	w, err := trace.World(Cut{Start: trace.First, Days: days(trace.Last.Sub(trace.First)), Grouping: OneHost})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func unzipped(t *testing.T, path string) io.Reader {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	r, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
