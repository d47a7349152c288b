package extract

import (
	"strings"
	"testing"
)

// A reader sees more in a text than its words.
func TestLooks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ body, want string }{
		{"<p>Plain words.", ""},
		{"<p>Film <del>on 5 May</del> <s>10 €</s> <span style='text-decoration: line-through'>12 €</span> 14 €", "struck out: on 5 May\nstruck out: 10 €\nstruck out: 12 €"},
		{"<del><p>One</p><p>Two <s>three</s></p></del>", "struck out: One\nstruck out: Two three"},
		{"<p>Size <span style='display:none'>Sold out</span>", "not shown: Sold out"},
		{"<table><tr><th>Lift<td><td>yes</table>", "cells: x-x"},
		{"<table><tr><th>Lift<td>yes</table>", ""},
		{"<table><tr><th>Bus<td colspan=2>9h<td>10h</table>", "cells: xxc2x"},
		{"<table><tr><td>Bus<td colspan=2>9h<td>10h</table>", ""}, // for the layout
		{"<a href='MAILTO:A@b.example?subject=1'>us</a> <a href=tel:5550100>us</a> <a href=/x>x</a>", "link: a@b.example\nlink: 5550100"},
		{"<ol start=5 type=a><li value=7>Go<li>Stop</ol><ol><li>Go</ol><ol reversed><li>Go</ol>", "numbers: from 5, as a\nnumber: 7\nnumbers: backwards"},
		{"<ul><li><input type=checkbox checked> Paint<li><input type=checkbox> Pier</ul>", "ticked x: Paint\nticked -: Pier"},
		{"<p>10<sup>6</sup> m, CO<sub>2</sub>, x<sup>n</sup>, the 4<sup>th</sup>, Name<sup>®</sup>", "raised: 10^6\nraised: CO_2\nraised: x^n"},
		{"<math><mfrac><mn>1</mn><msup><mi>x</mi><mn>2</mn></msup></mfrac></math>", ""}, // its text says it
		{"<math><mfrac><mn>1</mn><msup><mi>x</mi><a href=/two>2</a></msup></mfrac></math>", "formula: mfrac msup"},
		{"<p>Seats <meter value=3 max=10></meter>", "scale: 3"},
		{"<img src=a alt='Harbour in winter'><img src=b alt=''><img src=c alt=IMG_1.jpg><img width=1 height=1 alt=pixel>", "picture: Harbour in winter"},
		{"<a href=/ads/1><img src=c alt='Buy shoes'></a>", ""},
		{"<form>x<input type=submit value=Buy><input type=hidden value=3f2a><input placeholder='Your name' value=Ann><input type=date value=2026-03-04><input type=search value=boats placeholder=Search></form>", "button: Buy\nhint: Your name\nfield: Ann\nhint: Search"},
		{"<form>x<input name=t value=9f8a7b6c5d4e3f2a1b><textarea placeholder='Say it'>Dear</textarea></form>", "hint: Say it"},
		{"<p><button disabled>Buy</button><select><option>S<option disabled>XL</select>", "not available: Buy\nnot available: XL"},
		{"<p><button aria-disabled=true>Buy</button><fieldset disabled><p>Book by mail</fieldset><a aria-disabled=true href=/b>Book</a>", "not available: Buy\nnot available: Book by mail\nnot available: Book"},
		{"<p><label><input type=radio checked> S</label> <label><input type=radio disabled> M</label>", "ticked x-d: S M"},
		{"<p class='note hidden'>Sold out<p class='alert d-none'>No more<p class='d-none d-md-block'>Wide<p class='hidden md:flex'>Wide", "not shown: Sold out\nnot shown: No more"},
		{"Write to <a data-cfemail=5a3b1a38743f223b372a363f href=/cdn-cgi/l/email-protection>[email&#160;protected]</a>, <span data-cfemail=335273511d564b525e435f56>[email&#160;protected]</span> or <a href='/cdn-cgi/l/email-protection#117251753f7469707c617d74'>us</a>", "link: a@b.example\nlink: a@b.example\nlink: c@d.example"},
		{"Write to <a data-cfemail=5a3 href=/cdn-cgi/l/email-protection#zz>[email&#160;protected]</a>", ""},
		{"<table><tr><th>Lift<td><i class='fa fa-check'></i><td><i class='fas fa-xmark'></i><td></table>", "ticked y: \nticked n: \ncells: xxx-"},
		{"<ul><li><img src=/i/yes.png?2> Lift<li><svg class=icon><use href='/s.svg#icon-cross'/></svg> Bar<li><span class=no-gutters></span><b class=check>Cheque</b> Pool</ul>", "ticked y: Lift\nticked n: Bar"},
		{"<p>Rated <span role=img aria-label='4 of 5 stars'></span><svg><title>Open</title><path d='M0'/></svg><a href=/x><svg><title>Share</title></svg></a>", "picture: 4 of 5 stars\npicture: Open"},
		{"<p><img data-src=a alt='Harbour in May'><noscript><img src=a alt='Harbour  in May'></noscript>", "picture: Harbour in May"},
		{"<form>x<input name=from value=2026-03-04><input name=to value='05/03/2026'><input name=version value=1.2.3></form>", "field: 1.2.3"},
		{"<select><optgroup label='From 10 €'><option>S</select>", "option: From 10 €"},
	} {
		page, err := Parse(Source{Body: []byte("<html><body>" + c.body), ContentType: "text/html; charset=utf-8", URL: mustURL(t, "http://h.example/a")}, Rules{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range page.Looks {
			got = append(got, l.Kind+": "+l.Text)
		}
		if got := strings.Join(got, "\n"); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.body, got, c.want)
		}
	}
}

// Of indentation only what is beside the first line counts.
func TestLooksOfCode(t *testing.T) {
	t.Parallel()
	looks := func(code string) string {
		page, err := Parse(Source{Body: []byte("<body><p>Code</p><pre>" + code + "</pre>"), ContentType: "text/html", URL: mustURL(t, "http://h.example/a")}, Rules{})
		if err != nil {
			t.Fatal(err)
		}
		return LooksText(page.Looks)
	}
	first := looks("if a:\n  b\n  c")
	if moved := looks("\n if a:\n   b\n   c\n"); moved != first {
		t.Errorf("moved as a whole: %q, want %q", moved, first)
	}
	if other := looks("if a:\n  b\nc"); other == first {
		t.Errorf("another indentation: %q", other)
	}
}

// Noise elsewhere in the text moves no look, and the crawl's rules take the looks with the text.
func TestLooksStandAlone(t *testing.T) {
	t.Parallel()
	looks := func(body string, rules Rules) string {
		page, err := Parse(Source{Body: []byte("<body>" + body), ContentType: "text/html", URL: mustURL(t, "http://h.example/a")}, rules)
		if err != nil {
			t.Fatal(err)
		}
		return LooksText(page.Looks)
	}
	const offer = "<p>Now <del>10</del> 12</p><div class=x><del>20</del> 21</div>"
	if a, b := looks("<p>9 views</p>"+offer, Rules{}), looks("<p>1,234,567 views</p>"+offer, Rules{}); a == "" || a != b {
		t.Errorf("%q and %q", a, b)
	}
	deep := strings.Repeat("<del>", 400) + strings.Repeat("<del>x</del><sup>y</sup>", 2000)
	if got := looks(deep, Rules{}); len(got) > 200_000 {
		t.Errorf("%d bytes of looks", len(got))
	}
}

// No page makes its looks expensive.
func TestLooksOfHostilePages(t *testing.T) {
	t.Parallel()
	const many = 60_000
	for name, body := range map[string]string{
		"boxes in a line":  strings.Repeat("<input type=checkbox>", many),
		"exponents":        "<p>" + strings.Repeat("x<sup>2</sup>", many/2),
		"nested exponents": strings.Repeat("x<sup>", 500) + strings.Repeat("y", many),
		"struck words":     "<p>" + strings.Repeat("<s>y</s> ", many),
		"nested strikes":   strings.Repeat("<s>", 500) + strings.Repeat("<p>y", many/2),
		"tables":           strings.Repeat("<table><tr><td>", 150) + strings.Repeat("<table><tr><td>x<td></table>", many/8),
		"pictures":         strings.Repeat("<img alt=harbour>", many),
	} {
		page, err := Parse(Source{Body: []byte("<body>" + body), ContentType: "text/html", URL: mustURL(t, "http://h.example/a")}, Rules{})
		if got := len(LooksText(page.Looks)); err != nil || got > 30*len(body) {
			t.Errorf("%s: %d bytes of looks for %d, %v", name, got, len(body), err)
		}
	}
}
