package testsite

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

const (
	// AimedNames is the number of the victim's names that an attack uses.
	AimedNames = 300
	// Relays is the number of hosts whose robots.txt redirects to the victim.
	Relays = 8
	// CrowdNames is the number of names that lead to one address, and crowdPause the time
	// that each takes to answer.
	CrowdNames = 12
	crowdPause = 500 * time.Millisecond
)

// aimAttacks returns hosts that try to make their crawler send requests to others.
func aimAttacks(aims Aims) []Attack {
	victim := func(i int) string { return fmt.Sprintf("http://n%d.%s", i, aims.Victim) }
	var abroad, relayed strings.Builder
	for i := range AimedNames {
		fmt.Fprintf(&abroad, "Sitemap: %s/x\n", victim(i))
	}
	for i := range Relays {
		fmt.Fprintf(&relayed, " http://r%d.relay.localhost:PORT/", i)
	}
	return []Attack{
		{Name: "sitemaps-abroad", Handler: withRobots(plainText(abroad.String()), linkedPages())},
		{Name: "bad-ports", Handler: withRobots(plainText(badPortSitemaps()), linkedPages(badPortLinks()...))},
		{Name: "relay", Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			name, port := splitHost(r.Host)
			var i int
			n, _ := fmt.Sscanf(name, "r%d.relay.localhost", &i)
			switch {
			case n == 1 && r.URL.Path == robotsPath:
				http.Redirect(w, r, victim(AimedNames+i)+robotsPath, http.StatusFound)
			case r.URL.Path == robotsPath:
				http.NotFound(w, r)
			default:
				writePage(w, r, "", strings.Fields(strings.ReplaceAll(relayed.String(), "PORT", port))...)
			}
		})},
		{Name: "neighbour", Handler: withRobots(http.RedirectHandler("http://"+aims.Neighbour+"/", http.StatusFound), linkedPages())},
		{Name: "chain", Handler: withoutRobots(http.HandlerFunc(chain))},
		{Name: "crowd", Handler: withoutRobots(http.HandlerFunc(crowd))},
	}
}

// crowd serves many names of one address, each of which answers slowly.
func crowd(w http.ResponseWriter, r *http.Request) {
	name, port := splitHost(r.Host)
	if name == "crowd.localhost" {
		writePage(w, r, "", strings.Fields(numbered(CrowdNames, "http://n%d.crowd.localhost:"+port+"/ "))...)
		return
	}
	select {
	case <-time.After(crowdPause):
		writePage(w, r, "")
	case <-r.Context().Done():
	}
}

// BadPorts are some of the ports that no browser asks, and on which anybody may listen.
var BadPorts = []int{2049, 4045, 5060, 6000, 6566, 6667, 10080}

func badPortSitemaps() string {
	var b strings.Builder
	for _, port := range BadPorts {
		fmt.Fprintf(&b, "Sitemap: http://bad-ports.localhost:%d/sitemap.xml\n", port)
	}
	return b.String()
}

func badPortLinks() []string {
	var links []string
	for _, port := range BadPorts {
		links = append(links, fmt.Sprintf("http://bad-ports.localhost:%d/", port))
	}
	return links
}

// chain sends from each name to the next one, without end: chain.localhost,
// c1.chain.localhost, …
func chain(w http.ResponseWriter, r *http.Request) {
	name, port := splitHost(r.Host)
	i := 0
	fmt.Sscanf(name, "c%d.", &i)
	http.Redirect(w, r, origin(fmt.Sprintf("c%d.chain.localhost", i+1), port)+"/", http.StatusMovedPermanently)
}
