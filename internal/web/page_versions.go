package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"recrawl/internal/archive"
	"recrawl/internal/crawl"
	"recrawl/internal/report"
	"recrawl/internal/store"
	"recrawl/internal/textdiff"
)

// versionItem is a version in a list, for people.
type versionItem struct {
	report.VersionLine
	// Text, Diff and Body are the addresses of its text, its difference from the version
	// before and its bytes; "" if there is none.
	Text, Diff, Body string
	// Back is the visit that found it again after another version, 0 for none.
	Back int
}

func versionItems(page store.PageRecord, lines []report.VersionLine) []versionItem {
	items := make([]versionItem, 0, len(lines))
	for _, l := range lines {
		item := versionItem{VersionLine: l, Back: l.BackVisit}
		seq := strconv.Itoa(l.Version)
		if l.Record.Digest != "" {
			item.Text, item.Body = atPage(page, "versions", seq), atPage(page, "versions", seq, "body")
		}
		if item.Text != "" && (l.Version > 1 || l.BackVisit > 0) {
			item.Diff = atPage(page, "diff") + "?to=" + seq
		}
		items = append(items, item)
	}
	return items
}

// errNoArchive: the server has no access to bytes.
var errNoArchive = fmt.Errorf("%w: this server has no archive: start it with --archive, or RECRAWL_ARCHIVE", report.ErrNoBody)

// missing turns errors about missing bytes into store.ErrNotFound.
func missing(err error) error {
	if errors.Is(err, report.ErrNoBody) || errors.Is(err, archive.ErrNotFound) {
		return absent{err}
	}
	return err
}

// absent is an error whose own text says what is missing.
type absent struct{ error }

// Is implements the interface of errors.Is.
func (absent) Is(target error) bool { return target == store.ErrNotFound }

// Unwrap implements the interface of errors.As.
func (a absent) Unwrap() error { return a.error }

// version reads the page and the number of a version from an address.
func (s *Server) version(ctx context.Context, r *http.Request) (store.PageRecord, int, error) {
	page, err := s.pageOf(ctx, r)
	if err != nil {
		return page, 0, err
	}
	seq, err := number(value(r, "seq"), "the version's number")
	if err == nil && s.Files == nil {
		err = errNoArchive
	}
	return page, seq, missing(err)
}

// number reads a number of an address, from 1 on.
func number(text, what string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s %q %w: versions are numbered from 1", what, crawl.Clean(text, 40), errBad)
	}
	return n, nil
}

// views of a version's text, in the order in which they are offered.
var textViews = []struct {
	view report.View
	name string
}{
	{report.ViewText, "What changes are found in"}, {report.ViewAll, "All text"}, {report.ViewBody, "Markup"}, {report.ViewHead, "Request and head"},
}

// textView reads the view of a text that is asked for.
func textView(r *http.Request) (report.View, error) {
	asked := report.View(r.URL.Query().Get("view"))
	if asked == "" {
		return report.ViewText, nil
	}
	for _, v := range textViews {
		if v.view == asked {
			return asked, nil
		}
	}
	return "", fmt.Errorf("?view=%s %w: it is text, all, body or head", crawl.Clean(string(asked), 20), errBad)
}

// viewChoices links to the other views of the same text.
func viewChoices(r *http.Request, chosen report.View, views int) []choice {
	var all []choice
	for _, v := range textViews[:views] {
		q := r.URL.Query()
		q.Set("view", string(v.view))
		all = append(all, choice{Name: v.name, Link: r.URL.Path + "?" + q.Encode(), Chosen: v.view == chosen})
	}
	return all
}

// Texts are shown up to mostText bytes, and lines of a comparison up to mostLine.
const (
	mostText = 300_000
	mostLine = 4000
)

// versionMore is a version for people.
type versionMore struct {
	pageHead
	versionItem
	Choices []choice
	Text    string
	Cut     bool // there is more of it
}

// versionView shows the text of a version.
func versionView(ctx context.Context, s *Server, r *http.Request) (answer, error) {
	page, seq, err := s.version(ctx, r)
	if err != nil {
		return answer{}, err
	}
	view, err := textView(r)
	if err != nil {
		return answer{}, err
	}
	shown, err := s.Report.VersionText(ctx, s.Files, page, seq, view)
	if err != nil {
		return answer{}, missing(err)
	}
	now, err := s.Report.Now(ctx)
	if err != nil {
		return answer{}, err
	}
	shown.Text = strings.ToValidUTF8(shown.Text, "\uFFFD")
	more := versionMore{
		pageHead: headOfPage(page), versionItem: versionItems(page, []report.VersionLine{shown.VersionLine})[0],
		Choices: viewChoices(r, view, len(textViews)),
	}
	more.Text, more.Cut = cutText(shown.Text, mostText)
	return answer{Title: fmt.Sprintf("Version %d of %s", seq, more.pageHead.Title), Crawl: page.Crawl, Now: now, Data: shown, More: more}, nil
}

// cutText returns the beginning of a text without characters that act instead of being
// seen, and whether there is more.
func cutText(text string, most int) (string, bool) {
	is := len(text) > most
	if is {
		text = strings.ToValidUTF8(text[:most], "")
	}
	return strings.Map(crawl.Visible, text), is
}

// mostChecked bounds the bytes that are checked before the first is sent.
const mostChecked = 4 << 20

// body sends the bytes of a version: as plain text, or as a download. An archive finds out at
// the end of a content whether it is damaged. So short ones are read first, and the answer to a
// long one is broken off: whoever asks must not take it for whole.
func (s *Server) body(w http.ResponseWriter, r *http.Request) {
	page, seq, err := s.version(r.Context(), r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	line, content, err := s.Report.Body(r.Context(), s.Files, page, seq)
	if err != nil {
		s.fail(w, r, missing(err))
		return
	}
	defer content.Close()
	first, err := io.ReadAll(io.LimitReader(content, mostChecked+1))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	contentType, disposition := bodyHeaders(line.ContentType, fmt.Sprintf("page-%d-version-%d", page.PageID, seq))
	if r.URL.Query().Has("download") {
		disposition = strings.Replace(disposition, "inline", "attachment", 1)
	}
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Disposition", disposition)
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Cache-Control", "no-store")
	if _, err := io.Copy(w, io.MultiReader(bytes.NewReader(first), content)); err != nil {
		if r.Context().Err() == nil {
			s.Log.Error("bytes were cut off", "path", r.URL.Path, "error", err)
		}
		panic(http.ErrAbortHandler)
	}
}

// downloads are the types whose bytes are sent unchanged, under a name that says so: no
// browser runs their contents.
var downloads = map[string]string{
	"application/pdf": ".pdf", "application/zip": ".zip", "application/gzip": ".gz",
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp",
	"audio/mpeg": ".mp3", "video/mp4": ".mp4",
}

// charsetName matches names of character sets.
var charsetName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,39}$`)

// bodyHeaders returns the headers for bytes of a type. Types that people can read as text
// are plain text, whatever browsers take them for; everything else is a download.
func bodyHeaders(contentType, name string) (asType, disposition string) {
	essence, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		essence = ""
	}
	text := strings.HasPrefix(essence, "text/") || strings.HasSuffix(essence, "xml") || strings.HasSuffix(essence, "json") || strings.HasSuffix(essence, "javascript")
	if !text {
		ext, ok := downloads[essence]
		if !ok {
			ext = ".bin"
		}
		return "application/octet-stream", mime.FormatMediaType("attachment", map[string]string{"filename": name + ext})
	}
	charset := "utf-8"
	if c := params["charset"]; charsetName.MatchString(c) {
		charset = c
	}
	return "text/plain; charset=" + charset, mime.FormatMediaType("inline", map[string]string{"filename": name + ".txt"})
}

// diffMore is a comparison for people.
type diffMore struct {
	pageHead
	Old, New versionItem
	Choices  []choice
	Rows     []textdiff.Row
	Cut      bool   // there are more rows
	Same     string // why there are none, in words
	Came     int    // words
	Gone     int
}

// Rows of a comparison for people: those that differ, with around rows about them.
const (
	mostBeside = 1500
	around     = 3
)

// diffView shows two versions side by side.
func diffView(ctx context.Context, s *Server, r *http.Request) (answer, error) {
	page, err := s.pageOf(ctx, r)
	if err == nil && s.Files == nil {
		err = missing(errNoArchive)
	}
	if err != nil {
		return answer{}, err
	}
	q := report.DiffQuery{}
	for name, to := range map[string]*int{"from": &q.From, "to": &q.To} {
		if text := r.URL.Query().Get(name); text != "" {
			if *to, err = number(text, "?"+name+"="); err != nil {
				return answer{}, err
			}
		}
	}
	if q.View, err = textView(r); err != nil {
		return answer{}, err
	}
	d, err := s.Report.Difference(ctx, s.Files, page, q)
	if err != nil {
		return answer{}, missing(err)
	}
	now, err := s.Report.Now(ctx)
	if err != nil {
		return answer{}, err
	}
	a := answer{Title: fmt.Sprintf("Versions %d and %d of %s", d.From, d.To, headOfPage(page).Title), Crawl: page.Crawl, Now: now, Data: d}
	if !wantsJSON(r) {
		a.More = besideEachOther(page, d, viewChoices(r, q.View, len(textViews)-1))
	}
	return a, nil
}

func besideEachOther(page store.PageRecord, d report.Difference, choices []choice) diffMore {
	items := versionItems(page, []report.VersionLine{
		report.NewVersionLine(page, d.Versions[0]), report.NewVersionLine(page, d.Versions[1]),
	})
	more := diffMore{pageHead: headOfPage(page), Old: items[0], New: items[1], Choices: choices}
	var texts [2]string
	for i, text := range d.Texts {
		texts[i] = strings.Map(crawl.Visible, strings.ToValidUTF8(text, "\uFFFD"))
	}
	rows, all := textdiff.Beside(texts[0], texts[1], around, mostBeside)
	more.Rows, more.Cut = rows, !all
	more.Gone, more.Came = textdiff.Words(textdiff.Lines(texts[0], texts[1]))
	for i := range rows {
		cutParts(rows[i].Old)
		cutParts(rows[i].New)
	}
	switch {
	case d.Differs:
	case d.Same():
		more.Same = "They are the same, byte for byte."
	case d.View == report.ViewText:
		more.Same = "They have the same text where changes are looked for."
	default:
		more.Same = "They have the same text."
	}
	return more
}

// cutParts shortens long lines, which nobody reads. It first shortens what both sides have, and
// keeps some of that beside each difference.
func cutParts(parts []textdiff.Part) {
	length := 0
	for _, p := range parts {
		length += len(p.Text)
	}
	room := mostLine
	for i, p := range parts {
		if length > mostLine && len(parts) > 1 && !p.Differs {
			parts[i].Text = cutSame(p.Text, i > 0, i < len(parts)-1)
		}
		if text, is := cutText(parts[i].Text, room); is {
			parts[i].Text = text + "…"
		}
		room = max(0, room-len(parts[i].Text))
	}
}

// cutSame leaves what is beside a difference of a part of a line: after it, before it, or both.
func cutSame(text string, after, before bool) string {
	const beside = 200 // bytes
	if len(text) <= 2*beside {
		return text
	}
	head, tail := "", ""
	if after {
		head, _ = cutText(text, beside)
	}
	if before {
		at := len(text) - beside
		for !utf8.RuneStart(text[at]) {
			at++
		}
		tail = text[at:]
	}
	return head + "…" + tail
}
