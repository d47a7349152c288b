package web

import (
	"html/template"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/report"
)

// pageFunctions returns further functions for the templates of a page.
func pageFunctions() template.FuncMap {
	return template.FuncMap{
		"outcome":     outcomeWords,
		"outcomeMark": func(o crawl.Outcome) string { return markKind(o) },
		"bytes":       report.Size,
		// tableOf adds to a list what its rows need.
		"tableOf": func(items any, crawl string, now time.Time) table { return table{items, crawl, now} },
	}
}

// table is a list with the time at which it is shown.
type table struct {
	Items any
	Crawl string
	Now   time.Time
}
