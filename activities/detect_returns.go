package activities

import (
	"context"
	"slices"

	"recrawl/internal/change"
	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// lookBack finds out whether a page that differs from its last version has returned to an
// earlier one. Then the verdict says so and, unless the links differ, next is that
// version. If the text is still the same, only the links can have returned.
func (a *Activities) lookBack(ctx context.Context, view *crawlView, page store.PageRecord, now reading, next *newContent, out *contract.DetectOut) error {
	if page.Last.Seq <= 1 && page.Last.Back == 0 {
		return nil // there is no earlier version
	}
	versions, err := a.stores.Pages.EarlierVersions(ctx, page.PageID, change.Remembered-1)
	if err != nil {
		return err
	}
	fetched := change.Earlier{Digests: now.digests, Timeless: next.version.Timeless, Withheld: next.version.Digest == ""}
	back, ok, err := a.earlier(ctx, view, page, versions, now, fetched)
	if err != nil || !ok {
		return err
	}
	sameLinks := back.LinkDigest == next.version.LinkDigest
	if out.Outcome != crawl.OutcomeChanged && !sameLinks {
		return nil
	}
	if out.Outcome == crawl.OutcomeChanged {
		out.Outcome, out.Returned = contract.Marked(crawl.OutcomeReturned)
	}
	out.Reasons = slices.Insert(out.Reasons, 0, change.ReturnReason(back.Seq, page.Last.Seq))
	if sameLinks {
		next.back = back
	}
	return nil
}

// earlier finds the version that a page shows again: with its text, and with its title and looks too, for these may
// be edited on the way back.
func (a *Activities) earlier(ctx context.Context, view *crawlView, page store.PageRecord, versions []store.VersionRecord, now reading, fetched change.Earlier) (store.VersionRecord, bool, error) {
	known := make([]change.Earlier, len(versions))
	for i, v := range versions {
		known[i] = earlierOf(v)
	}
	same := func(i int) (bool, error) { return a.sameText(ctx, view, page, versions[i], now.rendering) }
	for {
		i, ok, err := change.Return(fetched, known, same)
		if err != nil || !ok {
			return store.VersionRecord{}, false, err
		}
		if ok, err = a.looksAgain(ctx, view, page, versions[i], now); err != nil || ok {
			return versions[i], ok, err
		}
		versions, known = slices.Delete(versions, i, i+1), slices.Delete(known, i, i+1)
	}
}

// earlierOf describes a version so that a new fetch can be compared with it.
func earlierOf(v store.VersionRecord) change.Earlier {
	return change.Earlier{Digests: digestsOf(v, v.Digest), Timeless: v.Timeless, Withheld: withheld(v)}
}

// held returns the digests of the content that the page has now: the bytes of a version
// that was found again are those of its own visit.
func (c newContent) held(fetched change.Digests) change.Digests {
	if c.back.ID != 0 {
		fetched.Raw = c.back.Digest
	}
	return fetched
}

// sameText reports whether a version's text differs from the present one only by noise.
// A text that is gone, or cannot be read, is no evidence.
func (a *Activities) sameText(ctx context.Context, view *crawlView, page store.PageRecord, v store.VersionRecord, now change.Rendering) (bool, error) {
	if withheld(v) {
		return false, nil
	}
	content, err := a.contentThen(ctx, view, page, v)
	if err != nil || content == nil {
		return false, err
	}
	noise, _ := change.CompareRenderings(change.Rendering{Text: content.Text, At: v.At}, now)
	return noise, nil
}
