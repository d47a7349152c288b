package report

import (
	"context"
	"fmt"
	"time"

	"recrawl/internal/store"
)

// importsShown is how many unfinished imports a status has.
const importsShown = 3

// ImportLine is an import of seeds that is under way, or that was cut off and can be
// continued.
type ImportLine struct {
	Entries int `json:"entries"` // of its list that were looked at
	// New and Known count the seeds among them: new pages, and pages that the crawl had.
	New   int   `json:"new"`
	Known int   `json:"known"`
	At    stamp `json:"at"` // when the last of them were imported
}

// String says how far the import has come.
func (i ImportLine) String() string {
	if i.Entries == 1 {
		return "1 entry so far"
	}
	return fmt.Sprintf("%d entries so far", i.Entries)
}

// UnfinishedImports returns a crawl's unfinished imports, the last ones first.
func (r Reporter) UnfinishedImports(ctx context.Context, c store.CrawlRecord) (lines []ImportLine, err error) {
	if !c.Imported || r.Imports == nil {
		return nil, nil
	}
	imports, err := r.Imports.Imports(ctx, c.ID, importsShown)
	for _, i := range imports {
		lines = append(lines, ImportLine{i.Entries, i.New, i.Known, stamp(i.At)})
	}
	return lines, err
}

// importRow says how far an import has come, and when.
func importRow(i ImportLine, now time.Time) string {
	return i.String() + ", the last " + when(time.Time(i.At), now)
}
