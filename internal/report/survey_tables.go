package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
)

// percentage writes a share.
func percentage(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) + " %" }

func (line surveyLine) write(out io.Writer, now time.Time) error {
	t := newTable(out, "crawl", line.Crawl+" ("+line.State.String()+"), begun "+when(time.Time(line.CreatedAt), now))
	for _, row := range line.rows(now) {
		t.row(row...)
	}
	if err := t.flush(); err != nil {
		return err
	}
	for _, table := range line.tables() {
		if len(table.Rows) == 0 {
			continue
		}
		fmt.Fprintf(out, "\n%s\n", table.Title)
		t := newTable(out, table.Header...)
		for i, row := range table.Rows {
			if table.Marks != nil {
				row = append(slices.Clone(row), drawn(table.Bars[i], table.Marks[i]))
			}
			t.row(row...)
		}
		if err := t.flush(); err != nil {
			return err
		}
	}
	return nil
}

// rows returns the figures of a survey in words.
func (line surveyLine) rows(now time.Time) [][]string {
	broken := line.Broken
	rows := [][]string{
		{"pages", fmt.Sprintf("%d known, %d visited, %d downloaded, %s", line.Known, line.Visited, line.Downloaded, size(line.Bytes))},
		{"pace", line.pace(now)},
		{"importance", fmt.Sprintf("H/T %.3f: %d of %d downloaded pages have more than %s",
			line.Importance.Share, line.Importance.Important, line.Importance.Downloaded, plural(line.Importance.Backlinks, "back-link"))},
		{"diversity", fmt.Sprintf("%s of %s; the largest host has %s, as diverse as %.1f equal ones",
			plural(line.Diversity.Hosts, "host"), plural(line.Diversity.Domains, "domain"), percentage(line.Diversity.Largest), line.Diversity.Effective)},
		{"duplicates", fmt.Sprintf("%s, %s of those downloaded", plural(line.Duplicates.Pages, "page"), percentage(line.Duplicates.Share))},
		{"broken", fmt.Sprintf("%s, %s of those visited; %d of %s, %s",
			plural(broken.Pages, "page"), percentage(broken.Share), broken.Links, plural(broken.AllLinks, "link"), percentage(broken.LinkShare))},
		{"ranked", when(time.Time(line.Ranked), now)},
	}
	rows = append(rows, line.modelRows()...)
	if line.Budget > 0 {
		rows = append(rows, []string{"planned", fmt.Sprintf("%.0f visits a day of %.0f", line.Planned, line.Budget)})
	}
	return rows
}

// pace gives the pace, by the day once there has been one.
func (line surveyLine) pace(now time.Time) string {
	last := plural(line.VisitsHour, "visit") + " in the last hour"
	if ended := time.Time(line.EndedAt); !ended.IsZero() {
		last = "stopped " + when(ended, now)
	}
	if lasted := crawl.Seconds(line.Lasted); lasted < 24*time.Hour {
		return fmt.Sprintf("%s and %s in %s; %s", plural(line.Downloaded, "page"), plural(line.Visits, "visit"), schedule.Rough(lasted), last)
	}
	return fmt.Sprintf("%.1f pages and %.1f visits a day; %s", line.PagesPerDay, line.VisitsDay, last)
}

// surveyTable is a list of a survey. Bars are the lengths of its rows' bars, 0 to 1,
// if it has any.
type surveyTable struct {
	Title  string
	Header []string
	Rows   [][]string
	Bars   []float64
	// About explains it, if there is room for that.
	About string
	// URL is the column that has URLs, counted from 1; 0 for none.
	URL int
	// Marks, unless nil, are the values to compare the bars with, 0 to 1. Then text output
	// has the bars too.
	Marks []float64
}

func (line surveyLine) tables() []surveyTable {
	tables := []surveyTable{
		counted("Pages by state", "STATE", crawl.PageStates(), line.Pages),
		counted("Visits by outcome", "OUTCOME", crawl.Outcomes(), line.Outcomes),
		line.levelTable(), line.queueTable(),
		counted("Update activity (changes about every)", "CATEGORY", schedule.Activities(), line.Activities),
		line.ratesTable(), line.foreseenTable(), line.intervalTable(),
		line.typeTable(), line.pageTable(), line.referredTable(), line.hostTable(), line.prefixTable(),
		mostFirst("Links that were not taken", "LINKS", line.Rejected), mostFirst("Held as traps", "PAGES", line.Traps),
	}
	for i := range tables {
		tables[i].About = tableAbout[tables[i].Title]
	}
	return tables
}

// counted makes a table of counts in the order of their keys, without zeros.
func counted[K fmt.Stringer](title, header string, order []K, counts map[string]int) surveyTable {
	t := surveyTable{Title: title, Header: []string{header, "COUNT"}}
	for _, k := range order {
		if n := counts[k.String()]; n > 0 {
			t.add(float64(n), strings.ReplaceAll(k.String(), "_", " "), strconv.Itoa(n))
		}
	}
	return t.scaled()
}

func (t *surveyTable) add(bar float64, cells ...string) {
	t.Rows = append(t.Rows, cells)
	t.Bars = append(t.Bars, bar)
}

// scaled makes the longest bar 1.
func (t surveyTable) scaled() surveyTable {
	longest := 0.0
	for _, bar := range t.Bars {
		longest = max(longest, bar)
	}
	for i := range t.Bars {
		if longest > 0 {
			t.Bars[i] /= longest
		}
	}
	return t
}

func (line surveyLine) levelTable() surveyTable {
	t := surveyTable{Title: "Back-links by level", Header: []string{"LEVEL", "PAGES", "DOWNLOADED", "MEAN BACK-LINKS"}}
	for _, l := range line.Levels {
		t.add(l.MeanBacklinks, strconv.Itoa(l.Level), strconv.Itoa(l.Pages), strconv.Itoa(l.Downloaded), fmt.Sprintf("%.2f", l.MeanBacklinks))
	}
	return t.scaled()
}

func (line surveyLine) queueTable() surveyTable {
	t := surveyTable{Title: "Refresh queues (time between visits)", Header: []string{"QUEUE", "BELOW", "PAGES"}}
	for _, q := range line.Queues {
		if q.Pages > 0 {
			below := string(q.Below)
			if below == "" {
				below = "without end"
			}
			t.add(float64(q.Pages), fmt.Sprintf("UrlQ(%d)", q.Queue), below, strconv.Itoa(q.Pages))
		}
	}
	return t.scaled()
}

func (line surveyLine) typeTable() surveyTable {
	t := surveyTable{Title: "Content types", Header: []string{"TYPE", "PAGES", "SIZE"}}
	for _, c := range line.Types {
		t.add(float64(c.Pages), some(c.Type), strconv.Itoa(c.Pages), size(c.Bytes))
	}
	return t.scaled()
}

func (line surveyLine) pageTable() surveyTable {
	t := surveyTable{Title: "Most important pages", URL: 4, Header: []string{"WEIGHT", "BACK-LINKS", "STATE", "URL"}}
	for _, p := range line.TopPages {
		t.add(importance(p.Weight, p.Backlinks), figure(p.Weight), strconv.Itoa(p.Backlinks), p.State.String(), p.URL)
	}
	return t.scaled()
}

// referredTable has JoMaGic's measure of importance, which is one part of the blended
// measure beside it.
func (line surveyLine) referredTable() surveyTable {
	t := surveyTable{Title: "Pages with most back-links", URL: 4, Header: []string{"BACK-LINKS", "WEIGHT", "STATE", "URL"}}
	for _, p := range line.TopReferred {
		t.add(float64(p.Backlinks), strconv.Itoa(p.Backlinks), figure(p.Weight), p.State.String(), p.URL)
	}
	return t.scaled()
}

// importance is the key by which pages and hosts are sorted: back-links until they are
// ranked.
func importance(weight float64, backlinks int) float64 {
	if weight > 0 {
		return weight
	}
	return float64(backlinks)
}

func (line surveyLine) hostTable() surveyTable {
	t := surveyTable{Title: "Most important hosts", Header: []string{"WEIGHT", "BACK-LINKS", "PAGES", "HELD", "DOWNLOADED", "HOST"}}
	for _, h := range line.TopHosts {
		t.add(importance(h.Weight, h.Backlinks), figure(h.Weight), strconv.Itoa(h.Backlinks), strconv.Itoa(h.Pages), strconv.Itoa(h.Held), strconv.Itoa(h.Downloaded), h.Host)
	}
	return t.scaled()
}

func (line surveyLine) prefixTable() surveyTable {
	t := surveyTable{Title: "Hosts and prefixes with most pages", Header: []string{"PAGES", "PREFIX"}}
	for _, p := range line.Dominating {
		t.add(float64(p.Pages), strconv.Itoa(p.Pages), p.Prefix)
	}
	return t.scaled()
}

// mostFirst makes a table of counts by reason.
func mostFirst(title, header string, counts map[string]int) surveyTable {
	t := surveyTable{Title: title, Header: []string{"REASON", header}}
	reasons := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	for _, reason := range reasons {
		t.add(float64(counts[reason]), reason, strconv.Itoa(counts[reason]))
	}
	return t.scaled()
}
