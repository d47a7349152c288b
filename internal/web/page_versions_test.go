package web

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"recrawl/internal/report"
)

func TestVersionAsText(t *testing.T) {
	t.Parallel()
	w := newPageWorld(t)
	w.shop()
	has(t, w.get(w.at("/", "/versions/2")), "A ticket costs 10 euros.", `aria-current="true">What changes are found in`, "visit 6", "What changed in it")
	has(t, w.get(w.at("/", "/versions/2?view=body")), "&lt;p&gt;A ticket costs 10 euros.&lt;/p&gt;")
	has(t, w.get(w.at("/", "/versions/2?view=head")), "Server: shop")
	var shown struct {
		Version int
		View    report.View
		Text    string
	}
	w.check(json.Unmarshal([]byte(w.get(w.at("/", "/versions/2.json?view=all"))), &shown))
	if shown.Version != 2 || shown.View != report.ViewAll || !strings.Contains(shown.Text, "A ticket costs 10 euros.") {
		t.Errorf("%+v", shown)
	}
	long := strings.Repeat("<p>Long is the way.</p>", 20_000)
	w.finds("/about", "Long", htmlType, "<main>"+long+"</main>", days(1))
	has(t, w.get(w.at("/about", "/versions/2?view=body")), "There is more")
}

// Bytes are plain text or a download, whatever their site called them.
func TestBodyIsInert(t *testing.T) {
	t.Parallel()
	w := newPageWorld(t)
	w.shop()
	got := w.ask(http.MethodGet, w.at("/", "/versions/1/body"), nil, nil)
	if got.Code != http.StatusOK || got.Body.String() != prices("9", "") {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	for name, want := range map[string]string{
		"Content-Type": "text/plain; charset=utf-8", "Content-Disposition": "inline; filename=page-1-version-1.txt",
		"Content-Security-Policy": "default-src 'none'; sandbox", "X-Content-Type-Options": "nosniff", "Cross-Origin-Resource-Policy": "same-origin",
	} {
		if got := got.Header().Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	got = w.ask(http.MethodGet, w.at("/", "/versions/1/body?download"), nil, nil)
	if got := got.Header().Get("Content-Disposition"); got != "attachment; filename=page-1-version-1.txt" {
		t.Errorf("download: %q", got)
	}
	got = w.ask(http.MethodGet, w.at("/paper.pdf", "/versions/1/body?download"), nil, nil)
	if h := got.Header(); h.Get("Content-Type") != "application/octet-stream" || h.Get("Content-Disposition") != "attachment; filename=page-5-version-1.pdf" || got.Body.String() != "%PDF-1.4 …" {
		t.Errorf("PDF: %v %s", h, got.Body)
	}
}

func TestBodyHeaders(t *testing.T) {
	t.Parallel()
	for given, want := range map[string][2]string{
		"text/html; charset=ISO-8859-1": {"text/plain; charset=ISO-8859-1", "inline; filename=n.txt"},
		"TEXT/HTML":                     {"text/plain; charset=utf-8", "inline; filename=n.txt"},
		"image/svg+xml":                 {"text/plain; charset=utf-8", "inline; filename=n.txt"},
		"application/xhtml+xml":         {"text/plain; charset=utf-8", "inline; filename=n.txt"},
		"application/javascript":        {"text/plain; charset=utf-8", "inline; filename=n.txt"},
		"image/png":                     {"application/octet-stream", "attachment; filename=n.png"},
		"application/x-msdownload":      {"application/octet-stream", "attachment; filename=n.bin"},
		"":                              {"application/octet-stream", "attachment; filename=n.bin"},
		"text/html\r\nX-Evil: 1":        {"application/octet-stream", "attachment; filename=n.bin"},
		`text/html; charset="a\"; b=c"`: {"text/plain; charset=utf-8", "inline; filename=n.txt"},
	} {
		contentType, disposition := bodyHeaders(given, "n")
		if contentType != want[0] || disposition != want[1] {
			t.Errorf("%q: %q, %q; want %q", given, contentType, disposition, want)
		}
	}
}

func TestVersionsBesideEachOther(t *testing.T) {
	t.Parallel()
	w := newPageWorld(t)
	w.shop()
	page := w.get(w.at("/", "/diff?from=3&to=4"))
	has(t, page, "A ticket costs <del>11</del> euros.", "A ticket costs <ins>12</ins> euros.", "<ins>New: annual tickets.</ins>",
		"<ins>4 words came</ins>, <del>1 word went</del>", "Children are free.")
	has(t, w.get(w.at("/", "/diff")), "Version 4 beside version 5")
	has(t, w.get(w.at("/", "/diff?from=2&to=2")), "the same, byte for byte")
	var d struct {
		From, To int
		Differs  bool
		Diff     string
		Texts    any
	}
	w.check(json.Unmarshal([]byte(w.get(w.at("/", "/diff.json?from=3&to=4"))), &d))
	if d.From != 3 || d.To != 4 || !d.Differs || !strings.Contains(d.Diff, "+New: annual tickets.") || d.Texts != nil {
		t.Errorf("%+v", d)
	}
	long := strings.Repeat("x", 9000)
	w.finds("/about", "Long", htmlType, prices("8", "<p>"+long+"</p>"), days(1))
	if page := w.get(w.at("/about", "/diff")); strings.Contains(page, strings.Repeat("x", mostLine+1)) || !strings.Contains(page, "x…") {
		t.Error("a long line is not cut")
	}
	w.finds("/about", "Long", htmlType, prices("8", "<p>"+strings.Repeat("木材 and salt, ", 900)+"open at 8 h.</p>"), days(2))
	w.finds("/about", "Long", htmlType, prices("8", "<p>"+strings.Repeat("木材 and salt, ", 900)+"open at 9 h.</p>"), days(3))
	has(t, w.get(w.at("/about", "/diff")), "…", "open at <del>8</del> h.", "open at <ins>9</ins> h.",
		`<td class="old has" dir="auto"><span class="unseen" dir="ltr">went: `) // each side in its own direction
}
