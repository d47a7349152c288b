package exporttest

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/export"
)

// Site is a crawl of a site with styles, pictures, a picture of another host and a font,
// for tests that display it: https://site.test/ and https://site.test/about, visited twice.
func Site(font []byte) *Memory {
	m := &Memory{}
	pages := []struct {
		url, contentType string
		body             []byte
		requisite        bool
	}{
		{"https://site.test/", "text/html; charset=utf-8", []byte(siteHome), false},
		{"https://site.test/about", "text/html; charset=utf-8", []byte(siteAbout), false},
		{"https://site.test/css/style.css", "text/css", []byte(siteStyle), true},
		{"https://site.test/css/more.css", "text/css", []byte("main { background: url('../img/tile.png?v=2') } h1 { color: rgb(0, 0, 200) }\n"), true},
		{"https://site.test/img/r%C3%B8d.png", "image/png", square(color.RGBA{200, 0, 0, 255}), true},
		{"https://site.test/img/green.png", "image/png", square(color.RGBA{0, 150, 0, 255}), true},
		{"https://site.test/img/tile.png?v=2", "image/png", square(color.RGBA{255, 240, 200, 255}), true},
		{"https://site.test/font/serif.ttf", "font/ttf", font, true},
		{"https://cdn.test/logo.svg", "image/svg+xml", []byte(siteLogo), true},
	}
	for i, p := range pages {
		digest := m.Put(p.body)
		x := export.Exchange{
			Page: int64(i) + 1, URL: p.url, Visit: 1, At: Start, Outcome: crawl.OutcomeNew, Status: 200, Digest: digest,
			Stands: true, Requisite: p.requisite, Bytes: int64(len(p.body)), Protocol: "http/1.1",
			Response: fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Security-Policy: script-src 'unsafe-inline'\r\n\r\n", p.contentType),
			Version:  export.Version{Seq: 1, Visit: 1, At: Start, Digest: digest, Bytes: int64(len(p.body)), ContentType: p.contentType},
		}
		if strings.Contains(p.url, "%") { // asked for as its page spells it
			x.Request = []byte("GET /img/r%c3%b8d.png HTTP/1.1\r\nHost: site.test\r\n\r\n")
		}
		if !p.requisite {
			x.Version.Title = []string{"The home page", "About"}[i]
		}
		m.Visits = append(m.Visits, x)
		if !p.requisite {
			again := x
			again.Visit, again.Outcome, again.Status, again.At = 2, crawl.OutcomeUnchanged, 304, Start.AddDate(0, 0, 1)
			again.Response = []byte("HTTP/1.1 304 Not Modified\r\n\r\n")
			m.Visits = append(m.Visits, again)
		}
	}
	return m
}

const siteHome = `<!DOCTYPE html>
<html lang="en"><head><title>The home page</title>
<link rel="stylesheet" href="/css/style.css" integrity="sha256-AAAA">
<base href="https://site.test/img/">
</head><body onload="document.title = 'handler ran'">
<main><h1>The home page</h1>
<p id="out">no script</p>
<p><img id="red" src="r%c3%b8d.png" width="60" height="60" alt="red">
<img id="green" src="r%c3%b8d.png" srcset="none.png 3x, green.png 1x" width="60" height="60" alt="green">
<img id="logo" src="//cdn.test/logo.svg" width="120" height="60" alt="logo">
<img id="lost" src="lost.png" width="60" height="60" alt="lost"></p>
<p><a id="about" href="../about#more">About</a> · <a id="away" href="https://elsewhere.test/">Elsewhere</a></p>
<script>document.getElementById("out").textContent = "script ran"</script>
</main></body></html>
`

const siteAbout = `<!DOCTYPE html>
<html lang="en"><head><title>About</title><style>@import "/css/style.css";</style></head>
<body><main><h1>About</h1><p id="more">Words about the site.</p><p><a id="home" href="/">Home</a></p></main></body></html>
`

const siteStyle = `@import "more.css";
@font-face { font-family: Archive; src: url(../font/serif.ttf) format("truetype") }
body { margin: 0; font: 20px/1.5 Archive, sans-serif }
main { padding: 2em; min-height: 20em }
`

const siteLogo = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 60" width="120" height="60"><script>alert(1)</script>` +
	`<rect width="120" height="60" rx="12" fill="#639"/><circle cx="60" cy="30" r="18" fill="#fd0"/></svg>`

func square(c color.Color) []byte {
	img := image.NewRGBA(image.Rect(0, 0, 16, 16))
	for x := range 16 {
		for y := range 16 {
			img.Set(x, y, c)
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err) // a bytes.Buffer takes everything
	}
	return b.Bytes()
}
