//go:build unix

// Command scale measures how crawls of a hundred thousand pages fare on this machine: first
// passes over many small and over a few large hosts, sleeping pages, and a start with
// everything overdue. It runs the built programs, samples them from outside, draws the
// samples as curves, and says in plain words which targets are met. `make bench-scale` runs
// it; it needs Linux, whose /proc it reads.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := mainWith(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench-scale:", err)
		os.Exit(1)
	}
}

// order holds the command line's settings.
type order struct {
	sizes
	programs string // folder of the programs
	out      string // folder of the measurements
	page     string // where the report goes; "" means beside the samples
	render   bool   // draw existing samples, and measure nothing
}

func mainWith(ctx context.Context, args []string, say io.Writer) error {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	samples := filepath.Join(o.out, "samples.jsonl")
	if !o.render {
		err = o.measure(ctx, samples, say)
		if err != nil {
			fmt.Fprintf(say, "cut short (%v); what was measured until then:\n", err)
		}
	}
	all, readErr := readJournal(samples)
	if readErr != nil {
		return errors.Join(err, readErr)
	}
	return errors.Join(err, publish(runsOf(all), o.page, o.out, say))
}

// parse reads the command line. -quick only sets defaults, so it may stand anywhere.
func parse(args []string) (order, error) {
	o := order{sizes: fullSize}
	for _, a := range args {
		if a == "-quick" || a == "--quick" {
			o.sizes = quickSize
		}
	}
	f := flag.NewFlagSet("bench-scale", flag.ContinueOnError)
	f.Bool("quick", false, "take a few minutes: small crawls, which show that the benchmark works and little else")
	f.StringVar(&o.programs, "programs", "bin", "`folder` of the built programs")
	f.StringVar(&o.out, "out", filepath.Join("data", "bench-scale"), "`folder` of the data folders and samples; it is emptied first")
	f.StringVar(&o.page, "page", "", "Markdown `file` whose section between markers is written anew, with its images in images/ beside it; without, the report stays in the folder of the samples")
	f.BoolVar(&o.render, "render", false, "measure nothing, and write the report of the samples that are there")
	f.IntVar(&o.wideHosts, "wide-hosts", o.wideHosts, "hosts of the wide crawl")
	f.IntVar(&o.widePages, "wide-pages", o.widePages, "pages of each of them")
	f.IntVar(&o.deepHosts, "deep-hosts", o.deepHosts, "hosts of the deep crawl")
	f.IntVar(&o.deepPages, "deep-pages", o.deepPages, "pages of each of them")
	f.IntVar(&o.window, "window", o.window, "most new pages of a host that are tried at a time")
	f.DurationVar(&o.delay, "delay", o.delay, "time between two requests to a host")
	f.DurationVar(&o.interval, "interval", o.interval, "time between two visits of a page; longer than a first pass takes")
	f.DurationVar(&o.limit, "limit", o.limit, "most time for a first pass")
	f.DurationVar(&o.sleep, "sleep", o.sleep, "how long pages are watched asleep")
	f.DurationVar(&o.after, "after", o.after, "how long the start with everything overdue is watched")
	f.DurationVar(&o.every, "every", o.every, "time between two samples")
	f.DurationVar(&o.countEvery, "count-every", o.countEvery, "time between two counts of workflows and of the archive's bytes")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("%q is not a flag: give sizes as -wide-hosts 500, see -h", f.Arg(0))
	}
	for _, n := range []int{o.wideHosts, o.widePages, o.deepHosts, o.deepPages, o.window} {
		if n < 1 {
			return o, errors.New("hosts, pages and the window are numbers of at least 1")
		}
	}
	if max(o.wideHosts, o.deepHosts) > 1000 {
		return o, errors.New("a crawl starts from the first page of each host, and a spec holds at most 1000 seeds: give fewer hosts")
	}
	for _, d := range []time.Duration{o.interval, o.limit, o.sleep, o.after, o.every, o.countEvery} {
		if d <= 0 {
			return o, errors.New("times are longer than 0")
		}
	}
	return o, nil
}

// measure fills the folder of the samples.
func (o order) measure(ctx context.Context, samples string, say io.Writer) (err error) {
	p, err := findPrograms(o.programs)
	if err != nil {
		return err
	}
	for _, name := range []string{"wide", "wide.log", "deep", "deep.log"} {
		if err := os.RemoveAll(filepath.Join(o.out, name)); err != nil {
			return fmt.Errorf("empty the folder: %w", err)
		}
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return fmt.Errorf("make the folder: %w", err)
	}
	j, err := createJournal(samples)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.close()) }()
	b := &course{sizes: o.sizes, programs: p, folder: o.out, journal: j, say: say}
	return b.measure(ctx)
}
