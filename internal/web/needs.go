package web

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/report"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

// need is something of a crawl that waits for somebody.
type need struct {
	// Grave: nothing goes on until a person acts. Calm: it goes on by itself, but a person
	// may want to know.
	Grave, Calm bool
	What        string
	Why         string
	Until       time.Time // when it is tried again by itself, zero if it is not
	Link        string    // where to see more, "" for nowhere
	// Buttons mend it.
	Buttons []button
}

// needsOf returns a crawl's needs, the gravest first.
func needsOf(line report.StatusLine, traps []store.TrapRecord) []need {
	if line.State == crawl.CrawlStopped {
		return []need{{Calm: true, What: "The crawl is stopped", Why: fmt.Sprintf("`starter crawl %s` starts it again", line.Crawl)}}
	}
	var needs []need
	needs = append(needs, engineNeeds(line)...)
	needs = append(needs, sinkNeeds(line)...)
	needs = append(needs, hostNeeds(line)...)
	return append(needs, pageNeeds(line, traps)...)
}

// noButton is said of what a person mends elsewhere.
const noButton = "; no button mends this"

// engineNeeds returns the needs about workers, workflows and disks.
func engineNeeds(line report.StatusLine) []need {
	var needs []need
	for _, h := range line.Held {
		needs = append(needs, need{Grave: true, What: "Worker " + h.Worker + " makes no request", Why: h.Reason + noButton})
	}
	for _, t := range line.Troubles {
		if !time.Time(t.MendedAt).IsZero() {
			continue
		}
		n := need{Grave: true, What: "Trouble: " + report.TroublePart(t.Part), Why: t.Problem}
		if t.Pages > 0 {
			n.Why += fmt.Sprintf(" (%s)", count(t.Pages, "page"))
		}
		if t.Part != "workers" {
			n.Buttons = []button{{Action: at(line.Crawl, "do", "repair"), Label: "Repair", About: "the workflows of " + line.Crawl}}
		} else {
			n.Why += noButton
		}
		needs = append(needs, n)
	}
	if line.OverAsked != "" {
		needs = append(needs, need{What: "More visits are asked for than are made", Why: string(line.OverAsked) + noButton})
	}
	if b := line.Backlog; b != nil && b.Advice != "" {
		needs = append(needs, need{
			What: fmt.Sprintf("Work waits for a worker for %s", schedule.Rough(b.Age.Std())), Why: string(b.Advice) + noButton,
		})
	}
	return needs
}

func sinkNeeds(line report.StatusLine) []need {
	var needs []need
	for _, k := range line.Sinks {
		n := need{Link: at(line.Crawl, "sinks"), What: "Sink " + k.Sink, Calm: !k.NeedsSomebody()}
		switch {
		case k.State == "paused":
			n.Grave, n.Why = true, "paused: "+string(k.Problem)
		case k.State == "retrying":
			n.Why, n.Until = string(k.Problem), time.Time(k.NextTry)
		case k.Undelivered > 0:
			n.What = fmt.Sprintf("Sink %s could not deliver %s", k.Sink, count(k.Undelivered, "change"))
			n.Link, n.Buttons = at(line.Crawl, "sinks", k.Sink, "failed"), []button{replayButton(line.Crawl, k.Sink)}
		case k.State == "delivering" && k.NeedsSomebody():
			n.What = fmt.Sprintf("Sink %s is %s behind", k.Sink, schedule.Rough(k.Lag.Std()))
			n.Why = count(k.Waiting, "change") + " wait: its receiver is slow, or no worker delivers"
			n.Buttons = []button{
				{Action: at(line.Crawl, "sinks", k.Sink, "test"), Label: "Send a test", About: "to sink " + k.Sink},
				{Action: at(line.Crawl, "sinks", k.Sink, "pause"), Label: "Pause", About: "sink " + k.Sink},
			}
		default:
			continue
		}
		if k.State != "delivering" {
			n.Buttons = append(n.Buttons, button{Action: at(line.Crawl, "sinks", k.Sink, "resume"), Label: "Go on", About: "with sink " + k.Sink})
		}
		needs = append(needs, n)
	}
	return needs
}

// hostNeeds returns the needs about hosts that do not answer, or forbid us. A host that an
// operator has blocked needs nobody, and a host that asked for quiet is asked again by
// itself.
func hostNeeds(line report.StatusLine) []need {
	var needs []need
	for _, h := range line.HostTroubles {
		if !h.State.NeedsSomebody() {
			continue
		}
		n := need{What: fmt.Sprintf("%s is %s", h.Host, h.State), Why: h.Why, Until: time.Time(h.Until), Link: at(line.Crawl, "hosts", h.Host)}
		if h.State == report.HostUnreachable {
			n.Buttons = append(n.Buttons, button{
				Action: at(line.Crawl, "retry"), Label: "Retry failing pages", About: "of " + h.Host, Fields: []field{{"host", h.Host}},
			})
		}
		n.Buttons = append(n.Buttons, button{Action: at(line.Crawl, "hosts", h.Host, "block"), Label: "Block", About: h.Host, Grave: true})
		needs = append(needs, n)
	}
	if rest := line.HostsNeedYou - len(needs); rest > 0 {
		needs = append(needs, need{What: count(rest, "more host") + " of which nothing can be fetched", Link: at(line.Crawl, "hosts") + "?trouble=1"})
	}
	return needs
}

// trapsShown is the number of traps that are named, those that hold most.
const trapsShown = 3

func pageNeeds(line report.StatusLine, traps []store.TrapRecord) []need {
	var needs []need
	if n := line.Pages[crawl.Failing.String()]; n > 0 {
		needs = append(needs, need{
			Calm: true, What: plural(n, "page fails", "pages fail"), Why: "each is tried again by itself, less and less often",
			Link:    at(line.Crawl, "pages") + "?state=failing",
			Buttons: []button{{Action: at(line.Crawl, "retry"), Label: "Retry all", About: "failing pages"}},
		})
	}
	traps = slices.DeleteFunc(slices.Clone(traps), func(t store.TrapRecord) bool {
		return t.Held == 0 || t.State == store.TrapReleasing || t.State == store.TrapReleased
	})
	slices.SortStableFunc(traps, func(a, b store.TrapRecord) int { return cmp.Compare(b.Held, a.Held) })
	named := 0
	for _, t := range traps[:min(trapsShown, len(traps))] {
		named += t.Held
		needs = append(needs, need{
			Calm: true, What: "Held as a trap: " + t.Name, Why: plural(t.Held, "page", "pages") + " of a part that seems to have no end: " + t.Detail,
			Link:    at(line.Crawl, "traps"),
			Buttons: []button{{Action: at(line.Crawl, "traps", t.Name, "release"), Label: "Release", About: "the pages of " + t.Name}},
		})
	}
	if rest := line.Pages[crawl.Held.String()] - named; rest > 0 {
		needs = append(needs, need{Calm: true, What: count(rest, "page") + " held in other traps", Link: at(line.Crawl, "traps")})
	}
	return needs
}
