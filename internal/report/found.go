package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"recrawl/internal/archive"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// foundLine is the body that a visit found, as text, with its metadata.
type foundLine struct {
	URL     string        `json:"url"`
	Visit   int           `json:"visit"`
	At      stamp         `json:"at"`
	Outcome crawl.Outcome `json:"outcome"`
	Digest  string        `json:"digest"`
	View    View          `json:"view"`
	Text    string        `json:"text"`
}

// ShowVisit writes the body that a visit found, whether it is a version or not: suspect
// bodies are kept until a second look.
func (r Reporter) ShowVisit(ctx context.Context, files Contents, page store.PageRecord, visit int, view View) error {
	visits, err := r.Store.ListVisits(ctx, page.PageID, visit+1, 1)
	if err != nil {
		return err
	}
	if len(visits) == 0 || visits[0].Visit != visit {
		return noBody(fmt.Sprintf("%s has no visit %d: `starter history` lists them", page.URL, visit))
	}
	v := visits[0]
	if v.Digest == "" {
		return fmt.Errorf("visit %d of %s: %w: its outcome is %s", visit, page.URL, ErrNoBody, v.Outcome)
	}
	read, err := r.reading(ctx, page, view)
	if err != nil {
		return err
	}
	content, err := read(ctx, files, store.VersionRecord{Digest: v.Digest, ContentType: page.Last.ContentType})
	if errors.Is(err, archive.ErrNotFound) {
		return fmt.Errorf("visit %d of %s: %w: its bytes made no version and are deleted", visit, page.URL, ErrNoBody)
	}
	if err != nil {
		return fmt.Errorf("visit %d of %s: %w", visit, page.URL, err)
	}
	if r.Format == JSON {
		return writeJSON(r.Out, foundLine{page.URL, v.Visit, stamp(v.At), v.Outcome, v.Digest, view, strings.ToValidUTF8(content.Text, "\uFFFD")})
	}
	_, err = io.WriteString(r.Out, content.Text)
	return err
}

// suspectVisit returns the suspect visit of a page that waits for a second look, 0 for
// none.
func suspectVisit(p store.PageRecord) int {
	if p.Suspect.Visit <= p.Last.Visit {
		return 0
	}
	return p.Suspect.Visit
}
