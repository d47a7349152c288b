package web

import (
	"html/template"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/report"
)

// pageFunctions are what the templates of a page may call besides the others.
func pageFunctions() template.FuncMap {
	return template.FuncMap{
		"outcome":     outcomeWords,
		"outcomeMark": func(o crawl.Outcome) string { return markKind(o) },
		"bytes":       report.Size,
		// tableOf gives a list what its rows need besides themselves.
		"tableOf": func(items any, crawl string, now time.Time) table { return table{items, crawl, now} },
	}
}

// table is a list that is shown now.
type table struct {
	Items any
	Crawl string
	Now   time.Time
}
