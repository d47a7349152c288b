package extract

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"recrawl/internal/urlkey"
)

// needsOf returns the requisites of a body at https://a.test/dir/page, each with its role;
// addresses on the same site are shown without it.
func needsOf(t *testing.T, contentType, body string) []string {
	t.Helper()
	u, err := urlkey.Canonical("https://a.test/dir/page")
	if err != nil {
		t.Fatal(err)
	}
	found, err := Requisites(Source{Body: []byte(body), ContentType: contentType, URL: u})
	if err != nil {
		t.Fatal(err)
	}
	var needs []string
	for _, r := range found {
		needs = append(needs, fmt.Sprint(strings.TrimPrefix(r.URL, "https://a.test"), " ", r.Role))
	}
	return needs
}

func TestRequisitesOfPages(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body string
		want []string
	}{
		"images":          {`<img src=a.png alt=a><img src=" /b.png "><input type=IMAGE src=c.png><input src=x.png><video poster=d.png>`, []string{"/dir/a.png 1", "/b.png 1", "/dir/c.png 1", "/dir/d.png 1"}},
		"another host":    {`<img src="//b.test/x.png">`, []string{"https://b.test/x.png 1"}},
		"svg":             {`<svg><image href=a.png /><image xlink:href=b.png /></svg>`, []string{"/dir/a.png 1", "/dir/b.png 1"}},
		"srcset":          {`<img srcset="a.png 1x, b.png?x=1,2 2x,c.png,, d.png (1,2) , data:image/png;base64,AA= 4x">`, []string{"/dir/a.png 4", "/dir/b.png?x=1,2 4", "/dir/c.png 4", "/dir/d.png 4"}},
		"picture":         {`<picture><source srcset="a.avif"><img src=a.png></picture>`, []string{"/dir/a.avif 4", "/dir/a.png 1"}},
		"styles":          {`<link rel="Stylesheet" href=a.css><link rel="alternate stylesheet" href=b.css><link rel=next href=c.html>`, []string{"/dir/a.css 0", "/dir/b.css 0"}},
		"icons":           {`<link rel="shortcut icon" href=/a.ico><link rel=apple-touch-icon href=b.png>`, []string{"/a.ico 2", "/dir/b.png 2"}},
		"preloads":        {`<link rel=preload as=font href=a.woff2><link rel=preload as=script href=a.js><link rel=preload as=image href=b.png imagesrcset="c.png 2x">`, []string{"/dir/a.woff2 3", "/dir/b.png 1", "/dir/c.png 4"}},
		"style elements":  {`<style>@import "a.css"; p { background: url(b.png) }</style><p style="background:url(&quot;c.png&quot;)">`, []string{"/dir/a.css 0", "/dir/b.png 3", "/dir/c.png 3"}},
		"base":            {`<img src=a.png><base href="/other/"><base href="/third/">`, []string{"/other/a.png 1"}},
		"each once":       {`<img srcset="a.png 2x"><img src=a.png><img src=a.png>`, []string{"/dir/a.png 1"}},
		"nothing":         {`<img src=""><img src="#"><img src="/dir/page"><img src="data:image/png,"><img src="javascript:x()"><script src=a.js></script><iframe src=b.html></iframe>`, nil},
		"inert":           {`<template><img src=a.png></template><!-- <img src=b.png> --><script>"<img src=c.png>"</script><img src=d.png>`, []string{"/dir/d.png 1"}},
		"without scripts": {`<noscript><img src=a.png></noscript>`, []string{"/dir/a.png 1"}},
	} {
		if got := needsOf(t, "text/html", c.body); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := needsOf(t, "image/png", `<img src=a.png>`); got != nil {
		t.Errorf("of a picture: %q", got)
	}
}

func TestRequisitesOfStyles(t *testing.T) {
	t.Parallel()
	for css, want := range map[string][]string{
		`@import "a.css"; @IMPORT url( b.css ) screen; @import url("c.css");`:                {"/dir/a.css 0", "/dir/b.css 0", "/dir/c.css 0"},
		`@font-face { src: local("x"), url(a.woff2) format("woff2"), URL('b.woff') }`:        {"/dir/a.woff2 3", "/dir/b.woff 3"},
		`p { background: image-set("a.png" 1x, url(b.png) 2x); content: "c.png" }`:           {"/dir/a.png 3", "/dir/b.png 3"},
		`p { background: -webkit-image-set(url(a.png) 1x); quotes: "b" "c" }`:                {"/dir/a.png 3"},
		`/* url(a.png) */ p { content: "url(b.png)" } q { background: url(c.png) } /* url(d`: {"/dir/c.png 3"},
		`p { background: url(a\).png), url(\62 .png), url("c\
.png") }`: {"/dir/a).png 3", "/dir/b.png 3", "/dir/c.png 3"},
		`p { background: url(a b.png), url(c"d.png), my-url(e.png), url (f.png) } q { background: url(g.png) }`: {"/dir/g.png 3"},
		`@namespace svg url(http://www.w3.org/2000/svg); @namespace "x"; p { background: url(a.png) }`:          {"/dir/a.png 3"},
		`p { content: "a
; background: url(b.png) }`: {"/dir/b.png 3"},
		`p { background: url(a.png`:     {"/dir/a.png 3"},
		`p { background: url("a.png`:    {"/dir/a.png 3"},
		`p { background: url(data:x) }`: nil,
		`@import`:                       nil, `url(`: nil, `@`: nil, `\`: nil, `"\`: nil, ``: nil,
	} {
		if got := needsOf(t, "text/css; charset=utf-8", css); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", css, got, want)
		}
	}
}

// TestHostileStyles: reading a style takes at most as many steps as it has bytes.
func TestHostileStyles(t *testing.T) {
	t.Parallel()
	const n = 1 << 20
	for _, piece := range []string{"url(", "url(\"", "/*", "@import ", "image-set(", "\\", "a\\", "@namespace url(", "'", "url( ", "((", "url(a)"} {
		found := 0
		for range styleRefs(strings.Repeat(piece, n/len(piece))) {
			found++
		}
		if found > n/len(piece) {
			t.Errorf("%s: %d references", piece, found)
		}
	}
	if got := len(needsOf(t, "text/html", strings.Repeat(`<img srcset="a.png,b.png,`, n/20))); got > maxRequisites {
		t.Errorf("%d requisites", got)
	}
}

func FuzzStyleRefs(f *testing.F) {
	for _, seed := range []string{`@import "a.css";`, `url(a\).png)`, `image-set("a" 1x, (url(b)))`, `@namespace url(x);`, "url('a\\\nb')"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, css string) {
		total := 0
		for ref := range styleRefs(css) {
			total += len(ref.url)
		}
		// An escape of three bytes stands for a character of up to four, and a bad one for U+FFFD.
		if total > 3*len(css) {
			t.Errorf("%d bytes of references in %d", total, len(css))
		}
	})
}
