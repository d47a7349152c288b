//go:build unix

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"recrawl/internal/crawl"
)

// Markers of the section that is written anew.
const (
	sectionBegin = "<!-- bench-scale: begin -->"
	sectionEnd   = "<!-- bench-scale: end -->"
)

// publish writes tables and curves to a page, and says which targets are met.
func publish(runs []run, page, out string, say io.Writer) error {
	if page == "" {
		page = filepath.Join(out, "report.md")
		if _, err := os.Stat(page); errors.Is(err, fs.ErrNotExist) {
			if err := os.WriteFile(page, []byte(sectionBegin+"\n"+sectionEnd+"\n"), 0o644); err != nil {
				return fmt.Errorf("write the report: %w", err)
			}
		}
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	whole, err := replaceSection(string(text), section(runs))
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	images := filepath.Join(filepath.Dir(page), "images")
	if err := os.MkdirAll(images, 0o755); err != nil {
		return fmt.Errorf("write the curves: %w", err)
	}
	for _, r := range runs {
		if err := os.WriteFile(filepath.Join(images, r.image()), r.chart(), 0o644); err != nil {
			return fmt.Errorf("write the curves: %w", err)
		}
	}
	if err := os.WriteFile(page, []byte(whole), 0o644); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	for _, r := range runs {
		fmt.Fprintf(say, "\n%s, %d hosts of %d pages:\n", r.Run, r.Hosts, r.Pages)
		for _, v := range r.verdicts() {
			fmt.Fprintln(say, " ", v)
		}
	}
	fmt.Fprintf(say, "\nwritten to %s\n", page)
	return nil
}

func (r run) image() string { return "scale-" + r.Run + ".svg" }

// replaceSection puts a section between the markers of a page.
func replaceSection(page, section string) (string, error) {
	head, rest, begun := strings.Cut(page, sectionBegin)
	_, tail, ended := strings.Cut(rest, sectionEnd)
	if !begun || !ended {
		return "", fmt.Errorf("the markers %s and %s are missing: put them where the tables go", sectionBegin, sectionEnd)
	}
	return head + sectionBegin + "\n" + section + sectionEnd + tail, nil
}

// section writes the report in Markdown.
func section(runs []run) string {
	var b strings.Builder
	if len(runs) == 0 {
		return "Nothing was measured.\n"
	}
	first := runs[0].setup
	fmt.Fprintf(&b, "Measured %s with %s on %d cores: %s between two requests to a host, window %d, each page again after %s.\n\n",
		first.Began.UTC().Format(time.DateOnly), first.Version, first.Cores, crawl.FormatDuration(first.Delay), first.Window, crawl.FormatDuration(first.Interval))
	b.WriteString("| | " + heads(runs) + " |\n| --- |" + strings.Repeat(" --- |", len(runs)) + "\n")
	for _, row := range rows {
		cells := make([]string, len(runs))
		for i, r := range runs {
			cells[i] = row.cell(r)
		}
		fmt.Fprintf(&b, "| %s | %s |\n", row.name, strings.Join(cells, " | "))
	}
	b.WriteString("\nVisits a second of each tenth of the first pass, as a share of the fastest, as they were and on a machine of even speed:\n\n| |")
	for i := range 10 {
		fmt.Fprintf(&b, " %d |", i+1)
	}
	b.WriteString("\n| --- |" + strings.Repeat(" --- |", 10) + "\n")
	for _, r := range runs {
		parts := r.tenths()
		was := make([]float64, len(parts))
		for i, p := range parts {
			was[i] = p.rate()
		}
		fmt.Fprintf(&b, "| %s |%s\n| %s, even |%s\n", r.Run, tenthCells(was), r.Run, tenthCells(paces(parts)))
	}
	for _, r := range runs {
		fmt.Fprintf(&b, "\n![%s: visits a second, processor time, backlog, memory and bytes over time](images/%s)\n\n", r.Run, r.image())
		for _, v := range r.verdicts() {
			fmt.Fprintf(&b, "* %s\n", v)
		}
	}
	return b.String()
}

func heads(runs []run) string {
	var names []string
	for _, r := range runs {
		names = append(names, fmt.Sprintf("%s: %d hosts × %d pages", r.Run, r.Hosts, r.Pages))
	}
	return strings.Join(names, " | ")
}

// tenthCells returns ten cells with shares of the highest rate; those that were not measured
// are empty.
func tenthCells(rates []float64) string {
	var b strings.Builder
	for i := range 10 {
		if i < len(rates) {
			fmt.Fprintf(&b, " %.2f |", rates[i]/slices.Max(rates))
		} else {
			b.WriteString("  |")
		}
	}
	return b.String()
}

// none stands in a cell for a figure that was not measured.
const none = "–"

// rows are the rows of the table.
var rows = []struct {
	name string
	cell func(run) string
}{
	{"pages visited in the first pass", func(r run) string {
		return r.atLast(firstPass, func(s sample) string { return fmt.Sprint(s.Visited) })
	}},
	{"the first pass took", func(r run) string {
		p, ok := r.stretchOf(firstPass)
		return either(ok, func() string { return p.to.At.Sub(p.from.At).Round(time.Second).String() })
	}},
	{"visits/s: all of it, the fastest tenth", func(r run) string {
		p, ok := r.stretchOf(firstPass)
		return either(ok, func() string { return fmt.Sprintf("%.1f, %s", p.rate(), rateOr(peak(r.tenths()))) })
	}},
	{"processor time of a first visit: server + worker", func(r run) string { return r.costs(r.stretchOf(firstPass)) }},
	{"… around the 1000th page", func(r run) string { return r.costs(r.early()) }},
	{"… in the second tenth", func(r run) string { return r.costsOfTenth(2) }},
	{"… in the ninth tenth", func(r run) string { return r.costsOfTenth(9) }},
	{"… a fixed piece of work then, second and ninth tenth", func(r run) string { return r.yardOfTenth(2) + ", " + r.yardOfTenth(9) }},
	{"written to disks for a first visit: server + worker", func(r run) string { return r.writes(r.stretchOf(firstPass)) }},
	{"oldest task that waited, most tasks that waited", func(r run) string {
		age := most(r.samples, backlogAge)
		return either(age >= 0, func() string { return fmt.Sprintf("%s, %d", seconds(time.Duration(age)), most(r.samples, backlog)) })
	}},
	{"Page and Discover workflows that ran at most", func(r run) string {
		return fmt.Sprintf("%s, %s", countOr(most(r.samples, func(s sample) int64 { return s.Pages })), countOr(most(r.samples, func(s sample) int64 { return s.Discovers })))
	}},
	{"memory at most: server, worker", func(r run) string {
		return fmt.Sprintf("%s, %s", bytesOr(most(r.samples, func(s sample) int64 { return s.ServerRSS })), bytesOr(most(r.samples, func(s sample) int64 { return s.WorkerRSS })))
	}},
	{"a page that sleeps: Temporal + store + archive", func(r run) string { return r.atLast(sleeping, sample.perPageText) }},
	{"… after retention and `starter compact`", func(r run) string { return r.atLast(settled, sample.perPageText) }},
	{"`starter compact` took", func(r run) string { return r.took(settled, command+"compact") }},
	{"asleep: cores in use, server + worker", func(r run) string {
		of := r.in(sleeping)
		return either(len(of) >= 2, func() string { return cores(of[0], of[len(of)-1]) })
	}},
	{"started with everything overdue: ready, first request after", func(r run) string {
		return fmt.Sprintf("%s, %s", r.took(afterStart, ready), r.took(afterStart, firstSeen))
	}},
	{"then visits/s; processor time: server + worker", func(r run) string {
		p, ok := r.stretchOf(afterStart)
		return either(ok, func() string { return fmt.Sprintf("%.1f; %s", p.rate(), r.costs(p, true)) })
	}},
	{"… written to disks: server + worker", func(r run) string { return r.writes(r.stretchOf(afterStart)) }},
	{"a person's visit: first pass, asleep, overdue", func(r run) string { return r.tookEach(wanted) }},
	{"`starter status`", func(r run) string { return r.tookEach(command + "status") }},
	{"`starter hosts`", func(r run) string { return r.tookEach(command + "hosts") }},
	{"`starter pages --limit 20`", func(r run) string { return r.tookEach(command + "pages") }},
}

func either(ok bool, text func() string) string {
	if !ok {
		return none
	}
	return text()
}

func (r run) atLast(phase string, text func(sample) string) string {
	s, ok := r.last(phase)
	return either(ok, func() string { return text(s) })
}

// costsOfTenth is costs of a tenth of the first pass, from 1.
func (r run) costsOfTenth(nth int) string {
	parts := r.tenths()
	if len(parts) < nth {
		return none
	}
	return r.costs(parts[nth-1], true)
}

// yardOfTenth is the processor time of a fixed piece of work in a tenth of the first pass,
// from 1.
func (r run) yardOfTenth(nth int) string {
	parts := r.tenths()
	return either(len(parts) >= nth && parts[nth-1].yard() > 0, func() string { return millis(parts[nth-1].yard()) })
}

func (r run) costs(p stretch, ok bool) string {
	visits := time.Duration(p.to.Visits - p.from.Visits)
	return either(ok && visits > 0, func() string {
		return fmt.Sprintf("%s + %s", millis((p.to.ServerCPU-p.from.ServerCPU)/visits), millis((p.to.WorkerCPU-p.from.WorkerCPU)/visits))
	})
}

// writes returns the bytes that a visit sends to disks.
func (r run) writes(p stretch, ok bool) string {
	visits := p.to.Visits - p.from.Visits
	server, worker := p.to.ServerWritten-p.from.ServerWritten, p.to.WorkerWritten-p.from.WorkerWritten
	return either(ok && visits > 0 && server > 0 && worker > 0, func() string {
		return fmt.Sprintf("%s + %s", bytesText(server/visits), bytesText(worker/visits))
	})
}

func cores(from, to sample) string {
	took := to.At.Sub(from.At).Seconds()
	return fmt.Sprintf("%.2f + %.2f", (to.ServerCPU-from.ServerCPU).Seconds()/took, (to.WorkerCPU-from.WorkerCPU).Seconds()/took)
}

func rateOr(rate float64) string {
	return either(rate > 0, func() string { return fmt.Sprintf("%.1f", rate) })
}

func countOr(n int64) string { return either(n >= 0, func() string { return fmt.Sprint(n) }) }

func bytesOr(n int64) string { return either(n >= 0, func() string { return bytesText(n) }) }

// took returns how long something took in a phase.
func (r run) took(phase, what string) string {
	for _, e := range r.events {
		if e.Phase == phase && e.What == what {
			return seconds(e.Took)
		}
	}
	return none
}

func (r run) tookEach(what string) string {
	return strings.Join([]string{r.took(firstPass, what), r.took(sleeping, what), r.took(afterStart, what)}, ", ")
}
