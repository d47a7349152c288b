package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// checkForecast reports how the expectation of `starter forecast` for the visits that were
// made compares with the actual state of the pages, whose changes are known: a busy machine
// makes the visits late, which a forecast does not foresee. It judges only that there is an
// expectation, and which host it says limits the crawl most.
func (d *dev) checkForecast(crawl string, pages []*changing, sites []*site, from, to time.Time, seen observed) {
	d.t.Helper()
	var got struct {
		Budgets []struct {
			Budget string  `json:"budget"`
			Visits float64 `json:"visits_per_day"`
			Fresh  float64 `json:"fresh"`
			Delay  float64 `json:"delay_days"`
		} `json:"budgets"`
		Hosts []struct {
			Host string `json:"host"`
		} `json:"hosts"`
	}
	asked := fmt.Sprintf("%.3f/s", seen.rate)
	if err := json.Unmarshal([]byte(d.must("--output", "json", "forecast", crawl, "--budget", asked)), &got); err != nil {
		d.t.Fatal(err)
	}
	truth := freshness(pages, sites, from, to)
	found := false
	for _, b := range got.Budgets {
		d.t.Logf("forecast of %s: %.2f visits a second, %.3f up to date, a change waits %.1f s; in truth %.3f", b.Budget, b.Visits/86400, b.Fresh, b.Delay*86400, truth)
		found = found || b.Budget == asked && b.Fresh > 0 && b.Fresh < 1
	}
	if !found {
		d.t.Errorf("no forecast of %s: %+v", asked, got.Budgets)
	}
	slow := strings.TrimPrefix(sites[2].url, "http://")
	if len(got.Hosts) == 0 || got.Hosts[0].Host != slow {
		d.t.Errorf("the host that limits the crawl most is %s, which asks for a gap of its own; the forecast has %+v", slow, got.Hosts)
	}
}

// freshness is the share of the time in which a page was as its last visit found it, on
// average over the pages.
func freshness(pages []*changing, sites []*site, from, to time.Time) float64 {
	sum := 0.0
	for _, p := range pages {
		var looks []time.Time
		for _, r := range sites[p.site].requests() {
			if r.path == p.path {
				looks = append(looks, r.begin)
			}
		}
		for i, look := range looks {
			end := to
			if i+1 < len(looks) && looks[i+1].Before(to) {
				end = looks[i+1]
			}
			if next, _ := slices.BinarySearchFunc(p.changes, look, time.Time.Compare); next < len(p.changes) && p.changes[next].Before(end) {
				end = p.changes[next]
			}
			if look.Before(from) {
				look = from
			}
			sum += max(0, end.Sub(look).Seconds())
		}
	}
	return sum / to.Sub(from).Seconds() / float64(len(pages))
}
