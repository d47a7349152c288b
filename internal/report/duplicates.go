package report

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"recrawl/internal/export"
	"recrawl/internal/feed"
	"recrawl/internal/store"
)

type duplicateLine struct {
	URL         string  `json:"url"`
	Of          string  `json:"of"`
	Exact       bool    `json:"exact"`
	Resemblance float64 `json:"resemblance"`
	At          stamp   `json:"at"`
	Holds       bool    `json:"holds"` // both still have the contents that were compared
}

// Duplicates writes a crawl's duplicates, cluster by cluster.
func (r Reporter) Duplicates(ctx context.Context, crawlName string, limit int) error {
	record, now, err := r.open(ctx, crawlName)
	if err != nil {
		return err
	}
	filter := store.DuplicateFilter{CrawlID: record.ID}
	done := 0
	for filter.Limit = take(limit, done); filter.Limit > 0; filter.Limit = take(limit, done) {
		found, err := r.Store.ListDuplicates(ctx, filter)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			break
		}
		var header []string
		if done == 0 {
			header = []string{"RESEMBLANCE", "FOUND", "URL", "DUPLICATE OF"}
		}
		t := newTable(r.Out, header...)
		for _, d := range found {
			if r.Format == JSON {
				if err := writeJSON(r.Out, duplicateLineOf(d)); err != nil {
					return err
				}
				continue
			}
			t.row(likeness(d), when(d.At, now), d.Page.URL, d.Of.URL)
		}
		if r.Format == Text {
			if err := t.flush(); err != nil {
				return err
			}
		}
		done += len(found)
		last := found[len(found)-1]
		filter.AfterOf, filter.After = last.Of.PageID, last.Page.PageID
	}
	if done == 0 && r.Format == Text {
		fmt.Fprintln(r.Out, "no duplicates")
	}
	return nil
}

func duplicateLineOf(d store.DuplicateRecord) duplicateLine {
	return duplicateLine{URL: d.Page.URL, Of: d.Of.URL, Exact: d.Exact, Resemblance: d.Resemblance, At: stamp(d.At), Holds: d.Holds}
}

func likeness(d store.DuplicateRecord) string {
	text := fmt.Sprintf("%.3f", d.Resemblance)
	if d.Exact {
		text = "exact"
	}
	if !d.Holds {
		text += " (once)"
	}
	return text
}

// MirrorLine is a pair of hosts with mostly the same contents.
type MirrorLine struct {
	A      string `json:"a"`
	B      string `json:"b"`
	Shared int    `json:"shared"` // contents that both hosts have
	OfA    int    `json:"of_a"`
	OfB    int    `json:"of_b"`
}

// Mirrors writes pairs of hosts with mostly the same contents, as they were last found;
// limit 0 means all.
func (r Reporter) Mirrors(ctx context.Context, crawlName string, limit int) error {
	record, _, err := r.open(ctx, crawlName)
	if err != nil {
		return err
	}
	if limit == 0 {
		limit = store.MaxMirrors
	}
	mirrors, err := r.Store.Mirrors(ctx, record.ID, limit)
	if err != nil {
		return err
	}
	if r.Format == JSON {
		for _, m := range mirrors {
			if err := writeJSON(r.Out, MirrorLine{m.A, m.B, m.Shared, m.OfA, m.OfB}); err != nil {
				return err
			}
		}
		return nil
	}
	if len(mirrors) == 0 {
		fmt.Fprintln(r.Out, "no mirrored hosts; `starter duplicates "+crawlName+" --find` looks for them")
		return nil
	}
	t := newTable(r.Out, "SHARED", "OF", "HOST", "OF", "HOST")
	for _, m := range mirrors {
		t.row(strconv.Itoa(m.Shared), strconv.Itoa(m.OfA), m.A, strconv.Itoa(m.OfB), m.B)
	}
	return t.flush()
}

// Exported describes a finished export.
type Exported export.Result

type exportLine struct {
	Folder string `json:"folder"`
	At     stamp  `json:"at"`
	export.Counts
	Already bool        `json:"already,omitempty"`
	Since   feed.Cursor `json:"since,omitzero"`
	Cursor  feed.Cursor `json:"cursor,omitzero"`
}

// Write writes it.
func (e Exported) Write(out io.Writer, format Format) error {
	if format == JSON {
		return writeJSON(out, exportLine{Folder: e.Folder, At: stamp(e.At), Counts: e.Counts, Already: e.Already, Since: e.Since, Cursor: e.Cursor})
	}
	verb := "exported"
	if e.Already {
		verb = "there is already an export of"
	}
	text := fmt.Sprintf("%s %s, %s and %s to %s", verb, plural(int(e.Pages), "page"), plural(int(e.Visits), "visit"),
		plural(int(e.Versions), "version"), e.Folder)
	if e.Missing > 0 {
		text += fmt.Sprintf("; without the bytes of %s, which are not in the archive", plural(int(e.Missing), "version"))
	}
	if e.Damaged > 0 {
		text += fmt.Sprintf("; without the bytes of %s, which are damaged in the archive", plural(int(e.Damaged), "version"))
	}
	if e.Cursor != (feed.Cursor{}) {
		text += "\nwhat changes from then on: --since " + e.Cursor.String()
	}
	_, err := fmt.Fprintln(out, text)
	return err
}
