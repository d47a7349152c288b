package web

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/report"
	"recrawl/internal/store"
)

// Bounds on counting for the evidence page. Counting looks at all pages of the host, so for
// a large host, or many requests, it is done only when somebody asks for it.
const (
	evidencePages    = 2000
	evidenceRequests = 5000
	evidenceSpan     = 24 * time.Hour
	maxEvidenceSpan  = 31 * 24 * time.Hour
	// countLimit is how long it may take then: somebody waits for it.
	countLimit = 3 * time.Minute
)

// evidenceMore holds the parts of the evidence view that only people see.
type evidenceMore struct {
	Markdown string
	Spans    []choice
	Hours    hoursDrawing
	// CountAll is the address at which the requests are counted, "" if they are.
	CountAll string
}

// evidenceView shows what was requested of a host, for the owner of its site.
func evidenceView(ctx context.Context, s *Server, r *http.Request) (answer, error) {
	name := r.PathValue("crawl")
	host, err := hostOf(value(r, "host"))
	if err != nil {
		return answer{}, err
	}
	within, err := evidenceWithin(r.FormValue("since"))
	if err != nil {
		return answer{}, err
	}
	now, err := s.Report.Store.Now(ctx)
	if err != nil {
		return answer{}, err
	}
	q := report.EvidenceQuery{Host: host, Since: now.Add(-within).Truncate(time.Second), MaxPages: evidencePages, MaxRequests: evidenceRequests}
	if r.FormValue("count") == "all" {
		q.MaxPages, q.MaxRequests = 0, 0
	}
	e, err := s.Report.EvidenceOf(ctx, q)
	if err != nil && ctx.Err() != nil {
		return answer{}, fmt.Errorf("counting the requests to %s takes longer than %s. On the command line, `starter evidence %s --since %s` counts them: %w",
			host, crawl.FormatDuration(countLimit), host, crawl.FormatDuration(within), err)
	}
	if err != nil {
		return answer{}, err
	}
	if !slices.ContainsFunc(e.Crawls, func(c report.EvidenceCrawl) bool { return c.Crawl == name }) {
		return answer{}, fmt.Errorf("crawl %s has no pages at %s: %w", name, host, store.ErrNotFound)
	}
	a := answer{Title: "Evidence for " + host, Crawl: name, Now: now, Data: e}
	if wantsJSON(r) {
		return a, nil
	}
	more := evidenceMore{Hours: drawHours(e.Requests, q.Since, now)}
	here := at(name, "hosts", host, "evidence")
	for _, span := range []time.Duration{evidenceSpan, 7 * 24 * time.Hour, 30 * 24 * time.Hour} {
		text := crawl.FormatDuration(span)
		more.Spans = append(more.Spans, choice{Name: "last " + text, Link: here + "?since=" + text, Chosen: span == within})
	}
	if e.Requests == nil {
		more.CountAll = here + "?since=" + crawl.FormatDuration(within) + "&count=all"
	}
	var markdown bytes.Buffer
	if err := e.WriteMarkdown(&markdown); err != nil {
		return answer{}, err
	}
	more.Markdown = markdown.String()
	a.More = more
	return a, nil
}

// evidenceWithin reads how far back somebody asks.
func evidenceWithin(text string) (time.Duration, error) {
	if text == "" {
		return evidenceSpan, nil
	}
	within, err := crawl.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("since=%s %w: %w", text, errBad, err)
	}
	if within <= 0 || within > maxEvidenceSpan {
		return 0, fmt.Errorf("since=%s %w: give a time up to %s", text, errBad, crawl.FormatDuration(maxEvidenceSpan))
	}
	return within, nil
}

// Size of the drawing of hours.
const (
	hoursWidth  = 960
	hoursHeight = 120
)

// hoursDrawing shows the requests of each hour as bars.
type hoursDrawing struct {
	Width, Height int
	Most          int // requests in an hour
	From, Until   string
	Bars          []hourBar
}

// hourBar is the bar of one hour, with the refused requests at its foot.
type hourBar struct {
	X, Y, Width, Height     float64
	RefusedY, RefusedHeight float64
	Text                    string
}

// drawHours draws the hours from since to now.
func drawHours(f *report.EvidenceRequests, since, now time.Time) hoursDrawing {
	const layout = "2006-01-02 15:04"
	d := hoursDrawing{Width: hoursWidth, Height: hoursHeight, From: since.UTC().Format(layout), Until: now.UTC().Format(layout)}
	if f == nil {
		return d
	}
	first := since.UTC().Truncate(time.Hour)
	slots := float64(now.UTC().Truncate(time.Hour).Sub(first)/time.Hour) + 1
	for _, h := range f.Hours {
		d.Most = max(d.Most, h.Requests)
	}
	for _, h := range f.Hours {
		hour := time.Time(h.Hour)
		slot := float64(hour.Sub(first) / time.Hour)
		height := func(n int) float64 { return float64(n) / float64(d.Most) * hoursHeight }
		refused := h.Refused + h.Failed
		d.Bars = append(d.Bars, hourBar{
			X: slot / slots * hoursWidth, Width: max(hoursWidth/slots-1, 0.5), Y: hoursHeight - height(h.Requests), Height: height(h.Requests),
			RefusedY: hoursHeight - height(refused), RefusedHeight: height(refused),
			Text: fmt.Sprintf("%s: %s, %d refused or without answer", hour.Format(layout), count(h.Requests, "request"), refused),
		})
	}
	return d
}
