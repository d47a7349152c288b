// Command bench measures the built programs; see `make bench-visits` and
// docs/benchmarks.md. Its programs end with it, and its data are removed.
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
	"strconv"
	"strings"
	"syscall"
	"time"

	"recrawl/internal/bench"
	"recrawl/internal/bench/peers"
	"recrawl/internal/bench/visits"
	"recrawl/internal/deploytest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

const usage = "say what to measure: bench visits or bench peers; -h after that lists the settings"

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	switch what, rest := args[0], args[1:]; what {
	case "visits":
		return runVisits(ctx, rest)
	case "peers":
		return runPeers(ctx, rest)
	case "bare":
		return visits.RunBare(ctx, rest, os.Stdin, os.Stdout)
	default:
		return errors.New(usage)
	}
}

// common are the settings of all benchmarks.
type common struct {
	limit      time.Duration
	json, docs string
	programs   string
	root       string
	folder     string
}

func (c *common) flags(flags *flag.FlagSet, limit time.Duration) {
	flags.DurationVar(&c.limit, "limit", limit, "give up after this `time`")
	flags.StringVar(&c.json, "json", "", "append a line of JSON for each figure to this `file`")
	flags.StringVar(&c.docs, "docs", "", "write the tables into this `page`, between its marks")
	flags.StringVar(&c.programs, "programs", "bin", "the `folder` of starter and worker")
}

// prepare bounds the time and makes the folder for all data; end removes it.
func (c *common) prepare(ctx context.Context) (context.Context, func(error) error, error) {
	var err error
	if c.root, err = deploytest.Root(ctx); err != nil {
		return nil, nil, err
	}
	if c.programs, err = filepath.Abs(c.programs); err != nil {
		return nil, nil, err
	}
	if _, err := os.Stat(filepath.Join(c.programs, "starter")); err != nil {
		return nil, nil, fmt.Errorf("%s has no program starter: run `make build`", c.programs)
	}
	if c.folder, err = os.MkdirTemp("", "recrawl-bench-"); err != nil {
		return nil, nil, err
	}
	limited, cancel := context.WithTimeoutCause(ctx, c.limit, fmt.Errorf("it took longer than -limit %s", c.limit))
	return limited, func(err error) error {
		cancel()
		return errors.Join(err, os.RemoveAll(c.folder))
	}, nil
}

// out opens the file for JSON; nil without one.
func (c *common) out() (io.Writer, func() error, error) {
	if c.json == "" {
		return nil, func() error { return nil }, nil
	}
	f, err := os.OpenFile(c.json, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, nil, err
	}
	return f, f.Close, nil
}

// publish prints the tables, and writes them into the page.
func (c *common) publish(mark string, tables func(func(*bench.Table) string) string) error {
	machine := bench.Machine(time.Now())
	fmt.Printf("\n%s\n\n%s", machine, tables((*bench.Table).Text))
	if c.docs == "" {
		return nil
	}
	return bench.ReplaceInFile(c.docs, mark, machine+"\n\n"+tables((*bench.Table).Markdown))
}

// report holds a benchmark's measurements so far.
type report interface {
	Tables(format func(*bench.Table) string) string
}

// measure prepares a run, makes it, and publishes its measurements. For a failed run it
// prints those that there are.
func (c *common) measure(ctx context.Context, mark string, run func(context.Context, io.Writer) (report, error)) (err error) {
	ctx, end, err := c.prepare(ctx)
	if err != nil {
		return err
	}
	defer func() { err = end(err) }()
	lines, closeLines, err := c.out()
	if err != nil {
		return err
	}
	measured, err := run(ctx, lines)
	if err = errors.Join(err, closeLines()); err != nil {
		fmt.Print(measured.Tables((*bench.Table).Text))
		return err
	}
	return c.publish(mark, measured.Tables)
}

// absolute makes a path absolute, so that programs find it from any folder; "" stays.
func absolute(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	return filepath.Abs(path)
}

func runVisits(ctx context.Context, args []string) (err error) {
	var c common
	o := visits.Default()
	if quick(args) {
		o = visits.Quick()
	}
	flags := flag.NewFlagSet("bench visits", flag.ContinueOnError)
	flags.Bool("quick", false, "a small run that shows that it works; its figures say little")
	c.flags(flags, 40*time.Minute)
	engines := flags.String("engines", strings.Join(o.Engines, ","), "the `databases`: sqlite, postgres, postgres-thin")
	waiting := flags.String("waiting", numbers(o.Waiting), "pages that wait for a saturated `host`; none leaves it out")
	flags.StringVar(&o.Counting, "counting", "", "the `folder` of the programs built with -tags counts; without it nothing is counted")
	flags.IntVar(&o.Rounds, "rounds", o.Rounds, "how often all is timed")
	flags.IntVar(&o.Pages, "pages", o.Pages, "pages of the site, and workflows of the bare loops")
	flags.IntVar(&o.Hosts, "hosts", o.Hosts, "hosts of the site")
	flags.DurationVar(&o.Delay, "delay", o.Delay, "the gap between two requests to a host")
	flags.DurationVar(&o.Timer, "timer", o.Timer, "the time between two visits of a page")
	flags.DurationVar(&o.Window, "window", o.Window, "how long a figure is measured")
	flags.DurationVar(&o.Settle, "settle", o.Settle, "how long it rests before")
	if err := flags.Parse(args); err != nil {
		return err
	}
	o.Engines = strings.Split(*engines, ",")
	if o.Waiting, err = parseNumbers(*waiting); err != nil {
		return fmt.Errorf("-waiting: %w", err)
	}
	if err := o.Check(); err != nil {
		return err
	}
	if o.Counting, err = absolute(o.Counting); err != nil {
		return err
	}
	if o.Self, err = os.Executable(); err != nil {
		return err
	}
	return c.measure(ctx, visits.Mark, func(ctx context.Context, lines io.Writer) (report, error) {
		o.Programs, o.Root, o.Folder, o.Progress, o.JSON = c.programs, c.root, c.folder, os.Stderr, lines
		return visits.Run(ctx, o)
	})
}

func runPeers(ctx context.Context, args []string) (err error) {
	var c common
	o := peers.Default()
	if quick(args) {
		o = peers.Quick()
	}
	flags := flag.NewFlagSet("bench peers", flag.ContinueOnError)
	flags.Bool("quick", false, "a small run that shows that it works; its figures say little")
	c.flags(flags, 30*time.Minute)
	delays := flags.String("delays", durations(o.Delays), "gaps between two requests to a host, a `pass` for each")
	flags.StringVar(&o.Colly, "colly", "", "the `program` of tools/colly; without it colly is left out")
	flags.IntVar(&o.Rounds, "rounds", o.Rounds, "how often each pass is made")
	flags.IntVar(&o.Pages, "pages", o.Pages, "pages of the site")
	flags.IntVar(&o.Hosts, "hosts", o.Hosts, "hosts of the site")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if o.Delays, err = parseDurations(*delays); err != nil {
		return fmt.Errorf("-delays: %w", err)
	}
	if err := o.Check(); err != nil {
		return err
	}
	if o.Colly, err = absolute(o.Colly); err != nil {
		return err
	}
	return c.measure(ctx, peers.Mark, func(ctx context.Context, lines io.Writer) (report, error) {
		o.Programs, o.Root, o.Folder, o.Progress, o.JSON = c.programs, c.root, c.folder, os.Stderr, lines
		return peers.Run(ctx, o)
	})
}

// quick reports whether to start from the settings of a small run; other flags then change
// these.
func quick(args []string) bool {
	for _, arg := range args {
		if arg == "-quick" || arg == "--quick" {
			return true
		}
	}
	return false
}

func numbers(all []int) string {
	texts := make([]string, len(all))
	for i, n := range all {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, ",")
}

func parseNumbers(text string) ([]int, error) {
	var all []int
	for field := range strings.SplitSeq(text, ",") {
		if field == "" {
			continue
		}
		n, err := strconv.Atoi(field)
		if err != nil {
			return nil, fmt.Errorf("%q is not a number", field)
		}
		all = append(all, n)
	}
	return all, nil
}

func durations(all []time.Duration) string {
	texts := make([]string, len(all))
	for i, d := range all {
		texts[i] = d.String()
	}
	return strings.Join(texts, ",")
}

func parseDurations(text string) ([]time.Duration, error) {
	var all []time.Duration
	for field := range strings.SplitSeq(text, ",") {
		d, err := time.ParseDuration(field)
		if err != nil || d < 0 {
			return nil, fmt.Errorf("%q is not a time: write 10ms or 0s", field)
		}
		all = append(all, d)
	}
	return all, nil
}
