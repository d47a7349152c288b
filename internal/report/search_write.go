package report

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Found writes the hits of SearchOf: in JSON a line for each page.
func (r Reporter) Found(ctx context.Context, files Contents, q SearchQuery) error {
	a, err := r.SearchOf(ctx, files, q)
	if err != nil {
		return err
	}
	if r.Format == JSON {
		for _, h := range a.Hits {
			if err := writeJSON(r.Out, h); err != nil {
				return err
			}
		}
		return nil
	}
	var text strings.Builder
	for i, h := range a.Hits {
		fmt.Fprintf(&text, "%d. %s\n   %s\n", q.Offset+i+1, strings.Map(printable, some(h.Title)), strings.Map(printable, h.URL))
		if h.Snippet != "" {
			fmt.Fprintf(&text, "   %s\n", strings.Map(printable, h.Snippet))
		}
		fmt.Fprintf(&text, "   %s\n", h.Words(a.Now))
	}
	for _, note := range a.Notes() {
		fmt.Fprintln(&text, note)
	}
	_, err = fmt.Fprint(r.Out, text.String())
	return err
}

// Words says which version a hit is, when it was seen, and whether others have its text.
func (h SearchHit) Words(now time.Time) string {
	text := fmt.Sprintf("version %d, seen %s", h.Version, when(h.Seen, now))
	if h.Copies > 0 {
		text += ", the same text on " + plural(h.Copies, "other page")
	}
	return text
}

// Notes returns what a reader must know about an answer.
func (a SearchAnswer) Notes() (notes []string) {
	switch {
	case len(a.Hits) == 0 && a.Next > 0: // all of this part were forgotten since
	case len(a.Hits) == 0 && a.Offset > 0:
		notes = append(notes, "there are no more pages")
	case len(a.Hits) == 0:
		notes = append(notes, "no page has any of these words")
	case a.Some:
		notes = append(notes, "no page has all of these words")
	}
	if a.Unfilled {
		notes = append(notes, "the index is being filled: not all pages are in it yet")
	}
	if a.Next > 0 {
		notes = append(notes, fmt.Sprintf("there are more: --offset %d", a.Next))
	}
	return notes
}
