package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/report"
)

// crawlMore is what people are shown of a crawl besides its numbers.
type crawlMore struct {
	// Sentence says how the crawl is.
	Sentence string
	Facts    []fact
	Needs    []need
	Changes  recentChanges
	// Buttons are the usual commands, Rare those that are seldom wanted.
	Buttons, Rare []button
}

// fact is a number with its name.
type fact struct {
	Name  string
	Value string
	Note  string // what else there is to say, "" for nothing
	Link  string // to the list of what was counted, "" for none
}

// crawlView shows a crawl.
func crawlView(ctx context.Context, s *Server, r *http.Request) (answer, error) {
	name := value(r, "crawl")
	line, err := s.Report.StatusOf(ctx, name)
	if err != nil {
		return answer{}, err
	}
	a := answer{Title: name, Crawl: name, Now: time.Time(line.Now), Data: line}
	if wantsJSON(r) {
		return a, nil
	}
	more := crawlMore{Sentence: sentence(line), Facts: factsOf(line), Needs: needsOf(line)}
	more.Buttons, more.Rare = crawlButtons(line)
	if more.Changes, err = s.recent(ctx, name, line.Generation, r.URL.Query().Get("kinds")); err != nil {
		return answer{}, err
	}
	a.More = more
	return a, nil
}

// at is an address below that of a crawl.
func at(crawlName string, parts ...string) string {
	var b strings.Builder
	b.WriteString("/crawls/" + url.PathEscape(crawlName))
	for _, p := range parts {
		b.WriteString("/" + url.PathEscape(p))
	}
	return b.String()
}

// sentence says in one line how a crawl is.
func sentence(line report.StatusLine) string {
	words := fmt.Sprintf("%s, %s in the last hour", count(pagesOf(line), "page"), count(line.VisitsLastH, "visit"))
	if line.InTrouble > 0 {
		words += fmt.Sprintf("; %s cannot be fetched from", count(line.InTrouble, "host"))
	}
	return words
}

func pagesOf(line report.StatusLine) int {
	n := 0
	for _, in := range line.Pages {
		n += in
	}
	return n
}

func factsOf(line report.StatusLine) []fact {
	next := "–"
	if due := time.Time(line.NextDue); !due.IsZero() {
		next = report.When(due, time.Time(line.Now))
	}
	return []fact{
		{Name: "Pages", Value: count(pagesOf(line), ""), Note: count(line.Pages[crawl.Active.String()], "") + " active", Link: at(line.Crawl, "pages")},
		{Name: "Visits", Value: count(line.Visits, ""), Note: count(line.VisitsLastH, "") + " in the last hour"},
		{Name: "Versions", Value: count(line.Versions, ""), Note: count(line.Links, "link")},
		{Name: "Hosts", Value: count(line.Hosts, ""), Note: count(line.Waiting, "page") + " in line", Link: at(line.Crawl, "hosts")},
		{Name: "Next visit", Value: next, Note: overdueWords(line)},
	}
}

func overdueWords(line report.StatusLine) string {
	if line.Overdue == 0 {
		return "nothing is overdue"
	}
	return count(line.Overdue, "") + " overdue"
}

// crawlButtons are the commands that fit a crawl's state.
func crawlButtons(line report.StatusLine) (usual, rare []button) {
	do := func(change, label string) button {
		return button{Action: at(line.Crawl, "do", change), Label: label}
	}
	switch line.State {
	case crawl.CrawlPaused:
		usual = append(usual, do("resume", "Resume"))
	case crawl.CrawlRunning:
		usual = append(usual, do("pause", "Pause"))
	case crawl.CrawlStopped:
		return nil, nil
	}
	stop := do("stop", "Stop the crawl")
	stop.Grave = true
	return usual, []button{do("rank", "Rank pages now"), do("repair", "Repair workflows"), stop}
}
