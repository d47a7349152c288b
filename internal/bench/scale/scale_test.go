//go:build unix

package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var day = time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)

// made returns a run of 100 hosts with 200 pages on a machine where each visit takes as
// long as the one before: 50 a second, at 20 ms of processor time.
func made() run {
	r := run{setup: setup{Run: "wide", Hosts: 100, Pages: 200, Window: 64, Delay: 10 * time.Millisecond, Interval: time.Hour, Cores: 2, Began: day, Version: "recrawl 0.0.0"}}
	s := sample{Run: "wide", Phase: firstPass, At: day, WorkerRSS: 200e6, ServerRSS: 300e6, Pages: 100, Archive: unread}
	r.samples = append(r.samples, s)
	for s.Visited < int64(r.total()) {
		s.At = s.At.Add(5 * time.Second)
		s.Visits += 250
		s.Visited += 250
		s.WorkerCPU += 250 * 5 * time.Millisecond
		s.ServerCPU += 250 * 15 * time.Millisecond
		s.WorkerWritten += 250 * 300_000
		s.ServerWritten += 250 * 500_000
		s.Backlog, s.BacklogAge = 12, 300*time.Millisecond
		s.Temporal, s.Store, s.Archive = s.Visited*5000, s.Visited*2000, s.Visited*1000
		r.samples = append(r.samples, s)
	}
	for _, phase := range []string{sleeping, settled, afterStart} {
		s.Phase = phase
		for range 4 {
			r.samples = append(r.samples, s)
			s.At = s.At.Add(5 * time.Second)
			if phase == afterStart {
				s.Visits += 300
			}
		}
		s.At = s.At.Add(time.Hour) // the stop
	}
	for _, phase := range []string{firstPass, sleeping, afterStart} {
		r.events = append(r.events, event{Phase: phase, What: wanted, Took: time.Second}, event{Phase: phase, What: command + "status", Took: 200 * time.Millisecond})
	}
	r.events = append(r.events, event{Phase: afterStart, What: firstSeen, Took: 2 * time.Second})
	return r
}

// A good run meets every target, and each way to miss one is noticed, alone.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	for _, v := range made().verdicts() {
		if !v.judged || !v.met {
			t.Errorf("a good run: %s", v)
		}
	}
	later := func(s sample) bool { return s.Visited > 14_000 && s.Phase == firstPass }
	misses := map[string]func(*run){
		"no tenth of the first pass": func(r *run) {
			for i := range r.samples {
				if s := &r.samples[i]; s.Visited > 14_000 { // half as fast from then on
					s.At = s.At.Add(time.Duration(s.Visited-14_000) * 20 * time.Millisecond)
				}
			}
		},
		"no task waits": func(r *run) { r.samples[20].BacklogAge = 11 * time.Minute },
		"a first visit in the ninth tenth costs": func(r *run) {
			for i := range r.samples {
				if s := &r.samples[i]; later(*s) {
					s.ServerCPU += time.Duration(s.Visited-14_000) * 5 * time.Millisecond
				}
			}
		},
		"the worker's memory": func(r *run) {
			for i := range r.samples {
				r.samples[i].WorkerRSS = 20_000 * r.samples[i].Visited
			}
		},
		"a page that sleeps takes": func(r *run) {
			for i := range r.samples {
				r.samples[i].Temporal = 48_000 * r.samples[i].Visited
			}
		},
		"a start with everything": func(r *run) { r.events[6].Took = time.Minute },
		"with everything overdue": func(r *run) {
			for i := range r.samples {
				if s := &r.samples[i]; s.Phase == afterStart {
					s.Visits = 20_000 + (s.Visits-20_000)/10
				}
			}
		},
		"a person's visit":        func(r *run) { r.events[4].Took = time.Minute },
		"status, hosts and pages": func(r *run) { r.events[3].Took = time.Minute },
		"no two requests":         func(r *run) { r.samples[len(r.samples)-1].Overlaps = 1 },
	}
	for target, spoil := range misses {
		r := made()
		spoil(&r)
		for _, v := range r.verdicts() {
			if hit := strings.HasPrefix(v.target, target); v.met == hit || !v.judged {
				t.Errorf("a run that misses %q: %s", target, v)
			}
		}
	}
	if len(misses) != len(made().verdicts()) {
		t.Errorf("%d targets, %d ways to miss one", len(made().verdicts()), len(misses))
	}
}

// A machine that others slow down is not taken for a collapse, nor for dearer visits.
func TestEvenSpeed(t *testing.T) {
	t.Parallel()
	slowed := func(yards bool) run {
		r := made()
		for i := range r.samples {
			s := &r.samples[i]
			if yards {
				s.Yards, s.YardTime = int64(i), time.Duration(i)*10*time.Millisecond
			}
			if late := s.Visited - 14_000; late > 0 { // half as fast from then on
				s.At = s.At.Add(time.Duration(late) * 20 * time.Millisecond)
				s.ServerCPU += time.Duration(late) * 15 * time.Millisecond
				s.WorkerCPU += time.Duration(late) * 5 * time.Millisecond
				if yards {
					s.YardTime += time.Duration(late/250) * 10 * time.Millisecond
				}
			}
		}
		return r
	}
	for yards, met := range map[bool]bool{true: true, false: false} {
		r := slowed(yards)
		for _, v := range []verdict{r.noCollapse(), r.flat()} {
			if !v.judged || v.met != met {
				t.Errorf("with the speed known: %t: %s", yards, v)
			}
		}
	}
	if took := yardTime(); took <= 0 || took > 10*time.Second {
		t.Errorf("a fixed piece of work took %s", took)
	}
}

// Cheap visits while the bound of admission still grows are not what later ones are compared
// with.
func TestFlatLeavesOutTheBeginning(t *testing.T) {
	t.Parallel()
	r := made()
	for i := range r.samples {
		s := &r.samples[i]
		s.ServerCPU -= time.Duration(min(s.Visited, 1500)) * 5 * time.Millisecond
	}
	if v := r.flat(); !v.judged || !v.met {
		t.Errorf("%s", v)
	}
}

// A run that was cut short is reported up to there, and not judged by what is missing.
func TestCutShort(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 40} {
		r := made()
		r.samples, r.events = r.samples[:n], nil
		for _, v := range r.verdicts() {
			if strings.Contains(v.target, "sleeps") && v.judged {
				t.Errorf("%d samples of a first pass: %s", n, v)
			}
			if (strings.Contains(v.target, "tenth") || strings.Contains(v.target, "overdue")) && v.judged {
				t.Errorf("%d samples: %s", n, v)
			}
		}
		checkXML(t, r.chart())
		if text := section([]run{r}); strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
			t.Errorf("%d samples: %s", n, text)
		}
	}
}

// A pass that reached its time limit is a collapse, and later phases are not judged as
// after a whole pass.
func TestLimitOfTime(t *testing.T) {
	t.Parallel()
	r := made()
	short := r
	short.samples = nil
	for _, s := range r.samples {
		if s.Phase != firstPass || s.Visited <= 6000 {
			s.Visited, s.Visits = min(s.Visited, 6000), min(s.Visits, 6000)
			short.samples = append(short.samples, s)
		}
	}
	for _, v := range short.verdicts() {
		switch {
		case strings.HasPrefix(v.target, "no tenth"):
			if v.words() != "NOT met" || !strings.Contains(v.figure, "after 2m0s 6000 of 20000 pages") {
				t.Errorf("%s", v)
			}
		case strings.Contains(v.target, "sleeps"), strings.Contains(v.target, "after a stop"):
			if v.judged {
				t.Errorf("%s", v)
			}
		}
	}
}

func TestTenths(t *testing.T) {
	t.Parallel()
	parts := made().tenths()
	if len(parts) != 10 {
		t.Fatalf("%d parts", len(parts))
	}
	for i, p := range parts {
		if p.rate() != 50 || p.cost() != 20*time.Millisecond || p.to.Visited != int64(i+1)*2000 {
			t.Errorf("tenth %d: %.1f visits/s of %s, to %d", i+1, p.rate(), p.cost(), p.to.Visited)
		}
	}
	coarse := made()
	coarse.samples = []sample{coarse.samples[0], coarse.samples[40], coarse.samples[80]}
	if got := coarse.tenths(); got != nil {
		t.Errorf("three samples make %d tenths", len(got))
	}
}

// Drawings are well-formed, stand alone, name every curve, and draw nothing outside.
func TestChart(t *testing.T) {
	t.Parallel()
	svg := made().chart()
	checkXML(t, svg)
	text := string(svg)
	for _, p := range panels {
		if !strings.Contains(text, ">"+p.title+"<") {
			t.Errorf("the panel %q is missing", p.title)
		}
		for _, c := range p.curves {
			if !strings.Contains(text, ">"+c.name+"<") {
				t.Errorf("the curve %q of %q has no name", c.name, p.title)
			}
		}
	}
	for _, wrong := range []string{"NaN", "Inf", "href", "url("} {
		if strings.Contains(text, wrong) {
			t.Errorf("%s in the drawing", wrong)
		}
	}
	if !strings.Contains(text, "prefers-color-scheme:dark") {
		t.Error("nothing for readers in the dark")
	}
	for _, m := range regexp.MustCompile(`[ML](-?[0-9.]+) (-?[0-9.]+)`).FindAllStringSubmatch(text, -1) {
		var x, y float64
		fmt.Sscan(m[1], &x)
		fmt.Sscan(m[2], &y)
		if x < left || x > right+0.1 || y < top {
			t.Errorf("a curve goes to %s %s", m[1], m[2])
		}
	}
}

func checkXML(t *testing.T, text []byte) {
	t.Helper()
	for d := xml.NewDecoder(bytes.NewReader(text)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestTicks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		to   float64
		most int
		want string
	}{{105, 4, "[0 50 100]"}, {8.4, 4, "[0 5]"}, {1, 4, "[0 0.5 1]"}, {62, 10, "[0 10 20 30 40 50 60]"}, {52_000, 4, "[0 20000 40000]"}} {
		if got := fmt.Sprint(axis{to: c.to}.ticks(c.most)); got != c.want {
			t.Errorf("an axis to %g has %s, want %s", c.to, got, c.want)
		}
	}
}

// A journal that ends in half a line, as after a kill, is read up to there.
func TestJournal(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "samples.jsonl")
	j, err := createJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	want := made()
	all := []record{{Setup: &want.setup}}
	for i := range want.samples {
		all = append(all, record{Sample: &want.samples[i]})
	}
	all = append(all, record{Event: &event{Run: "wide", Phase: sleeping, What: wanted, Took: time.Second}})
	for _, r := range all {
		if err := j.add(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	half := append(bytes.Clone(whole), `{"sample":{"run":"wi`...)
	for _, text := range [][]byte{whole, half} {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		read, err := readJournal(path)
		if err != nil {
			t.Fatal(err)
		}
		runs := runsOf(read)
		if len(runs) != 1 || runs[0].setup != want.setup || len(runs[0].samples) != len(want.samples) || len(runs[0].events) != 1 {
			t.Fatalf("%d runs of %d records", len(runs), len(read))
		}
		if runs[0].samples[9] != want.samples[9] {
			t.Errorf("%+v became %+v", want.samples[9], runs[0].samples[9])
		}
	}
	if err := os.WriteFile(path, append(half, "\n{}\n"...), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := readJournal(path); err == nil {
		t.Error("half a line in the middle was passed over")
	}
}

// The page keeps the text around the section, and missing markers are reported.
func TestPublish(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	page := filepath.Join(folder, "page.md")
	if err := publish([]run{made()}, page, folder, io.Discard); err == nil {
		t.Error("a page that is not there was written")
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("before\n")
	if err := publish([]run{made()}, page, folder, io.Discard); err == nil || !strings.Contains(err.Error(), sectionBegin) {
		t.Errorf("a page without markers: %v", err)
	}
	write("before\n" + sectionBegin + "\nof yesterday\n" + sectionEnd + "\nafter\n")
	var said bytes.Buffer
	if err := publish([]run{made()}, page, folder, &said); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	got := string(text)
	if !strings.HasPrefix(got, "before\n") || !strings.HasSuffix(got, sectionEnd+"\nafter\n") || strings.Contains(got, "yesterday") {
		t.Errorf("the page became %s", got)
	}
	for _, cell := range []string{
		"| pages visited in the first pass | 20000 |", "| … in the ninth tenth | 15.0 ms + 5.0 ms |",
		"| written to disks for a first visit: server + worker | 500.0 kB + 300.0 kB |", "| … written to disks: server + worker | – |",
		"| a page that sleeps: Temporal + store + archive | 5.0 kB + 2.0 kB + 1.0 kB |", "| wide | 1.00 | 1.00 |",
	} {
		if !strings.Contains(got, cell) {
			t.Errorf("%q is missing in %s", cell, got)
		}
	}
	if _, err := os.Stat(filepath.Join(folder, "images", "scale-wide.svg")); err != nil {
		t.Error(err)
	}
	if n := strings.Count(said.String(), "\n  met: "); n != len(made().verdicts()) {
		t.Errorf("it said %s", said.String())
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	o, err := parse([]string{"-wide-hosts", "7", "-quick"})
	if err != nil || o.wideHosts != 7 || o.deepPages != quickSize.deepPages {
		t.Errorf("%+v, %v", o, err)
	}
	for _, args := range [][]string{{"500"}, {"-deep-pages", "0"}, {"-wide-hosts", "1001"}, {"-interval", "0s"}} {
		if _, err := parse(args); err == nil {
			t.Errorf("%v was taken", args)
		}
	}
}

// Each host has an address of its own, however many there are.
func TestAddresses(t *testing.T) {
	seen := map[string]bool{}
	for host := range 1200 {
		address := addressOf(host)
		if got, ok := hostOf(address); got != host || !ok || seen[address] {
			t.Fatalf("host %d is at %s, where %d is (%t)", host, address, got, ok)
		}
		seen[address] = true
	}
	for _, other := range []string{"127.0.0.1", "127.1.0.0", "127.1.0.251", "h1.localhost", "::1"} {
		if host, ok := hostOf(other); ok {
			t.Errorf("host %d is at %s", host, other)
		}
	}
}

// The web is a tree in which every page is found and knows only its children. A client that
// has a page gets a 304.
func TestWeb(t *testing.T) {
	t.Parallel()
	w, err := serveWeb(t.Context(), 2, 30)
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	w.mark()
	get := func(path, etag string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url(1, 0)+strings.TrimPrefix(path, "/"), http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("If-None-Match", etag)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(body)
	}
	if _, ok := w.firstSinceMark(); ok {
		t.Error("a visit was seen before there was one")
	}
	known, bodies := []string{"/"}, map[string]bool{}
	link := regexp.MustCompile(`href="(/p[0-9]+)">page`)
	for i := 0; i < len(known); i++ {
		status, body := get(known[i], "")
		if status != http.StatusOK || bodies[body] {
			t.Fatalf("%s: %d, or the text of another page", known[i], status)
		}
		bodies[body] = true
		for _, m := range link.FindAllStringSubmatch(body, -1) {
			known = append(known, m[1])
		}
	}
	if len(known) != 30 || w.visited.Load() != 30 || w.count(0, 0) != 0 || w.count(1, 29) != 1 {
		t.Errorf("%d pages were found, %d visited", len(known), w.visited.Load())
	}
	if status, _ := get("/p7", `"1"`); status != http.StatusNotModified || w.visits.Load() != 31 || w.visited.Load() != 30 {
		t.Errorf("again: %d", status)
	}
	for path, want := range map[string]int{"/robots.txt": 200, "/p30": 404, "/p-1": 404, "/x": 404} {
		if status, _ := get(path, ""); status != want {
			t.Errorf("%s: %d", path, status)
		}
	}
	if _, ok := w.firstSinceMark(); !ok || w.visits.Load() != 31 || w.overlaps.Load() != 0 {
		t.Errorf("%d visits, %d overlaps", w.visits.Load(), w.overlaps.Load())
	}
}

func TestProcess(t *testing.T) {
	t.Parallel()
	if cpu, rss, written := process(1 << 30); cpu != 0 || rss != unread || written != unread {
		t.Errorf("a process that there is not used %s and %d bytes", cpu, rss)
	}
	folder := t.TempDir()
	for name, size := range map[string]int{"temporal.db": 10, "temporal.db-wal": 5, "other": 3} {
		if err := os.WriteFile(filepath.Join(folder, name), make([]byte, size), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if n := databaseBytes(folder, "temporal.db"); n != 15 {
		t.Errorf("the database has %d bytes", n)
	}
	if n := folderBytes(folder); n != 18 {
		t.Errorf("the folder has %d bytes", n)
	}
}
