package app

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/report"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
	"recrawl/internal/testsite"
)

// Times between two reports of progress: a line each for a log, one line that is
// overwritten for a terminal.
const (
	watchEvery = 5 * time.Second
	drawEvery  = time.Second
	// watchRests is how many times as long as it took to find out the progress nobody asks
	// again: the numbers of a crawl with many hosts take a while, and visits need the machine.
	watchRests = 20
)

// restAfter is how long the next report of progress waits after one that took some time.
func restAfter(every, took time.Duration) time.Duration { return max(every, watchRests*took) }

func (d *devRun) announce() {
	d.stateMu.Lock()
	defer d.stateMu.Unlock()
	d.announced = true
	fmt.Fprintf(d.Out, "Temporal UI  %s\n", d.state.TemporalUI)
	fmt.Fprintf(d.Out, "Temporal     %s\n", d.state.TemporalAddress)
	if d.demo != nil {
		fmt.Fprintf(d.Out, "demo site    %s\n", d.demo.site.URL(testsite.AdminHost))
	}
	if address := d.watched.address(); address != "" {
		fmt.Fprintf(d.Out, "metrics      http://%s/metrics\n", address)
	}
	fmt.Fprintf(d.Out, "data folder  %s\n", d.dir.path)
	fmt.Fprintln(d.Out, "ready; Ctrl-C stops, and starting again continues")
}

// watch shows the progress whenever something has changed, until ctx ends.
func (d *devRun) watch(ctx context.Context) {
	screen := &screen{out: d.Out, over: d.Terminal}
	every := watchEvery
	if d.Terminal {
		every = drawEvery
		defer fmt.Fprintln(d.Out)
	}
	timer := time.NewTimer(every)
	defer timer.Stop()
	told, failed := notices{}, notices{}
	for {
		select {
		case <-ctx.Done():
			return
		case asked := <-timer.C:
			lines, err := d.progress(ctx)
			if ctx.Err() != nil {
				return
			}
			screen.say(failed.news(failures(err)), time.Now())
			screen.say(told.news(d.trouble(ctx)), time.Now())
			screen.show(lines, time.Now())
			timer.Reset(restAfter(every, time.Since(asked)))
		}
	}
}

// failures turns an error into notices, so that an error that persists is reported once.
func failures(err error) map[string]string {
	if err == nil {
		return map[string]string{}
	}
	return map[string]string{"progress": "the progress cannot be shown: " + strings.Map(crawl.Visible, err.Error())}
}

// screen shows a line for each crawl: on a terminal over the last ones, and in a log those
// that have changed, with the date.
type screen struct {
	out   io.Writer
	over  bool
	drawn int    // lines that may be overwritten
	text  string // of these
	last  map[string]string
}

// say writes lines that stay.
func (s *screen) say(lines []string, now time.Time) {
	if len(lines) == 0 {
		return
	}
	s.clear()
	for _, line := range lines {
		fmt.Fprintf(s.out, "%s  %s\n", now.Format(time.DateTime), line)
	}
}

// clear removes the lines that may be overwritten.
func (s *screen) clear() {
	if s.drawn > 1 {
		fmt.Fprintf(s.out, "\x1b[%dA", s.drawn-1)
	}
	if s.drawn > 0 {
		fmt.Fprint(s.out, "\r\x1b[J")
	}
	s.drawn = 0
}

// show shows the lines of the crawls by their names.
func (s *screen) show(lines []crawlLine, now time.Time) {
	if !s.over {
		last := map[string]string{}
		for _, l := range lines {
			if s.last[l.name] != l.done {
				fmt.Fprintf(s.out, "%s  %s: %s\n", now.Format(time.DateTime), l.name, l.words)
			}
			last[l.name] = l.done
		}
		s.last = last
		return
	}
	all := make([]string, len(lines))
	for i, l := range lines {
		all[i] = cut(l.name+": "+l.words, terminalWidth)
	}
	text := strings.Join(all, "\n")
	if s.drawn > 0 && text == s.text {
		return
	}
	s.clear()
	fmt.Fprint(s.out, noWrap, text, wrap)
	s.drawn, s.text = len(lines), text
}

// troubleTold is how many hosts in trouble of a crawl are reported.
const troubleTold = 20

// trouble describes the trouble with hosts of the crawls, by its subject.
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

// notices are the messages shown so far, so that each is shown once for as long as it
// is true.
type notices map[string]string

// news returns the notices that have not been given, in order; nil means that nothing
// is known.
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

// terminalWidth is the width of nearly every terminal. Between noWrap and wrap, a narrower one cuts
// the line: what went on in the next row could not be overwritten.
const (
	terminalWidth = 79
	noWrap, wrap  = "\x1b[?7l", "\x1b[?7h"
)

func cut(line string, width int) string {
	runes := []rune(line)
	return string(runes[:min(len(runes), width)])
}

// crawlLine is the progress of a crawl. In a log it appears again only when done has
// changed: passing time is no news.
type crawlLine struct{ name, words, done string }

// progress returns a line for each crawl.
func (d *devRun) progress(ctx context.Context) ([]crawlLine, error) {
	crawls, err := d.store.ListCrawls(ctx)
	if err != nil {
		return nil, err
	}
	lines := make([]crawlLine, 0, len(crawls))
	for _, c := range crawls {
		status, first, err := report.Reporter{Store: d.store}.Progress(ctx, c)
		if err != nil {
			return nil, err
		}
		imports, err := report.Reporter{Imports: d.store}.UnfinishedImports(ctx, c)
		if err != nil {
			return nil, err
		}
		lines = append(lines, crawlLine{
			c.Spec.Name, progressWords(c.State, status, first, d.Terminal) + importWords(imports), statusWords(c.State, status) + importWords(imports),
		})
	}
	return lines, nil
}

// importWords say how far unfinished imports have come.
func importWords(imports []report.ImportLine) (words string) {
	for _, i := range imports {
		words += "; import: " + i.String()
	}
	return words
}

// progressWords describe the progress of a crawl: as long as there are first visits to
// make, with their number and how long they take, and with a bar where lines are short.
func progressWords(state crawl.CrawlState, s store.StatusRecord, first *report.FirstPass, short bool) string {
	words := statusWords(state, s)
	switch {
	case first == nil:
		return words
	case short:
		left := ""
		if first.Takes > 0 {
			left = fmt.Sprintf(", about %s left", schedule.Rough(first.Takes.Std()))
		}
		return fmt.Sprintf("%s %d/%d%s; %s", first.Bar(), first.Done, first.Done+first.Left, left, words)
	}
	return words + "; first pass: " + first.String()
}

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
