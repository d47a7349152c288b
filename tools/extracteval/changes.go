package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
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
	kind, curators      string // of a pair
	before              string // the earlier snapshot's file
	differs             bool   // its bytes
	seen                bool   // the later snapshot's text is that of one not long before
}

// lately is how many snapshots before the last one are searched for a text that comes back.
const lately = 12

// changesFlags are the settings of measureChanges.
type changesFlags struct{ dir, lists, verdicts, against, left string }

func (f *changesFlags) parse(args []string) error {
	flags := flag.NewFlagSet("changes", flag.ContinueOnError)
	flags.StringVar(&f.dir, "pages", "", "`folder` with pairs.jsonl, visits.jsonl and what they name, or "+archiveName+" with that")
	flags.StringVar(&f.lists, "lists", "", "`folder` of the two lists, if they are elsewhere")
	flags.StringVar(&f.verdicts, "verdicts", "", "`file` to write, with one line a verdict")
	flags.StringVar(&f.against, "against", "", "`file` of an earlier run's verdicts: print those that moved")
	flags.StringVar(&f.left, "left", "", "`file` to write, with the visible differences of cosmetic verdicts")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if f.dir == "" {
		return errors.New("changes: name the folder of pages with -pages")
	}
	if f.lists == "" {
		f.lists = f.dir
	}
	return nil
}

// measureChanges prints how a folder of real pages is judged: pairs.jsonl, visits.jsonl and
// the files that they name, or an archive with these files.
func measureChanges(args []string) error {
	var f changesFlags
	if err := f.parse(args); err != nil {
		return err
	}
	return f.measure(os.Stdout)
}

func (f changesFlags) measure(w io.Writer) error {
	files, done, err := unpacked(f.dir)
	if err != nil {
		return err
	}
	defer done()
	j := &judge{dir: files}
	if err := j.pairs(filepath.Join(f.lists, "pairs.jsonl")); err != nil {
		return err
	}
	if err := j.series(filepath.Join(f.lists, "visits.jsonl")); err != nil {
		return err
	}
	j.report(w)
	fmt.Fprint(w, j.targets())
	if f.against != "" {
		if err := j.printMoved(w, f.against); err != nil {
			return err
		}
	}
	if f.left != "" {
		if err := j.writeLeft(f.left); err != nil {
			return err
		}
	}
	if f.verdicts == "" {
		return nil
	}
	return j.write(f.verdicts)
}

// writeLeft writes what printLeft prints to a file.
func (j *judge) writeLeft(file string) error {
	var b bytes.Buffer
	if err := j.printLeft(&b); err != nil {
		return err
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write what is left out: %w", err)
	}
	return nil
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
	looks   string
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
		switch {
		case p.Kind == "site":
		case p.Curators == "":
			group += ", no curators"
		default:
			group += ", curators say " + p.Curators
		}
		j.all = append(j.all, comparison{
			group: group, url: p.URL, verdict: verdict, name: p.After, kind: p.Kind, curators: p.Curators,
			before: p.Before, differs: before.digests.Raw != after.digests.Raw,
		})
		return nil
	})
}

func (j *judge) series(list string) error {
	return eachLine(list, func(s series) error {
		var last snapshot
		var before []snapshot // what the page had before, the latest first
		var latest []string   // digests of the texts of the last snapshots, the latest last
		suspected := false    // by the visit before
		for i, visit := range s.Visits {
			now, err := j.read(s.URL, visit.File, visit.At)
			if err != nil {
				return err
			}
			text := now.digests.Text
			if i == 0 {
				last, latest = now, append(latest, text)
				continue
			}
			seen := slices.Contains(latest[:len(latest)-1], text) && latest[len(latest)-1] != text
			latest = append(latest, text)
			latest = latest[max(len(latest)-lately-1, 0):]
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
			j.all = append(j.all, comparison{group: "visits", url: s.URL, verdict: verdict, name: visit.File, seen: seen})
		}
		return nil
	})
}

func (j *judge) body(file string) ([]byte, error) {
	body, err := os.ReadFile(filepath.Join(j.dir, file))
	if err != nil {
		return nil, fmt.Errorf("read a snapshot: %w", err)
	}
	return body, nil
}

// read makes a snapshot of a file.
func (j *judge) read(address, file string, at int64) (snapshot, error) {
	body, err := j.body(file)
	if err != nil {
		return snapshot{}, err
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
		title: page.Title, looks: extract.LooksText(page.Looks),
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
	if outcome == crawl.OutcomeCosmetic && differsBeside(before, after) {
		outcome = crawl.OutcomeChanged
	}
	return outcome.String()
}

// differsBeside reports whether a cosmetic difference is one of the title, or of what else
// readers see.
func differsBeside(before, after snapshot) bool {
	title := func(s snapshot) change.Rendering { return change.Rendering{Text: s.title, At: s.At} }
	if change.Retitled(title(before), title(after), after.Text) {
		return true
	}
	looks := func(s snapshot) change.Rendering { return change.Rendering{Text: s.looks, At: s.At} }
	same, _ := change.CompareRenderings(looks(before), looks(after))
	return !same
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
