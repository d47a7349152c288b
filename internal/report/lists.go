package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"recrawl/internal/scope"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// Batch is a part of a list, in its order.
type Batch[T any] struct {
	Items []T
	// Next is where the next part begins, "" if there is none. A search looks at some
	// thousands of rows for each part, so any part may have few items, or none.
	Next string
	// Cut says that there are more, which no part has.
	Cut bool
	Now time.Time // relative to which times are shown
}

// PagesSearch asks for a part of the pages of a crawl; zero fields choose all.
type PagesSearch struct {
	store.PageSearch
	Crawl string
}

// PageItem is a page in a part of a list.
type PageItem struct {
	PageLine
	Page  int64  `json:"page"` // its number
	Title string `json:"title"`
	// Words says when its next visit can be.
	Words string `json:"-"`
}

// PagesBatch returns pages in the order in which they were found.
func (r Reporter) PagesBatch(ctx context.Context, q PagesSearch) (Batch[PageItem], error) {
	record, now, err := r.open(ctx, q.Crawl)
	if err != nil {
		return Batch[PageItem]{}, err
	}
	q.CrawlID, q.Prefix = record.ID, urlkey.Begun(q.Prefix)
	found, err := r.Search.SearchPages(ctx, q.PageSearch)
	if err != nil {
		return Batch[PageItem]{}, err
	}
	part := Batch[PageItem]{Items: []PageItem{}, Now: now}
	if found.More {
		part.Next = strconv.FormatInt(found.Through, 10)
	}
	o, err := r.outlook(ctx, record, found.Pages, r.excluder(record.Spec), now)
	if err != nil {
		return part, err
	}
	for _, p := range found.Pages {
		is, err := o.of(ctx, p, Live{})
		if err != nil {
			return part, err
		}
		part.Items = append(part.Items, PageItem{PageLine: pageLineOf(p, is), Page: p.PageID, Title: p.Last.Title, Words: is.words(now)})
	}
	return part, nil
}

// HostsSearch asks for a part of the hosts of a crawl; zero fields choose all.
type HostsSearch struct {
	store.HostSearch
	Crawl string
	// Trouble asks for hosts from which nothing can be fetched now, in one part, instead of a
	// part of all. Of more than MaxTroubleListed only the first are looked at.
	Trouble bool
}

// MaxTroubleListed bounds the hosts in trouble of which one list is made.
const MaxTroubleListed = 500

// HostItem is a host with its words for people.
type HostItem struct {
	HostLine
	// In words: Gap is the gap before its next request, Free when that can be made,
	// RobotsWords the state of its robots.txt files, and Reasons why its state and gap are
	// as they are.
	Gap         string `json:"-"`
	Free        string `json:"-"`
	RobotsWords string `json:"-"`
	Reasons     string `json:"-"`
}

// HostsBatch returns hosts by name.
func (r Reporter) HostsBatch(ctx context.Context, q HostsSearch) (Batch[HostItem], error) {
	record, now, err := r.open(ctx, q.Crawl)
	if err != nil {
		return Batch[HostItem]{}, err
	}
	q.CrawlID = record.ID
	found, err := r.searchHosts(ctx, q)
	if err != nil {
		return Batch[HostItem]{}, err
	}
	part := Batch[HostItem]{Items: []HostItem{}, Now: now, Cut: q.Trouble && found.More}
	if found.More {
		part.Next = found.Through
	}
	ex := r.excluder(record.Spec)
	for _, h := range found.Hosts {
		state, why, err := ex.state(ctx, h, h.Robots, now)
		if err != nil {
			return part, err
		}
		if q.Trouble && state == HostOK { // another crawl's agent is forbidden
			continue
		}
		part.Items = append(part.Items, HostItem{
			HostLine: hostOf(h, state, why), Gap: gapWords(h), Free: free(h, now), RobotsWords: robotsWords(h.Robots, now), Reasons: hostReasons(h, why),
		})
	}
	return part, nil
}

func (r Reporter) searchHosts(ctx context.Context, q HostsSearch) (store.HostsFound, error) {
	if !q.Trouble {
		return r.Search.SearchHosts(ctx, q.HostSearch)
	}
	hosts, total, err := r.Store.TroubledHosts(ctx, q.CrawlID, MaxTroubleListed)
	more := total > len(hosts)
	hosts = slices.DeleteFunc(hosts, func(h store.HostRecord) bool { return !strings.Contains(h.Host, q.Text) })
	slices.SortFunc(hosts, func(a, b store.HostRecord) int { return cmp.Compare(a.Host, b.Host) })
	return store.HostsFound{Hosts: hosts, More: more}, err
}

// HostOf returns one host of a crawl.
func (r Reporter) HostOf(ctx context.Context, crawlName, host string) (HostItem, time.Time, error) {
	part, err := r.HostsBatch(ctx, HostsSearch{Crawl: crawlName, HostSearch: store.HostSearch{Host: host, Limit: 1}})
	if err == nil && len(part.Items) == 0 {
		err = fmt.Errorf("host %s of crawl %s: %w", host, crawlName, store.ErrNotFound)
	}
	if err != nil {
		return HostItem{}, part.Now, err
	}
	return part.Items[0], part.Now, nil
}

// RobotsText is the robots.txt of an origin.
type RobotsText struct {
	Origin    string
	FetchedAt time.Time
	Text      string
}

// RobotsTexts returns the texts of a host's robots.txt files that are known.
func (r Reporter) RobotsTexts(ctx context.Context, host HostItem) ([]RobotsText, error) {
	var texts []RobotsText
	for _, o := range host.Robots {
		record, err := r.Store.Robots(ctx, o.Origin)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
		if record.Text != "" {
			texts = append(texts, RobotsText{record.Origin, record.FetchedAt, record.Text})
		}
	}
	return texts, nil
}

// RejectedAnswer counts the rejected links for each reason, most first, with examples by
// reason, the newest first.
type RejectedAnswer struct {
	Reasons []ReasonLine   `json:"reasons"`
	Links   []RejectedLine `json:"links"`
	// Next is the last one of a part that is full, nil in the last part.
	Next *store.RejectedPlace `json:"-"`
	Now  time.Time            `json:"-"`
}

// ReasonLine counts the links that were rejected for a reason.
type ReasonLine struct {
	Reason string `json:"reason"`
	Links  int    `json:"links"`
}

// RejectedOf returns the links that a crawl did not take; see RejectedQuery.
func (r Reporter) RejectedOf(ctx context.Context, q RejectedQuery) (RejectedAnswer, error) {
	record, now, err := r.open(ctx, q.Crawl)
	if err != nil {
		return RejectedAnswer{}, err
	}
	counts, links, err := r.rejected(ctx, record.ID, q)
	answer := RejectedAnswer{Reasons: []ReasonLine{}, Links: []RejectedLine{}, Now: now}
	for _, c := range counts {
		answer.Reasons = append(answer.Reasons, ReasonLine(c))
	}
	for _, l := range links {
		answer.Links = append(answer.Links, rejectedLineOf(l))
	}
	if q.Limit > 0 && len(links) == q.Limit {
		answer.Next = &links[q.Limit-1].RejectedPlace
	}
	return answer, err
}

// TrapsBatch returns the traps of a crawl, or of one host of it, in the order in which they
// were found, after the one with the number after. With host, it looks at some thousands of
// traps.
func (r Reporter) TrapsBatch(ctx context.Context, crawlName, host string, after int64, limit int) (Batch[TrapLine], error) {
	record, now, err := r.openAt(ctx, crawlName, host)
	if err != nil {
		return Batch[TrapLine]{}, err
	}
	of := func(t store.TrapRecord) bool { return host == "" || t.Host == host }
	traps, last, err := sift(limit, batchOf(host, limit), of, func(from *store.TrapRecord, limit int) ([]store.TrapRecord, error) {
		if from != nil {
			after = from.ID
		}
		return r.Store.Traps(ctx, store.TrapFilter{CrawlID: record.ID, After: after, Limit: limit})
	})
	part := Batch[TrapLine]{Items: []TrapLine{}, Now: now}
	for _, t := range traps {
		part.Items = append(part.Items, trapLineOf(t))
	}
	if last != nil {
		part.Next = strconv.FormatInt(last.ID, 10)
	}
	return part, err
}

const (
	// siftedMost is about how many rows are looked at for one part of a list.
	siftedMost = 4000
	// siftBatch is how many of them are read at a time.
	siftBatch = 500
)

// batchOf is how many rows are read at a time: all rows are wanted if there is no filter.
func batchOf(filter string, limit int) int {
	if filter == "" {
		return limit
	}
	return siftBatch
}

// sift reads rows in batches, each after the last row of the one before, until as many are
// wanted as the limit says. Last is the last row that was looked at if there may be more,
// else nil.
func sift[R any](limit, batch int, wanted func(R) bool, read func(after *R, limit int) ([]R, error)) (found []R, last *R, err error) {
	for looked := 0; looked < siftedMost; looked += batch {
		rows, err := read(last, batch)
		if err != nil {
			return nil, nil, err
		}
		for i, row := range rows {
			if wanted(row) {
				found = append(found, row)
			}
			if last = &rows[i]; len(found) == limit {
				return found, last, nil
			}
		}
		if len(rows) < batch {
			return found, nil, nil
		}
	}
	return found, last, nil
}

// PrefixesOf returns the hosts and prefixes below which most pages of a crawl were found.
func (r Reporter) PrefixesOf(ctx context.Context, crawlName string, limit int) ([]PrefixLine, error) {
	record, _, err := r.open(ctx, crawlName)
	if err != nil {
		return nil, err
	}
	prefixes, err := r.Store.Dominating(ctx, record.ID, limit)
	lines := []PrefixLine{}
	for _, p := range prefixes {
		lines = append(lines, PrefixLine{p.Host + p.Prefix, p.Pages})
	}
	return lines, err
}

// DuplicateItem is a duplicate with the numbers of its page and of the original.
type DuplicateItem struct {
	duplicateLine
	Page   int64 `json:"page"`
	OfPage int64 `json:"of_page"`
	// Likeness says how alike the two are.
	Likeness string `json:"-"`
}

// DuplicatesBatch returns duplicates cluster by cluster, after the one of afterOf and after,
// the numbers of the original and of the duplicate. Next has both, with a point between.
// With host, it looks at some thousands for those of which one side is of that host.
func (r Reporter) DuplicatesBatch(ctx context.Context, crawlName, host string, afterOf, after int64, limit int) (Batch[DuplicateItem], error) {
	record, now, err := r.openAt(ctx, crawlName, host)
	if err != nil {
		return Batch[DuplicateItem]{}, err
	}
	of := func(d store.DuplicateRecord) bool { return host == "" || d.Page.Host == host || d.Of.Host == host }
	found, last, err := sift(limit, batchOf(host, limit), of, func(from *store.DuplicateRecord, limit int) ([]store.DuplicateRecord, error) {
		if from != nil {
			afterOf, after = from.Of.PageID, from.Page.PageID
		}
		return r.Store.ListDuplicates(ctx, store.DuplicateFilter{CrawlID: record.ID, AfterOf: afterOf, After: after, Limit: limit})
	})
	part := Batch[DuplicateItem]{Items: []DuplicateItem{}, Now: now}
	for _, d := range found {
		part.Items = append(part.Items, DuplicateItem{duplicateLineOf(d), d.Page.PageID, d.Of.PageID, likeness(d)})
	}
	if last != nil {
		part.Next = fmt.Sprintf("%d.%d", last.Of.PageID, last.Page.PageID)
	}
	return part, err
}

// MirrorsOf returns pairs of hosts with mostly the same contents, those that share the most
// first.
func (r Reporter) MirrorsOf(ctx context.Context, crawlName string, limit int) ([]MirrorLine, error) {
	record, _, err := r.open(ctx, crawlName)
	if err != nil {
		return nil, err
	}
	mirrors, err := r.Store.Mirrors(ctx, record.ID, limit)
	lines := []MirrorLine{}
	for _, m := range mirrors {
		lines = append(lines, MirrorLine(m))
	}
	return lines, err
}

// SourceItem is a source with its number as a page, and its problem in words.
type SourceItem struct {
	SourceLine
	Page  int64    `json:"page"`
	Notes []string `json:"-"`
}

// SourcesBatch returns sources in the order in which they were found, after the page numbered
// after; see SourcesQuery.
func (r Reporter) SourcesBatch(ctx context.Context, q SourcesQuery, after int64) (Batch[SourceItem], error) {
	record, now, err := r.open(ctx, q.Crawl)
	if err != nil {
		return Batch[SourceItem]{}, err
	}
	found, err := r.Store.ListSources(ctx, store.SourceFilter{CrawlID: record.ID, Host: q.Host, After: after, Limit: q.Limit})
	part := Batch[SourceItem]{Items: []SourceItem{}, Now: now}
	for _, s := range found {
		part.Items = append(part.Items, SourceItem{sourceLineOf(s), s.PageID, notes(s)})
	}
	if len(found) == q.Limit {
		part.Next = strconv.FormatInt(found[q.Limit-1].PageID, 10)
	}
	return part, err
}

// SinkItem is a sink with its trouble in words, "" for none.
type SinkItem struct {
	SinkLine
	Trouble string `json:"-"`
}

// SinksOf returns the sinks of a crawl.
func (r Reporter) SinksOf(ctx context.Context, crawlName string) (Batch[SinkItem], error) {
	record, now, err := r.open(ctx, crawlName)
	if err != nil {
		return Batch[SinkItem]{}, err
	}
	lines, err := r.sinks(ctx, record, now)
	part := Batch[SinkItem]{Items: []SinkItem{}, Now: now}
	for _, l := range lines {
		part.Items = append(part.Items, SinkItem{l, l.problem(now)})
	}
	return part, err
}

// FailedBatch returns changes that a sink could not deliver, after one by its number.
func (r Reporter) FailedBatch(ctx context.Context, crawlName, sink string, after int64, limit int) (Batch[FailedLine], error) {
	record, now, err := r.open(ctx, crawlName)
	if err != nil {
		return Batch[FailedLine]{}, err
	}
	if _, is := record.Spec.Sinks[sink]; !is {
		return Batch[FailedLine]{}, fmt.Errorf("sink %s of crawl %s: %w", sink, crawlName, store.ErrNotFound)
	}
	failed, err := r.Deliveries.Undelivered(ctx, record.ID, sink, after, limit)
	part := Batch[FailedLine]{Items: []FailedLine{}, Now: now}
	for _, u := range failed {
		part.Items = append(part.Items, failedLineOf(u))
	}
	if len(failed) == limit {
		part.Next = strconv.FormatInt(failed[limit-1].ChangeID, 10)
	}
	return part, err
}

// URLAnswer holds what a crawl has for a URL: its page, or why it has none.
type URLAnswer struct {
	URL   string `json:"url"` // as it is stored
	Crawl string `json:"crawl"`
	Page  int64  `json:"page"` // 0 if it has no page
	// Rejected are the links to it among the examples of rejected ones, and Today is the
	// verdict of the crawl's present rules; null if it is a page.
	Rejected []RejectedLine `json:"rejected"`
	Today    *ScopeCheck    `json:"today"`
	Now      time.Time      `json:"-"`
}

// AskURL returns what a crawl has for a URL. judge, unless nil, gives the verdict of its
// present rules.
func (r Reporter) AskURL(ctx context.Context, crawlName string, u urlkey.URL, judge ScopeJudge) (URLAnswer, error) {
	record, now, err := r.open(ctx, crawlName)
	if err != nil {
		return URLAnswer{}, err
	}
	kept, _ := urlkey.NewRules(record.Spec.URLs).Apply(u)
	answer := URLAnswer{URL: kept.String(), Crawl: crawlName, Rejected: []RejectedLine{}, Now: now}
	for _, url := range []string{u.String(), answer.URL} { // seeds are kept as they were given
		pages, err := r.Store.FindPages(ctx, url, crawlName)
		if err != nil {
			return answer, err
		}
		if len(pages) > 0 {
			answer.URL, answer.Page = url, pages[0].PageID
			return answer, nil
		}
	}
	if judge == nil {
		judge = func(store.CrawlRecord, string) (ScopeCheck, error) {
			return ScopeCheck{URL: answer.URL, Problem: "nobody who knows the rules can be asked here"}, nil
		}
	}
	links, check, err := r.whyNotTaken(ctx, record, u.String(), judge)
	for _, l := range links {
		answer.Rejected = append(answer.Rejected, rejectedLineOf(l))
	}
	answer.Today = &check
	return answer, err
}

// AskOther is AskURL for a URL of another scheme than http and https: no crawl takes it.
func (r Reporter) AskOther(ctx context.Context, crawlName, url string) (URLAnswer, error) {
	record, now, err := r.open(ctx, crawlName)
	if err != nil {
		return URLAnswer{}, err
	}
	answer := URLAnswer{URL: url, Crawl: crawlName, Rejected: []RejectedLine{}, Now: now}
	links, check, err := r.whyNotTaken(ctx, record, url, func(store.CrawlRecord, string) (ScopeCheck, error) {
		return ScopeCheck{URL: url, Crawl: crawlName, Reason: scope.ReasonScheme, Detail: urlkey.ErrScheme.Error(), Steps: []ScopeStep{}}, nil
	})
	for _, l := range links {
		answer.Rejected = append(answer.Rejected, rejectedLineOf(l))
	}
	answer.Today = &check
	return answer, err
}

// Words puts the verdict of the crawl's present rules into words.
func (c ScopeCheck) Words() string { return todayWords(c) }
