package testsite

import (
	"bytes"
	"fmt"
	"html/template"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
)

// Pictures is a site that shows pictures, in all the ways in which pages and stylesheets
// name what they need. It has two hosts under localhost: "gallery" with pages, and "cdn"
// with pictures only. One picture is forbidden by robots.txt, one is too large, one is
// gone, and one has moved. Edition changes the first page.
type Pictures struct {
	edition atomic.Int64
	// Answer, if set, is asked before each picture is answered; it may wait.
	Answer func(r *http.Request)
}

// TooLarge is the size of the picture that is too large to be kept.
const TooLarge = 6_000_000

// Edit makes another edition of the first page.
func (p *Pictures) Edit() { p.edition.Add(1) }

// ServeHTTP implements http.Handler.
func (p *Pictures) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, port := splitHost(r.Host)
	answer, ok := picturePaths()[r.URL.Path]
	switch {
	case r.URL.Path == "/robots.txt":
		fmt.Fprint(w, "User-agent: *\nDisallow: /private/\n")
	case strings.HasPrefix(name, "gallery.") && r.URL.Path == "/":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, galleryPage, p.edition.Load(), template.HTMLEscapeString(origin("cdn.localhost", port)))
	case !ok:
		http.NotFound(w, r)
	default:
		if p.Answer != nil && !strings.HasSuffix(r.URL.Path, ".html") {
			p.Answer(r)
		}
		answer(w, r)
	}
}

const galleryPage = `<!doctype html><html lang="en"><head><title>Gallery</title>
<link rel="stylesheet" href="/style.css"><link rel="icon" href="/icon.png">
<style>h1 { background: url("/heading.png") } /* url(/comment.png) */</style></head>
<body><h1>Gallery, edition %d</h1>
<p>Pictures of all kinds hang here, and some of them hang elsewhere.</p>
<img src="/photo.png" srcset="/photo-2x.png 2x, /photo-3x.png 3x" alt="A photo">
<picture><source srcset="/wide.png" media="(min-width: 50em)"><img src="/copy.png" alt="The same photo"></picture>
<img src="%s/off.png" alt="A picture of another host">
<img src="/private/secret.png" alt=""><img src="/huge.png" alt=""><img src="/gone.png" alt=""><img src="/moved.png" alt="">
<a href="/full.png"><img src="/full.png" alt=""></a>
<img src="/second.html" alt="A page by mistake"><a href="/second.html">Second</a>
<p style="background: url('/styled.png')">That is all of them for today.</p>
<template><img src="/inert.png"></template><img src="data:image/png;base64,AAAA">
</body></html>`

const secondPage = `<!doctype html><title>Second</title><link rel="stylesheet" href="/style.css"><h1>Second</h1>
<p>This page shows a photo that the first has, too.</p><img src="/photo.png" alt="A photo"><a href="/">First</a>`

// picturePaths are the paths besides the first page.
var picturePaths = sync.OnceValue(func() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"/second.html":   typed("text/html; charset=utf-8", []byte(secondPage)),
		"/style.css":     typed("text/css", []byte(`@import "sub/more.css"; @font-face { font-family: A; src: url(fonts/a.woff2) format("woff2") } body { background: URL( 'ground.png' ) }`)),
		"/sub/more.css":  typed("text/css", []byte(`p { background-image: image-set("deep.png" 1x) } @import url(not/an.css`)),
		"/fonts/a.woff2": typed("font/woff2", []byte("wOF2 is how a font begins")),
		"/photo.png":     picture(1), "/copy.png": picture(1), "/photo-2x.png": picture(2), "/photo-3x.png": picture(3), "/wide.png": picture(4),
		"/heading.png": picture(5), "/icon.png": picture(6), "/ground.png": picture(7), "/sub/deep.png": picture(8), "/full.png": picture(9),
		"/off.png": picture(10), "/private/secret.png": picture(11), "/styled.png": picture(12), "/target.png": picture(13),
		"/huge.png":  typed("image/png", make([]byte, TooLarge)),
		"/moved.png": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/target.png", http.StatusFound) },
	}
})

// typed answers with a body and its type, and 304 to clients that have it.
func typed(mediaType string, body []byte) http.HandlerFunc {
	etag := fmt.Sprintf(`"%d"`, len(body))
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", etag)
		if r.Header.Get("If-None-Match") == etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Type", mediaType)
		w.Write(body)
	}
}

// picture serves the picture of a number: a square of its own colour.
func picture(n int) http.HandlerFunc {
	const side = 40
	square := image.NewRGBA(image.Rect(0, 0, side, side))
	for i := range side * side {
		square.Set(i%side, i/side, color.RGBA{uint8(17 * n), uint8(255 - 19*n), uint8(90 * n), 255})
	}
	var body bytes.Buffer
	if err := png.Encode(&body, square); err != nil { // a buffer takes everything
		panic(err)
	}
	return typed("image/png", body.Bytes())
}
