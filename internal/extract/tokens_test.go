package extract

import (
	"strings"
	"testing"
)

// What "/>" ends and CDATA says in XHTML does not take the rest of the page with it, in a tree and
// tag by tag. As HTML the same bytes are read by HTML's rules.
func TestXHTML(t *testing.T) {
	t.Parallel()
	const head, end = `<head><title>X</title>@</head><body>#<h1>Hello</h1>`, `<p>Price 24 EUR</p><a href="/x">more</a></body></html>`
	for name, c := range map[string]struct{ head, body, text string }{
		"script in the head":   {head: `<script src="/a.js"/>`},
		"style in the head":    {head: `<style/>`},
		"noscript in the head": {head: `<noscript/>`},
		"script in the body":   {body: `<script src="/a.js"/>`},
		"frame":                {body: `<iframe src="/f"/>`},
		"textarea":             {body: `<textarea/>`},
		"template":             {body: `<template/>`},
		"advert":               {body: `<div class="ad"/>`},
		"navigation":           {body: `<div role="navigation"/>`},
		"hidden":               {body: `<div hidden="hidden"/>`},
		"anchor":               {body: `<a name="x"/>`},
		"picture":              {body: `<svg><g><path/><title/></g></svg>`},
		"code in CDATA":        {body: `<pre><![CDATA[a <b> &amp; c]]></pre>`, text: "a <b> &amp; c\n"},
		"script with code":     {body: `<script>//<![CDATA[` + "\n" + `if (a<b) document.write("<p>"); //]]></script>`},
		"br with its end":      {body: `<p>a<br></br>b</p>`, text: "a\nb\n"},
	} {
		document := `<html xmlns="http://www.w3.org/1999/xhtml">` + strings.Replace(strings.Replace(head, "@", c.head, 1), "#", c.body, 1) + end
		for _, before := range []string{"", strings.Repeat("<div>", 600)} {
			page := parseAs(t, []byte(strings.Replace(document, "<body>", "<body>"+before, 1)), "application/xhtml+xml")
			want := c.text + "Hello\nPrice 24 EUR\nmore"
			links := 1
			if strings.Contains(c.body, `src="/f"`) {
				links = 2
			}
			if page.Text != want || len(page.Links) != links || page.Title != "X" || page.Flat != (before != "") {
				t.Errorf("%s, flat %t: %q, title %q, links %v; want %q", name, page.Flat, page.Text, page.Title, page.Links, want)
			}
		}
		if text, err := Readable([]byte(document), "application/xhtml+xml"); err != nil || !strings.Contains(text, "Price 24 EUR") {
			t.Errorf("%s: readable as %q, %v", name, text, err)
		}
	}
	if page := parse(t, `<html><head><script src="/a.js"/></head><body><p>Price 24 EUR</p></body></html>`); page.Text != "" {
		t.Errorf("as HTML, a script does not end with its start tag: %q", page.Text)
	}
}

func TestRequisitesOfXHTML(t *testing.T) {
	t.Parallel()
	const body = `<html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="/a.js"/><link rel="stylesheet" href="/s.css"/></head><body><img src="/i.png"/></body></html>`
	all, err := Requisites(Source{Body: []byte(body), ContentType: "application/xhtml+xml", URL: mustURL(t, self)})
	if err != nil || len(all) == 0 || !strings.HasSuffix(all[len(all)-1].URL, "/i.png") {
		t.Errorf("%v, %v", all, err)
	}
}
