package activities

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"recrawl/internal/archive"
	"recrawl/internal/change"
	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/extract"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// lookBeside returns the reasons why a page is a change though its text is not. The title is that
// of the stored version. What else a reader sees is compared with the last version's body as it
// is read today.
func lookBeside(view *crawlView, page store.PageRecord, now reading, then lastReading, outcome crawl.Outcome, looked []crawl.Reason) ([]crawl.Reason, error) {
	if outcome != crawl.OutcomeCosmetic || withheld(page.Last) {
		return nil, nil
	}
	if retitled, title, err := now.retitled(view, page, page.Last); err != nil || retitled {
		return []crawl.Reason{{Code: change.CodeTitle, Text: title}}, err
	}
	if slices.ContainsFunc(looked, func(r crawl.Reason) bool { return r.Code == change.CodeBoilerplate }) {
		return nil, nil // the looks of what other pages show do not count either
	}
	last, err := then()
	if err != nil || last == nil {
		return nil, err
	}
	// A text that is another one by today's rules may come from another part of the page.
	same, _ := change.CompareRenderings(change.Rendering{Text: last.Text, At: page.Last.At}, now.rendering)
	if !same || now.looksLike(*last, page.Last) {
		return nil, nil
	}
	return []crawl.Reason{{Code: change.CodeBeside}}, nil
}

// retitled reports whether the title is another than that of an earlier version, and returns it.
func (r reading) retitled(view *crawlView, page store.PageRecord, v store.VersionRecord) (bool, string, error) {
	u, err := urlkey.Canonical(page.URL)
	if err != nil {
		return false, "", fmt.Errorf("%s: %w", pageLabel(page.PageRef), err)
	}
	before := change.Rendering{Text: view.content.CleanTitle(u, v.Title), At: v.At}
	title := change.Rendering{Text: view.content.CleanTitle(u, r.version.Title), At: r.rendering.At}
	whole := r.content.Text == r.content.Main
	return whole && change.Retitled(before, title, r.content.Text), title.Text, nil
}

// looksLike reports whether what a reader sees beside the words differs from an earlier version by
// nothing but noise.
func (r reading) looksLike(content extract.Page, v store.VersionRecord) bool {
	before := change.Rendering{Text: extract.LooksText(content.Looks), At: v.At}
	same, _ := change.CompareRenderings(before, change.Rendering{Text: extract.LooksText(r.content.Looks), At: r.rendering.At})
	return same
}

// looksAgain reports whether an earlier version with the text that the page shows again has its title and looks as
// well. Nobody knows that of a version whose body may not be kept. One whose body is lost is no version to return to.
func (a *Activities) looksAgain(ctx context.Context, view *crawlView, page store.PageRecord, v store.VersionRecord, now reading) (bool, error) {
	if withheld(v) {
		return !now.beside, nil
	}
	retitled, _, err := now.retitled(view, page, v)
	if err != nil || retitled {
		return false, err
	}
	content, err := a.contentThen(ctx, view, page, v)
	return content != nil && now.looksLike(*content, v), err
}

// lastReading returns the content of the page's last version by today's rules, nil if it is not
// known: its body is lost, or cannot be read. It reads the body once.
type lastReading func() (*extract.Page, error)

func (a *Activities) lastContent(ctx context.Context, view *crawlView, page store.PageRecord) lastReading {
	return sync.OnceValues(func() (*extract.Page, error) { return a.contentThen(ctx, view, page, page.Last) })
}

// contentThen reads the content of a version by today's rules. It is nil if the body is lost, or
// cannot be read.
func (a *Activities) contentThen(ctx context.Context, view *crawlView, page store.PageRecord, v store.VersionRecord) (*extract.Page, error) {
	body, err := a.read(ctx, v.Digest)
	if archive.Lost(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	content, err := contentOf(page, contract.FetchOut{ContentType: v.ContentType}, body, view.content)
	if err != nil {
		return nil, nil
	}
	return &content, nil
}
