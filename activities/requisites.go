package activities

import (
	"context"
	"fmt"
	"slices"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/extract"
	"recrawl/internal/requisite"
	"recrawl/internal/robots/directive"
	"recrawl/internal/robots/reserve"
	"recrawl/internal/scope"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// notKept is the reason for not requesting a requisite whose crawl no longer keeps any.
const notKept = "documents.requisites is off"

// classOf is the class in which a page waits. A requisite comes after all other requests to
// its host, unless a person wants it.
func classOf(page store.PageRecord, class crawl.Class) crawl.Class {
	if page.Kind == crawl.KindRequisite && class != crawl.ClassManual {
		return crawl.ClassProbe
	}
	return class
}

// unwanted answers for a requisite of a crawl that does not keep any now. It does not ask
// the scope: the page that needs the requisite is in scope.
func (a *Activities) unwanted(ctx context.Context, in contract.AcquireIn, view *crawlView, page store.PageRecord) (out contract.AcquireOut, is bool, err error) {
	if view.Spec.Documents.Requisites {
		return out, false, nil
	}
	if view, err = a.crawl(ctx, in.Page.Crawl); err != nil || view.Spec.Documents.Requisites {
		return out, false, err
	}
	effects, err := a.stores.Gate.Leave(ctx, page.PageID)
	if err != nil {
		return out, false, err
	}
	a.carryOut(ctx, effects)
	return contract.AcquireOut{Answer: contract.AnswerExcluded, Rule: notKept}, true, nil
}

// requisiteTypes are the media types that a requisite may have.
func requisiteTypes(page store.PageRecord) []string {
	u, _ := urlkey.Canonical(page.URL) // of none, no vague type is taken
	return requisite.Types(u)
}

// requisitesOf returns the requisites of a new version of a page. A page whose body may not
// be kept needs none. If a page reserves its pictures from the crawl's purpose, they are
// refused.
func requisitesOf(view *crawlView, page store.PageRecord, fetched contract.FetchOut, now reading) ([]store.Link, error) {
	if !view.Spec.Documents.Requisites || now.version.Digest == "" {
		return nil, nil
	}
	found, err := referred(page, fetched, now.body)
	if err != nil {
		return nil, err
	}
	agent := view.Spec.Identity.Agent
	tags := directive.ParseTags(headersOf(fetched.Heads, "X-Robots-Tag"), agent)
	if _, reserved := reserve.Against(reserve.ForPictures(tags, now.content.Robots(agent)), view.purposeOf(page.Kind)); !reserved {
		return needed(found), nil
	}
	found, pictures := requisite.WithoutPictures(found)
	return slices.Concat(needed(found), refusedPictures(pictures)), nil
}

// reasonNoImageAI is the reason for not keeping the pictures of a page that reserves them
// from the crawl's purpose.
const reasonNoImageAI = "noimageai"

// refusedPictures are pictures that are refused without asking. A sample stands for
// all.
func refusedPictures(pictures []extract.Requisite) []store.Link {
	some := pictures[:min(len(pictures), maxExamples)]
	links := make([]store.Link, len(some))
	for i, p := range some {
		links[i] = store.Link{URL: p.URL, Refused: reasonNoImageAI}
	}
	if len(links) > 0 {
		links[0].Times = len(pictures) - len(links) + 1
	}
	return links
}

// referred holds the references of a body.
func referred(page store.PageRecord, fetched contract.FetchOut, body []byte) ([]extract.Requisite, error) {
	u, err := urlkey.Canonical(page.URL)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pageLabel(page.PageRef), err)
	}
	found, err := extract.Requisites(extract.Source{Body: body, ContentType: fetched.ContentType, URL: u})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pageLabel(page.PageRef), err)
	}
	return found, nil
}

// needed returns the requisites that are kept, as links.
func needed(found []extract.Requisite) []store.Link {
	var links []store.Link
	for _, r := range requisite.Choose(found) {
		links = append(links, store.Link{URL: r.URL, Spelling: r.Spelling, Kind: crawl.KindRequisite})
	}
	return links
}

// readRequisite is DetectChange for a requisite: any difference makes a new version. A
// requisite has no text, and is compared with no other page. A stylesheet needs requisites
// in turn. It also returns the links that it stored, nil if there are none.
func (a *Activities) readRequisite(ctx context.Context, page store.PageRecord, in contract.DetectIn, body []byte) (contract.DetectOut, *store.PendingLinks, error) {
	asked := directive.Decide(directive.Parse(in.Fetch.RobotsTag), directive.Directives{}, in.Fetch.At)
	version, _ := newVersion(in, extract.Page{}, asked)
	out := contract.DetectOut{Outcome: crawl.OutcomeNew, Reasons: asked.Reasons}
	switch {
	case page.Last.ID != 0 && page.Last.Digest == version.Digest:
		out.Outcome = crawl.OutcomeUnchanged
		return out, nil, nil
	case page.Last.ID != 0:
		out.Outcome = crawl.OutcomeChanged
	}
	var links []store.Link
	if asked.Keep && requisite.Leads(page.Hops) {
		found, err := referred(page, in.Fetch, body)
		if err != nil {
			return out, nil, err
		}
		links = needed(found)
	}
	out.Links = len(links)
	found, err := a.save(ctx, page, newContent{version: version, links: links, body: body}, nil)
	return out, found, err
}

// judgeRequisite decides whether a requisite of a page, a stylesheet or a redirect is kept.
// The crawl's limits and explicit rules apply. A requisite that only the scope's type
// leaves out may lie anywhere, on as many foreign hosts as the crawl may have. It has the
// depth of the page or file that needs it, and its hops are the steps from the page.
func (a *Activities) judgeRequisite(view *crawlView, from *store.PendingLinks, link store.Link) (store.NewURL, scope.Verdict) {
	steps := 1
	if from.Kind == crawl.KindRequisite {
		steps += from.Hops
	}
	found, verdict := a.judgeLink(view, link.URL, scope.Link{Level: from.Level, Language: from.Language, Spelling: link.Spelling})
	url := newURL(found)
	url.Kind, url.Hops, url.Looks = crawl.KindRequisite, steps, requisite.Looks(found.URL)
	if outside(verdict) {
		url.Foreign = shownFromElsewhere(view, from, found.URL)
		if verdict = a.offLimits(view, found.URL); verdict.Reason == "" {
			verdict = scope.Verdict{Accept: true, Reason: scope.ReasonInside}
		}
	}
	return url, verdict
}

// shownFromElsewhere reports whether a requisite that the scope does not take lies on a host
// that counts against the crawl's hosts for requisites. Requisites from the page's own site
// do not. A stylesheet may itself lie on a foreign site, so its site proves nothing: from
// there, all other hosts count.
func shownFromElsewhere(view *crawlView, from *store.PendingLinks, to urlkey.URL) bool {
	origin, err := urlkey.Canonical(from.Page.URL)
	if err == nil && from.Kind == crawl.KindRequisite {
		return origin.HostKey() != to.HostKey() && !view.scope.IsSeedHost(to.HostKey())
	}
	return err != nil || view.foreign(origin, to)
}

// boundHosts leaves out the requisites that exceed the number of foreign hosts that one
// page may have.
func (j *judged) boundHosts() {
	var named []string
	for _, s := range j.sources {
		if s.Kind == crawl.KindRequisite && s.Foreign {
			named = append(named, s.Host)
		}
	}
	bound := requisite.PageHosts()
	taken := bound.Take(named, func(string) bool { return false }, 0)
	j.sources = slices.DeleteFunc(j.sources, func(s store.NewURL) bool {
		beyond := s.Kind == crawl.KindRequisite && s.Foreign && !slices.Contains(taken, s.Host)
		if beyond {
			j.rejected.add(bound.Refusal(), example(s.URL, s))
		}
		return beyond
	})
}

// settleKinds decides about addresses that a page both links to and shows: each is
// registered as the kind that its address suggests.
func (j *judged) settleKinds() {
	shown := map[string]bool{}
	for _, s := range j.sources {
		if s.Kind == crawl.KindRequisite {
			shown[s.URL] = true
		}
	}
	if len(shown) == 0 {
		return
	}
	linked := map[string]bool{}
	j.accepted = slices.DeleteFunc(j.accepted, func(l scope.Link) bool {
		url := l.URL.String()
		if !shown[url] {
			return false
		}
		linked[url] = true
		return requisite.Looks(l.URL)
	})
	j.sources = slices.DeleteFunc(j.sources, func(s store.NewURL) bool {
		return s.Kind == crawl.KindRequisite && linked[s.URL] && !s.Looks
	})
}

// followRequisite makes the target of a requisite's redirect a requisite too, one
// step further from the page.
func (a *Activities) followRequisite(ctx context.Context, view *crawlView, page store.PageRecord, f contract.FetchOut) error {
	if !view.Spec.Documents.Requisites || !requisite.Leads(page.Hops) {
		return nil
	}
	view, err := a.seeingRaw(ctx, view, f.Location)
	if err != nil {
		return err
	}
	from := &store.PendingLinks{Page: page.PageRef, Level: page.Level, Hops: page.Hops, Kind: page.Kind}
	found, verdict := a.judgeRequisite(view, from, store.Link{URL: f.Location, Spelling: f.Spelling, Kind: page.Kind})
	params := store.RegisterParams{CrawlID: page.CrawlID, From: page.PageID, RequisiteHosts: view.Spec.Documents.HostsForRequisites()}
	switch {
	case verdict.Undecided:
		return undecided(verdict)
	case verdict.Accept:
		params.URLs = []store.NewURL{found}
	default:
		r := rejections{}
		r.add(verdict, example(f.Location, found))
		params.Rejected = r.list()
	}
	_, err = a.stores.Frontier.RegisterLinks(ctx, params)
	return err
}
