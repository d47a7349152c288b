package extract

import (
	"strings"
	"testing"
)

// Own is the main text without the text of links, in a tree and tag by tag.
func TestOwn(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("<div>", 600)
	for name, c := range map[string]struct{ body, text, own string }{
		"links in a line":   {"<p>Ada <b>knows</b> <a href=/b>Bob <i>Cole</i></a>, <a href=/d>Dan</a> and more.", "Ada knows Bob Cole, Dan and more.", "Ada knows , and more."},
		"a line of links":   {"<p>Friends:</p><p><a href=/b>Bob</a> <a href=/c>Cy</a></p><p>End", "Friends:\nBob Cy\nEnd", "Friends:\nEnd"},
		"a link of blocks":  {"<p>One</p><a href=/b><p>Two</p><p>Three</p></a><p>Four", "One\nTwo\nThree\nFour", "One\nFour"},
		"a link in a title": {"<a href=/b><h3>Bob</a></h3><p>Ada knows Bob.", "Bob\nAda knows Bob.", "Ada knows Bob."},
		"no links":          {"<p>All of it", "All of it", "All of it"},
		"nothing but links": {"<ul><li><a href=/b>Bob</a><li><a href=/c>Cy</a></ul>", "Bob\nCy", ""},
	} {
		for _, before := range []string{"", deep} {
			page, err := Parse(Source{Body: []byte("<html><body>" + before + c.body), ContentType: "text/html; charset=utf-8", URL: mustURL(t, "http://h.example/a")}, Rules{})
			if err != nil {
				t.Fatal(err)
			}
			if page.Text != c.text || page.Own != c.own || page.Flat != (before != "") {
				t.Errorf("%s, flat %t: %q, own %q; want %q, own %q", name, page.Flat, page.Text, page.Own, c.text, c.own)
			}
		}
	}
	page, err := Parse(Source{Body: []byte("a b\n c"), ContentType: "text/plain", URL: mustURL(t, "http://h.example/a")}, Rules{})
	if err != nil || page.Own != page.Text {
		t.Errorf("plain text: %q, own %q, %v", page.Text, page.Own, err)
	}
}
