package activities

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"recrawl/internal/crawl"
	"recrawl/internal/extract"
	"recrawl/internal/scope"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// Reasons for not taking links, besides those of package scope.
const (
	reasonTooLong   = "too long"
	reasonMalformed = "malformed"
)

// refusedLinks are the links of a page that are refused without asking: those that
// lead to no page and, if the page asks that none be followed, all others. A sample
// stands for all.
func refusedLinks(content extract.Page, follow bool) []store.Link {
	var links []store.Link
	some := func(reason string, total int, examples []string) {
		for i, url := range examples {
			// Workers of releases that know no Refused read NoFollow.
			link := store.Link{URL: url, Refused: reason, NoFollow: reason == scope.ReasonNoFollow}
			if i == 0 {
				link.Times = total - len(examples) + 1
			}
			links = append(links, link)
		}
	}
	for _, r := range content.Refused {
		reason := reasonMalformed
		switch {
		case errors.Is(r.Cause, urlkey.ErrScheme):
			reason = scope.ReasonScheme
		case errors.Is(r.Cause, urlkey.ErrTooLong):
			reason = reasonTooLong
		}
		some(reason, r.Links, r.Examples)
	}
	if !follow {
		var examples []string
		for _, l := range content.Links[:min(len(content.Links), maxExamples)] {
			examples = append(examples, l.URL)
		}
		some(scope.ReasonNoFollow, len(content.Links), examples)
	}
	return links
}

// judged are a version's links.
type judged struct {
	accepted []scope.Link
	sources  []store.NewURL // sitemaps, feeds and requisites, which no trap holds
	rejected rejections
	// undecided explains why some links are neither; nil if there are none.
	undecided error
}

// filter separates the links that the crawl takes from the others, which it counts by
// reason.
func (a *Activities) filter(ctx context.Context, view *crawlView, pending *store.PendingLinks) (judged, error) {
	j := judged{rejected: rejections{}}
	raw := make([]string, len(pending.Links))
	for i, link := range pending.Links {
		raw[i] = link.URL
	}
	view, err := a.seeingRaw(ctx, view, raw...)
	if err != nil {
		return judged{}, err
	}
	sources, err := a.newSourceJudge(view, pending)
	if err != nil {
		return judged{}, fmt.Errorf("%s: %w", pageLabel(pending.Page), err)
	}
	for _, link := range pending.Links {
		if ctx.Err() != nil { // programs take their time
			return judged{}, ctx.Err()
		}
		if link.Refused != "" {
			j.rejected.add(scope.Verdict{Reason: link.Refused}, example(link.URL, store.NewURL{}))
			j.rejected[link.Refused].Links += max(link.Times, 1) - 1
			continue
		}
		if link.Kind.IsSource() {
			found, verdict, err := sources.judge(ctx, link)
			if err != nil {
				return judged{}, err
			}
			if j.add(link.URL, found, verdict) {
				j.sources = append(j.sources, found)
			}
			continue
		}
		if link.Kind == crawl.KindRequisite {
			found, verdict := a.judgeRequisite(view, pending, link)
			if j.add(link.URL, found, verdict) {
				j.sources = append(j.sources, found)
			}
			continue
		}
		if link.NoFollow {
			j.rejected.add(scope.Verdict{Reason: scope.ReasonNoFollow}, example(link.URL, store.NewURL{}))
			continue
		}
		found, verdict := a.judgeLink(view, link.URL, scope.Link{Level: pending.Level + 1, Hops: pending.Hops, Language: pending.Language, Spelling: link.Spelling})
		if j.add(link.URL, newURL(found), verdict) {
			j.accepted = append(j.accepted, found)
		}
	}
	j.settleKinds()
	j.boundHosts()
	return j, nil
}

// hosts counts the hosts of the links that are taken.
func (j *judged) hosts() int {
	hosts := map[string]bool{}
	for _, l := range j.accepted {
		hosts[l.URL.HostKey()] = true
	}
	for _, s := range j.sources {
		hosts[s.Host] = true
	}
	return len(hosts)
}

// add records the decision on a link, and reports whether it is taken.
func (j *judged) add(raw string, found store.NewURL, v scope.Verdict) bool {
	switch {
	case v.Undecided:
		j.undecided = undecided(v)
	case !v.Accept:
		j.rejected.add(v, example(raw, found))
	}
	return v.Accept && !v.Undecided
}

// maxExamples is the most examples of a reason that one page gives: those of other
// pages should stay.
const maxExamples = 4

// rejections are rejected links by reason.
type rejections map[string]*store.Rejection

func (r rejections) add(v scope.Verdict, e store.RejectedURL) {
	of := r[v.Reason]
	if of == nil {
		of = &store.Rejection{Reason: v.Reason}
		r[v.Reason] = of
	}
	of.Links++
	e.Detail = v.Detail
	if len(of.Examples) < maxExamples {
		of.Examples = append(of.Examples, e)
	}
}

func (r rejections) list() []store.Rejection {
	var all []store.Rejection
	for _, reason := range slices.Sorted(maps.Keys(r)) {
		all = append(all, *r[reason])
	}
	return all
}

// of counts the links that were rejected for a reason, nil for none.
func (r rejections) of(reason string) map[string]int {
	if r[reason] == nil {
		return nil
	}
	return map[string]int{reason: r[reason].Links}
}

func (r rejections) counts() map[string]int {
	counts := make(map[string]int, len(r))
	for reason, of := range r {
		counts[reason] = of.Links
	}
	return counts
}

// example is the stored form of a rejected link, for people to read: under its
// canonical address, if it has one.
func example(raw string, found store.NewURL) store.RejectedURL {
	if found.URL == "" {
		u, _ := urlkey.Canonical(raw)
		return store.RejectedURL{URL: raw, Host: u.HostKey()}
	}
	return store.RejectedURL{URL: found.URL, Host: found.Host}
}

// undecided is the error for a link about which a filter program has not answered:
// workflows wait for the program as for a store that does not answer.
func undecided(v scope.Verdict) error {
	return fmt.Errorf("%s: %w: %s", v.Reason, store.ErrUnavailable, v.Detail)
}

func newURL(l scope.Link) store.NewURL {
	return store.NewURL{URL: l.URL.String(), Host: l.URL.HostKey(), Level: l.Level, Hops: l.Hops, Spelling: l.URL.Spelling(l.Spelling)}
}

// judgeLink returns the link under which the crawl keeps an address, and whether it
// takes it. The given link has the hops of its page and no URL.
func (a *Activities) judgeLink(view *crawlView, raw string, found scope.Link) (scope.Link, scope.Verdict) {
	u, err := view.url(raw)
	switch {
	case errors.Is(err, urlkey.ErrTooLong):
		return found, scope.Verdict{Reason: reasonTooLong}
	case err != nil:
		return found, scope.Verdict{Reason: reasonMalformed}
	}
	found.URL, found.Hops = u, view.scope.Hops(u, found.Hops)
	v := view.scope.Check(found)
	if off := a.offLimits(view, u); v.Accept && off.Reason != "" {
		v = off
	}
	return found, v
}
