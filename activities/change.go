package activities

import (
	"context"
	"errors"
	"fmt"
	"io"

	"go.temporal.io/sdk/temporal"

	"recrawl/internal/archive"
	"recrawl/internal/change"
	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/extract"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// DetectChange compares a fetched body with the page's last version and, if it
// is a new version, stores it with its links. Running it again for the same
// visit gives the same verdict.
func (a *Activities) DetectChange(ctx context.Context, in contract.DetectIn) (contract.DetectOut, error) {
	page, err := a.store.Page(ctx, in.Page.PageID)
	if err != nil {
		return contract.DetectOut{}, translate(err)
	}
	base, err := urlkey.Canonical(page.URL)
	if err != nil {
		return contract.DetectOut{}, fmt.Errorf("%s: %w", pageLabel(in.Page), err)
	}
	body, err := a.read(ctx, in.Fetch.Digest)
	if err != nil {
		return contract.DetectOut{}, err
	}
	content, err := extract.Parse(body, in.Fetch.ContentType, base)
	if err != nil {
		return contract.DetectOut{}, fmt.Errorf("%s: %w", pageLabel(in.Page), err)
	}
	version, links := newVersion(in, content)
	outcome, reasons := change.Verdict(digestsOf(page.Last), digestsOf(version))
	out := contract.DetectOut{Outcome: outcome, Reasons: reasons}
	if !worthKeeping(outcome, page.Last, version) {
		return out, nil
	}
	if _, err := a.store.SaveVersion(ctx, version, links); err != nil {
		return contract.DetectOut{}, translate(err)
	}
	out.Links = len(links)
	return out, nil
}

// read returns a body from the archive. Bytes that are missing or damaged will
// not heal by retrying: the visit fails and the page is fetched again.
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
	if errors.Is(err, archive.ErrNotFound) || errors.Is(err, archive.ErrCorrupt) {
		return nil, temporal.NewNonRetryableApplicationError(err.Error(), "Archive", err)
	}
	return nil, err
}

func newVersion(in contract.DetectIn, content extract.Page) (store.VersionRecord, []store.Link) {
	links := make([]store.Link, 0, len(content.Links))
	urls := make([]string, 0, len(content.Links))
	for _, l := range content.Links {
		links = append(links, store.Link{URL: l.URL, NoFollow: l.NoFollow || content.NoFollow})
		urls = append(urls, l.URL)
	}
	return store.VersionRecord{
		PageID: in.Page.PageID, Visit: in.Visit, At: in.Fetch.At,
		Digest: in.Fetch.Digest, TextDigest: change.Digest(content.Text), LinkDigest: change.LinkDigest(urls),
		Bytes: in.Fetch.Size, TextBytes: int64(len(content.Text)),
		ContentType: in.Fetch.ContentType, Title: content.Title, Canonical: content.Canonical,
	}, links
}

func digestsOf(v store.VersionRecord) change.Digests {
	return change.Digests{Raw: v.Digest, Text: v.TextDigest, Links: v.LinkDigest, Bytes: v.Bytes, TextBytes: v.TextBytes}
}

// worthKeeping: a new content, or one whose text is the same and whose links are
// not, which lead to pages that the collection would miss.
func worthKeeping(outcome crawl.Outcome, last, next store.VersionRecord) bool {
	switch outcome {
	case crawl.OutcomeNew, crawl.OutcomeChanged:
		return true
	case crawl.OutcomeCosmetic:
		return last.LinkDigest != next.LinkDigest
	}
	return false
}
