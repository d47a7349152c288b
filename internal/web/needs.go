package web

import (
	"fmt"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/report"
)

// need is something of a crawl that waits for somebody.
type need struct {
	// Grave: nothing goes on until somebody acts.
	Grave bool
	What  string
	Why   string
	Until time.Time // when it is tried again by itself, zero if it is not
	Link  string    // where to see more, "" for nowhere
	// Buttons mend it.
	Buttons []button
}

// needsOf are a crawl's needs, the gravest first.
func needsOf(line report.StatusLine) []need {
	var needs []need
	needs = append(needs, engineNeeds(line)...)
	needs = append(needs, sinkNeeds(line)...)
	needs = append(needs, hostNeeds(line)...)
	return append(needs, pageNeeds(line)...)
}

// engineNeeds are about workers, workflows and disks.
func engineNeeds(line report.StatusLine) []need {
	var needs []need
	for _, h := range line.Held {
		needs = append(needs, need{Grave: true, What: "Worker " + h.Worker + " makes no request", Why: h.Reason})
	}
	for _, t := range line.Troubles {
		if !time.Time(t.MendedAt).IsZero() {
			continue
		}
		n := need{Grave: true, What: upperFirst(t.Part), Why: t.Problem}
		if t.Pages > 0 {
			n.Why += fmt.Sprintf(" (%s)", count(t.Pages, "page"))
		}
		if t.Part != "workers" {
			n.Buttons = []button{{Action: at(line.Crawl, "do", "repair"), Label: "Repair", About: "the workflows of " + line.Crawl}}
		}
		needs = append(needs, n)
	}
	return needs
}

func sinkNeeds(line report.StatusLine) []need {
	var needs []need
	for _, k := range line.Sinks {
		n := need{Link: at(line.Crawl, "sinks"), What: "Sink " + k.Sink}
		switch {
		case k.State == "paused":
			n.Grave, n.Why = true, "paused: "+string(k.Problem)
		case k.State == "retrying":
			n.Why, n.Until = string(k.Problem), time.Time(k.NextTry)
		case k.Undelivered > 0:
			n.What = fmt.Sprintf("Sink %s could not deliver %s", k.Sink, count(k.Undelivered, "change"))
			n.Link = at(line.Crawl, "sinks", k.Sink, "failed")
		default:
			continue
		}
		if k.State != "delivering" {
			n.Buttons = []button{{Action: at(line.Crawl, "sinks", k.Sink, "resume"), Label: "Go on", About: "with sink " + k.Sink}}
		}
		needs = append(needs, n)
	}
	return needs
}

// hostNeeds are the hosts that do not answer, or forbid us. What an operator has blocked
// waits for nobody, and a host that asked for quiet is asked again by itself.
func hostNeeds(line report.StatusLine) []need {
	var needs []need
	shown := 0
	for _, h := range line.HostTroubles {
		shown++
		if h.State == report.HostBlocked || h.State == report.HostThrottled {
			continue
		}
		n := need{What: fmt.Sprintf("%s is %s", h.Host, h.State), Why: h.Why, Until: time.Time(h.Until), Link: at(line.Crawl, "hosts", h.Host)}
		if h.State == report.HostUnreachable {
			n.Buttons = append(n.Buttons, button{
				Action: at(line.Crawl, "retry"), Label: "Retry its pages", About: "of " + h.Host, Fields: []field{{"host", h.Host}},
			})
		}
		n.Buttons = append(n.Buttons, button{Action: at(line.Crawl, "hosts", h.Host, "block"), Label: "Block", About: h.Host, Grave: true})
		needs = append(needs, n)
	}
	if rest := line.InTrouble - shown; rest > 0 {
		needs = append(needs, need{What: fmt.Sprintf("%s more cannot be fetched from", count(rest, "host")), Link: at(line.Crawl, "hosts")})
	}
	return needs
}

func pageNeeds(line report.StatusLine) []need {
	var needs []need
	if n := line.Pages[crawl.Failing.String()]; n > 0 {
		needs = append(needs, need{
			What: fmt.Sprintf("%s failing", plural(n, "page is", "pages are")), Why: "their last visits failed; each is tried again by itself, ever more seldom",
			Link:    at(line.Crawl, "pages") + "?state=failing",
			Buttons: []button{{Action: at(line.Crawl, "retry"), Label: "Retry all", About: "failing pages"}},
		})
	}
	if n := line.Pages[crawl.Held.String()]; n > 0 {
		needs = append(needs, need{
			What: fmt.Sprintf("%s held in traps", plural(n, "page is", "pages are")), Why: "these parts of sites seem to have no end",
			Link: at(line.Crawl, "traps"),
		})
	}
	return needs
}
