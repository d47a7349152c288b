package report

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
)

// CompareQuery asks for two crawls in figures, side by side.
type CompareQuery struct {
	SurveyQuery
	Other string
}

// Compare writes two crawls side by side: their settings, and the figures by which crawlers
// are judged.
func (r Reporter) Compare(ctx context.Context, q CompareQuery) error {
	one, now, err := r.surveyOf(ctx, q.Crawl, q.Options)
	if err != nil {
		return err
	}
	other, _, err := r.surveyOf(ctx, q.Other, q.Options)
	if err != nil {
		return err
	}
	table := compared(one, other, now)
	if q.HTML != nil {
		if err := writeComparePage(q.HTML, one.Crawl, other.Crawl, table, now); err != nil {
			return err
		}
	}
	if r.Format == JSON {
		return writeJSON(r.Out, struct {
			Crawls [2]surveyLine `json:"crawls"`
		}{[2]surveyLine{one, other}})
	}
	t := newTable(r.Out, table.Header...)
	for _, row := range table.Rows {
		t.row(row...)
	}
	return t.flush()
}

// comparison is a figure in words. Those of two crawls stand side by side.
type comparison struct {
	name string
	of   func(surveyLine) string
}

// compared makes the table of two crawls. Figures that neither has are left out.
func compared(one, other surveyLine, now time.Time) surveyTable {
	t := surveyTable{Title: one.Crawl + " and " + other.Crawl, Header: []string{"FIGURE", one.Crawl, other.Crawl}}
	all := append(comparedSettings(), comparedFigures(now)...)
	for level := range max(len(one.Levels), len(other.Levels)) {
		all = append(all, comparison{"back-links at level " + strconv.Itoa(level), func(l surveyLine) string { return l.backlinksAt(level) }})
	}
	for _, c := range all {
		if a, b := c.of(one), c.of(other); a != "" || b != "" {
			t.Rows = append(t.Rows, []string{c.name, some(a), some(b)})
		}
	}
	return t
}

func comparedSettings() []comparison {
	number := func(n int, none string) string {
		if n == 0 {
			return none
		}
		return strconv.Itoa(n)
	}
	return []comparison{
		{"policy", func(l surveyLine) string { return l.Settings.Policy }},
		{"budget", func(l surveyLine) string { return string(l.Settings.Budget) }},
		{"delay of a host", func(l surveyLine) string { return l.Settings.Delay.String() }},
		{"requests at a time to an address (threads)", func(l surveyLine) string { return number(l.Settings.PerAddress, "any") }},
		{"window of a host (queue)", func(l surveyLine) string { return strconv.Itoa(l.Settings.Window) }},
		{"pages at most", func(l surveyLine) string { return number(l.Settings.MaxPages, "any") }},
		{"ranked every (scheduling time)", func(l surveyLine) string { return l.Settings.RankEvery.String() }},
	}
}

func comparedFigures(now time.Time) []comparison {
	return []comparison{
		{"state", func(l surveyLine) string { return l.State.String() }},
		{"begun", func(l surveyLine) string { return when(time.Time(l.CreatedAt), now) }},
		{"lasted", func(l surveyLine) string { return schedule.Rough(crawl.Seconds(l.Lasted)) }},
		{"pages known", func(l surveyLine) string { return strconv.Itoa(l.Known) }},
		{"pages visited", func(l surveyLine) string { return strconv.Itoa(l.Visited) }},
		{"pages downloaded", func(l surveyLine) string { return strconv.Itoa(l.Downloaded) }},
		{"size", func(l surveyLine) string { return size(l.Bytes) }},
		{"visits", func(l surveyLine) string { return strconv.Itoa(l.Visits) }},
		{"pages an hour", func(l surveyLine) string { return figure(l.PagesPerDay / 24) }},
		{"visits an hour", func(l surveyLine) string { return figure(l.VisitsDay / 24) }},
		{"important pages (H/T)", func(l surveyLine) string {
			return fmt.Sprintf("%.3f (%d of %d)", l.Importance.Share, l.Importance.Important, l.Importance.Downloaded)
		}},
		{"hosts (diversity)", func(l surveyLine) string { return strconv.Itoa(l.Diversity.Hosts) }},
		{"domains", func(l surveyLine) string { return strconv.Itoa(l.Diversity.Domains) }},
		{"share of the largest host", func(l surveyLine) string { return percentage(l.Diversity.Largest) }},
		{"as diverse as equal hosts", func(l surveyLine) string { return strconv.FormatFloat(l.Diversity.Effective, 'f', 1, 64) }},
		{"duplicates", func(l surveyLine) string {
			return fmt.Sprintf("%d (%s)", l.Duplicates.Pages, percentage(l.Duplicates.Share))
		}},
		{"broken pages", func(l surveyLine) string { return fmt.Sprintf("%d (%s)", l.Broken.Pages, percentage(l.Broken.Share)) }},
		{"links to broken pages", func(l surveyLine) string {
			return fmt.Sprintf("%d (%s)", l.Broken.Links, percentage(l.Broken.LinkShare))
		}},
		{"copies up to date", func(l surveyLine) string { return ofCopies(l, percentage(l.Freshness.Fresh)) }},
		{"mean age of the copies", func(l surveyLine) string { return ofCopies(l, inDays(l.Freshness.Age)) }},
		{"a change waits", func(l surveyLine) string { return ofCopies(l, inDays(l.Freshness.Delay)) }},
	}
}

// ofCopies returns a figure about copies, "" if there are none.
func ofCopies(l surveyLine, figure string) string {
	if l.Freshness.Pages == 0 {
		return ""
	}
	return figure
}

// backlinksAt returns the mean back-link count of a level in words, "" if there is none.
func (line surveyLine) backlinksAt(level int) string {
	for _, l := range line.Levels {
		if l.Level == level {
			return strconv.FormatFloat(l.MeanBacklinks, 'f', 2, 64)
		}
	}
	return ""
}

func writeComparePage(out io.Writer, one, other string, table surveyTable, now time.Time) error {
	return surveyPage.Execute(out, surveyPageData{
		Title: fmt.Sprintf("Crawls %s and %s in figures", one, other), At: atWords(now), Figures: []surveyTable{table},
	})
}
