// Package mirror rewrites a site's files so that they can be browsed from a folder, without
// a network: references lead to the files beside them, and nothing in them can run.
//
// The output depends only on the bytes, the page's address, and the places of other pages.
// Time and memory are linear in the bytes, whatever a hostile page holds.
package mirror

import (
	"context"
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/extract"
	"recrawl/internal/urlkey"
)

// Paths knows which pages are in a mirror.
type Paths interface {
	// Path returns the path with slashes of the page of a URL in the mirror, "" if it is
	// not in it.
	Path(ctx context.Context, u urlkey.URL) (string, error)
}

// File is a page or a requisite on its way into a mirror.
type File struct {
	URL         string // canonical
	Path        string // its path in the mirror, with slashes
	ContentType string // as its answer says
}

// kind is how a file is rewritten.
type kind int

const (
	kindOther kind = iota // unchanged
	kindHTML
	kindCSS
	kindSVG
)

func kindOf(media string) kind {
	switch media {
	case "", "text/html", "application/xhtml+xml": // a body without a type is read as HTML
		return kindHTML
	case "text/css":
		return kindCSS
	case "image/svg+xml":
		return kindSVG
	}
	return kindOther
}

// Rewrites reports whether Rewrite changes files of a type; others may be copied.
func Rewrites(contentType string) bool {
	return kindOf(crawl.ParseMediaType(contentType).Type) != kindOther
}

// Rewrite returns the mirror's version of a body. The error is that of at, or says that the
// body could not be decoded.
func Rewrite(ctx context.Context, f File, body []byte, at Paths) ([]byte, error) {
	media := crawl.ParseMediaType(f.ContentType)
	kind := kindOf(media.Type)
	if kind == kindOther {
		return body, nil
	}
	text, err := extract.Decoded(body, f.ContentType)
	if err != nil {
		return nil, err
	}
	l := newLinks(ctx, f, at, len(text))
	var out []byte
	switch kind {
	case kindHTML:
		out = rewriteHTML(text, l, media.Type == "application/xhtml+xml")
	case kindCSS:
		out = []byte(l.css(strings.TrimPrefix(string(text), "\uFEFF")))
	case kindSVG:
		out = rewriteSVG(text, l)
	}
	return out, l.err
}

// extensions of the media types that browsers show, except those that could run something:
// browsers open a file by its extension.
var extensions = map[string]string{
	"": ".html", "text/html": ".html", "application/xhtml+xml": ".html", "text/css": ".css", "text/plain": ".txt",
	"text/csv": ".csv", "text/markdown": ".md", "application/json": ".json", "application/pdf": ".pdf",
	"text/javascript": ".txt", "application/javascript": ".txt", "application/x-javascript": ".txt", "application/ecmascript": ".txt",
	"image/png": ".png", "image/jpeg": ".jpg", "image/jpg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/avif": ".avif",
	"image/bmp": ".bmp", "image/x-icon": ".ico", "image/vnd.microsoft.icon": ".ico", "image/svg+xml": ".svg",
	"font/woff2": ".woff2", "font/woff": ".woff", "font/ttf": ".ttf", "font/otf": ".otf",
	"application/font-woff2": ".woff2", "application/font-woff": ".woff", "application/x-font-woff": ".woff",
	"application/x-font-ttf": ".ttf", "application/x-font-otf": ".otf", "application/vnd.ms-fontobject": ".eot",
	"audio/mpeg": ".mp3", "audio/ogg": ".ogg", "video/mp4": ".mp4", "video/webm": ".webm", "text/vtt": ".vtt",
}

// Extension returns the extension for the file of a media type. XML is plain text: among
// its elements there may be scripts of XHTML.
func Extension(contentType string) string {
	media := crawl.ParseMediaType(contentType).Type
	if ext, ok := extensions[media]; ok {
		return ext
	}
	if strings.HasSuffix(media, "xml") || strings.HasPrefix(media, "text/") {
		return ".txt"
	}
	return ".bin"
}
