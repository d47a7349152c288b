package report

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

const (
	// freshSample is how many pages a freshness is estimated from, if there are more: enough
	// for a standard error of about one point.
	freshSample = 500
	// freshHosts is how many hosts a freshness names, and freshLeast how many pages of a host
	// or rule must be in a sample to say something of it.
	freshHosts = 20
	freshLeast = 20
)

// Freshness is how far the copies of pages are expected to be behind the pages now, by what is
// believed of each.
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
	// Name is a host, or the prefix or host of a rule; "other" are the pages of no rule.
	Name  string `json:"name,omitempty"`
	Pages int    `json:"pages"`
	// Fresh is the share of the copies that are up to date, and Planned what it would be on
	// average if each page were visited when that was planned.
	Fresh   float64 `json:"fresh"`
	Planned float64 `json:"planned"`
	Age     float64 `json:"age_days"`   // mean time since the first change that a copy lacks
	Delay   float64 `json:"delay_days"` // mean time from a change to the visit that will find it
}

// freshness reads a sample of a crawl's pages and estimates from it; nil if none has a copy
// of which the time of the last look is known.
func (r Reporter) freshness(ctx context.Context, c store.CrawlRecord, s store.StatusRecord, now time.Time) (*Freshness, error) {
	rules, err := schedule.NewRules(c.Spec.Revisit)
	if err != nil {
		return nil, err
	}
	states := slices.DeleteFunc(crawl.PageStates(), func(s crawl.PageState) bool { return !copied(s) })
	pages, err := r.Store.ListPages(ctx, store.PageFilter{CrawlID: c.ID, States: states, Sample: freshSample})
	if err != nil {
		return nil, err
	}
	total := 0
	for _, state := range states {
		total += s.Pages[state]
	}
	return freshnessOf(pages, total > freshSample, c.Spec.Revisit.Rules, rules, now), nil
}

// freshnessOf sums up pages of a crawl.
func freshnessOf(pages []store.PageRecord, sampled bool, named []crawl.RevisitRule, rules schedule.Rules, now time.Time) *Freshness {
	var all freshSum
	hosts, groups := map[string]*freshSum{}, map[string]*freshSum{}
	for _, p := range pages {
		seen := surveyed(p, rules, now)
		if !seen.Lags {
			continue
		}
		belief := schedule.DecodeBelief(p.Belief)
		one := freshSum{n: 1, fresh: seen.Lag.Fresh, squares: seen.Lag.Fresh * seen.Lag.Fresh, age: seen.Lag.Age, rate: seen.Lag.Rate, delay: seen.Lag.Delay}
		one.planned = schedule.PlannedFresh(belief, parametersOf(rules, p), p.NextAt.Sub(belief.ComparedAt()))
		all.add(one)
		into(hosts, p.Host).add(one)
		into(groups, ruleName(named, rules.Group(p.URL))).add(one)
	}
	if all.n == 0 {
		return nil
	}
	f := &Freshness{FreshPart: all.part(""), Sampled: sampled, Hosts: freshParts(hosts, sampled, freshHosts), Rules: []FreshPart{}}
	if sampled {
		f.Error = rounded(all.err())
	}
	if len(named) > 0 {
		f.Rules = freshParts(groups, sampled, len(groups))
	}
	return f
}

func into(sums map[string]*freshSum, name string) *freshSum {
	if sums[name] == nil {
		sums[name] = &freshSum{}
	}
	return sums[name]
}

// ruleName names the pages of a group of schedule.Rules.
func ruleName(named []crawl.RevisitRule, group int) string {
	if group == 0 {
		return "other"
	}
	return cmp.Or(named[group-1].Prefix, named[group-1].Host)
}

type freshSum struct {
	n                                         int
	fresh, squares, planned, age, rate, delay float64
}

func (s *freshSum) add(o freshSum) {
	s.n += o.n
	s.fresh += o.fresh
	s.squares += o.squares
	s.planned += o.planned
	s.age += o.age
	s.rate += o.rate
	s.delay += o.delay
}

func (s freshSum) part(name string) FreshPart {
	n := float64(s.n)
	p := FreshPart{Name: name, Pages: s.n, Fresh: rounded(s.fresh / n), Planned: rounded(s.planned / n), Age: rounded(s.age / n)}
	if s.rate > 0 {
		p.Delay = rounded(s.delay / s.rate)
	}
	return p
}

// err is the standard error of the mean of the pages' chances.
func (s freshSum) err() float64 {
	n := float64(s.n)
	if s.n < 2 {
		return 1
	}
	return math.Sqrt(max(0, s.squares-s.fresh*s.fresh/n) / (n - 1) / n)
}

// freshParts are the parts with most pages, at most so many, by name.
func freshParts(sums map[string]*freshSum, sampled bool, most int) []FreshPart {
	parts := make([]FreshPart, 0, len(sums))
	for name, s := range sums {
		if !sampled || s.n >= freshLeast {
			parts = append(parts, s.part(name))
		}
	}
	slices.SortFunc(parts, func(a, b FreshPart) int { return cmp.Or(cmp.Compare(b.Pages, a.Pages), cmp.Compare(a.Name, b.Name)) })
	parts = parts[:min(most, len(parts))]
	slices.SortFunc(parts, func(a, b FreshPart) int { return cmp.Compare(a.Name, b.Name) })
	return parts
}

// asPlanned is by how much a freshness may be below the planned one and still be as planned.
const asPlanned = 0.03

// short says it in a few words: "94 % fresh as planned".
func (p FreshPart) short() string {
	text := wholePercent(p.Fresh) + " fresh"
	switch {
	case p.Fresh < p.Planned-asPlanned:
		return text + ", " + wholePercent(p.Planned) + " planned"
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
		wholePercent(f.Fresh), of, wholePercent(f.Planned), inDays(f.Age), inDays(f.Delay))
}

func wholePercent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }
