package e2e

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// checkForecast compares the expectation of `starter forecast` for the visits that were
// made with the actual state of the pages, whose changes are known. So it judges the
// estimates for the pages and the conclusions from them, not how many visits a busy machine
// makes.
func (d *dev) checkForecast(crawl string, pages []*changing, sites []*site, from, to time.Time, seen observed) {
	d.t.Helper()
	const mostOff = 0.1 // what luck does to 48 pages in a few minutes
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
	for _, b := range got.Budgets {
		d.t.Logf("forecast of %s: %.2f visits a second, %.3f up to date, a change waits %.1f s; in truth %.3f", b.Budget, b.Visits/86400, b.Fresh, b.Delay*86400, truth)
		if b.Budget == asked && math.Abs(b.Fresh-truth) > mostOff {
			d.t.Errorf("of %s visits, %.3f of the copies were to be up to date; %.3f were", asked, b.Fresh, truth)
		}
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
