package reader

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"recrawl/internal/archive"
	"recrawl/internal/change"
	"recrawl/internal/crawl"
	"recrawl/internal/extract"
	"recrawl/internal/feed"
	"recrawl/internal/store"
	"recrawl/internal/textdiff"
	"recrawl/internal/urlkey"
)

// MaxEvent bounds an event in bytes of JSON: receivers of webhooks take no more. HTML's
// characters are not escaped in it.
const MaxEvent = 20_000

// Bounds of a diff: lines that came, lines that went, bytes of JSON for all of them, and
// bytes for each.
const (
	diffLines  = 20
	diffBytes  = 8 << 10
	diffLength = 1 << 10
)

// spare returns the number of bytes that a diff may add to an event.
func spare(e feed.Event) int {
	const field = 260 // names and numbers of a diff
	return max(0, min(diffBytes, MaxEvent-sizeOf(e)-field))
}

// sizeOf returns the size of a value as JSON.
func sizeOf(v any) int {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("reader: encode %T: %v", v, err)) // plain data, which cannot fail
	}
	return b.Len()
}

// rules are those by which the texts of a crawl's pages are compared.
type rules struct {
	extract.Rules
	known bool // false: the crawl is gone
}

// differ compares texts by the rules that crawls have now.
type differ struct {
	reader *Reader
	rules  map[string]rules // by crawl
}

// of returns the difference of the texts of a change's page. It is nil if there is nothing
// to compare: no version before, or one of the bodies is not kept, or damaged.
func (d differ) of(ctx context.Context, f store.ChangeFacts, budget int) (*feed.EventDiff, error) {
	if f.URL == "" || f.Version.Digest == "" || f.Before.Digest == "" || f.Version.ID == f.Before.ID {
		return nil, nil
	}
	rules, err := d.rulesOf(ctx, f.Crawl)
	if err != nil || !rules.known {
		return nil, err
	}
	before, ok, err := d.seen(ctx, f, f.Before, rules)
	if err != nil || !ok {
		return nil, err
	}
	after, ok, err := d.seen(ctx, f, f.Version, rules)
	if err != nil || !ok {
		return nil, err
	}
	from, to := change.Sides(before, after)
	return diffOf(from, to, budget), nil
}

func (d differ) rulesOf(ctx context.Context, name string) (rules, error) {
	if known, ok := d.rules[name]; ok {
		return known, nil
	}
	var found rules
	record, err := d.reader.store.Crawl(ctx, name)
	switch {
	case errors.Is(err, store.ErrNotFound): // deleted meanwhile
	case err != nil:
		return rules{}, fmt.Errorf("crawl %s: %w", name, err)
	default:
		if found.Rules, err = extract.NewRules(record.Spec.Content); err != nil {
			return rules{}, fmt.Errorf("crawl %s: %w", name, err)
		}
		found.known = true
	}
	d.rules[name] = found
	return found, nil
}

// seen returns what of a version is compared; see extract.Compared. It reports false if the body
// is missing or damaged, or cannot be read as text: one such body must not keep readers from all
// changes after it.
func (d differ) seen(ctx context.Context, f store.ChangeFacts, v store.VersionRecord, rules rules) (seen change.Seen, ok bool, err error) {
	content, err := d.reader.files.Open(ctx, v.Digest)
	if archive.Lost(err) {
		return seen, false, nil
	}
	if err != nil {
		return seen, false, err
	}
	defer content.Close()
	body, err := io.ReadAll(content)
	if archive.Lost(err) {
		return seen, false, nil
	}
	if err != nil {
		return seen, false, fmt.Errorf("content %s: %w", v.Digest, err)
	}
	url, err := urlkey.Canonical(f.URL)
	if err != nil {
		return seen, false, nil
	}
	compared, err := extract.Compared(extract.Source{Body: body, ContentType: v.ContentType, URL: url}, rules.Rules)
	seen = change.Seen{Title: v.Title, Rendering: change.Rendering{Text: compared.Text, At: v.At}, Looks: compared.Looks}
	return seen, err == nil, nil
}

// diffOf returns the difference of two texts, with lines of at most budget bytes of JSON.
func diffOf(before, after string, budget int) *feed.EventDiff {
	hunks := textdiff.Hunks(before, after)
	removed, added := linesOf(hunks)
	diff := &feed.EventDiff{}
	diff.WordsRemoved, diff.WordsAdded = textdiff.Words(removed, added)
	diff.LinesRemoved, diff.LinesAdded = written(removed), written(added)
	for _, h := range hunks {
		diff.Cut = near(h) || diff.Cut
	}
	removed, added = linesOf(hunks)
	var cut bool
	// Most readers want the added lines. The removed ones get the other half, and what is
	// left.
	diff.Added, cut = first(added, budget/2)
	diff.Cut = diff.Cut || cut
	diff.Removed, cut = first(removed, budget-sizeOf(diff.Added))
	diff.Cut = diff.Cut || cut
	return diff
}

func linesOf(hunks []textdiff.Hunk) (removed, added []string) {
	for _, h := range hunks {
		removed, added = append(removed, h.Removed...), append(added, h.Added...)
	}
	return removed, added
}

// near cuts long lines that replace each other to what differs, and reports whether it did.
func near(h textdiff.Hunk) (cut bool) {
	for _, p := range textdiff.Pairs(h.Removed, h.Added) {
		removed, added := &h.Removed[p[0]], &h.Added[p[1]]
		from, to := textdiff.Near(*removed, *added, diffLength)
		cut = cut || from != *removed
		*removed, *added = from, to
	}
	return cut
}

// written counts the lines that are not blank.
func written(lines []string) (n int) {
	for _, line := range lines {
		if strings.TrimSpace(line) != "" {
			n++
		}
	}
	return n
}

// first returns the first lines that are not blank and have room, and whether there are
// more.
func first(lines []string, budget int) ([]string, bool) {
	var kept []string
	cut := false
	for _, line := range lines {
		short := clean(line, diffLength)
		if short == "" {
			continue
		}
		budget -= sizeOf(short)
		if len(kept) == diffLines || budget < 0 {
			return kept, true
		}
		cut = cut || len(line) > diffLength && len(short) < len(line)
		kept = append(kept, short)
	}
	return kept, cut
}

// clean makes text from a site safe to show, cut to limit bytes.
func clean(text string, limit int) string { return crawl.Clean(text, limit) }
