package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"recrawl/internal/change"
	"recrawl/internal/crawl"
	"recrawl/internal/extract"
	"recrawl/internal/urlkey"
)

// pair is a line of pairs.jsonl: two snapshots of a page that follow each other.
type pair struct {
	URL      string `json:"url"`
	Source   string `json:"source"` // the page's place in its archive
	Before   string `json:"before"`
	After    string `json:"after"`
	AtBefore int64  `json:"unix_before"`
	AtAfter  int64  `json:"unix_after"`
	Kind     string `json:"kind"`     // natural, version or site
	Curators string `json:"curators"` // changed or same: what the archive's curators recorded
}

// series is a line of visits.jsonl: the snapshots of a page in order of time.
type series struct {
	URL    string `json:"url"`
	Visits []struct {
		File string `json:"file"`
		At   int64  `json:"unix"`
	} `json:"visits"`
}

// comparison is one verdict.
type comparison struct {
	group, url, verdict string
	name                string // of the later snapshot's file
}

// measureChanges prints how a folder of real pages is judged: pairs.jsonl, visits.jsonl and the
// files that they name. With the name of a file, it writes every verdict to it, a line
// each, so that two of them can be compared with diff.
func measureChanges(args []string) error {
	flags := flag.NewFlagSet("changes", flag.ContinueOnError)
	dir := flags.String("pages", "", "`folder` with pairs.jsonl, visits.jsonl and what they name")
	lists := flags.String("lists", "", "`folder` of the two lists, if they are elsewhere")
	verdicts := flags.String("verdicts", "", "`file` for one line a verdict")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *dir == "" {
		return fmt.Errorf("changes: name the folder of pages with -pages")
	}
	if *lists == "" {
		*lists = *dir
	}
	j := &judge{dir: *dir}
	if err := j.pairs(filepath.Join(*lists, "pairs.jsonl")); err != nil {
		return err
	}
	if err := j.series(filepath.Join(*lists, "visits.jsonl")); err != nil {
		return err
	}
	j.report(os.Stdout)
	if *verdicts == "" {
		return nil
	}
	return j.write(*verdicts)
}

// judge reads pages and compares them, as a crawl would.
type judge struct {
	dir   string
	all   []comparison
	took  time.Duration
	pages int
}

// snapshot is a page as it was at one time.
type snapshot struct {
	title   string
	digests change.Digests
	change.Rendering
	timeless string
}

func (s snapshot) earlier() change.Earlier {
	return change.Earlier{Digests: s.digests, Timeless: s.timeless}
}

func (j *judge) pairs(list string) error {
	return eachLine(list, func(p pair) error {
		before, err := j.read(p.URL, p.Before, p.AtBefore)
		if err != nil {
			return err
		}
		after, err := j.read(p.URL, p.After, p.AtAfter)
		if err != nil {
			return err
		}
		verdict := j.compare(before, after)
		if verdict == crawl.OutcomeChanged.String() && suspicious(before, after) {
			verdict = crawl.OutcomeSuspect.String()
		}
		group := "pairs: " + p.Kind
		if p.Kind != "site" {
			group += ", curators say " + p.Curators
		}
		j.all = append(j.all, comparison{group, p.URL, verdict, p.After})
		return nil
	})
}

func (j *judge) series(list string) error {
	return eachLine(list, func(s series) error {
		var last snapshot
		var before []snapshot // what the page had before, the latest first
		suspected := false    // by the visit before
		for i, visit := range s.Visits {
			now, err := j.read(s.URL, visit.File, visit.At)
			if err != nil {
				return err
			}
			if i == 0 {
				last = now
				continue
			}
			verdict := j.compare(last, now)
			back, returned := 0, false
			if verdict == crawl.OutcomeChanged.String() {
				back, returned = j.returned(now, before)
			}
			switch {
			case verdict != crawl.OutcomeChanged.String():
			case returned:
				verdict, now = crawl.OutcomeReturned.String(), before[back]
				before = slices.Delete(before, back, back+1)
				before, last = slices.Insert(before, 0, last), now
			case !suspected && suspicious(last, now):
				verdict = crawl.OutcomeSuspect.String()
			default:
				before, last = slices.Insert(before, 0, last), now
			}
			suspected = verdict == crawl.OutcomeSuspect.String()
			j.all = append(j.all, comparison{"visits", s.URL, verdict, visit.File})
		}
		return nil
	})
}

// read makes a snapshot of a file.
func (j *judge) read(address, file string, at int64) (snapshot, error) {
	body, err := os.ReadFile(filepath.Join(j.dir, file))
	if err != nil {
		return snapshot{}, fmt.Errorf("read a snapshot: %w", err)
	}
	u, err := urlkey.Canonical(address)
	if err != nil {
		u = base
	}
	start := time.Now()
	page, err := extract.Parse(extract.Source{Body: body, ContentType: "text/html", URL: u}, extract.Rules{})
	if err != nil {
		return snapshot{}, fmt.Errorf("read %s: %w", file, err)
	}
	j.took += time.Since(start)
	j.pages++
	core, timeless := change.CoreDigests(page.Text)
	raw := sha256.Sum256(body)
	return snapshot{
		title: page.Title,
		digests: change.Digests{
			Raw: hex.EncodeToString(raw[:]), Text: core, Bytes: int64(len(body)),
			TextBytes: int64(len(page.Text)), Sketch: change.NewSketch(page.Text),
		},
		Rendering: change.Rendering{Text: page.Text, At: time.Unix(at, 0)},
		timeless:  timeless,
	}, nil
}

// suspicious reports whether a changed snapshot reads like an error or a wall. That it is the
// front page, nobody knows here.
func suspicious(last, now snapshot) bool {
	if !change.LittleInCommon(last.digests, now.digests) {
		return false
	}
	_, is := change.SuspectText(now.title, now.Text)
	_, short := change.SuspectShort(last.digests, now.digests)
	return is || short
}

// returned finds the snapshot to which a page has returned.
func (j *judge) returned(now snapshot, before []snapshot) (int, bool) {
	start := time.Now()
	defer func() { j.took += time.Since(start) }()
	earlier := make([]change.Earlier, len(before))
	for i, b := range before {
		earlier[i] = b.earlier()
	}
	back, ok, _ := change.Return(now.earlier(), earlier, func(i int) (bool, error) {
		noise, _ := change.CompareRenderings(before[i].Rendering, now.Rendering)
		return noise, nil
	})
	return back, ok
}

// compare is the verdict of a crawl about two snapshots.
func (j *judge) compare(before, after snapshot) string {
	rule := change.Rule{Difference: change.DifferenceEdit}
	if change.NeedsLook(before.digests, after.digests) {
		start := time.Now()
		if noise, _ := change.CompareRenderings(before.Rendering, after.Rendering); noise {
			rule.Difference = change.DifferenceNoise
		}
		j.took += time.Since(start)
	}
	outcome, _ := change.Verdict(before.digests, after.digests, rule)
	return outcome.String()
}

// report prints a table: groups by verdicts.
func (j *judge) report(w io.Writer) {
	counts, verdicts := map[string]map[string]int{}, map[string]bool{}
	for _, c := range j.all {
		if counts[c.group] == nil {
			counts[c.group] = map[string]int{}
		}
		counts[c.group][c.verdict]++
		verdicts[c.verdict] = true
	}
	columns := slices.Sorted(maps.Keys(verdicts))
	fmt.Fprintf(w, "%-40s %8s", "", "all")
	for _, verdict := range columns {
		fmt.Fprintf(w, " %18s", verdict)
	}
	fmt.Fprintln(w)
	for _, group := range slices.Sorted(maps.Keys(counts)) {
		all := 0
		for _, n := range counts[group] {
			all += n
		}
		fmt.Fprintf(w, "%-40s %8d", group, all)
		for _, verdict := range columns {
			fmt.Fprintf(w, " %18d", counts[group][verdict])
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%d pages, %.2f ms each\n", j.pages, float64(j.took.Microseconds())/1000/float64(max(j.pages, 1)))
}

// write lists all verdicts.
func (j *judge) write(file string) error {
	var out []byte
	for _, c := range j.all {
		out = fmt.Appendf(out, "%s\t%s\t%s\t%s\n", c.group, c.name, c.verdict, c.url)
	}
	if err := os.WriteFile(file, out, 0o644); err != nil {
		return fmt.Errorf("write the verdicts: %w", err)
	}
	return nil
}

// eachLine reads a file of JSON Lines.
func eachLine[T any](file string, do func(T) error) error {
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("read the list: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var one T
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return fmt.Errorf("line %d of %s: %w", n, file, err)
		}
		if err := do(one); err != nil {
			return fmt.Errorf("line %d of %s: %w", n, file, err)
		}
	}
	return lines.Err()
}
