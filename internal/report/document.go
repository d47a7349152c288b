package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"recrawl/internal/archive"
	"recrawl/internal/document"
	"recrawl/internal/extract"
	"recrawl/internal/store"
)

// DocumentQuery says which document of a page is read, and how much of it.
type DocumentQuery struct {
	Reading extract.Reading
	// Version is its number, and At a time at which the page had it; zero for both is the
	// version that the page has now. Version counts before At.
	Version int
	At      time.Time
}

// DocumentOf returns a version of a page as a document, by the rules that its crawl has now.
// ErrNoBody says that there is none, and why.
func (r Reporter) DocumentOf(ctx context.Context, files Contents, page store.PageRecord, q DocumentQuery) (document.Document, error) {
	v, changed, err := r.versionOf(ctx, page, q)
	if err != nil {
		return document.Document{}, err
	}
	src, rules, err := r.rulesOf(ctx, page)
	if err != nil {
		return document.Document{}, err
	}
	body, err := bodyOf(ctx, files, v)
	if errors.Is(err, archive.ErrNotFound) {
		err = fmt.Errorf("%w: %w", ErrNoBody, err)
	}
	if err != nil {
		return document.Document{}, fmt.Errorf("version %d of %s: %w", v.Seq, page.URL, err)
	}
	src.Body, src.ContentType = body, v.ContentType
	m, err := extract.ParseMarkdown(src, rules, q.Reading)
	if err != nil {
		return document.Document{}, fmt.Errorf("version %d of %s: %w: %w", v.Seq, page.URL, ErrNoBody, err)
	}
	return document.Of(document.Meta{
		URL: page.URL, Title: v.Title, Crawl: page.Crawl, Page: page.PageID, Version: v.Seq, Fetched: v.At, Changed: changed,
		Language: v.Language, Canonical: v.Canonical, ContentType: v.ContentType, Reserved: v.Reserved,
	}, m), nil
}

// versionOf returns the version asked for, and when the page last got another main text
// before or with that version.
func (r Reporter) versionOf(ctx context.Context, page store.PageRecord, q DocumentQuery) (v store.VersionRecord, changed time.Time, err error) {
	visit, seq := page.Visits, q.Version
	if q.Version == 0 && !q.At.IsZero() {
		then, err := r.visitAt(ctx, page, q.At)
		if err != nil {
			return v, changed, err
		}
		visit, seq = then.Visit, then.Version
	}
	if v, err = r.version(ctx, page, seq); err != nil {
		return v, changed, err
	}
	if q.Version > 0 && v.Seq != page.Last.Seq {
		visit = max(v.Visit, v.Back) // the page may have had it several times: the last counts
	}
	changed, err = r.changedBy(ctx, page, v, visit)
	return v, changed, err
}

// visitAt returns the last visit of a page at or before a time that left it with a version.
// Times ascend with the visits.
func (r Reporter) visitAt(ctx context.Context, page store.PageRecord, at time.Time) (found store.VisitRecord, err error) {
	low, high := 1, page.Visits+1 // the visit is in [low, high)
	for low < high {
		middle := (low + high) / 2
		before, err := r.Store.ListVisits(ctx, page.PageID, middle+1, 1)
		switch {
		case err != nil:
			return found, err
		case len(before) == 0 || before[0].Visit < low: // those between are not kept any more
			low = middle + 1
		case before[0].At.After(at):
			high = before[0].Visit
		default:
			found, low = before[0], middle+1
		}
	}
	switch then := at.UTC().Format(time.RFC3339); {
	case found.Visit == 0:
		return found, noBody(fmt.Sprintf("%s has no visit that is kept, at or before %s", page.URL, then))
	case found.Version == 0:
		return found, noBody(fmt.Sprintf("%s had no version at %s", page.URL, then))
	}
	return found, nil
}

// changedBy returns when the page last got another main text, up to one of its visits. If
// the kept visits no longer show that, it is when the version was found.
func (r Reporter) changedBy(ctx context.Context, page store.PageRecord, v store.VersionRecord, visit int) (time.Time, error) {
	if visit == page.Visits && !page.TextAt.IsZero() {
		return page.TextAt, nil
	}
	for before := visit + 1; before > 1; {
		visits, err := r.Store.ListVisits(ctx, page.PageID, before, batch)
		if err != nil {
			return time.Time{}, err
		}
		for _, w := range visits {
			if w.Outcome.BringsText() {
				return w.At, nil
			}
		}
		if len(visits) < batch {
			break
		}
		before = visits[len(visits)-1].Visit
	}
	return v.At, nil
}

// ShowDocument writes a version of a page as a document: with its front matter or, in JSON,
// as one object.
func (r Reporter) ShowDocument(ctx context.Context, files Contents, page store.PageRecord, q DocumentQuery) error {
	d, err := r.DocumentOf(ctx, files, page, q)
	if err != nil {
		return err
	}
	if r.Format == JSON {
		return writeJSON(r.Out, struct {
			document.Meta
			Markdown string `json:"markdown"`
		}{d.Meta, d.Markdown})
	}
	_, err = io.WriteString(r.Out, d.File())
	return err
}

// VersionAt returns the number of the version that a page had at a time. ErrNoBody says
// that it had none, or that this is no longer known.
func (r Reporter) VersionAt(ctx context.Context, page store.PageRecord, at time.Time) (int, error) {
	then, err := r.visitAt(ctx, page, at)
	return then.Version, err
}
