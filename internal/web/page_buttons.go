package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// pageButtons are the commands on a page.
type pageButtons struct {
	Visit *button
	// Snooze and Interval are choices of a time; Custom is the address for any other
	// interval.
	Snooze, Interval []button
	Custom           string
	// Stop ends its visits.
	Stop *button
}

// Changes of a page, as Commands.ChangePage takes them.
const (
	visitNow    = "visit-now"
	snooze      = "snooze"
	setInterval = "set-interval"
	stopPage    = "stop"
)

// buttonsOf returns the commands that fit a page's state.
func buttonsOf(page store.PageRecord) pageButtons {
	do := func(change, label, time string) button {
		b := button{Action: atPage(page, change), Label: label}
		if time != "" {
			b.Fields = []field{{"for", time}}
		}
		return b
	}
	visit := do(visitNow, "Visit now", "")
	switch {
	case page.State == crawl.Stopped:
		visit.Label = "Bring it back"
		return pageButtons{Visit: &visit}
	case !page.State.Lives():
		return pageButtons{}
	}
	stop := do(stopPage, "Visit it no more", "")
	stop.Grave = true
	return pageButtons{
		Visit: &visit, Stop: &stop, Custom: atPage(page, setInterval),
		Snooze: []button{
			do(snooze, "For an hour", "1h"), do(snooze, "For a day", "1d"), do(snooze, "For a week", "7d"), do(snooze, "For 30 days", "30d"),
			do(snooze, "No longer", "0"),
		},
		Interval: []button{
			do(setInterval, "Every hour", "1h"), do(setInterval, "Every day", "1d"), do(setInterval, "Every week", "7d"),
			do(setInterval, "As its policy plans", "0"),
		},
	}
}

// pageFields: only a time to wait is a choice.
func pageFields(r *http.Request) []string {
	if change := r.PathValue("change"); change != snooze && change != setInterval {
		return nil
	}
	return []string{"for"}
}

// changePage carries out a command on a page.
func changePage(ctx context.Context, s *Server, r *http.Request) (string, error) {
	change := r.PathValue("change")
	if err := oneOf(change, visitNow, snooze, setInterval, stopPage); err != nil {
		return "", err
	}
	page, err := s.pageOf(ctx, r)
	if err != nil {
		return "", err
	}
	if change == visitNow || change == stopPage {
		return s.Commands.ChangePage(ctx, page, change, "")
	}
	text := cmp.Or(r.PostFormValue("for"), "nothing")
	time, err := crawl.ParseDuration(text)
	if err != nil {
		return "", fmt.Errorf("for=%s %w: %w", crawl.Clean(text, 40), errBad, err)
	}
	return s.Commands.ChangePage(ctx, page, change, crawl.FormatDuration(time))
}
