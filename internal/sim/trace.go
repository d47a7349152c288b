package sim

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Trace is a record of when real pages changed.
type Trace struct {
	Name  string
	Pages []TracePage
	// First and Last are the times of the first and the last event.
	First, Last time.Time
}

// TracePage is the record of one page.
type TracePage struct {
	Name  string
	Birth time.Time
	// Death is zero for a page that lives on.
	Death   time.Time
	Changes []time.Time // rising, after Birth
}

// ReadTrace reads changes as lines of "page,unix time": the first line of a page
// is its birth, the others are changes. If pages is not nil it has lines of
// "page,birth,death,…", which then count: death is empty for a page that lives
// on. Both may have a header. Names may have commas.
func ReadTrace(name string, changes, pages io.Reader) (*Trace, error) {
	times := map[string][]time.Time{}
	err := readLines(changes, 1, func(page string, fields []string) error {
		t, err := unix(fields[0])
		if err == nil {
			times[page] = append(times[page], t)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("trace %s: %w", name, err)
	}
	lives := map[string]life{}
	if pages != nil {
		if err := readLines(pages, 3, func(page string, fields []string) error {
			var l life
			var err error
			l.birth, err = unix(fields[0])
			if fields[1] != "" && err == nil {
				l.death, err = unix(fields[1])
			}
			if err == nil {
				lives[page] = l
			}
			return err
		}); err != nil {
			return nil, fmt.Errorf("pages of trace %s: %w", name, err)
		}
	}
	t := assemble(name, times, lives)
	if len(t.Pages) == 0 {
		return nil, fmt.Errorf("trace %s: has no pages", name)
	}
	return t, nil
}

type life struct{ birth, death time.Time }

func assemble(name string, times map[string][]time.Time, lives map[string]life) *Trace {
	t := &Trace{Name: name}
	for page, changes := range times {
		slices.SortFunc(changes, time.Time.Compare)
		p := TracePage{Name: page, Birth: changes[0], Changes: changes[1:]}
		if l, ok := lives[page]; ok {
			p.Birth, p.Death = l.birth, l.death
		}
		p.Changes = slices.DeleteFunc(slices.Compact(p.Changes), func(c time.Time) bool {
			return !c.After(p.Birth) || !p.Death.IsZero() && !c.Before(p.Death)
		})
		t.Pages = append(t.Pages, p)
		t.span(p.Birth, p.Death)
		t.span(changes[0], changes[len(changes)-1])
	}
	slices.SortFunc(t.Pages, func(a, b TracePage) int { return cmp.Compare(a.Name, b.Name) })
	return t
}

// span widens the trace to two times; a zero one is ignored.
func (t *Trace) span(times ...time.Time) {
	for _, at := range times {
		if at.IsZero() {
			continue
		}
		if t.First.IsZero() || at.Before(t.First) {
			t.First = at
		}
		if at.After(t.Last) {
			t.Last = at
		}
	}
}

// readLines calls do with the name and the last n fields of each line. The first
// line is left out if it does not parse.
func readLines(r io.Reader, n int, do func(name string, fields []string) error) error {
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, 1<<20)
	for number := 1; scanner.Scan(); number++ {
		line := strings.TrimRight(scanner.Text(), "\r")
		if line == "" {
			continue
		}
		fields := strings.Split(line, ",")
		err := errors.New("too few fields")
		if len(fields) > n {
			name := strings.Join(fields[:len(fields)-n], ",")
			err = do(name, fields[len(fields)-n:])
		}
		if err != nil && number > 1 {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	return scanner.Err()
}

func unix(text string) (time.Time, error) {
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || math.Abs(seconds) > 1e12 {
		return time.Time{}, fmt.Errorf("%q is not a Unix time", text)
	}
	whole, rest := math.Modf(seconds)
	return time.Unix(int64(whole), int64(rest*1e9)).UTC(), nil
}

// Cut says which part of a trace becomes a world, and how.
type Cut struct {
	Start time.Time
	Days  float64
	// Grouping says which pages are on one host.
	Grouping Grouping
	// Seed and Weights are as in [Spec].
	Seed    uint64
	Weights string
}

// Grouping says which pages of a trace are on one host.
type Grouping string

// The groupings.
const (
	OneHost Grouping = "one"    // all of them
	Folders Grouping = "folder" // those whose names are alike up to the first slash
)

// World makes a world from a part of the trace. Pages that lived before it starts are there
// from the start, with a fresh copy. Events after its end are left out.
func (t *Trace) World(c Cut) (*World, error) {
	w := &World{Name: t.Name, Days: c.Days}
	hosts := map[string]int{}
	for _, p := range t.Pages {
		page := Page{Name: p.Name, Weight: 1, Birth: max(0, days(p.Birth.Sub(c.Start))), Death: math.Inf(1)}
		if !p.Death.IsZero() {
			page.Death = days(p.Death.Sub(c.Start))
		}
		if page.Birth >= min(page.Death, c.Days) {
			continue
		}
		for _, change := range p.Changes {
			if at := days(change.Sub(c.Start)); at > page.Birth && at < min(page.Death, c.Days) {
				page.Changes = append(page.Changes, at)
			}
		}
		page.Rate = float64(len(page.Changes)) / (min(page.Death, c.Days) - page.Birth)
		host := c.Grouping.host(p.Name)
		if _, ok := hosts[host]; !ok {
			hosts[host] = len(hosts)
		}
		page.Host = hosts[host]
		w.Pages = append(w.Pages, page)
	}
	if len(w.Pages) == 0 {
		return nil, fmt.Errorf("trace %s: no page lives in the %.0f days from %s on", t.Name, c.Days, c.Start.Format(time.DateOnly))
	}
	w.Hosts = len(hosts)
	w.weigh(Spec{Seed: c.Seed, Weights: c.Weights})
	return w, w.Validate()
}

func (g Grouping) host(name string) string {
	if g != Folders {
		return ""
	}
	folder, _, ok := strings.Cut(name, "/")
	if !ok {
		return ""
	}
	return folder
}
