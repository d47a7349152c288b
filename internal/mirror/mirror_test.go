package mirror_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"recrawl/internal/mirror"
	"recrawl/internal/urlkey"
)

// paths is a mirror of a few pages.
type paths map[string]string

func (p paths) Path(_ context.Context, u urlkey.URL) (string, error) { return p[u.String()], nil }

var site = paths{
	"https://example.com/":            "example.com/@index.html",
	"https://example.com/a/b":         "example.com/a/b/@page.html",
	"https://example.com/a/%C3%A9":    "example.com/a/%c3%a9/@page.html",
	"https://example.com/x,y":         "example.com/x,y/@page.png",
	"https://example.com/s.css":       "example.com/s.css/@page.css",
	"https://example.com/p.png":       "example.com/p.png/@page.png",
	"https://cdn.example/f.woff2":     "cdn.example/f.woff2/@page.woff2",
	"http://[::1]:8000/p.png":         "[--1]+8000/p.png/@page-http.png",
	"https://other.example/elsewhere": "other.example/elsewhere/@page.html",
}

func rewrite(t testing.TB, url, contentType, body string) string {
	t.Helper()
	out, err := mirror.Rewrite(t.Context(), mirror.File{URL: url, Path: site[url], ContentType: contentType}, []byte(body), site)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// head is the beginning of every page.
const head = `<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src 'self' file: data:; style-src 'self' file: 'unsafe-inline'; font-src 'self' file: data:; media-src 'self' file: data:; frame-src 'self' file:; form-action 'none'; base-uri 'none'">`

func TestHTML(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"a page in the mirror":     {`<a href="/">x</a>`, `<a href="../../@index.html">x</a>`},
		"another host":             {`<a href=//other.example/elsewhere#top>x</a>`, `<a href="../../../other.example/elsewhere/@page.html#top">x</a>`},
		"not in it":                {`<a href="c?d=1&amp;e">x</a>`, `<a href="https://example.com/a/c?d=1&amp;e">x</a>`},
		"itself":                   {`<a href="">x</a><a href=#p>y</a><a href="b#q">z</a>`, `<a href="./@page.html">x</a><a href="#p">y</a><a href="./@page.html#q">z</a>`},
		"an escape in a name":      {`<a href="é">x</a>`, `<a href="../%25c3%25a9/@page.html">x</a>`},
		"no web address":           {`<a href="mailto:a@b.example">x</a><a href=tel:1>y</a>`, `<a href="mailto:a@b.example">x</a><a href="tel:1">y</a>`},
		"scripts":                  {`<script>alert(1)</script><script src=/a.js></script>x<noscript>y</noscript>`, `xy`},
		"without scripts":          {`<noscript><p title="</noscript>">y<img src=/p.png onerror=a()><iframe src=https://ads.example/></iframe></noscript>`, `<p title="&lt;/noscript&gt;">y<img src="../../p.png/@page.png"><iframe></iframe>`},
		"a script without end":     {`x<script>alert(1)<p>y`, `x`},
		"handlers":                 {`<p onclick=a() ONMOUSEOVER="b()" title=t>x`, `<p title="t">x`},
		"javascript:":              {"<a href=' java\nscript:alert(1)'>x</a><a href=&#106;avascript:a>y</a>", `<a>x</a><a>y</a>`},
		"data of a page":           {`<a href="data:text/html,<script>">x</a><iframe src="data:text/html,y"></iframe>`, `<a>x</a><iframe></iframe>`},
		"data of a picture":        {`<img src="data:image/gif;base64,R0lGOD">`, `<img src="data:image/gif;base64,R0lGOD">`},
		"other schemes":            {`<a href="file:///etc/passwd">x</a><img src="file:///etc/passwd"><a href="vbscript:x">y</a>`, `<a>x</a><img><a>y</a>`},
		"refresh":                  {`<meta http-equiv=refresh content="0;url=https://evil.example/"><meta http-equiv="Set-Cookie" content=a><meta name=description content=d>`, `<meta name="description" content="d">`},
		"another encoding":         {`<meta charset=latin1><meta http-equiv=content-type content="text/html; charset=latin1">x`, `x`},
		"base":                     {`<a href=b>x</a><base href="/a/" target=_top><a href=b>y</a><a href=#f>z</a>`, `<a href="./@page.html">x</a><a href="./@page.html">y</a><a href="https://example.com/a/#f">z</a>`},
		"styles":                   {`<link rel=stylesheet href=/s.css integrity=sha256-x crossorigin><link rel=preload href=/s.css>`, `<link rel="stylesheet" href="../../s.css/@page.css">`},
		"canonical":                {`<link rel=canonical href="/a/b">`, `<link rel="canonical" href="https://example.com/a/b">`},
		"a style":                  {`<style>@import "/s.css"; p { background: url(/p.png) }</style>`, `<style>@import url("../../s.css/@page.css"); p { background: url("../../p.png/@page.png") }</style>`},
		"a style attribute":        {`<p style='background:url("/p.png")'>x`, `<p style="background:url(&#34;../../p.png/@page.png&#34;)">x`},
		"srcset":                   {`<img src=/p.png srcset="/none.png 2x, /p.png 1.5x,/x,y 3x">`, `<img src="../../p.png/@page.png" srcset="../../p.png/@page.png 1.5x, ../../x%2Cy/@page.png 3x">`},
		"a srcset that is not in":  {`<source srcset="/none.png 2x, /no.png">`, `<source>`},
		"frames":                   {`<iframe src=/ srcdoc="<script>"></iframe><iframe src=https://ads.example/></iframe>`, `<iframe src="../../@index.html"></iframe><iframe></iframe>`},
		"objects":                  {`<object data=/x.swf><param name=a>instead</object><embed src=/x.swf><applet code=x></applet>`, `instead`},
		"forms":                    {`<form action=/search method=post><input name=q><button formaction=/x>go</button></form>`, `<form method="post"><input name="q"><button>go</button></form>`},
		"comments":                 {`a<!-- b --><!--[if IE]><script>x</script><![endif]-->c`, `ac`},
		"text that becomes a tag":  {`<<!-- -->img src=x onerror=a()>`, `&lt;img src=x onerror=a()>`},
		"a tag in a style":         {`<svg><style><img src=x onerror=a()></style></svg>`, `<svg><style>< img src=x onerror=a()></style></svg>`},
		"a tag in a style's text":  {`<style>p::before { content: "</p>" }</style>`, `<style>p::before { content: "\3c /p>" }</style>`},
		"a tag in a picture title": {`<svg><title><img src=x onerror=a()></title></svg>`, `<svg><title>&lt;img src=x onerror=a()></title></svg>`},
		"a tag in a text area":     {`<textarea><p onclick=a()></textarea>`, `<textarea>&lt;p onclick=a()></textarea>`},
		"an open style":            {`x<style>p { color: red`, `x<style>p { color: red</style>`},
		"animated addresses":       {`<svg><a><set attributeName=href to=javascript:a()><animate attributeName="xlink:href" values=javascript:a() /></a></svg>`, `<svg><a></a></svg>`},
		"links in pictures":        {`<svg><a xlink:href="javascript:a()">x</a><use href="#i"/><image href="/p.png"/></svg>`, `<svg><a>x</a><use href="#i"/><image href="../../p.png/@page.png"/></svg>`},
		"a style of XML in one":    {`<svg><style><![CDATA[.a>.b{fill:url(/p.png)}]]></style></svg><style>p<![CDATA[q]]></style>`, `<svg><style>.a>.b{fill:url("../../p.png/@page.png")}</style></svg><style>p< ![CDATA[q]]></style>`},
		"an empty style in one":    {`<svg><style/><path d=M0/></svg><p>x`, `<svg><style/><path d="M0/"></svg><p>x`},
		"twice":                    {`<img src=/p.png src=javascript:a() title=1 title=2>`, `<img src="../../p.png/@page.png" title="1">`},
		"odd names":                {`<p a"b=1 x<y=2 =z title=3><q"r>x`, `<p title="3">x`},
		"xmp and plaintext":        {`<xmp><p>&amp;</xmp><plaintext><p>`, `<pre>&lt;p>&amp;amp;</pre><pre>&lt;p></pre>`},
		"templates":                {`<template shadowrootmode=open><p onclick=x>y<script>z</script></template>`, `<template shadowrootmode="open"><p>y</template>`},
		"an address in IPv6":       {`<img src="http://[::1]:8000/p.png">`, `<img src="../../../%5B--1%5D+8000/p.png/@page-http.png">`},
		"an empty picture":         {`<img src="">`, `<img>`},
		"zero":                     {"a\x00b<p title='c\x00d'>", "ab<p title=\"c\uFFFDd\">"},
	} {
		if got := rewrite(t, "https://example.com/a/b", "text/html; charset=utf-8", c.in); got != head+c.want && got != c.want+head {
			t.Errorf("%s:\n %s\n became %s\n want    %s", name, c.in, strings.Replace(got, head, "", 1), c.want)
		}
	}
}

// The head stands before anything that loads something, and within the browser's <head>.
func TestHead(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"<!DOCTYPE html PUBLIC \"-//W3C//DTD HTML 4.01//EN\">\n<html lang=en>\n<head>\n<title>t</title>": "<!DOCTYPE html PUBLIC \"-//W3C//DTD HTML 4.01//EN\">\n<html lang=\"en\">\n<head>" + head + "\n<title>t</title>",
		"<title>t</title><p>x":   head + "<title>t</title><p>x",
		"x<!doctype html><head>": head + "x<head>",
		"</body><p>":             head + "</body><p>",
		"":                       head,
	} {
		if got := rewrite(t, "https://example.com/", "text/html", in); got != want {
			t.Errorf("%q became\n%s\nwant\n%s", in, got, want)
		}
	}
}

func TestXHTML(t *testing.T) {
	t.Parallel()
	in := `<?xml version="1.0" encoding="iso-8859-1"?><html xmlns="http://www.w3.org/1999/xhtml"><head><script src="a.js"/><title/></head><body><p/><br/><![CDATA[a<b&c]]><style><![CDATA[p > q {}]]></style>` + "\xe9</body></html>"
	want := `<html xmlns="http://www.w3.org/1999/xhtml"><head>` + head + `<title></title></head><body><p></p><br/>a&lt;b&amp;c<style>p > q {}</style>é</body></html>`
	if got := rewrite(t, "https://example.com/", "application/xhtml+xml", in); got != want {
		t.Errorf("became\n%s\nwant\n%s", got, want)
	}
}

func TestCSS(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`@charset "latin1"; @import url(x.css) screen;`:             ` @import url("https://example.com/x.css") screen;`,
		`@IMPORT 's.css';p{}`:                                       `@IMPORT url("./@page.css");p{}`,
		`@\69mport "s.css"; q`:                                      `@import url("./@page.css"); q`,
		`@namespace svg url(http://www.w3.org/2000/svg);`:           `@namespace svg url("http://www.w3.org/2000/svg");`,
		`a{b:url( "p.png" )}`:                                       `a{b:url("../p.png/@page.png")}`,
		`a{b:U\52L(p.png)}`:                                         `a{b:url("../p.png/@page.png")}`,
		`a{b:url(p\.png)}`:                                          `a{b:url("../p.png/@page.png")}`,
		`a{b:image-set("p.png" 1x, "no.png" type("image/x"))}`:      `a{b:image-set(url("../p.png/@page.png") 1x, url("https://example.com/no.png") type("image/x"))}`,
		`@font-face{src:url(//cdn.example/f.woff2)format("woff2")}`: `@font-face{src:url("../../cdn.example/f.woff2/@page.woff2")format("woff2")}`,
		`a{b:url("javascript:c()")}`:                                `a{b:url(about:invalid)}`,
		`a{b:url(data:image/png;base64,AA==)}`:                      `a{b:url("data:image/png;base64,AA==")}`,
		`a{b:url(data:text/html,x)}`:                                `a{b:url(about:invalid)}`,
		`a::before{content:"\"\201C it's"}`:                         `a::before{content:"\22 “it's"}`,
		`a{b:"open`:                                                 `a{b:"open"`,
		`@media (400px<=width){} @media (width<9px){}`:              `@media (400px<=width){} @media (width< 9px){}`,
		`<!-- a{} -->`:                                              ` a{} -->`,
		`a/* url(p.png) */b`:                                        `a/**/b`,
		`.\31 0\:x{width:1e3px;color:#1ab}`:                         `.\31 0\3a x{width:1e3px;color:#1ab}`,
		`a{width:calc(1px + (2px*3))}b{c:var(--d,url(p.png))}`:      `a{width:calc(1px + (2px*3))}b{c:var(--d,url("../p.png/@page.png"))}`,
		`a{b:url(`:            `a{b:url(about:invalid)`,
		`a{b:url("p.png" x)}`: `a{b:url("../p.png/@page.png")x)}`,
		`\3c img\20src`:       `\3c img\20 src`,
	} {
		if got := rewrite(t, "https://example.com/s.css", "text/css", in); got != want {
			t.Errorf("%s\n became %s\n want    %s", in, got, want)
		}
	}
}

func TestSVG(t *testing.T) {
	t.Parallel()
	in := `<?xml version="1.0"?><?xml-stylesheet href="x.xsl"?><!DOCTYPE svg [<!ENTITY a "b">]><!-- c -->` +
		`<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 1 1" onload="a()">` +
		`<script>alert(1)</script><style>p{fill:url(p.png);x:"&lt;q>"}</style><foreignObject><iframe src="x"><b>y</b></iframe><p onclick="a()">t</p></foreignObject>` +
		`<a xlink:href="javascript:a()"><set attributeName="xlink:href" to="javascript:a()"/><image xlink:href="p.png"/><image href="https://cdn.example/no.png"/></a>&a;&amp;</svg>`
	want := `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 1 1">` +
		`<style>p{fill:url(&#34;./@page.png&#34;);x:&#34;\3c q&gt;&#34;}</style><foreignObject><p>t</p></foreignObject>` +
		`<a><image xlink:href="./@page.png"></image><image></image></a>&amp;a;&amp;</svg>`
	if got := rewrite(t, "https://example.com/p.png", "image/svg+xml", in); got != want {
		t.Errorf("became\n%s\nwant\n%s", got, want)
	}
	if got := rewrite(t, "https://example.com/p.png", "image/svg+xml", `<svg><a b=`); got != "" {
		t.Errorf("what cannot be read became %q", got)
	}
}

func TestOtherTypes(t *testing.T) {
	t.Parallel()
	for contentType, ext := range map[string]string{
		"text/html": ".html", "": ".html", "application/xhtml+xml; charset=x": ".html", "text/javascript": ".txt", "application/xml": ".txt",
		"application/atom+xml": ".txt", "text/x-python": ".txt", "image/png": ".png", "font/woff2": ".woff2", "application/x-msdownload": ".bin", "image/svg+xml": ".svg",
	} {
		if got := mirror.Extension(contentType); got != ext {
			t.Errorf("%s: %s, want %s", contentType, got, ext)
		}
	}
	if body := "<script>\x00\xff"; rewrite(t, "https://example.com/p.png", "image/png", body) != body || mirror.Rewrites("image/png") || !mirror.Rewrites("text/css") {
		t.Error("a picture was changed")
	}
}

// broken is a mirror that cannot be read.
type broken struct{}

var errBroken = errors.New("broken")

func (broken) Path(context.Context, urlkey.URL) (string, error) { return "", errBroken }

func TestPathsFail(t *testing.T) {
	t.Parallel()
	f := mirror.File{URL: "https://example.com/", Path: "example.com/@index.html", ContentType: "text/html"}
	if _, err := mirror.Rewrite(t.Context(), f, []byte("<a href=x>"), broken{}); !errors.Is(err, errBroken) {
		t.Error(err)
	}
}

// judge finds forbidden things in a page of a mirror, as a browser's parser sees it.
func judge(t *testing.T, in, out string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(out))
	if err != nil {
		t.Fatalf("%q: %v", in, err)
	}
	first := ""
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "script", "object", "embed", "applet", "base":
			t.Fatalf("%q became %q: <%s>", in, out, n.Data)
		case "html", "head", "body":
		default:
			first += n.Data + " "
		}
		for _, a := range n.Attr {
			value := strings.ToLower(trim(a.Val))
			switch {
			case strings.HasPrefix(a.Key, "on"), a.Key == "srcdoc",
				addresses[a.Key] && (strings.HasPrefix(value, "javascript:") || strings.HasPrefix(value, "data:text")),
				a.Key == "http-equiv" && strings.EqualFold(value, "refresh"):
				t.Fatalf("%q became %q: %s=%q", in, out, a.Key, a.Val)
			}
		}
	}
	if !strings.HasPrefix(first, "meta meta ") {
		t.Fatalf("%q became %q: it begins with %.40s", in, out, first)
	}
}

// addresses are the attributes that lead somewhere.
var addresses = map[string]bool{
	"href": true, "xlink:href": true, "src": true, "srcset": true, "action": true, "formaction": true, "data": true, "poster": true, "background": true, "cite": true,
}

// trim cuts the beginning of an address as browsers do.
func trim(s string) string {
	return strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(strings.TrimFunc(s, func(r rune) bool { return r <= ' ' }))
}

func FuzzRewrite(f *testing.F) {
	for _, seed := range []string{
		`<svg><style><img src=x onerror=a()></style>`, `<math><annotation-xml encoding=text/html><style><img onerror=a></style>`,
		`<p title="</title><script>">`, `<noscript><p title="</noscript><img onerror=a()>">`, `<select><style></select><img onerror=a>`,
		`<svg></p><style><a id="</style><img src=1 onerror=alert(1)>">`, `<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>`,
		`<title><svg><p title="</title><img onerror=a>">`, `<a href="java&Tab;script:a()">`, `<style>@import "</style><script>a()</script>`, `<!--><img onerror=a>-->`,
		`<p style="a:url('x')"><textarea></p><img title="</textarea><img onerror=a>">`, "<svg><![CDATA[><img onerror=a>]]>", `<xmp><p title="</xmp><img onerror=a>">`,
		`<iframe><p title="</iframe><img onerror=a>">`, `<table><style><a title="</style><img onerror=a>">`, `<!doctype html [<!entity x "><img onerror=a>`,
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, in []byte, isXML bool) {
		contentType := "text/html; charset=utf-8"
		if isXML {
			contentType = "application/xhtml+xml; charset=utf-8"
		}
		file := mirror.File{URL: "https://example.com/a/b", Path: site["https://example.com/a/b"], ContentType: contentType}
		out, err := mirror.Rewrite(t.Context(), file, in, site)
		if err != nil {
			t.Fatal(err)
		}
		if limit := 8*len(in) + 1<<21; len(out) > limit {
			t.Fatalf("%d bytes became %d", len(in), len(out))
		}
		if len(in) < 1<<12 { // a parser of trees takes its time for hostile ones
			judge(t, string(in), string(out))
		}
		for _, contentType := range []string{"text/css", "image/svg+xml"} {
			file.ContentType = contentType
			if out, err = mirror.Rewrite(t.Context(), file, in, site); err != nil || len(out) > 12*len(in)+1<<21 {
				t.Fatalf("%s: %d bytes became %d, %v", contentType, len(in), len(out), err)
			}
			if contentType == "text/css" && tagInStyle(out) {
				t.Fatalf("%q became a style with a tag: %q", in, out)
			}
		}
	})
}

// tagInStyle reports whether a style has text that begins a tag elsewhere.
func tagInStyle(css []byte) bool {
	for i := range css {
		if css[i] == '<' && i+1 < len(css) && bytes.IndexByte([]byte(" ="), css[i+1]) < 0 {
			return true
		}
	}
	return false
}
