package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"recrawl/internal/archive"
	"recrawl/internal/crawl"
	"recrawl/internal/extract"
	"recrawl/internal/store"
	"recrawl/internal/textdiff"
	"recrawl/internal/urlkey"
)

// ErrNoBody: the version has no body that could be shown.
var ErrNoBody = errors.New("no body")

// Contents is what reports read of an archive; every archive.Store is one.
type Contents interface {
	Open(ctx context.Context, digest string) (io.ReadCloser, error)
}

type versionLine struct {
	URL         string `json:"url"`
	Crawl       string `json:"crawl,omitempty"` // only when the page is in several crawls
	Version     int    `json:"version"`
	Visit       int    `json:"visit"`
	At          stamp  `json:"at"`
	Digest      orNull `json:"digest"` // null: the site asked that the body not be kept
	Bytes       int64  `json:"bytes"`
	TextBytes   int64  `json:"text_bytes"`
	ContentType string `json:"content_type"`
	Title       string `json:"title"`
	Language    orNull `json:"language"`
	Canonical   orNull `json:"canonical"`
	// BackVisit is the visit by which the page last returned to the version, if one did.
	BackVisit int `json:"back_visit,omitempty"`
}

func lineOf(page store.PageRecord, v store.VersionRecord) versionLine {
	return versionLine{
		URL: page.URL, Version: v.Seq, Visit: v.Visit, At: stamp(v.At), Digest: orNull(v.Digest), Bytes: v.Bytes, TextBytes: v.TextBytes,
		ContentType: v.ContentType, Title: v.Title, Language: orNull(v.Language), Canonical: orNull(v.Canonical), BackVisit: v.Back,
	}
}

// Versions writes the versions of a page, newest first.
func (r Reporter) Versions(ctx context.Context, q HistoryQuery) error {
	return r.eachPage(ctx, q, func(page store.PageRecord, several bool, now time.Time) error {
		before, done := 0, 0
		for take(q.Limit, done) > 0 {
			versions, err := r.Store.ListVersions(ctx, page.PageID, before, take(q.Limit, done))
			if err != nil || len(versions) == 0 {
				return err
			}
			if err := r.versionBatch(page, versions, done == 0, several, now); err != nil {
				return err
			}
			done += len(versions)
			before = versions[len(versions)-1].Seq
		}
		return nil
	})
}

func (r Reporter) versionBatch(page store.PageRecord, versions []store.VersionRecord, head, several bool, now time.Time) error {
	if r.Format == JSON {
		for _, v := range versions {
			line := lineOf(page, v)
			if several {
				line.Crawl = page.Crawl
			}
			if err := writeJSON(r.Out, line); err != nil {
				return err
			}
		}
		return nil
	}
	var header []string
	if head {
		header = []string{"VERSION", "VISIT", "WHEN", "BYTES", "TEXT", "TITLE"}
	}
	t := newTable(r.Out, header...)
	for _, v := range versions {
		title := some(v.Title)
		if v.Digest == "" {
			title = "(not kept, as the site asks)"
		}
		t.row(strconv.Itoa(v.Seq), foundBy(v), when(v.At, now), size(v.Bytes), size(v.TextBytes), title)
	}
	return t.flush()
}

// foundBy is the visit that found a version, and the last one that found it again after
// another.
func foundBy(v store.VersionRecord) string {
	if v.Back == 0 {
		return strconv.Itoa(v.Visit)
	}
	return fmt.Sprintf("%d, back at %d", v.Visit, v.Back)
}

// View is how a version is shown or compared.
type View string

// The views.
const (
	ViewBody View = "body" // the bytes as they came, decoded
	ViewText View = "text" // what changes are found in; see extract.Compared
	ViewAll  View = "all"  // all that a reader sees; see extract.Readable
	ViewHead View = "head" // the request and the head of its answer
)

// Show writes one version of a page: as it is or, in JSON, as one object with it
// as text. Seq 0 is the newest.
func (r Reporter) Show(ctx context.Context, files Contents, page store.PageRecord, seq int, view View) error {
	v, err := r.version(ctx, page, seq)
	if err != nil {
		return err
	}
	read, err := r.reading(ctx, page, view)
	if err != nil {
		return err
	}
	text, err := read(ctx, files, v)
	if err != nil {
		return fmt.Errorf("version %d of %s: %w", v.Seq, page.URL, err)
	}
	if r.Format == JSON {
		return writeJSON(r.Out, struct {
			versionLine
			View View   `json:"view"`
			Text string `json:"text"`
		}{lineOf(page, v), view, strings.ToValidUTF8(text, "\uFFFD")})
	}
	_, err = io.WriteString(r.Out, text)
	return err
}

// DiffQuery asks how two versions of a page differ.
type DiffQuery struct {
	// From and To are their numbers; a To of 0 is the page's last, a From of 0 the one that
	// the page had before To.
	From, To int
	View     View
	Colour   bool // for a terminal
}

type diffLine struct {
	URL     string `json:"url"`
	From    int    `json:"from"`
	To      int    `json:"to"`
	FromAt  stamp  `json:"from_at"`
	ToAt    stamp  `json:"to_at"`
	View    View   `json:"view"`
	Differs bool   `json:"differs"`
	Diff    string `json:"diff"` // unified, "" if there is none
}

// Diff writes a unified diff of two versions of a page.
func (r Reporter) Diff(ctx context.Context, files Contents, page store.PageRecord, q DiffQuery) error {
	from, to, err := r.pair(ctx, page, q.From, q.To)
	if err != nil {
		return err
	}
	read, err := r.reading(ctx, page, q.View)
	if err != nil {
		return err
	}
	var texts [2]string
	for i, v := range []store.VersionRecord{from, to} {
		if texts[i], err = read(ctx, files, v); err != nil {
			return fmt.Errorf("version %d of %s: %w", v.Seq, page.URL, err)
		}
	}
	diff, err := textdiff.Unified(label(page, from), label(page, to), texts[0], texts[1])
	if err != nil {
		return err
	}
	if r.Format == JSON {
		return writeJSON(r.Out, diffLine{
			URL: page.URL, From: from.Seq, To: to.Seq, FromAt: stamp(from.At), ToAt: stamp(to.At), View: q.View, Differs: diff != "", Diff: diff,
		})
	}
	diff = strings.Map(crawl.Visible, diff)
	switch {
	case diff == "" && from.Digest == to.Digest:
		diff = fmt.Sprintf("versions %d and %d are the same, byte for byte\n", from.Seq, to.Seq)
	case diff == "" && q.View == ViewText:
		diff = fmt.Sprintf("versions %d and %d have the same text where changes are looked for; --all compares all that a reader sees, --html the markup\n", from.Seq, to.Seq)
	case diff == "":
		diff = fmt.Sprintf("versions %d and %d have the same text; --html compares their markup\n", from.Seq, to.Seq)
	case q.Colour:
		diff = coloured(diff)
	}
	_, err = io.WriteString(r.Out, diff)
	return err
}

func label(page store.PageRecord, v store.VersionRecord) string {
	return fmt.Sprintf("%s version %d, %s", page.URL, v.Seq, v.At.UTC().Format(time.RFC3339))
}

// coloured is a unified diff as terminals show it.
func coloured(diff string) string {
	const red, green, cyan, bold, reset = "\x1b[31m", "\x1b[32m", "\x1b[36m", "\x1b[1m", "\x1b[0m"
	var b strings.Builder
	for line := range strings.Lines(diff) {
		line, end := strings.CutSuffix(line, "\n")
		colour := ""
		switch {
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
			colour = bold
		case strings.HasPrefix(line, "@@"):
			colour = cyan
		case strings.HasPrefix(line, "-"):
			colour = red
		case strings.HasPrefix(line, "+"):
			colour = green
		}
		if colour != "" {
			line = colour + line + reset
		}
		b.WriteString(line)
		if end {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// version returns a version of a page; 0 is the newest.
func (r Reporter) version(ctx context.Context, page store.PageRecord, seq int) (store.VersionRecord, error) {
	if seq == 0 {
		seq = page.Last.Seq
	}
	v, err := r.Store.Version(ctx, page.PageID, seq)
	switch {
	case errors.Is(err, store.ErrNotFound) && page.Last.Seq == 0:
		return v, fmt.Errorf("%s has no version yet: no visit has found a body (%w)", page.URL, ErrNoBody)
	case errors.Is(err, store.ErrNotFound):
		return v, fmt.Errorf("%s has no version %d: `starter history --versions` lists them (%w)", page.URL, seq, ErrNoBody)
	}
	return v, err
}

// pair returns the two versions that are to be compared.
func (r Reporter) pair(ctx context.Context, page store.PageRecord, fromSeq, toSeq int) (from, to store.VersionRecord, err error) {
	if to, err = r.version(ctx, page, toSeq); err != nil {
		return from, to, err
	}
	if fromSeq > 0 {
		from, err = r.version(ctx, page, fromSeq)
		return from, to, err
	}
	if from, err = r.left(ctx, page, to); err != nil || from.Seq != 0 {
		return from, to, err
	}
	before, err := r.Store.ListVersions(ctx, page.PageID, to.Seq, 1)
	if err != nil {
		return from, to, err
	}
	if len(before) == 0 {
		return from, to, fmt.Errorf("%s has only version %d: there is nothing to compare it with (%w)", page.URL, to.Seq, ErrNoBody)
	}
	return before[0], to, nil
}

// left returns the version that a page had before it returned to this one; zero if it did
// not, or if that is not known any more.
func (r Reporter) left(ctx context.Context, page store.PageRecord, v store.VersionRecord) (store.VersionRecord, error) {
	if v.Back == 0 {
		return store.VersionRecord{}, nil
	}
	before, err := r.Store.ListVisits(ctx, page.PageID, v.Back, 1)
	if err != nil || len(before) == 0 || before[0].Version == v.Seq {
		return store.VersionRecord{}, err
	}
	left, err := r.Store.Version(ctx, page.PageID, before[0].Version)
	if errors.Is(err, store.ErrNotFound) {
		return store.VersionRecord{}, nil
	}
	return left, err
}

// reading returns what reads the versions of a page as text. For the text that is
// compared, that is by the rules that its crawl has now.
func (r Reporter) reading(ctx context.Context, page store.PageRecord, view View) (func(context.Context, Contents, store.VersionRecord) (string, error), error) {
	var src extract.Source
	var rules extract.Rules
	if view == ViewText {
		record, err := r.Store.Crawl(ctx, page.Crawl)
		if err != nil {
			return nil, fmt.Errorf("crawl %s: %w", page.Crawl, err)
		}
		if rules, err = extract.NewRules(record.Spec.Content); err != nil {
			return nil, fmt.Errorf("crawl %s: %w", page.Crawl, err)
		}
		if src.URL, err = urlkey.Canonical(page.URL); err != nil {
			return nil, fmt.Errorf("page %s: %w", page.URL, err)
		}
	}
	return func(ctx context.Context, files Contents, v store.VersionRecord) (string, error) {
		if view == ViewHead {
			return headOf(v)
		}
		body, err := bodyOf(ctx, files, v)
		if err != nil {
			return "", err
		}
		switch view {
		case ViewText:
			src := src
			src.Body, src.ContentType = body, v.ContentType
			return extract.Compared(src, rules)
		case ViewAll:
			return extract.Readable(body, v.ContentType)
		}
		return string(body), nil
	}, nil
}

func headOf(v store.VersionRecord) (string, error) {
	switch {
	case v.Digest == "":
		return "", errNotKept
	case v.Heads.Response == "":
		return "", fmt.Errorf("%w: the head was not kept", ErrNoBody)
	}
	return strings.ReplaceAll(v.Heads.Request+v.Heads.Response, "\r\n", "\n"), nil
}

var errNotKept = fmt.Errorf("%w: the site asked that it not be kept", ErrNoBody)

// bodyOf reads a version's bytes.
func bodyOf(ctx context.Context, files Contents, v store.VersionRecord) ([]byte, error) {
	if v.Digest == "" {
		return nil, errNotKept
	}
	content, err := files.Open(ctx, v.Digest)
	if errors.Is(err, archive.ErrNotFound) {
		return nil, fmt.Errorf("its bytes are missing in the archive, which may be another one than the store's: %w", err)
	}
	if err != nil {
		return nil, err
	}
	defer content.Close()
	return io.ReadAll(content)
}

// eachPage calls do for each page of a URL.
func (r Reporter) eachPage(ctx context.Context, q HistoryQuery, do func(page store.PageRecord, several bool, now time.Time) error) error {
	pages, err := r.Store.FindPages(ctx, q.URL, q.Crawl)
	if err != nil {
		return err
	}
	if len(pages) == 0 {
		return fmt.Errorf("page %s: %w", q.URL, store.ErrNotFound)
	}
	now, err := r.Store.Now(ctx)
	if err != nil {
		return err
	}
	for i, page := range pages {
		if r.Format == Text {
			if i > 0 {
				fmt.Fprintln(r.Out)
			}
			if err := r.pageHead(ctx, page, now); err != nil {
				return err
			}
		}
		if err := do(page, len(pages) > 1, now); err != nil {
			return err
		}
	}
	return nil
}
