package activities

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.temporal.io/sdk/temporal"

	"recrawl/internal/archive"
	"recrawl/internal/archive/gc"
	"recrawl/internal/change"
	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/extract"
	"recrawl/internal/maintain/duplicates"
	"recrawl/internal/robots/directive"
	"recrawl/internal/robots/reserve"
	"recrawl/internal/store"
	"recrawl/internal/trap"
	"recrawl/internal/urlkey"
)

// Reading a body takes up to sixty times its size in memory. A worker makes many
// requests at a time, and hostile sites may answer all of them with the worst.
const (
	// comparedAtOnce is the most bytes of bodies that a worker compares at the same
	// time. A larger body is compared alone.
	comparedAtOnce = 16 << 20
	// comparedLeast is the number of bytes that even the smallest body counts for.
	comparedLeast = 1 << 20
)

// DetectChange compares a fetched body with the page's last version and, if it
// is a new version, stores it with its links, unless the page forbids keeping the one
// or following the others. It also registers the links, unless they are many. Running
// it again for the same visit gives the same verdict.
func (a *Activities) DetectChange(ctx context.Context, in contract.DetectIn) (contract.DetectOut, error) {
	page, err := a.stores.Pages.Page(ctx, in.Page.PageID)
	if err != nil {
		return contract.DetectOut{}, translate(err)
	}
	view, err := a.crawlOf(ctx, page.PageRef, page.Generation)
	if err != nil {
		return contract.DetectOut{}, translate(err)
	}
	out, found, err := a.compare(ctx, view, page, in)
	if err != nil || found == nil || !in.Register {
		return out, err
	}
	// A body that waits to be compared does not wait for the programs that filter links.
	out.Registered = a.registerFound(ctx, view, found)
	return out, nil
}

// enterComparing waits until there is room for a body of a size, in bytes. The context that it returns
// limits the work from then on, until leave is called: a body that waits behind others is no less
// readable.
func (a *Activities) enterComparing(ctx context.Context, size int64) (working context.Context, leave func(), err error) {
	room := min(max(size, comparedLeast), comparedAtOnce)
	waiting, stop := context.WithTimeoutCause(ctx, contract.ComparePatience, fmt.Errorf("the worker had no room for it within %s", contract.ComparePatience))
	defer stop()
	if err := a.comparing.Acquire(waiting, room); err != nil {
		return nil, nil, context.Cause(waiting)
	}
	working, end := context.WithTimeout(ctx, contract.CompareLimit)
	return working, func() { end(); a.comparing.Release(room) }, nil
}

// compare is the part of DetectChange that needs the body. It also returns the links that
// it stored, nil if there are none.
func (a *Activities) compare(ctx context.Context, view *crawlView, page store.PageRecord, in contract.DetectIn) (contract.DetectOut, *store.PendingLinks, error) {
	ctx, leave, err := a.enterComparing(ctx, in.Fetch.Size)
	if err != nil {
		return contract.DetectOut{}, nil, fmt.Errorf("wait to compare %s: %w", pageLabel(page.PageRef), err)
	}
	defer leave()
	body, err := a.read(ctx, in.Fetch.Digest)
	if err != nil {
		return contract.DetectOut{}, nil, err
	}
	if page.Kind == crawl.KindRequisite {
		return a.readRequisite(ctx, page, in, body)
	}
	if page.Kind.IsSource() {
		if out, found, isList, err := a.readSource(ctx, view, page, in, body); isList || err != nil {
			return out, found, err
		}
		page.Kind = crawl.KindPage
	}
	now, err := a.reading(ctx, view, page, in, body)
	if err != nil {
		return contract.DetectOut{}, nil, err
	}
	if r, refused := reserve.Against(now.version.Reserved, view.purposeOf(page.Kind)); refused {
		return contract.DetectOut{Outcome: crawl.OutcomeExcluded, Reasons: []crawl.Reason{{Code: reserve.CodeReserved, Text: reserve.Refusal(r)}}}, nil, nil
	}
	last, err := a.lastDigests(ctx, page)
	if err != nil {
		return contract.DetectOut{}, nil, translate(err)
	}
	then := a.lastContent(ctx, view, page)
	if last, err = readAgain(page, then, last, now.digests); err != nil {
		return contract.DetectOut{}, nil, err
	}
	rule, looked, err := a.look(ctx, view, page, then, last, now)
	if err != nil {
		return contract.DetectOut{}, nil, translate(err)
	}
	outcome, reasons := change.Verdict(last, now.digests, rule)
	beside, err := lookBeside(view, page, now, then, outcome, looked)
	if err != nil {
		return contract.DetectOut{}, nil, err
	}
	if len(beside) > 0 {
		outcome, reasons = crawl.OutcomeChanged, append(beside, reasons...)
		now.beside = true
	}
	out := contract.DetectOut{Outcome: outcome, Reasons: slices.Concat(now.asked, reasons, looked)}
	if !worthKeeping(outcome, page.Last, now.version) {
		return out, nil, nil
	}
	found, err := a.settle(ctx, view, page, in, last, now, &out)
	if err != nil {
		return contract.DetectOut{}, nil, err
	}
	return out, found, nil
}

// reading is a body as DetectChange compares it.
type reading struct {
	body      []byte
	content   extract.Page
	rendering change.Rendering
	digests   change.Digests
	version   store.VersionRecord // what it would be
	links     []store.Link
	asked     []crawl.Reason // the page's requests to us
	beside    bool           // the text is the last version's, and it looks otherwise
}

func (a *Activities) reading(ctx context.Context, view *crawlView, page store.PageRecord, in contract.DetectIn, body []byte) (reading, error) {
	content, err := contentOf(page, in.Fetch, body, view.content)
	if err != nil {
		return reading{}, err
	}
	asked := directive.Decide(directive.Parse(in.Fetch.RobotsTag), content.Robots(view.Spec.Identity.Agent), in.Fetch.At)
	version, links := newVersion(in, content, asked)
	bySite, err := a.reservedBySite(ctx, view, page)
	if err != nil {
		return reading{}, translate(err)
	}
	version.Reserved = reserve.Join(bySite, in.Fetch.Reserved, content.Reserved(view.Spec.Identity.Agent))
	sources, err := a.sourcesOf(ctx, view, page, content, asked)
	if err != nil {
		return reading{}, translate(err)
	}
	digests := digestsOf(version, in.Fetch.Digest)
	digests.Sketch, digests.Unread = change.NewSketch(content.Main), content.Charset == ""
	return reading{
		body: body, content: content, rendering: change.Rendering{Text: content.Text, At: in.Fetch.At}, digests: digests,
		version: version, links: append(links, sources...), asked: asked.Reasons,
	}, nil
}

// settle keeps content that differs from the last version, unless the page had it before or
// it does not count yet. It returns the links that it stored, nil if there are none.
func (a *Activities) settle(ctx context.Context, view *crawlView, page store.PageRecord, in contract.DetectIn, last change.Digests, now reading, out *contract.DetectOut) (*store.PendingLinks, error) {
	needed, err := requisitesOf(view, page, in.Fetch, now)
	if err != nil {
		return nil, err
	}
	next := newContent{version: now.version, links: slices.Concat(now.links, needed), body: now.body, said: saidBy(page, now.content)}
	if in.Returns {
		if err := a.lookBack(ctx, view, page, now, &next, out); err != nil {
			return nil, translate(err)
		}
	}
	if in.Suspects {
		if err := a.suspect(ctx, page, in, last, now.digests, now.content, out); err != nil || out.Outcome == crawl.OutcomeSuspect {
			return nil, translate(err)
		}
	}
	next.compared = comparedOf(next.held(now.digests), now.content)
	return a.keep(ctx, view, page, next, out)
}

// comparedOf returns the content to compare with other pages. It uses the main text even if
// the crawl selects a part of it, because many pages have the same price.
func comparedOf(digests change.Digests, content extract.Page) change.Content {
	if content.Text != content.Main {
		digests.Text = change.CoreDigest(content.Main)
	}
	return change.ContentOf(digests)
}

// look compares the main text itself with the last version's where digests cannot
// tell noise from an edit: a clock is recognised by both its times. The last version is
// read by the crawl's current rules, so that a change of the rules is not a change of the
// page. If the body of the last version is not kept, or is gone, any difference counts as
// an edit: no measure of resemblance tells a changed price from a changed clock.
func (a *Activities) look(ctx context.Context, view *crawlView, page store.PageRecord, then lastReading, prev change.Digests, now reading) (change.Rule, []crawl.Reason, error) {
	edit := change.Rule{Difference: change.DifferenceEdit}
	if !change.NeedsLook(prev, now.digests) || withheld(page.Last) {
		return edit, nil, nil
	}
	content, err := then()
	if err != nil {
		return change.Rule{}, nil, err
	}
	if content == nil {
		return edit, nil, nil
	}
	before := change.Rendering{Text: content.Text, At: page.Last.At}
	noise, reasons := change.CompareRenderings(before, now.rendering)
	if !noise {
		own, err := a.ownText(ctx, view, page, before, now.rendering)
		if err != nil || len(own) == 0 {
			return edit, reasons, err
		}
		reasons = own
	}
	return change.Rule{Difference: change.DifferenceNoise}, reasons, nil
}

// newContent is the content of a new version, for DetectChange.
type newContent struct {
	version store.VersionRecord
	// back is the version that was found again; its ID is 0 if there is none.
	// Otherwise version is not saved.
	back     store.VersionRecord
	links    []store.Link
	body     []byte
	compared change.Content
	said     change.Wording
}

// keep saves a new version, and records which page it duplicates. It returns the links that
// it stored, nil if there are none.
func (a *Activities) keep(ctx context.Context, view *crawlView, page store.PageRecord, c newContent, out *contract.DetectOut) (*store.PendingLinks, error) {
	if c.version.Digest == "" { // may not be kept, so it is not compared with others either
		c.compared, c.said.Sample = change.Content{}, nil
	}
	fetched := duplicates.Fetched{Page: page.PageRef, Canonical: c.version.Canonical, Content: c.compared}
	twins, err := duplicates.TwinsOf(ctx, a.stores.Duplicates, fetched, view.Spec.Content.NearDuplicate)
	if err != nil {
		return nil, translate(err)
	}
	if c.links, err = twins.LinksOf(ctx, a.stores.Duplicates, c.links); err != nil {
		return nil, translate(err)
	}
	out.Reasons = append(out.Reasons, twins.Reasons()...)
	out.Links = len(c.links)
	return a.save(ctx, page, c, twins.Record())
}

// lastDigests returns the digests of the page's last version. If its body may not
// be kept, they come from the visit that saw it.
func (a *Activities) lastDigests(ctx context.Context, page store.PageRecord) (change.Digests, error) {
	if page.Last.ID == 0 {
		return change.Digests{}, nil
	}
	if !withheld(page.Last) {
		known, err := a.stores.Pages.Content(ctx, page.Last.ID)
		digests := digestsOf(page.Last, page.Last.Digest)
		digests.Sketch = known.Sketch
		return digests, err
	}
	visit, err := a.versionVisit(ctx, page)
	return digestsOf(page.Last, visit.Digest), err
}

// readAgain returns the last version's digests by today's rules, if it had no text by those
// of its time and the page now has some. Otherwise a release that reads more kinds of
// documents would find a change in each of them.
func readAgain(page store.PageRecord, then lastReading, last, next change.Digests) (change.Digests, error) {
	if page.Last.ID == 0 || withheld(page.Last) || last.TextBytes > 0 || next.TextBytes == 0 || last.Raw == next.Raw {
		return last, nil
	}
	content, err := then()
	if err != nil || content == nil || content.Text == "" {
		return last, err
	}
	last.Text, last.TextBytes, last.Sketch = change.CoreDigest(content.Text), int64(len(content.Text)), change.NewSketch(content.Main)
	return last, nil
}

// versionVisit returns the visit that made the page's last version; zero if there
// is none.
func (a *Activities) versionVisit(ctx context.Context, page store.PageRecord) (store.VisitRecord, error) {
	if page.Last.ID == 0 {
		return store.VisitRecord{}, nil
	}
	visit, err := a.stores.Pages.Visit(ctx, page.PageID, page.Last.Visit)
	if errors.Is(err, store.ErrNotFound) {
		return store.VisitRecord{}, nil
	}
	return visit, err
}

// contentOf parses a fetched body by the rules of its crawl.
func contentOf(page store.PageRecord, fetched contract.FetchOut, body []byte, rules extract.Rules) (extract.Page, error) {
	base, err := urlkey.Canonical(page.URL)
	if err != nil {
		return extract.Page{}, fmt.Errorf("%s: %w", pageLabel(page.PageRef), err)
	}
	content, err := extract.Parse(extract.Source{
		Body: body, ContentType: fetched.ContentType, URL: base,
		Language: headerOf(fetched.Heads, "Content-Language"), Refresh: headerOf(fetched.Heads, "Refresh"), Links: headersOf(fetched.Heads, "Link"),
	}, rules)
	if err != nil {
		return extract.Page{}, fmt.Errorf("%s: %w", pageLabel(page.PageRef), err)
	}
	return content, nil
}

// saidBy returns the page's own text, for comparison with other pages of its host.
func saidBy(page store.PageRecord, content extract.Page) change.Wording {
	u, err := urlkey.Canonical(page.URL)
	if err != nil || content.Charset == "" { // not a text
		return change.Wording{}
	}
	links := make([]string, len(content.Links))
	for i, l := range content.Links {
		links[i] = l.URL
	}
	return trap.Says(content.Own, u, links)
}

// save saves a version and makes sure that its bytes are kept. It returns the links that
// it stored, nil if there are none.
func (a *Activities) save(ctx context.Context, page store.PageRecord, c newContent, of *store.DuplicateOf) (*store.PendingLinks, error) {
	id, err := a.stores.Pages.SaveVersion(ctx, store.SaveVersionParams{Version: c.version, BackTo: c.back.ID, Links: c.links, Content: c.compared, Said: c.said, Duplicate: of})
	if err != nil {
		return nil, translate(err)
	}
	if c.version.Digest != "" && c.back.ID == 0 { // else it may not be kept, or is already
		if err := gc.Secure(ctx, a.archive, c.version.Digest, c.body); err != nil {
			return nil, ourFault(err)
		}
	}
	if len(c.links) == 0 {
		return nil, nil
	}
	return &store.PendingLinks{
		Version: id, Page: page.PageRef, Level: page.Level, Hops: page.Hops, Kind: page.Kind,
		Language: c.version.Language, Said: c.said, Visit: c.version.Visit, Links: c.links,
	}, nil
}

// headerOf returns an answer's first value for a header, "" if it has none.
func headerOf(heads *contract.Heads, name string) string {
	if values := headersOf(heads, name); len(values) > 0 {
		return values[0]
	}
	return ""
}

// headersOf returns an answer's values for a header, in their order.
func headersOf(heads *contract.Heads, name string) []string {
	if heads == nil {
		return nil
	}
	var values []string
	for line := range strings.Lines(heads.Response) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.EqualFold(key, name) {
			values = append(values, strings.TrimSpace(value))
		}
	}
	return values
}

// read returns a body from the archive. Bytes that are missing or damaged will
// not heal by retrying: the visit fails and the page is fetched again. If the
// archive does not answer, read waits for it, as activities do for the store.
func (a *Activities) read(ctx context.Context, digest string) ([]byte, error) {
	r, err := a.archive.Open(ctx, digest)
	if err == nil {
		defer r.Close()
		var body []byte
		if body, err = io.ReadAll(r); err == nil {
			return body, nil
		}
	}
	err = fmt.Errorf("archive: %s: %w", digest, err)
	switch {
	case archive.Lost(err):
		return nil, temporal.NewNonRetryableApplicationError(err.Error(), "Archive", err)
	case errors.Is(err, archive.ErrUnavailable):
		return nil, ourFault(err)
	}
	return nil, err
}

// newVersion makes the version of a content with the links to be registered. If its
// body may not be kept, the version has the digests that later contents are
// compared with, and no text.
func newVersion(in contract.DetectIn, content extract.Page, asked directive.Verdict) (store.VersionRecord, []store.Link) {
	var links []store.Link
	var followed []string
	for _, l := range content.Links {
		if !asked.Follow {
			break
		}
		links = append(links, store.Link{URL: l.URL, NoFollow: l.NoFollow, Spelling: l.Spelling})
		if !l.NoFollow {
			followed = append(followed, l.URL)
		}
	}
	links = append(links, refusedLinks(content, asked.Follow)...)
	core, timeless := change.CoreDigests(content.Text)
	version := store.VersionRecord{
		PageID: in.Page.PageID, Visit: in.Visit, At: in.Fetch.At,
		Digest: in.Fetch.Digest, TextDigest: core, Timeless: timeless, LinkDigest: change.LinkDigest(followed),
		Bytes: in.Fetch.Size, TextBytes: int64(len(content.Text)),
		ContentType: in.Fetch.ContentType, Title: content.Title, Canonical: content.Canonical, Language: content.Language,
	}
	if h := in.Fetch.Heads; h != nil {
		version.Heads = store.Heads{Request: h.Request, Response: h.Response, Remote: h.Remote}
	}
	if !asked.Keep {
		version.Digest, version.Title, version.Heads = "", "", store.Heads{}
	}
	return version, links
}

// withheld reports whether the body of a version may not be kept.
func withheld(v store.VersionRecord) bool { return v.ID != 0 && v.Digest == "" }

func digestsOf(v store.VersionRecord, raw string) change.Digests {
	return change.Digests{Raw: raw, Text: v.TextDigest, Links: v.LinkDigest, Bytes: v.Bytes, TextBytes: v.TextBytes}
}

// worthKeeping reports whether a version is worth storing: its content is new; or its text is
// the same but the links to follow are not, and they lead to pages that the collection would
// miss; or its body may be kept while the last version's might not, or the reverse.
func worthKeeping(outcome crawl.Outcome, last, next store.VersionRecord) bool {
	switch outcome {
	case crawl.OutcomeNew, crawl.OutcomeChanged:
		return true
	case crawl.OutcomeCosmetic, crawl.OutcomeUnchanged:
		return last.LinkDigest != next.LinkDigest || (last.Digest == "") != (next.Digest == "")
	}
	return false
}
