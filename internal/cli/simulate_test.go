package cli

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// small are flags of a simulation that takes no time.
const small = " --pages 20 --days 20 --warmup-days 10 --seeds 2 --policy sqrt,heritrix,uniform"

func TestSimulate(t *testing.T) {
	t.Parallel()
	got := starter(t, &fakeBackend{}, strings.Fields("simulate --world cho,burst --budget 0.3/page/day"+small)...)
	if got.code != ExitOK || got.errOut != "" {
		t.Fatalf("exit code %d: %s", got.code, got.errOut)
	}
	for _, want := range []string{
		"World cho\n", "\n\nWorld burst\n", "20 pages on ", "Budget 0.3/page/day (6 visits a day at the end), work-conserving.",
		"\nsqrt ", "\nheritrix ", "\nuniform ", "* what the policy is for",
	} {
		if !strings.Contains(strings.ReplaceAll(got.out, "\n", " "), strings.ReplaceAll(want, "\n", " ")) {
			t.Errorf("%q is missing in\n%s", want, got.out)
		}
	}
}

func TestSimulateJSON(t *testing.T) {
	t.Parallel()
	args := strings.Fields("simulate --world host --weights pareto --budget 5/day --mode better --output json" + small)
	got, again := starter(t, &fakeBackend{}, args...), starter(t, &fakeBackend{}, args...)
	if got.code != ExitOK || got.out != again.out {
		t.Fatalf("exit code %d: %s; the same again: %v", got.code, got.errOut, got.out == again.out)
	}
	lines := strings.Split(strings.TrimSpace(got.out), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines, want one for each policy", len(lines))
	}
	for _, line := range lines {
		var l struct {
			World, Budget, Mode string
			Seeds               []int
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		if l.World != "host" || l.Budget != "5/day" || l.Mode != "better" || len(l.Seeds) != 2 {
			t.Errorf("%+v", l)
		}
	}
}

// With a short longest interval all pages are visited about equally often.
func TestSimulateMaxInterval(t *testing.T) {
	t.Parallel()
	const args = "simulate --world cho --pages 100 --days 60 --warmup-days 0 --seeds 1 --mode timers --budget 0.02/page/day --policy sqrt --output json"
	visits := func(more ...string) float64 {
		got := starter(t, &fakeBackend{}, append(strings.Fields(args), more...)...)
		var l struct {
			Notes    []string
			Measured struct {
				Visits struct{ Median float64 } `json:"visits_per_day"`
			}
		}
		if err := json.Unmarshal([]byte(got.out), &l); err != nil {
			t.Fatalf("%v: %s", err, got.errOut)
		}
		if (len(more) > 0) != slices.Contains(l.Notes, "Our policies visit a page after 5d at the latest.") {
			t.Errorf("%v: notes %q", more, l.Notes)
		}
		return l.Measured.Visits.Median
	}
	if free, held := visits(), visits("--max-interval", "5d"); free > 10 || held < 20 {
		t.Errorf("100 pages are visited %.1f times a day, every 5 days at the latest %.1f times", free, held)
	}
}

// traceFiles writes a trace of three pages over 40 days, with its births and
// deaths if it has some.
func traceFiles(t *testing.T, suffix string, lives bool) string {
	t.Helper()
	dir := t.TempDir()
	const begin = 1_600_000_000
	changes, pages := "page,change_unix_time\n", "page,birth,death,changes\n"
	for page := range 3 {
		for day := 0; day < 40; day += page + 1 {
			changes += fmt.Sprintf("docs/%d,%d\n", page, begin+86400*day)
		}
		pages += fmt.Sprintf("docs/%d,%d,,0\n", page, begin)
	}
	write := func(name, text string) {
		file, err := os.Create(filepath.Join(dir, name+suffix))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if strings.HasSuffix(suffix, ".gz") {
			packed := gzip.NewWriter(file)
			defer packed.Close()
			fmt.Fprint(packed, text)
			return
		}
		fmt.Fprint(file, text)
	}
	write("docs", changes)
	if lives {
		write("docs.pages", pages)
	}
	return filepath.Join(dir, "docs"+suffix)
}

func TestSimulateTrace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		suffix string
		lives  bool
		args   string
		want   string
	}{
		{".csv.gz", true, "", "Trace docs, 2020-09-13 to 2020-10-22\n3 pages on 1 host with 69 changes."},
		{".csv", false, " --hosts folder --days 15", "Trace docs, 2020-09-13 to 2020-10-08\n"},
		{".csv", true, " --start 2020-10-01 --weights pareto", "Trace docs, 2020-10-01 to 2020-10-22, weights pareto\n"},
		{".txt", false, "", "Trace docs.txt, "},
	} {
		args := strings.Fields("simulate --warmup-days 10 --seeds 1 --policy fresh,nutch --trace " + traceFiles(t, c.suffix, c.lives) + c.args)
		if got := starter(t, &fakeBackend{}, args...); got.code != ExitOK || !strings.Contains(got.out, c.want) {
			t.Errorf("%v: exit code %d, %s\n%s\nwant %q", args, got.code, got.errOut, got.out, c.want)
		}
	}
}

func TestSimulatePlots(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "plots")
	got := starter(t, &fakeBackend{}, append(strings.Fields("simulate --world cho"+small), "--svg", dir)...)
	for _, name := range []string{"cho-freshness.svg", "cho-gap.svg", "cho-visits.svg"} {
		path := filepath.Join(dir, name)
		if data, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(data), "<svg ") || !strings.Contains(got.out, "drew "+path+"\n") {
			t.Errorf("%s: %v, %s", path, err, got.out)
		}
	}
}

// crawled is a week of a page, visited every six hours and changed once a day.
func crawled() []store.VisitRecord {
	var visits []store.VisitRecord
	for i := range 28 {
		outcome := crawl.OutcomeUnchanged
		switch {
		case i == 0:
			outcome = crawl.OutcomeNew
		case i%4 == 0:
			outcome = crawl.OutcomeChanged
		}
		visits = append(visits, store.VisitRecord{Visit: i + 1, At: now.Add(time.Duration(i-28) * 6 * time.Hour), Outcome: outcome})
	}
	slices.Reverse(visits)
	return visits
}

func TestSimulateCrawl(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args string
		want []string
	}{
		{"", []string{"Budget 3.85714/day", "\nas-crawled ", "\nsqrt ", "\nheritrix ", "\noptimum-sqrt "}},
		{" --policy age,as-crawled --budget 8/day", []string{"Budget 8/day", "\nas-crawled ", "\nage "}},
		{" --policy as-crawled", []string{"\nas-crawled "}},
		{" --policy uniform", []string{"\nuniform "}},
		{" --policy sqrt --max-interval 9d", []string{"\nsqrt ", "Our policies visit a page after 9d at the latest."}},
	} {
		got := starter(t, &fakeBackend{visits: crawled()}, strings.Fields("simulate --crawl news --seeds 2"+c.args)...)
		if got.code != ExitOK {
			t.Errorf("%s: exit code %d: %s", c.args, got.code, got.errOut)
		}
		for _, want := range append(c.want, "Crawl news as it was recorded\n1 page on 1 host with 6 changes.", "The changes are a reconstruction, and fewer than there were") {
			if !strings.Contains(strings.ReplaceAll(got.out, "\n", " "), strings.ReplaceAll(want, "\n", " ")) {
				t.Errorf("%s: %q is missing in\n%s", c.args, want, got.out)
			}
		}
	}
}

// The days that are measured, and those before them, are the first of a crawl's history.
func TestSimulateSomeDaysOfACrawl(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{" --days 3 --warmup-days 2", ExitOK, "Measured for 3 days after 2 days of warm-up"},
		{" --days 300 --warmup-days 2", ExitOK, "Measured for 5 days after 2 days of warm-up"},
		{" --warmup-days 30", ExitUsage, "--crawl news: has 7 days of history, not more than the warm-up of 30: see --warmup-days"},
	} {
		got := starter(t, &fakeBackend{visits: crawled()}, strings.Fields("simulate --crawl news --seeds 2 --policy sqrt,as-crawled"+c.args)...)
		if text := strings.ReplaceAll(got.out+got.errOut, "\n", " "); got.code != c.code || !strings.Contains(text, c.want) {
			t.Errorf("%s: exit code %d, %q is missing in\n%s", c.args, got.code, c.want, text)
		}
	}
}

func TestSimulateMistakes(t *testing.T) {
	t.Parallel()
	trace := traceFiles(t, ".csv", true)
	broken := filepath.Join(t.TempDir(), "broken.csv")
	if err := os.WriteFile(broken, []byte("page,time\na,1\nb,soon\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"", ExitUsage, "give --world NAME, --trace FILE or --crawl NAME"},
		{"--world mars", ExitUsage, `--world: no world "mars": use one of cho, host, burst`},
		{"--world cho --policy googlebot", ExitUsage, `--policy: no policy "googlebot": use one of sqrt`},
		{"--world cho --policy as-crawled", ExitUsage, `no policy "as-crawled"`},
		{"--world cho --budget 5", ExitUsage, `--budget: "5" is not a budget: write visits per time, such as 10000/day, or for each page`},
		{"--world cho --mode idle", ExitUsage, "--mode must be one of"},
		{"--world cho --weights heavy", ExitUsage, "--weights must be one of"},
		{"--world cho --seeds 0", ExitUsage, "--seeds 0: use 1 to 1000"},
		{"--world cho --pages 0", ExitUsage, "--pages 0: a world has at least one page"},
		{"--world cho --pages 99999999999", ExitUsage, "at most 10000000"},
		{"--world cho --days -3", ExitUsage, "not negative"},
		{"--world cho --days NaN", ExitUsage, "at most 36500"},
		{"--world cho --warmup-days inf", ExitUsage, "at most 36500"},
		{"--world cho --max-interval 365", ExitUsage, `--max-interval: "365" is not a duration`},
		{"--world cho --max-interval 1m", ExitUsage, "--max-interval 1m: use 1h (min_interval) to 3650d"},
		{"--world cho --max-interval 4000d", ExitUsage, "--max-interval 4000d: use 1h (min_interval) to 3650d"},
		{"--trace " + filepath.Join(t.TempDir(), "none.csv"), ExitUsage, "none.csv: no such file"},
		{"--trace " + broken, ExitUsage, `--trace: trace broken: line 3: "soon" is not a Unix time`},
		{"--trace " + trace, ExitUsage, "has 39 days from 2020-09-13 on, not more than the warm-up of 365: see --start and --warmup-days"},
		{"--trace " + trace + " --start tomorrow", ExitUsage, "--start tomorrow: write a date"},
		{"--trace " + trace + " --start 2031-01-01 --warmup-days 0", ExitUsage, "has 0 days from 2031-01-01 on"},
		{"--crawl nope", ExitNotFound, `there is no crawl "nope"`},
		{"--crawl news", ExitFailed, "crawl news has no recorded visit that saw a page's content: let it run first"},
		{"--world cho --svg " + broken + small, ExitFailed, "--svg: mkdir"},
	} {
		got := starter(t, &fakeBackend{}, strings.Fields("simulate "+c.args)...)
		if got.code != c.code {
			t.Errorf("%s: exit code %d, want %d", c.args, got.code, c.code)
		}
		checkLine(t, got.errOut, c.want)
	}
}
