package sim

import "testing"

// The selective rule saves a fifth of the downloads on sites whose pages are alike, and
// finds nearly all changes with the rest. Bouras et al. speak of 28 %.
func TestSelectiveSavesDownloads(t *testing.T) {
	t.Parallel()
	policies, err := Choose([]string{"frmax", "frmax-selective"})
	if err != nil {
		t.Fatal(err)
	}
	w := draw(t, "host", Spec{Pages: 300, Days: 300, Seed: 1})
	o := Options{Budget: Budget{Each: 1}, Mode: Timers, Warmup: 60, Seed: 1}
	all, some := Run(w, policies[0], o), Run(w, policies[1], o)
	visits, found := some.Visits/all.Visits, some.Found/all.Found
	t.Logf("%.3f of the visits find %.3f of the changes", visits, found)
	if visits > 0.85 || found < visits+0.05 {
		t.Errorf("%.3f of the visits, %.3f of what they find", visits, found)
	}
}
