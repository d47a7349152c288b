package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/report"
	"recrawl/internal/store"
)

// pageHead is the head of every view of a page.
type pageHead struct {
	Crawl string
	Title string // of its last version, or its URL
	URL   string
	Host  string
	State string
	Link  string // to the page's own view
}

func headOfPage(p store.PageRecord) pageHead {
	return pageHead{
		Crawl: p.Crawl, Title: cmp.Or(crawl.Clean(p.Last.Title, 160), crawl.Clean(p.URL, 300)), URL: p.URL, Host: p.Host,
		State: p.State.String(), Link: atPage(p),
	}
}

// atPage returns an address below that of a page.
func atPage(p store.PageRecord, parts ...string) string {
	return at(p.Crawl, append([]string{"pages", strconv.FormatInt(p.PageID, 10)}, parts...)...)
}

// pageMore holds the parts of a page's view that only people see.
type pageMore struct {
	pageHead
	// Found and Plan are the two sentences that say why.
	Found, Plan string
	// Wide and Narrow are the same drawing.
	Wide, Narrow timeline
	Believes     bool // they have a belief
	Facts, Math  []facts
	Workflow     string // its address in the Temporal UI, "" if that is not known
	Buttons      pageButtons

	Original  *report.CopyLine
	Copies    []report.CopyLine
	Visits    []report.VisitLine
	Versions  []versionItem
	Backlinks []report.BacklinkLine
	// For each list, More… says that it goes on.
	MoreVisits, MoreVersions, MoreCopies, MoreBacklinks bool
	BacklinkCount                                       int
}

// facts are the known values under one name.
type facts struct {
	Name  string
	Texts []string
}

// shortList is the number of rows that a page shows of each of its lists.
const shortList = 8

// pageView shows a page: when and why it is visited, and what is known of it.
func pageView(ctx context.Context, s *Server, r *http.Request) (answer, error) {
	page, err := s.pageOf(ctx, r)
	if err != nil {
		return answer{}, err
	}
	e, err := s.Report.Explained(ctx, page, s.askLive(ctx, page))
	if err != nil {
		return answer{}, err
	}
	a := answer{Title: headOfPage(page).Title, Crawl: page.Crawl, Now: e.Now(), Data: e.Explanation()}
	if wantsJSON(r) {
		return a, nil
	}
	more := pageMore{
		pageHead: headOfPage(page), Found: shownFact(e.Found()), Plan: shownFact(e.Plan()), Buttons: buttonsOf(page),
		BacklinkCount: page.Backlinks,
	}
	l := lifeOf(e)
	more.Wide, more.Narrow, more.Believes = drawTimeline(l, 960), drawTimeline(l, 340), len(l.Beliefs) > 0
	more.Facts, more.Math = factsOfPage(e)
	if s.TemporalUI != "" {
		more.Workflow = s.TemporalUI + "/workflows/" + url.PathEscape(contract.PageID(page.Crawl, page.URL))
	}
	visits, goesOn := cut(l.Visits, shortList)
	for _, v := range visits {
		more.Visits = append(more.Visits, report.NewVisitLine(page, v))
	}
	more.MoreVisits = goesOn
	if err := s.pageLists(ctx, page, &more); err != nil {
		return answer{}, err
	}
	a.More = more
	return a, nil
}

// pageLists reads the first rows of a page's lists.
func (s *Server) pageLists(ctx context.Context, page store.PageRecord, more *pageMore) (err error) {
	versions, err := s.Report.VersionsOf(ctx, page, 0, shortList+1)
	if err != nil {
		return err
	}
	if more.Copies, err = s.Report.CopiesOf(ctx, page, 0, shortList+1); err != nil {
		return err
	}
	if more.Backlinks, err = s.Report.BacklinksOf(ctx, page, 0, shortList+1); err != nil {
		return err
	}
	original, is, err := s.Report.OriginalOf(ctx, page)
	if err != nil {
		return err
	}
	if is {
		more.Original = &original
	}
	versions, more.MoreVersions = cut(versions, shortList)
	more.Copies, more.MoreCopies = cut(more.Copies, shortList)
	more.Backlinks, more.MoreBacklinks = cut(more.Backlinks, shortList)
	more.Versions = versionItems(page, versions)
	return nil
}

// cut returns the first part of a list, and whether there is more.
func cut[T any](all []T, most int) ([]T, bool) {
	return all[:min(most, len(all))], len(all) > most
}

// factsOfPage sorts the explanation of a page by names into two groups: the facts for
// everybody, and the mathematics.
func factsOfPage(e report.Explained) (plain, math []facts) {
	for _, f := range e.Facts() {
		if f.Name == "page" {
			continue // which the page is about
		}
		group := &plain
		if f.Mathematics {
			group = &math
		}
		text := shownFact(f.Text)
		if n := len(*group); f.Name == "" && n > 0 {
			(*group)[n-1].Texts = append((*group)[n-1].Texts, text)
			continue
		}
		*group = append(*group, facts{Name: upperFirst(f.Name), Texts: []string{text}})
	}
	return plain, math
}

// shownFact makes a text with words of a site in it safe to show.
func shownFact(text string) string {
	return strings.ReplaceAll(crawl.Clean(text, 1500), " %", "\u00a0%")
}

// pageOf reads the page of an address.
func (s *Server) pageOf(ctx context.Context, r *http.Request) (store.PageRecord, error) {
	id, err := strconv.ParseInt(value(r, "page"), 10, 64)
	if err != nil || id <= 0 {
		return store.PageRecord{}, fmt.Errorf("the page's number %q %w: it is a number as in the lists of pages", crawl.Clean(value(r, "page"), 40), errBad)
	}
	return s.Report.PageOf(ctx, value(r, "crawl"), id)
}

// liveLimit is how long a page's workflow may take to say what it does: the rest of the
// page is known without it.
const liveLimit = 300 * time.Millisecond

// silentWorkflow is shown for a workflow that has not answered in that time.
const silentWorkflow = "its workflow has not answered within 0.3 s, because the workers or the store are busy, or no worker runs. " +
	"All else here is from the store, without a snooze or an interval that somebody set. Load this page again in a moment; " +
	"if it stays so, see under Needs somebody on the crawl's page"

// askLive asks the page's workflow. Its silence is part of the answer.
func (s *Server) askLive(ctx context.Context, page store.PageRecord) report.Live {
	if s.Commands == nil {
		return report.Live{Problem: "this server does not ask workflows"}
	}
	asking, cancel := context.WithTimeout(ctx, liveLimit)
	defer cancel()
	live, err := s.Commands.Live(asking, page)
	switch {
	case err == nil:
		return live
	case errors.Is(err, store.ErrNotFound):
		return report.Live{Problem: "the page has no workflow"}
	case asking.Err() != nil:
		return report.Live{Problem: silentWorkflow}
	}
	return report.Live{Problem: strings.Join(strings.Fields(err.Error()), " ")}
}

// pageList is a list of a page's, for people.
type pageList struct {
	pageHead
	Items any
	Next  string // the address of the next part, "" if there is none
	// About says what there is to say about the list.
	About string
}

// pagePart is the part asked for of a page's list: a number of rows from a place on.
type pagePart struct {
	page  store.PageRecord
	now   time.Time
	place string // the name of the parameter with the place
	from  int64
	limit int
}

// Parts have defaultPart rows, or the number in ?limit=, up to mostPart.
const (
	defaultPart = 50
	mostPart    = 500
)

// partOfPage reads which part of a page's list is asked for. place is the name of the
// parameter with its start, which is at most most.
func (s *Server) partOfPage(ctx context.Context, r *http.Request, place string, most int64) (p pagePart, err error) {
	p.place = place
	if p.page, err = s.pageOf(ctx, r); err != nil {
		return p, err
	}
	if p.from, err = parameter(r, place, most); err != nil {
		return p, err
	}
	limit, err := parameter(r, "limit", mostPart)
	if err != nil {
		return p, err
	}
	p.limit = cmp.Or(int(limit), defaultPart)
	p.now, err = s.Report.Now(ctx)
	return p, err
}

// parameter reads a number from 0 on from an address, 0 if it is not given.
func parameter(r *http.Request, name string, most int64) (int64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil || n < 0:
		return 0, fmt.Errorf("%s=%s %w: it is a number, as the address of a next part has it", name, crawl.Clean(text, 40), errBad)
	case n > most:
		return 0, fmt.Errorf("%s=%d %w: it is at most %d", name, n, errBad, most)
	}
	return n, nil
}

// listOfPage answers with a part of a list of a page. items has one more than the part if
// the list goes on.
func listOfPage[T, S any](r *http.Request, p pagePart, title string, items []T, placeOf func(last T) int64, shown func([]T) []S) answer {
	items, goesOn := cut(items, p.limit)
	data := list[T]{V: apiVersion, Items: items}
	more := pageList{pageHead: headOfPage(p.page), Items: shown(items)}
	if goesOn {
		values := r.URL.Query()
		values.Set(p.place, strconv.FormatInt(placeOf(items[len(items)-1]), 10))
		more.Next = r.URL.EscapedPath() + "?" + values.Encode()
		data.Next = &more.Next
	}
	return answer{Title: title + " of " + more.Title, Crawl: p.page.Crawl, Now: p.now, Data: data, More: more}
}

func asIs[T any](items []T) []T { return items }

// visitsView lists the visits of a page.
func visitsView(ctx context.Context, s *Server, r *http.Request) (answer, error) {
	p, err := s.partOfPage(ctx, r, "before", math.MaxInt32)
	if err != nil {
		return answer{}, err
	}
	visits, err := s.Report.VisitsOf(ctx, p.page, int(p.from), p.limit+1)
	if err != nil {
		return answer{}, err
	}
	place := func(last report.VisitLine) int64 { return int64(last.Visit) }
	return listOfPage(r, p, "Visits", visits, place, asIs[report.VisitLine]), nil
}

// versionsView lists the versions of a page.
func versionsView(ctx context.Context, s *Server, r *http.Request) (answer, error) {
	p, err := s.partOfPage(ctx, r, "before", math.MaxInt32)
	if err != nil {
		return answer{}, err
	}
	versions, err := s.Report.VersionsOf(ctx, p.page, int(p.from), p.limit+1)
	if err != nil {
		return answer{}, err
	}
	place := func(last report.VersionLine) int64 { return int64(last.Version) }
	shown := func(lines []report.VersionLine) []versionItem { return versionItems(p.page, lines) }
	return listOfPage(r, p, "Versions", versions, place, shown), nil
}

// copiesView lists the duplicates of a page.
func copiesView(ctx context.Context, s *Server, r *http.Request) (answer, error) {
	p, err := s.partOfPage(ctx, r, "after", math.MaxInt64)
	if err != nil {
		return answer{}, err
	}
	copies, err := s.Report.CopiesOf(ctx, p.page, p.from, p.limit+1)
	if err != nil {
		return answer{}, err
	}
	place := func(last report.CopyLine) int64 { return last.Page }
	return listOfPage(r, p, "Duplicates", copies, place, asIs[report.CopyLine]), nil
}

// backlinksView lists the pages that link to a page.
func backlinksView(ctx context.Context, s *Server, r *http.Request) (answer, error) {
	p, err := s.partOfPage(ctx, r, "after", math.MaxInt64)
	if err != nil {
		return answer{}, err
	}
	links, err := s.Report.BacklinksOf(ctx, p.page, p.from, p.limit+1)
	if err != nil {
		return answer{}, err
	}
	place := func(last report.BacklinkLine) int64 { return last.Page }
	a := listOfPage(r, p, "Back-links", links, place, asIs[report.BacklinkLine])
	if p.page.Backlinks > store.BacklinksInOrder {
		more := a.More.(pageList)
		more.About = count(p.page.Backlinks, "page") + " link here: too many to list all."
		a.More = more
	}
	return a, nil
}
