package activities

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"recrawl/internal/change"
	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/robots/directive"
	"recrawl/internal/scope"
	"recrawl/internal/sitemap"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// codeRead is the code of the reason that reports, in words, the result of reading
// a source.
const codeRead = "source-read"

// readSource is DetectChange for a source: a new version is another set of URLs and
// dates. It reports false for a source that has turned out to be a page of the crawl,
// and is one from now on. It also returns the links that it stored, nil if there are
// none.
func (a *Activities) readSource(ctx context.Context, view *crawlView, page store.PageRecord, in contract.DetectIn, body []byte) (out contract.DetectOut, found *store.PendingLinks, isList bool, err error) {
	u, err := urlkey.Canonical(page.URL)
	if err != nil {
		return out, nil, false, fmt.Errorf("%s: %w", pageLabel(page.PageRef), err)
	}
	list, err := sitemap.Read(sitemap.Source{
		Body: bytes.NewReader(body), URL: u, ContentType: in.Fetch.ContentType, MaxURLs: view.Spec.Sources.MaxURLs,
	})
	if errors.Is(err, sitemap.ErrNoList) {
		out, isList, err = a.noList(ctx, view, page, in)
		return out, nil, isList, err
	}
	if err != nil {
		return out, nil, false, fmt.Errorf("%s: %w", pageLabel(page.PageRef), err)
	}
	list.Believe(in.Fetch.At)
	reading := store.Reading{Format: string(list.Format), Entries: len(list.Entries), Dated: list.Dated(), Dropped: list.Dropped, Problem: list.Problem}
	if err := a.stores.Pages.SaveReading(ctx, page.PageID, reading); err != nil {
		return out, nil, false, translate(err)
	}
	asked := directive.Decide(directive.Parse(in.Fetch.RobotsTag), directive.Directives{}, in.Fetch.At)
	version, links := listVersion(in, list, asked)
	last, err := a.lastDigests(ctx, page)
	if err != nil {
		return out, nil, false, translate(err)
	}
	outcome, reasons := change.Verdict(last, digestsOf(version, in.Fetch.Digest), change.Rule{Difference: change.DifferenceEdit})
	out = contract.DetectOut{Outcome: outcome, Newest: newestBy(in.Fetch.At, list), Reasons: slices.Concat(asked.Reasons, reasons, []crawl.Reason{readWords(reading)})}
	if !worthKeeping(outcome, page.Last, version) {
		return out, nil, true, nil
	}
	out.Links = len(links)
	found, err = a.save(ctx, page, newContent{version: version, links: links, body: body}, nil)
	return out, found, true, err
}

// newestBy is when a list that was read at a time last changed by its own dates, which may be
// ahead of our clock.
func newestBy(read time.Time, list sitemap.List) time.Time {
	if newest := list.Newest(); newest.Before(read) {
		return newest
	}
	return read
}

// noList settles a source that is not a list: if it could be a page of the crawl,
// it becomes one.
func (a *Activities) noList(ctx context.Context, view *crawlView, page store.PageRecord, in contract.DetectIn) (contract.DetectOut, bool, error) {
	view, err := a.seeingRaw(ctx, view, page.URL)
	if err != nil {
		return contract.DetectOut{}, false, translate(err)
	}
	_, verdict := a.judgeLink(view, page.URL, scope.Link{Level: page.Level, Hops: scope.HopsBefore(page.Hops)})
	if verdict.Undecided {
		return contract.DetectOut{}, false, translate(undecided(verdict))
	}
	if verdict.Accept && crawl.ParseMediaType(in.Fetch.ContentType).Among(view.Spec.Fetch.ContentTypes) {
		return contract.DetectOut{}, false, translate(a.stores.Pages.BecomePage(ctx, page.PageID))
	}
	reading := store.Reading{Problem: sitemap.ErrNoList.Error()}
	out := contract.DetectOut{Outcome: crawl.OutcomeUnsupported, Reasons: []crawl.Reason{readWords(reading)}}
	return out, true, translate(a.stores.Pages.SaveReading(ctx, page.PageID, reading))
}

// listVersion makes the version of a list, with its links.
func listVersion(in contract.DetectIn, list sitemap.List, asked directive.Verdict) (store.VersionRecord, []store.Link) {
	links := make([]store.Link, len(list.Entries))
	urls := make([]string, len(list.Entries))
	// A list without entries has a text too, which can be the same again.
	size := int64(1)
	for i, e := range list.Entries {
		urls[i] = e.URL.String()
		links[i].URL, links[i].Spelling = urls[i], e.Spelling
		if e.Sitemap {
			links[i].Kind = crawl.KindSitemap
		}
		if !e.Modified.IsZero() {
			links[i].Modified = e.Modified.UnixMilli()
		}
		size += int64(len(urls[i]))
	}
	version := store.VersionRecord{
		PageID: in.Page.PageID, Visit: in.Visit, At: in.Fetch.At,
		Digest: in.Fetch.Digest, TextDigest: list.Digest(), LinkDigest: change.LinkDigest(urls),
		Bytes: in.Fetch.Size, TextBytes: size, ContentType: in.Fetch.ContentType,
	}
	if h := in.Fetch.Heads; h != nil {
		version.Heads = store.Heads{Request: h.Request, Response: h.Response, Remote: h.Remote}
	}
	if !asked.Keep {
		version.Digest, version.Heads = "", store.Heads{}
	}
	return version, links
}

// readWords reports the result of reading a source.
func readWords(r store.Reading) crawl.Reason {
	text := r.Problem
	if r.Format != "" {
		text = fmt.Sprintf("%s of %d URLs, %d with a date", r.Format, r.Entries, r.Dated)
		for _, reason := range slices.Sorted(maps.Keys(r.Dropped)) {
			text += fmt.Sprintf(", %s: %d", reason, r.Dropped[reason])
		}
		if r.Problem != "" {
			text += ", " + r.Problem
		}
	}
	return crawl.Reason{Code: codeRead, Text: text}
}
