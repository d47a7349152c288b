package extract

import (
	"slices"
	"strings"
	"testing"

	"recrawl/internal/urlkey"
)

// Links that lead to no page are reported by cause, each once.
func TestRefused(t *testing.T) {
	t.Parallel()
	body := `<a href="mailto:a@b.test">a</a><a href="mailto:a@b.test">again</a><a href="ftp://b.test/x">b</a><a href="tel:1">c</a>
		<a href="tel:2">d</a><a href="tel:3">e</a><a href="javascript:void(0)">f</a><a href="#top">g</a><a href="/x">h</a>
		<a href="http://">i</a><a href="/` + strings.Repeat("x", urlkey.MaxLength) + `">j</a>`
	self, err := urlkey.Canonical("http://a.test/")
	if err != nil {
		t.Fatal(err)
	}
	page, err := Parse(Source{Body: []byte(body), ContentType: "text/html", URL: self}, Rules{})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Links) != 1 || page.Links[0].URL != "http://a.test/x" {
		t.Errorf("links %+v", page.Links)
	}
	want := map[error]int{urlkey.ErrScheme: 5, urlkey.ErrSyntax: 1, urlkey.ErrTooLong: 1}
	for _, r := range page.Refused {
		if r.Links != want[r.Cause] {
			t.Errorf("%v: %d links, want %d", r.Cause, r.Links, want[r.Cause])
		}
		delete(want, r.Cause)
		if r.Cause == urlkey.ErrScheme && !slices.Equal(r.Examples, []string{"mailto:a@b.test", "ftp://b.test/x", "tel:1", "tel:2"}) {
			t.Errorf("examples %q", r.Examples)
		}
		if len(r.Examples[0]) > refusedLength {
			t.Errorf("an example of %d bytes", len(r.Examples[0]))
		}
	}
	if len(want) > 0 {
		t.Errorf("none of %v", want)
	}
}
