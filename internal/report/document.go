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
	// version that the page has now.
	Version int
	At      time.Time
}

// DocumentOf returns a version of a page as a document. ErrNoBody says that there is none.
func (r Reporter) DocumentOf(ctx context.Context, files Contents, page store.PageRecord, q DocumentQuery) (document.Document, error) {
	v := page.Last
	if v.Seq == 0 || v.Digest == "" {
		return document.Document{}, fmt.Errorf("%s: %w", page.URL, ErrNoBody)
	}
	content, err := files.Open(ctx, v.Digest)
	if errors.Is(err, archive.ErrNotFound) {
		return document.Document{}, fmt.Errorf("%s: %w", page.URL, ErrNoBody)
	}
	if err != nil {
		return document.Document{}, err
	}
	defer content.Close()
	body, err := io.ReadAll(content)
	if err != nil {
		return document.Document{}, err
	}
	m, err := extract.ParseMarkdown(extract.Source{Body: body, ContentType: v.ContentType}, extract.Rules{}, q.Reading)
	if err != nil {
		return document.Document{}, err
	}
	return document.Document{
		Meta: document.Meta{
			URL: page.URL, Title: v.Title, Crawl: page.Crawl, Page: page.PageID, Version: v.Seq, Fetched: v.At, Changed: v.At,
			Language: v.Language, Canonical: v.Canonical, ContentType: v.ContentType,
		},
		Markdown: m.Body,
	}, nil
}
