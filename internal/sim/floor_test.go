package sim

import "testing"

// played plays a policy and uniform on worlds of a kind, one for each seed, and returns
// the policy's own penalty as a share of uniform's: the mean over the seeds.
func played(t *testing.T, kind, policy string, s Spec, seeds int, o Options) float64 {
	t.Helper()
	policies, err := Choose([]string{policy, "uniform"})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for seed := range uint64(seeds) {
		s.Seed, o.Seed = seed+1, seed+1
		w := draw(t, kind, s)
		sum += Run(w, policies[0], o).Penalty(policy) / Run(w, policies[1], o).Penalty(policy)
	}
	return sum / float64(seeds)
}

// Where hosts are full, pages come when they were planned, not all equally late because of
// the host's line. Otherwise the policies would be no better than uniform.
func TestFullHosts(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: many simulations")
	}
	t.Parallel()
	o := Options{Budget: Budget{Each: 1}, Mode: WorkConserving, Warmup: 60}
	// The rates are so alike that even the optimum gains only 3 % for sqrt.
	for policy, most := range map[string]float64{"sqrt": 0.98, "fresh": 0.89, "age": 0.89, "harmonic": 0.95} {
		if got := played(t, "e3-limited", policy, Spec{Pages: 120, Days: 120}, 3, o); got > most {
			t.Errorf("%s: %.3f of what uniform is penalised, want %v", policy, got, most)
		} else {
			t.Logf("%s: %.3f of what uniform is penalised", policy, got)
		}
	}
}

// No policy is worse on its own measure than visiting all pages alike, even if the pages'
// changes are far from a Poisson process. Seeds are paired, and a policy may lose as much
// as is chance at the size of these worlds.
func TestNoWorseThanUniform(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: many simulations")
	}
	t.Parallel()
	o := Options{Budget: Budget{Each: 0.1}, Mode: WorkConserving, Warmup: 120}
	for _, kind := range []string{"timetables", "editions", "periods", "batches", "clockwork", "office", "burst"} {
		for _, policy := range []string{"sqrt", "fresh", "age", "harmonic"} {
			if got := played(t, kind, policy, Spec{Pages: 150, Days: 300}, 2, o); got > 1.01 {
				t.Errorf("%s, %s: %.3f of what uniform is penalised", kind, policy, got)
			} else {
				t.Logf("%s, %s: %.3f", kind, policy, got)
			}
		}
	}
}
