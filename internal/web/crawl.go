package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/report"
	"recrawl/internal/store"
)

// crawlMore holds the parts of a crawl's view that only people see, besides its numbers.
type crawlMore struct {
	Facts   []fact
	Needs   []need
	Changes recentChanges
	// Days are the last thirty, as Charts draw them.
	Days   []report.Day
	Charts []dayChart
	// Hosts are those where one pass takes longest.
	Hosts []hostBar
	// Buttons are the usual commands, Rare those that are seldom wanted.
	Buttons, Rare []button
	// Doing says how far long commands have come.
	Doing []string
	// Stopped: the crawl was ended.
	Stopped bool
}

// Newest are the days, the last first.
func (m crawlMore) Newest() []report.Day {
	days := slices.Clone(m.Days)
	slices.Reverse(days)
	return days
}

// Quiet reports whether nothing needs a person.
func (m crawlMore) Quiet() bool {
	return !slices.ContainsFunc(m.Needs, func(n need) bool { return !n.Calm })
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
	if a.More, err = s.crawlMore(ctx, line, r.URL.Query().Get("kinds")); err != nil {
		return answer{}, err
	}
	return a, nil
}

// crawlMore makes the parts of a crawl's view for people; kinds are the kinds of changes
// that they chose.
func (s *Server) crawlMore(ctx context.Context, line report.StatusLine, kinds string) (more crawlMore, err error) {
	record, err := s.Report.Store.Crawl(ctx, line.Crawl)
	if err != nil {
		return more, err
	}
	var traps []store.TrapRecord
	if line.Pages[crawl.Held.String()] > 0 {
		if traps, err = s.Report.Store.Traps(ctx, store.TrapFilter{CrawlID: record.ID, Limit: trapsRead}); err != nil {
			return more, err
		}
	}
	if more.Days, err = s.Report.Days(ctx, line.Crawl); err != nil {
		return more, err
	}
	passes, err := s.Report.Passes(ctx, line.Crawl, passesShown)
	if err != nil {
		return more, err
	}
	if more.Changes, err = s.recent(ctx, record, kinds); err != nil {
		return more, err
	}
	more.Facts, more.Needs = factsOf(line), needsOf(line, traps)
	more.Charts, more.Hosts = dayCharts(more.Days), hostBars(line.Crawl, passes)
	more.Buttons, more.Rare = crawlButtons(line)
	more.Doing, more.Stopped = s.doing(line.Crawl), line.State == crawl.CrawlStopped
	return more, nil
}

// doing says how far long commands of a crawl have come.
func (s *Server) doing(crawlName string) []string {
	if s.Commands == nil {
		return nil
	}
	return s.Commands.Doing(crawlName)
}

const (
	// trapsRead is the number of traps among which the ones that hold most are looked for.
	trapsRead = 50
	// passesShown is the number of hosts shown in the order of how long one pass takes.
	passesShown = 8
)

// at returns an address below that of a crawl.
func at(crawlName string, parts ...string) string {
	var b strings.Builder
	b.WriteString("/crawls/" + segment(crawlName))
	for _, p := range parts {
		b.WriteString("/" + segment(p))
	}
	return b.String()
}

// segment writes a name as a part of an address. If it ends like an address for programs,
// the point is escaped, and the address is one for people.
func segment(name string) string {
	text := url.PathEscape(name)
	if short, is := strings.CutSuffix(text, jsonSuffix); is {
		return short + "%2E" + strings.TrimPrefix(jsonSuffix, ".")
	}
	return text
}

// sentence says in one line how a crawl is, on the clock of this machine, whose zone is
// named to those who are not here.
func sentence(line report.StatusLine, here bool) string { return line.Sentence(time.Local, !here) }

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
	fresh := fact{Name: "Fresh", Value: "–", Note: line.UnknownFreshness()}
	if f := line.Freshness; f != nil {
		fresh.Value, fresh.Note = report.Percent(f.Fresh), report.Percent(f.Planned)+" planned"
	}
	return []fact{
		fresh,
		{Name: "Pages", Value: count(pagesOf(line), ""), Note: unvisitedWords(line), Link: at(line.Crawl, "pages")},
		{Name: "Visits", Value: count(line.Visits, ""), Note: count(line.VisitsLastH, "") + " in the last hour"},
		{Name: "Versions", Value: count(line.Versions, ""), Note: count(line.Links, "link") + " known"},
		{Name: "Hosts", Value: count(line.Hosts, ""), Note: count(line.Waiting, "page") + " in line", Link: at(line.Crawl, "hosts")},
		{Name: "Next visit", Value: next, Note: overdueWords(line)},
	}
}

func unvisitedWords(line report.StatusLine) string {
	n := line.Pages[crawl.Known.String()]
	if line.Admission != nil {
		n += line.Admission.Own
	}
	if n > 0 {
		return count(n, "") + " not visited yet"
	}
	return "all visited"
}

func overdueWords(line report.StatusLine) string {
	switch {
	case line.OverdueMore:
		return "at least " + count(line.Overdue, "") + " overdue"
	case line.Overdue == 0:
		return "nothing is overdue"
	}
	return count(line.Overdue, "") + " overdue"
}

// crawlButtons returns the commands that fit a crawl's state.
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
