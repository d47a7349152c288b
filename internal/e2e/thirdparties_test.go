package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/testsite"
)

// startHosts serves attacks, and others besides, on a loopback address.
func startHosts(t *testing.T, address string, attacks []testsite.Attack, others http.Handler) *testsite.Loopback {
	t.Helper()
	h := testsite.NewLoopback(attacks, others)
	if err := h.Start(context.WithoutCancel(t.Context()), address+":0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// hostOf is the host and port of a site's URL.
func hostOf(url string) string { return strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/") }

// crawlSpec starts a crawl of a spec.
func (d *dev) crawlSpec(spec map[string]any) {
	d.t.Helper()
	text, err := json.Marshal(spec)
	if err != nil {
		d.t.Fatal(err)
	}
	d.must("crawl", "--spec", write(d.t, filepath.Join(d.t.TempDir(), "spec.json"), string(text)))
}

// rejected are the numbers of a crawl's rejected links, by reason.
func (d *dev) rejected(crawl string) map[string]int {
	d.t.Helper()
	var status struct {
		Rejected map[string]int `json:"rejected"`
	}
	if err := json.Unmarshal([]byte(d.must("--output", "json", "status", crawl)), &status); err != nil {
		d.t.Fatal(err)
	}
	return status.Rejected
}

// TestThirdParties: sites that try to send us to others (300 sitemaps and some redirects of
// robots.txt on as many names of a victim, a chain of redirects, a neighbour on this
// machine) cause a handful of requests, and are reported. A crowd of names of one address
// has few in flight at once. A seed that redirects to its other name is fetched there
// without a pass of maintenance.
func TestThirdParties(t *testing.T) {
	sideBySide(t, 25)
	// Five for all sitemaps, and five for the redirects of the relays' robots.txt.
	const foreign, inFlight = 2 * foreignHosts, 4
	victim := startHosts(t, "127.0.0.1", nil, http.NotFoundHandler())
	neighbour := startHosts(t, "127.0.0.1", nil, http.NotFoundHandler())
	_, neighbourPort, _ := strings.Cut(hostOf(neighbour.URL("x")), ":")
	aims := testsite.Aims{Victim: "victim." + hostOf(victim.URL("x"))[len("x."):], Neighbour: "127.0.0.1:" + neighbourPort}
	attacker := startHosts(t, "127.0.0.1", testsite.Attacks(aims), http.HandlerFunc(shop))
	d := startDev(t, filepath.Join(t.TempDir(), "data"))
	settings := func(name, scope string, networks []string, seeds ...string) map[string]any {
		for i, seed := range seeds {
			seeds[i] = attacker.URL(seed)
		}
		return map[string]any{
			"name": name, "seeds": seeds, "scope": map[string]any{"type": scope}, "fetch": map[string]any{"allow_networks": networks},
			"limits": map[string]any{"window": 100}, "politeness": map[string]any{"delay": "10ms", "factor": 0, "per_address": inFlight},
			"revisit": map[string]any{"policy": "fixed", "default_interval": "12h"}, "maintain_every": "24h",
		}
	}
	d.crawlSpec(settings("open", "domain", []string{"127.0.0.0/8"}, "sitemaps-abroad", "relay", "bad-ports", "crowd"))
	d.crawlSpec(settings("closed", "host", []string{}, "neighbour", "shop", "chain"))

	www := attacker.URL("www.shop")
	d.await("the seed's other name is visited", func() bool {
		return slices.ContainsFunc(d.pages("closed"), func(p pageLine) bool { return p.URL == www && p.Visits > 0 })
	})
	const refused = testsite.AimedNames + testsite.Relays - foreign
	d.await("all that leads to the victim has been judged", func() bool {
		return d.rejected("open")["foreign host"] >= refused && d.rejected("closed")["loopback"] > 0
	})
	d.await("every name of the crowd is visited", func() bool {
		visited := 0
		for _, p := range d.pages("open") {
			if strings.Contains(p.URL, "crowd.localhost") && p.Visits > 0 {
				visited++
			}
		}
		return visited == 1+testsite.CrowdNames
	})
	hosts := map[string]int{}
	for _, r := range victim.Log() {
		hosts[r.Host]++
	}
	t.Logf("the victim saw %d requests on %d names: %v", len(victim.Log()), len(hosts), hosts)
	// A name is asked for its robots.txt, and for its sitemap.
	checkLedTo(t, hosts)
	if len(victim.Log()) > 2*foreign {
		t.Errorf("the victim saw %d requests", len(victim.Log()))
	}
	if n := len(neighbour.Log()); n != 0 {
		t.Errorf("the neighbour saw %d requests", n)
	}
	if most := mostInFlight(slices.Concat(attacker.Log(), victim.Log())); most > inFlight {
		t.Errorf("%d requests were in flight to one address", most)
	} else {
		t.Logf("at most %d requests were in flight", most)
	}
	if rejected := d.rejected("open"); rejected["bad port"] < 2*len(testsite.BadPorts) {
		t.Errorf("rejected %v", rejected)
	}
	if listed := d.must("rejected", "open", "--reason", "foreign host"); !strings.Contains(listed, ".victim.localhost") || !strings.Contains(listed, "sources.foreign_hosts") {
		t.Errorf("rejected links:\n%s", listed)
	}
	chained := d.must("history", fmt.Sprintf("http://c1.%s/", hostOf(attacker.URL("chain"))))
	if !strings.Contains(chained, "not made a seed: this seed came by a redirect itself") {
		t.Errorf("the chain's end says:\n%s", chained)
	}
	d.stop()
}

// foreignHosts is the default of sources.foreign_hosts.
const foreignHosts = 5

// checkLedTo bounds the names on which a victim was asked: those that sitemaps name, and
// those to which the relays' robots.txt redirect.
func checkLedTo(t *testing.T, names map[string]int) {
	t.Helper()
	listed, relayed := 0, 0
	for name := range names {
		var n int
		if _, err := fmt.Sscanf(name, "n%d.", &n); err != nil {
			t.Errorf("the victim was asked as %s", name)
		} else if n < testsite.AimedNames {
			listed++
		} else {
			relayed++
		}
	}
	if listed > foreignHosts || relayed > foreignHosts {
		t.Errorf("the victim was asked on %d names of sitemaps and %d of relays, want at most %d each", listed, relayed, foreignHosts)
	}
}

// shop is shop.localhost, which redirects to www.shop.localhost.
func shop(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.Host, "shop.localhost:") && r.URL.Path == "/" {
		http.Redirect(w, r, "http://www."+r.Host+"/", http.StatusMovedPermanently)
		return
	}
	http.NotFound(w, r)
}

// mostInFlight is how many requests ran at the same time.
func mostInFlight(log []testsite.Request) int {
	type event struct {
		at    time.Time
		delta int
	}
	var events []event
	for _, r := range log {
		events = append(events, event{r.Begin, 1})
		if !r.End.IsZero() {
			events = append(events, event{r.End, -1})
		}
	}
	slices.SortFunc(events, func(a, b event) int { return a.at.Compare(b.at) })
	now, most := 0, 0
	for _, e := range events {
		now += e.delta
		most = max(most, now)
	}
	return most
}
