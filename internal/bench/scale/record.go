//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"
)

// A benchmark is recorded as it runs, one record a line, so that an interrupted run keeps
// its measurements.
type record struct {
	Setup  *setup  `json:"setup,omitempty"`
	Sample *sample `json:"sample,omitempty"`
	Event  *event  `json:"event,omitempty"`
}

// setup describes a run: a crawl of one web.
type setup struct {
	Run      string        `json:"run"`
	Hosts    int           `json:"hosts"`
	Pages    int           `json:"pages"` // of each host
	Window   int           `json:"window"`
	Delay    time.Duration `json:"delay"`
	Interval time.Duration `json:"interval"`
	Cores    int           `json:"cores"`
	Began    time.Time     `json:"began"`
	Version  string        `json:"version"`
}

func (s setup) total() int { return s.Hosts * s.Pages }

// Phases of a run, in their order.
const (
	firstPass  = "first pass"
	sleeping   = "sleeping"
	settled    = "settled" // stopped, after retention and starter compact
	afterStart = "after a stop"
)

// sample is one look at everything. Counts and processor times are since the start of the
// run, gauges are momentary. Values that could not be read are negative.
type sample struct {
	Run   string    `json:"run"`
	Phase string    `json:"phase"`
	At    time.Time `json:"at"`

	Visits   int64 `json:"visits"`  // pages that the site answered
	Visited  int64 `json:"visited"` // different ones among them
	Overlaps int64 `json:"overlaps"`

	Backlog    int64         `json:"backlog"`     // tasks that wait for a worker
	BacklogAge time.Duration `json:"backlog_age"` // of the oldest

	Pages     int64 `json:"pages"`     // Page workflows that run
	Discovers int64 `json:"discovers"` // Discover workflows that run

	WorkerCPU time.Duration `json:"worker_cpu"`
	ServerCPU time.Duration `json:"server_cpu"`
	// YardTime is the processor time that Yards fixed pieces of work took; see yardTime.
	Yards     int64         `json:"yards"`
	YardTime  time.Duration `json:"yard_time"`
	WorkerRSS int64         `json:"worker_rss"`
	ServerRSS int64         `json:"server_rss"`
	// Bytes that they have sent to disks since they started; 0 in samples from before this was
	// read.
	WorkerWritten int64 `json:"worker_written"`
	ServerWritten int64 `json:"server_written"`

	Temporal int64 `json:"temporal_bytes"` // its database with the log
	Store    int64 `json:"store_bytes"`    // the same
	Archive  int64 `json:"archive_bytes"`
}

func (s sample) cpu() time.Duration { return s.WorkerCPU + s.ServerCPU }

// Kinds of events.
const (
	ready     = "ready"
	firstSeen = "first request after the start"
	wanted    = "a person's visit"
	command   = "starter "
)

// event is something that happened once, with its duration.
type event struct {
	Run   string        `json:"run"`
	Phase string        `json:"phase"`
	At    time.Time     `json:"at"`
	What  string        `json:"what"`
	Took  time.Duration `json:"took"`
}

// journal appends records to a file.
type journal struct {
	file *os.File
	all  []record
}

func createJournal(path string) (*journal, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("keep the samples: %w", err)
	}
	return &journal{file: file}, nil
}

func (j *journal) add(r record) error {
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("keep a sample: %w", err)
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("keep a sample: %w", err)
	}
	j.all = append(j.all, r)
	return nil
}

func (j *journal) close() error { return j.file.Close() }

// readJournal reads the journal of a run. The last line may be incomplete, if the run was
// killed while writing.
func readJournal(path string) ([]record, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the samples: %w", err)
	}
	defer file.Close()
	var all []record
	var damaged error
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		if damaged != nil {
			return nil, damaged
		}
		var r record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			damaged = fmt.Errorf("read the samples: line %d of %s: %w", n, path, err)
			continue
		}
		all = append(all, r)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the samples: %w", err)
	}
	if len(all) == 0 {
		return nil, errors.Join(damaged, fmt.Errorf("%s holds no samples: let the benchmark run first", path))
	}
	return all, nil
}

// run holds the records of one crawl.
type run struct {
	setup
	samples []sample
	events  []event
}

// runsOf sorts records by their crawls, in the order of their start.
func runsOf(all []record) []run {
	var runs []run
	at := map[string]int{}
	for _, r := range all {
		switch {
		case r.Setup != nil:
			at[r.Setup.Run] = len(runs)
			runs = append(runs, run{setup: *r.Setup})
		case r.Sample != nil:
			if i, ok := at[r.Sample.Run]; ok {
				runs[i].samples = append(runs[i].samples, *r.Sample)
			}
		case r.Event != nil:
			if i, ok := at[r.Event.Run]; ok {
				runs[i].events = append(runs[i].events, *r.Event)
			}
		}
	}
	return runs
}

// in returns the samples of one phase.
func (r run) in(phase string) []sample {
	var of []sample
	for _, s := range r.samples {
		if s.Phase == phase {
			of = append(of, s)
		}
	}
	return of
}

// last returns the last sample of a phase.
func (r run) last(phase string) (sample, bool) {
	of := r.in(phase)
	if len(of) == 0 {
		return sample{}, false
	}
	return of[len(of)-1], true
}
