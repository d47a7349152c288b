package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

const (
	// freshSample is the number of pages from which freshness is estimated, if there are
	// more: enough for a standard error of about one point.
	freshSample = 500
	// freshHosts is the number of hosts that a freshness names, and freshLeast the number
	// of pages that a host or rule must have in a sample to be reported.
	freshHosts = 20
	freshLeast = 20
)

// Freshness is how far the copies are expected to be behind their pages now, by the belief
// about each.
type Freshness struct {
	FreshPart
	// Sampled says that the pages are a sample of those with a copy, and Error the standard
	// error of Fresh that comes from that; 0 if all were read.
	Sampled bool        `json:"sampled"`
	Error   float64     `json:"error"`
	Hosts   []FreshPart `json:"by_host"` // those with most pages, by name
	Rules   []FreshPart `json:"by_rule"` // of revisit.rules; empty without any
}

// FreshPart is the same of some pages.
type FreshPart struct {
	// Name is a host, or the prefix or host of a rule; "other" stands for the pages of no
	// rule.
	Name  string `json:"name,omitempty"`
	Pages int    `json:"pages"`
	// Fresh is the share of the copies that are up to date, and Planned is what it would be
	// on average if each page were visited as planned.
	Fresh   float64 `json:"fresh"`
	Planned float64 `json:"planned"`
	Age     float64 `json:"age_days"`   // mean time since the first change that a copy lacks
	Delay   float64 `json:"delay_days"` // mean time from a change to the visit that will find it
}

// freshness estimates from a sample of a crawl's pages. It returns nil if no page has a
// copy with a known time of the last look.
func (r Reporter) freshness(ctx context.Context, c store.CrawlRecord, s store.StatusRecord, now time.Time) (*Freshness, error) {
	rules, err := schedule.NewRules(c.Spec.Revisit)
	if err != nil {
		return nil, err
	}
	pages, err := r.freshPages(ctx, c.ID)
	if err != nil {
		return nil, err
	}
	total := 0
	for _, state := range copiedStates() {
		total += s.Pages[state]
	}
	return freshnessOf(pages, total > freshSample, c.Spec.Revisit.Rules, rules, now), nil
}

// freshPages returns the pages of a crawl from which freshness is estimated, or a sample of
// them.
func (r Reporter) freshPages(ctx context.Context, crawlID int64) ([]store.PageRecord, error) {
	return r.Store.ListPages(ctx, store.PageFilter{CrawlID: crawlID, States: copiedStates(), Sample: freshSample})
}

func copiedStates() []crawl.PageState {
	return slices.DeleteFunc(crawl.PageStates(), func(s crawl.PageState) bool { return !copied(s) })
}

// copiesOf returns the copies with a known time of the last look, and their pages. It
// changes the list of pages.
func copiesOf(pages []store.PageRecord, rules schedule.Rules, now time.Time) ([]schedule.Copy, []store.PageRecord) {
	pages = slices.DeleteFunc(pages, func(p store.PageRecord) bool {
		return p.Kind == crawl.KindRequisite || !surveyed(p, rules, nil, now).Lags
	})
	copies := make([]schedule.Copy, len(pages))
	for i, p := range pages {
		belief := schedule.DecodeBelief(p.Belief)
		copies[i] = schedule.Copy{Belief: belief, Parameters: parametersOf(rules, p), Looked: belief.ComparedAt(), Due: p.NextAt}
	}
	return copies, pages
}

// priors describe a crawl's pages, estimated from a sample: the same one from which their
// freshness is estimated.
func (r Reporter) priors(ctx context.Context, crawlID int64, rules schedule.Rules, now time.Time) (schedule.Priors, error) {
	pages, err := r.freshPages(ctx, crawlID)
	if err != nil {
		return nil, err
	}
	copies, _ := copiesOf(pages, rules, now)
	return schedule.FitPriors(copies), nil
}

// freshnessOf sums up those pages of a crawl that have a copy.
func freshnessOf(pages []store.PageRecord, sampled bool, named []crawl.RevisitRule, rules schedule.Rules, now time.Time) *Freshness {
	var all schedule.Copies
	hosts, groups := map[string]schedule.Copies{}, map[string]schedule.Copies{}
	copies, pages := copiesOf(pages, rules, now)
	schedule.Fit(copies)
	for i, p := range pages {
		var one schedule.Copies
		one.Add(copies[i], now)
		all.Merge(one)
		merge(hosts, p.Host, one)
		merge(groups, ruleName(named, rules.Group(p.URL)), one)
	}
	if all.Count() == 0 {
		return nil
	}
	f := &Freshness{FreshPart: partOf("", all), Sampled: sampled, Hosts: freshParts(hosts, sampled, freshHosts), Rules: []FreshPart{}}
	if sampled {
		f.Error = rounded(all.Error())
	}
	if len(named) > 0 {
		f.Rules = freshParts(groups, sampled, len(groups))
	}
	return f
}

func merge(sums map[string]schedule.Copies, name string, one schedule.Copies) {
	all := sums[name]
	all.Merge(one)
	sums[name] = all
}

// ruleName names the pages of a group of schedule.Rules.
func ruleName(named []crawl.RevisitRule, group int) string {
	if group == 0 {
		return "other"
	}
	return cmp.Or(named[group-1].Prefix, named[group-1].Host)
}

func partOf(name string, c schedule.Copies) FreshPart {
	return FreshPart{
		Name: name, Pages: c.Count(), Fresh: rounded(c.Fresh()), Planned: rounded(c.Planned()),
		Age: rounded(c.Age()), Delay: rounded(c.Delay()),
	}
}

// freshParts returns the parts with the most pages, at most most of them, by name.
func freshParts(sums map[string]schedule.Copies, sampled bool, most int) []FreshPart {
	parts := make([]FreshPart, 0, len(sums))
	for name, s := range sums {
		if !sampled || s.Count() >= freshLeast {
			parts = append(parts, partOf(name, s))
		}
	}
	slices.SortFunc(parts, func(a, b FreshPart) int {
		return cmp.Or(cmp.Compare(b.Pages, a.Pages), cmp.Compare(a.Name, b.Name))
	})
	parts = parts[:min(most, len(parts))]
	slices.SortFunc(parts, func(a, b FreshPart) int { return cmp.Compare(a.Name, b.Name) })
	return parts
}

// asPlanned is the amount by which freshness may be below the planned one and still count
// as planned.
const asPlanned = 0.03

// short says it in a few words: "94 % fresh as planned".
func (p FreshPart) short() string {
	text := Percent(p.Fresh) + " fresh"
	switch {
	case p.Fresh < p.Planned-asPlanned:
		return text + ", " + Percent(p.Planned) + " planned"
	case p.Fresh > p.Planned+asPlanned:
		return text + ", more than planned"
	}
	return text + " as planned"
}

func (f Freshness) words() string {
	of := "the copies of " + plural(f.Pages, "page")
	if f.Sampled {
		of = fmt.Sprintf("all copies, by a sample of %d (± %.1f %%),", f.Pages, 200*f.Error)
	}
	return fmt.Sprintf("%s of %s are believed up to date now, %s are planned; their mean age is %s, and a change waits %s for its visit",
		Percent(f.Fresh), of, Percent(f.Planned), inDays(f.Age), inDays(f.Delay))
}

// behindShown is the number of hosts less fresh than planned that a status names.
const behindShown = 3

// details returns lines on the rules of a crawl, and on the hosts that are furthest behind
// their plans.
func (f Freshness) details() []string {
	behind := slices.DeleteFunc(slices.Clone(f.Hosts), func(p FreshPart) bool { return p.Fresh >= p.Planned-asPlanned })
	slices.SortStableFunc(behind, func(a, b FreshPart) int { return cmp.Compare(a.Fresh-a.Planned, b.Fresh-b.Planned) })
	var lines []string
	for _, p := range append(slices.Clone(f.Rules), behind[:min(behindShown, len(behind))]...) {
		lines = append(lines, fmt.Sprintf("%s: %s, %s", p.Name, plural(p.Pages, "page"), p.short()))
	}
	return lines
}

// Percent writes a share for people: a small share is never shown as 0 %, nor nearly all as
// 100 %.
func Percent(share float64) string {
	switch {
	case share > 0 && share < 0.005:
		return "under 1 %"
	case share >= 0.995 && share < 1:
		return "over 99 %"
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}
