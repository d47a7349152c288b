// Package requisite decides which of the images, styles and fonts that a page refers to are
// kept with it. It is pure: extract reads the references, and schedule says when a copy is old.
package requisite

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"recrawl/internal/extract"
	"recrawl/internal/urlkey"
)

const (
	// MaxEach is the most requisites that one page or stylesheet brings.
	MaxEach = 100
	// MaxBytes is the most bytes of one: 5 MB.
	MaxBytes = 5_000_000
	// MaxSteps is the most steps from a page to a requisite: a reference of the page, of a
	// stylesheet, or a redirect. With three, a page's stylesheet may import another that
	// names the fonts.
	MaxSteps = 3
)

// Choose returns the references of a page or a stylesheet that are kept: those that it can
// least do without, each kind in the order of the body. The rest is cut.
func Choose(found []extract.Requisite) []extract.Requisite {
	chosen := slices.Clone(found)
	slices.SortStableFunc(chosen, func(a, b extract.Requisite) int { return cmp.Compare(a.Role, b.Role) })
	return chosen[:min(len(chosen), MaxEach)]
}

// WithoutPictures parts what a page refers to into styles and fonts, and pictures. What a style
// names is a picture unless its address ends like a font's.
func WithoutPictures(found []extract.Requisite) (rest, pictures []extract.Requisite) {
	for _, r := range found {
		if r.Role == extract.RoleStyle || r.Role == extract.RoleFont && isFont(r.URL) {
			rest = append(rest, r)
		} else {
			pictures = append(pictures, r)
		}
	}
	return rest, pictures
}

// fontEndings are those of the names of fonts.
var fontEndings = map[string]bool{".woff2": true, ".woff": true, ".ttf": true, ".otf": true, ".ttc": true, ".eot": true}

func isFont(raw string) bool {
	u, err := urlkey.Canonical(raw)
	return err == nil && fontEndings[strings.ToLower(path.Ext(u.Path()))]
}

// Leads reports whether what a requisite refers to, or redirects to, is kept too, if so many
// steps lead to it from a page.
func Leads(steps int) bool { return steps < MaxSteps }

// types are the media types that requisites come as.
var types = []string{
	"image/png", "image/jpeg", "image/jpg", "image/gif", "image/webp", "image/avif", "image/svg+xml", "image/x-icon", "image/vnd.microsoft.icon",
	"image/apng", "image/bmp", "image/jxl", "image/tiff", "text/css",
	"font/woff2", "font/woff", "font/ttf", "font/otf", "font/sfnt", "font/collection", "application/font-woff2", "application/font-woff",
	"application/x-font-woff", "application/x-font-ttf", "application/x-font-otf", "application/x-font-opentype", "application/x-font-truetype",
	"application/vnd.ms-opentype", "application/vnd.ms-fontobject", "application/font-sfnt",
}

// vague are the types of what a server knows nothing about.
var vague = []string{"application/octet-stream", "binary/octet-stream"}

// Types are the media types as which a requisite may come. One of a vague type is taken if
// its address says what it is.
func Types(u urlkey.URL) []string {
	if Looks(u) {
		return slices.Concat(types, vague)
	}
	return types
}

// endings are those of the names of images, styles and fonts.
var endings = map[string]bool{
	".png": true, ".jpg": true, ".jpeg": true, ".jpe": true, ".jfif": true, ".gif": true, ".webp": true, ".avif": true, ".svg": true, ".ico": true,
	".apng": true, ".bmp": true, ".jxl": true, ".tif": true, ".tiff": true, ".css": true,
	".woff2": true, ".woff": true, ".ttf": true, ".otf": true, ".ttc": true, ".eot": true,
}

// Looks reports whether an address looks like that of an image, a style or a font. Where
// pages both link to an address and show it, this decides which of the two it is to the
// crawl: a picture that is linked to would give no page, and a page that somebody shows as a
// picture, by mistake or to keep it out of the crawl, stays a page.
func Looks(u urlkey.URL) bool { return endings[strings.ToLower(path.Ext(u.Path()))] }
