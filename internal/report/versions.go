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
	"recrawl/internal/change"
	"recrawl/internal/crawl"
	"recrawl/internal/extract"
	"recrawl/internal/store"
	"recrawl/internal/textdiff"
	"recrawl/internal/urlkey"
)

// ErrNoBody: the version has no body that could be shown.
var ErrNoBody = errors.New("no body")

// noBody is ErrNoBody in words that need no others beside them.
type noBody string

func (n noBody) Error() string { return string(n) }

// Is reports whether the target is ErrNoBody.
func (noBody) Is(target error) bool { return target == ErrNoBody }

// Contents reads an archive; every archive.Store is one.
type Contents interface {
	Open(ctx context.Context, digest string) (io.ReadCloser, error)
}

// VersionLine is a version of a page.
type VersionLine struct {
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
	// Reserved holds what the site said about uses of the version, if anything.
	Reserved []crawl.Reservation `json:"reserved,omitempty"`
	// Record is the version as stored, for people's answers.
	Record store.VersionRecord `json:"-"`
}

// NewVersionLine makes the answer about a version.
func NewVersionLine(page store.PageRecord, v store.VersionRecord) VersionLine {
	return VersionLine{
		URL: page.URL, Version: v.Seq, Visit: v.Visit, At: stamp(v.At), Digest: orNull(v.Digest), Bytes: v.Bytes, TextBytes: v.TextBytes,
		ContentType: v.ContentType, Title: v.Title, Language: orNull(v.Language), Canonical: orNull(v.Canonical), BackVisit: v.Back, Reserved: v.Reserved, Record: v,
	}
}

// VersionsOf returns at most limit versions of a page, newest first, below number before (0:
// from the newest).
func (r Reporter) VersionsOf(ctx context.Context, page store.PageRecord, before, limit int) ([]VersionLine, error) {
	versions, err := r.Store.ListVersions(ctx, page.PageID, before, limit)
	if err != nil {
		return nil, err
	}
	lines := make([]VersionLine, 0, len(versions))
	for _, v := range versions {
		lines = append(lines, NewVersionLine(page, v))
	}
	return lines, nil
}

// Versions writes the versions of a page, newest first.
func (r Reporter) Versions(ctx context.Context, q HistoryQuery) error {
	return r.eachPage(ctx, q, func(page store.PageRecord, several bool, now time.Time) error {
		before, done := 0, 0
		for take(q.Limit, done) > 0 {
			versions, err := r.VersionsOf(ctx, page, before, take(q.Limit, done))
			if err != nil || len(versions) == 0 {
				return err
			}
			if err := r.versionBatch(page, versions, done == 0, several, now); err != nil {
				return err
			}
			done += len(versions)
			before = versions[len(versions)-1].Version
		}
		return nil
	})
}

func (r Reporter) versionBatch(page store.PageRecord, versions []VersionLine, head, several bool, now time.Time) error {
	if r.Format == JSON {
		for _, line := range versions {
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
	for _, line := range versions {
		v := line.Record
		title := some(v.Title)
		if v.Digest == "" {
			title = "(not kept, as the site asks)"
		}
		t.row(strconv.Itoa(v.Seq), foundBy(v), when(v.At, now), size(v.Bytes), size(v.TextBytes), title)
	}
	return t.flush()
}

// foundBy names the visit that found a version, and the last one that found it again after
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
	ViewText View = "text" // the text in which changes are found; see extract.Compared
	ViewAll  View = "all"  // all that a reader sees; see extract.Readable
	ViewHead View = "head" // the request and the head of its answer
)

// Shown is a version of a page as text.
type Shown struct {
	VersionLine
	View View   `json:"view"`
	Text string `json:"text"`
}

// Show writes one version of a page: unchanged or, in JSON, as text in one object. Seq 0 is
// the newest.
func (r Reporter) Show(ctx context.Context, files Contents, page store.PageRecord, seq int, view View) error {
	shown, err := r.VersionText(ctx, files, page, seq, view)
	if err != nil {
		return err
	}
	if r.Format == JSON {
		shown.Text = strings.ToValidUTF8(shown.Text, "\uFFFD")
		return writeJSON(r.Out, shown)
	}
	_, err = io.WriteString(r.Out, shown.Text)
	return err
}

// VersionText returns one version of a page as text, which ViewBody leaves as it came: it
// need not be valid UTF-8. Seq 0 is the newest.
func (r Reporter) VersionText(ctx context.Context, files Contents, page store.PageRecord, seq int, view View) (Shown, error) {
	v, err := r.version(ctx, page, seq)
	if err != nil {
		return Shown{}, err
	}
	read, err := r.reading(ctx, page, view)
	if err != nil {
		return Shown{}, err
	}
	content, err := read(ctx, files, v)
	if err != nil {
		return Shown{}, fmt.Errorf("version %d of %s: %w", v.Seq, page.URL, err)
	}
	return Shown{NewVersionLine(page, v), view, content.Text}, nil
}

// Body opens the bytes of a version of a page as they came. Seq 0 is the newest.
func (r Reporter) Body(ctx context.Context, files Contents, page store.PageRecord, seq int) (VersionLine, io.ReadCloser, error) {
	v, err := r.version(ctx, page, seq)
	if err != nil {
		return VersionLine{}, nil, err
	}
	content, err := openBody(ctx, files, v)
	if err != nil {
		return VersionLine{}, nil, fmt.Errorf("version %d of %s: %w", v.Seq, page.URL, err)
	}
	return NewVersionLine(page, v), content, nil
}

// DiffQuery asks how two versions of a page differ.
type DiffQuery struct {
	// From and To are their numbers; a To of 0 is the page's last, a From of 0 the one that
	// the page had before To.
	From, To int
	View     View
	Colour   bool // for a terminal
}

// Difference is how two versions of a page differ.
type Difference struct {
	URL     string `json:"url"`
	From    int    `json:"from"`
	To      int    `json:"to"`
	FromAt  stamp  `json:"from_at"`
	ToAt    stamp  `json:"to_at"`
	View    View   `json:"view"`
	Differs bool   `json:"differs"`
	Diff    string `json:"diff"` // unified, "" if there is none
	// Versions are the two as stored, and Texts the compared texts.
	Versions [2]store.VersionRecord `json:"-"`
	Texts    [2]string              `json:"-"`
}

// Difference compares two versions of a page.
func (r Reporter) Difference(ctx context.Context, files Contents, page store.PageRecord, q DiffQuery) (Difference, error) {
	from, to, err := r.pair(ctx, page, q.From, q.To)
	if err != nil {
		return Difference{}, err
	}
	read, err := r.reading(ctx, page, q.View)
	if err != nil {
		return Difference{}, err
	}
	d := Difference{
		URL: page.URL, From: from.Seq, To: to.Seq, FromAt: stamp(from.At), ToAt: stamp(to.At), View: q.View,
		Versions: [2]store.VersionRecord{from, to},
	}
	var seen [2]change.Seen
	for i, v := range d.Versions {
		content, err := read(ctx, files, v)
		if err != nil {
			return Difference{}, fmt.Errorf("version %d of %s: %w", v.Seq, page.URL, err)
		}
		seen[i] = change.Seen{Title: v.Title, Rendering: change.Rendering{Text: content.Text, At: v.At}, Looks: content.Looks}
		d.Texts[i] = content.Text
	}
	if q.View == ViewText {
		d.Texts[0], d.Texts[1] = change.Sides(seen[0], seen[1])
	}
	d.Diff = textdiff.Unified(label(page, from), label(page, to), d.Texts[0], d.Texts[1])
	d.Differs = d.Diff != ""
	return d, nil
}

// Diff writes a unified diff of two versions of a page.
func (r Reporter) Diff(ctx context.Context, files Contents, page store.PageRecord, q DiffQuery) error {
	d, err := r.Difference(ctx, files, page, q)
	if err != nil {
		return err
	}
	if r.Format == JSON {
		return writeJSON(r.Out, d)
	}
	diff := strings.Map(crawl.Visible, d.Diff)
	switch {
	case !d.Differs && d.Same():
		diff = fmt.Sprintf("versions %d and %d are the same, byte for byte\n", d.From, d.To)
	case !d.Differs && q.View == ViewText:
		diff = fmt.Sprintf("versions %d and %d have the same text where changes are looked for; --all compares all that a reader sees, --html the markup\n", d.From, d.To)
	case !d.Differs:
		diff = fmt.Sprintf("versions %d and %d have the same text; --html compares their markup\n", d.From, d.To)
	case q.Colour:
		diff = coloured(diff)
	}
	_, err = io.WriteString(r.Out, diff)
	return err
}

// Same reports whether the two versions have the same bytes.
func (d Difference) Same() bool { return d.Versions[0].Digest == d.Versions[1].Digest }

func label(page store.PageRecord, v store.VersionRecord) string {
	return fmt.Sprintf("%s version %d, %s", page.URL, v.Seq, v.At.UTC().Format(time.RFC3339))
}

// coloured colours a unified diff for terminals.
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
		return v, noBody(fmt.Sprintf("%s has no version yet: no visit has found a body", page.URL))
	case errors.Is(err, store.ErrNotFound):
		return v, noBody(fmt.Sprintf("%s has no version %d: `starter history --versions` lists them", page.URL, seq))
	}
	return v, err
}

// pair returns the two versions to compare.
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
		return from, to, noBody(fmt.Sprintf("%s has only version %d: there is nothing to compare it with", page.URL, to.Seq))
	}
	return before[0], to, nil
}

// left returns the version that a page had before it returned to this one; zero if it did
// not, or if that is no longer known.
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

// reading returns a function that reads the versions of a page as text. The compared text
// is read by the rules that the crawl has now.
func (r Reporter) reading(ctx context.Context, page store.PageRecord, view View) (func(context.Context, Contents, store.VersionRecord) (extract.Comparison, error), error) {
	var src extract.Source
	var rules extract.Rules
	if view == ViewText {
		var err error
		if src, rules, err = r.rulesOf(ctx, page); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context, files Contents, v store.VersionRecord) (read extract.Comparison, err error) {
		if view == ViewHead {
			read.Text, err = headOf(v)
			return read, err
		}
		body, err := bodyOf(ctx, files, v)
		if err != nil {
			return read, err
		}
		switch view {
		case ViewText:
			src := src
			src.Body, src.ContentType = body, v.ContentType
			return extract.Compared(src, rules)
		case ViewAll:
			read.Text, err = extract.Readable(body, v.ContentType)
			return read, err
		}
		return extract.Comparison{Text: string(body)}, nil
	}, nil
}

// rulesOf returns the rules by which the page is read now, and a source that has its URL.
func (r Reporter) rulesOf(ctx context.Context, page store.PageRecord) (src extract.Source, rules extract.Rules, err error) {
	record, err := r.Store.Crawl(ctx, page.Crawl)
	if err != nil {
		return src, rules, fmt.Errorf("crawl %s: %w", page.Crawl, err)
	}
	if rules, err = extract.NewRules(record.Spec.Content); err != nil {
		return src, rules, fmt.Errorf("crawl %s: %w", page.Crawl, err)
	}
	if src.URL, err = urlkey.Canonical(page.URL); err != nil { // of an earlier release; its links stay as they are
		src.URL = urlkey.URL{}
	}
	return src, rules, nil
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
	content, err := openBody(ctx, files, v)
	if err != nil {
		return nil, err
	}
	defer content.Close()
	return io.ReadAll(content)
}

func openBody(ctx context.Context, files Contents, v store.VersionRecord) (io.ReadCloser, error) {
	if v.Digest == "" {
		return nil, errNotKept
	}
	content, err := files.Open(ctx, v.Digest)
	if errors.Is(err, archive.ErrNotFound) {
		return nil, fmt.Errorf("its bytes are missing in the archive, which may be another one than the store's: %w", err)
	}
	return content, err
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
