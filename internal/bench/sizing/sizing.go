// Package sizing computes what crawls of some sizes need from measured figures, by the
// formulae of docs/sizing.md. That page holds the figures, and a test its tables.
package sizing

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Figures are the measured and the assumed numbers, by their names on the page.
type Figures map[string]float64

// used are the names that the formulae need, in the order of the page.
var used = []string{
	"unchanged-rate", "unchanged-server", "unchanged-worker", "changed-rate", "changed-server", "changed-worker",
	"first-rate", "first-server", "first-worker", "unchanged-disk", "first-disk",
	"sleep-temporal", "sleep-store", "visit-store", "version-archive", "sleep-postgres", "wal-postgres",
	"actions-unchanged", "actions-changed", "actions-admission",
	"changed-share", "load", "database-share", "request", "delay", "concurrency",
}

var figureRow = regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| ([0-9.]+) \\|")

// ReadFigures reads the rows of a page that begin with a name in backquotes and a number.
func ReadFigures(page string) (Figures, error) {
	f := Figures{}
	for _, m := range figureRow.FindAllStringSubmatch(page, -1) {
		v, err := strconv.ParseFloat(m[2], 64)
		if err != nil || v <= 0 {
			return nil, fmt.Errorf("the figure %s is %q: write a number above 0", m[1], m[2])
		}
		if _, twice := f[m[1]]; twice {
			return nil, fmt.Errorf("the figure %s is there twice: delete one row", m[1])
		}
		f[m[1]] = v
	}
	for _, name := range used {
		if _, ok := f[name]; !ok {
			return nil, fmt.Errorf("the figure %s is missing: add a row \"| `%s` | NUMBER | …\"", name, name)
		}
	}
	if len(f) != len(used) {
		return nil, fmt.Errorf("%d figures, of which the formulae use %d: delete those that nobody uses", len(f), len(used))
	}
	return f, nil
}

// mixed returns the mean of a number over visits that find no change and visits that do.
func (f Figures) mixed(unchanged, changed string) float64 {
	return (1-f["changed-share"])*f[unchanged] + f["changed-share"]*f[changed]
}

// perMachine returns the revisits a second of a machine of two cores with everything on it.
func (f Figures) perMachine() float64 {
	return 1 / ((1-f["changed-share"])/f["unchanged-rate"] + f["changed-share"]/f["changed-rate"])
}

const (
	day   = 86400.0
	month = 30 * day
	weeks = 365.0 / 7 // of a year
)

// Need holds the resources for pages that are each visited once in a given time.
type Need struct {
	VisitsPerSecond float64
	OfMachine       float64 // share of the visits that a machine of two cores makes
	Server          float64 // cores, at the load that is planned for
	Database        float64 // cores, at that load
	Worker          float64 // cores, at that load
	Workers         float64 // processes
	Hosts           float64 // at least, for the gap between two requests
	Actions         float64 // of Temporal Cloud, a month
	WAL             float64 // of Postgres, bytes a day
	Written         float64 // to the disk of a machine with everything on it, bytes a day
}

// NeedOf applies the formulae; every is in seconds.
func (f Figures) NeedOf(pages, every float64) Need {
	rate := pages / every
	cores := func(ms float64) float64 { return rate * ms / 1000 / f["load"] }
	n := Need{
		VisitsPerSecond: rate,
		OfMachine:       rate / f.perMachine(),
		Server:          cores(f.mixed("unchanged-server", "changed-server")),
		Worker:          cores(f.mixed("unchanged-worker", "changed-worker")),
		Hosts:           math.Ceil(rate * (f["delay"] + f["request"])),
		// A page's run ends after a month at the latest, and the next one is an Action.
		Actions: month/every*pages*f.mixed("actions-unchanged", "actions-changed") + pages,
		WAL:     rate * day * f["wal-postgres"] * 1000,
		Written: rate * day * f["unchanged-disk"] * 1000,
	}
	n.Database = n.Server * f["database-share"]
	n.Workers = math.Ceil(max(rate*f["request"]/f["concurrency"]/f["load"], n.Worker/2))
	return n
}

// FirstPass holds the resources for the first visits of pages.
type FirstPass struct {
	Length  float64 // on a machine of two cores, in seconds
	Written float64 // to its disk, in bytes
	Cores   float64 // core seconds of Temporal's server, its database and workers
	Actions float64 // of Temporal Cloud
}

// FirstPassOf applies the formulae.
func (f Figures) FirstPassOf(pages float64) FirstPass {
	return FirstPass{
		Length:  pages / f["first-rate"],
		Written: pages * f["first-disk"] * 1000,
		Cores:   pages * (f["first-server"]*(1+f["database-share"]) + f["first-worker"]) / 1000,
		Actions: pages * (f["actions-changed"] + f["actions-admission"]),
	}
}

// Disk holds the bytes that sleeping pages take.
type Disk struct {
	Temporal float64 // embedded
	Postgres float64 // Temporal's databases there
	Store    float64
	Archive  float64 // of one version of each page
	// Growth in a year in which each page is visited once a week, if everything is kept.
	Visits   float64 // the store's, by visits
	Versions float64 // the archive's
}

// DiskOf applies the formulae.
func (f Figures) DiskOf(pages float64) Disk {
	return Disk{
		Temporal: pages * f["sleep-temporal"] * 1000, Postgres: pages * f["sleep-postgres"] * 1000,
		Store: pages * f["sleep-store"] * 1000, Archive: pages * f["version-archive"] * 1000,
		Visits:   pages * weeks * f["visit-store"] * 1000,
		Versions: pages * weeks * f["changed-share"] * f["version-archive"] * 1000,
	}
}

// amounts are the rows of the tables.
var (
	amounts = []struct {
		name  string
		pages float64
	}{{"10 thousand", 1e4}, {"1 million", 1e6}, {"100 million", 1e8}}
	intervals = []struct {
		name  string
		every float64
	}{{"month", month}, {"week", 7 * day}, {"day", day}}
)

// Tables returns the computed part of the page.
func (f Figures) Tables() string {
	var b strings.Builder
	b.WriteString("| pages | each visited once a | visits/s | of `starter dev` on 2 cores | server cores | database cores | worker cores | workers | hosts at least | cloud actions a month | Postgres' log a day | `starter dev` writes to disks a day |\n" +
		"| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, a := range amounts {
		for _, i := range intervals {
			n := f.NeedOf(a.pages, i.every)
			fmt.Fprintf(&b, "| %s | %s | %s | %s %% | %s | %s | %s | %s | %s | %s | %s | %s |\n", a.name, i.name, two(n.VisitsPerSecond), two(100*n.OfMachine),
				two(n.Server), two(n.Database), two(n.Worker), two(n.Workers), two(n.Hosts), amount(n.Actions), size(n.WAL), size(n.Written))
		}
	}
	b.WriteString("\n| pages | Temporal, embedded | Temporal in Postgres | store | its growth a year, visited weekly | archive, one version each | its growth a year | first pass on 2 cores | what it writes to disks | its time of cores in a cluster | its cloud actions |\n" +
		"| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, a := range amounts {
		d, first := f.DiskOf(a.pages), f.FirstPassOf(a.pages)
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", a.name, size(d.Temporal), size(d.Postgres), size(d.Store), size(d.Visits), size(d.Archive), size(d.Versions),
			length(first.Length), size(first.Written), length(first.Cores), amount(first.Actions))
	}
	return b.String()
}

// two writes a number with two significant digits.
func two(v float64) string {
	if v == 0 {
		return "0"
	}
	scale := math.Pow(10, 1-math.Floor(math.Log10(math.Abs(v))))
	return strconv.FormatFloat(math.Round(v*scale)/scale, 'f', -1, 64)
}

// amount writes a large number.
func amount(v float64) string {
	switch {
	case v >= 1e9:
		return two(v/1e9) + " billion"
	case v >= 1e6:
		return two(v/1e6) + " million"
	}
	return two(v)
}

// size writes bytes in decimal units.
func size(v float64) string {
	for _, u := range []struct {
		unit string
		of   float64
	}{{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}} {
		if v >= u.of {
			return two(v/u.of) + " " + u.unit
		}
	}
	return two(v/1e3) + " kB"
}

// length writes seconds.
func length(v float64) string {
	switch {
	case v >= 2*day:
		return two(v/day) + " days"
	case v >= 2*3600:
		return two(v/3600) + " h"
	}
	return two(v/60) + " min"
}
