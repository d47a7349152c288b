package app

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/report"
	"recrawl/internal/store"
	"recrawl/internal/testsite"
)

// Times between two looks at the progress: a line each for a log, one line that
// is written over for a terminal.
const (
	watchEvery = 5 * time.Second
	drawEvery  = time.Second
)

func (d *devRun) announce() {
	d.stateMu.Lock()
	defer d.stateMu.Unlock()
	d.announced = true
	fmt.Fprintf(d.Out, "page         %s\n", d.state.Web)
	fmt.Fprintf(d.Out, "Temporal UI  %s\n", d.state.TemporalUI)
	fmt.Fprintf(d.Out, "Temporal     %s\n", d.state.TemporalAddress)
	if d.demo != nil {
		fmt.Fprintf(d.Out, "demo site    %s\n", d.demo.site.URL(testsite.AdminHost))
	}
	fmt.Fprintf(d.Out, "data folder  %s\n", d.dir.path)
	fmt.Fprintln(d.Out, "ready; Ctrl-C stops, and starting again continues")
}

// watch shows the progress whenever something has changed, until ctx ends.
func (d *devRun) watch(ctx context.Context) {
	every, show := watchEvery, func(line string) {
		fmt.Fprintf(d.Out, "%s  %s\n", time.Now().Format(time.TimeOnly), line)
	}
	if d.Terminal {
		every, show = drawEvery, func(line string) { fmt.Fprint(d.Out, "\r\x1b[K", cut(line, terminalWidth)) }
		defer fmt.Fprintln(d.Out)
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	last, told := "", notices{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			for _, notice := range told.news(d.trouble(ctx)) {
				if d.Terminal {
					fmt.Fprint(d.Out, "\r\x1b[K")
				}
				fmt.Fprintf(d.Out, "%s  %s\n", time.Now().Format(time.TimeOnly), notice)
				last = ""
			}
			if line := d.progress(ctx); line != last && line != "" {
				show(line)
				last = line
			}
		}
	}
}

// troubleTold is how many hosts in trouble of a crawl are looked at.
const troubleTold = 20

// trouble says what is wrong with hosts of the crawls, by what it is about.
func (d *devRun) trouble(ctx context.Context) map[string]string {
	crawls, err := d.store.ListCrawls(ctx)
	if err != nil {
		return nil
	}
	now, err := d.store.Now(ctx)
	if err != nil {
		return nil
	}
	all := map[string]string{}
	for _, c := range crawls {
		hosts, _, err := report.Reporter{Store: d.store}.Trouble(ctx, c, now, troubleTold)
		if err != nil {
			return nil
		}
		for _, h := range hosts {
			all[c.Spec.Name+" "+h.Host+" "+string(h.State)] = strings.Map(crawl.Visible, c.Spec.Name+": "+h.String())
		}
	}
	return all
}

// notices are what has been said, so that it is said once for as long as it holds.
type notices map[string]string

// news are the notices that have not been given, in order; nil says nothing is known.
func (n notices) news(all map[string]string) []string {
	if all == nil {
		return nil
	}
	var fresh []string
	for _, about := range slices.Sorted(maps.Keys(all)) {
		if n[about] == "" {
			fresh = append(fresh, all[about])
		}
	}
	clear(n)
	maps.Copy(n, all)
	return fresh
}

// terminalWidth is what nearly every terminal has; a longer line could not be
// written over.
const terminalWidth = 79

func cut(line string, width int) string {
	runes := []rune(line)
	return string(runes[:min(len(runes), width)])
}

// bar draws how much of all is done.
func bar(done, all int) string {
	const width = 20
	full := 0
	if all > 0 {
		full = width * done / all
	}
	return strings.Repeat("█", full) + strings.Repeat("░", width-full)
}

// progress is one line on all crawls.
func (d *devRun) progress(ctx context.Context) string {
	crawls, err := d.store.ListCrawls(ctx)
	if err != nil {
		return ""
	}
	var parts []string
	for _, c := range crawls {
		status, err := d.store.Status(ctx, c.ID)
		if err != nil {
			continue
		}
		words := statusWords(c.State, status)
		if d.Terminal {
			words = bar(visited(status), pageCount(status)) + " " + words
		}
		parts = append(parts, c.Spec.Name+": "+words)
	}
	return strings.Join(parts, "; ")
}

// pageCount is how many pages a crawl knows of; visited, how many of them had a
// visit, but for those that are just being tried.
func pageCount(s store.StatusRecord) int {
	n := 0
	for _, in := range s.Pages {
		n += in
	}
	return n
}

func visited(s store.StatusRecord) int { return pageCount(s) - s.Pages[crawl.Known] }

func statusWords(state crawl.CrawlState, s store.StatusRecord) string {
	visits := "visits"
	if s.Visits == 1 {
		visits = "visit"
	}
	words := []string{fmt.Sprintf("%d %s", s.Visits, visits)}
	for _, ps := range crawl.PageStates() {
		if n := s.Pages[ps]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, ps))
		}
	}
	if s.Waiting > 0 {
		words = append(words, fmt.Sprintf("%d waiting in line", s.Waiting))
	}
	if state != crawl.CrawlRunning {
		words = slices.Insert(words, 0, state.String())
	}
	return strings.Join(words, ", ")
}

func rememberedPort(address string) int {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(port)
	return n
}

// portOr returns the first port that is not 0.
func portOr(ports ...int) int {
	for _, p := range ports {
		if p != 0 {
			return p
		}
	}
	return 0
}
