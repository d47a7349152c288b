package sim

import (
	"bytes"
	"fmt"
	"math"
	"strings"
)

// svg is a drawing that stands alone: no style sheets, no fonts of its own.
type svg struct {
	body          bytes.Buffer
	width, height float64
	title         string
}

const fontFamily = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"

// Colours of everything but policies.
const (
	ink   = "#222222"
	faint = "#666666"
	grid  = "#e3e3e3"
	shade = "#f4f4f4"
)

// bytes returns the finished file.
func (s *svg) bytes() []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" width="%s" height="%s" role="img" font-family="%s" font-size="12">`+"\n",
		px(s.width), px(s.height), px(s.width), px(s.height), fontFamily)
	fmt.Fprintf(&out, "<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n", escape(s.title))
	out.Write(s.body.Bytes())
	out.WriteString("</svg>\n")
	return out.Bytes()
}

// escape makes a text fit for XML.
func escape(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(text)
}

// px writes a length in tenths of a pixel.
func px(x float64) string {
	text := fmt.Sprintf("%.1f", x)
	return strings.TrimSuffix(text, ".0")
}

// anchor is the part of a text that is at its place.
type anchor string

const (
	left   anchor = "start"
	centre anchor = "middle"
	right  anchor = "end"
)

func (s *svg) text(x, y float64, at anchor, colour, more, text string) {
	fmt.Fprintf(&s.body, `<text x="%s" y="%s" text-anchor="%s" fill="%s"%s>%s</text>`+"\n", px(x), px(y), at, colour, more, escape(text))
}

// upright writes a text that is read from below.
func (s *svg) upright(x, y float64, text string) {
	s.text(x, y, centre, ink, fmt.Sprintf(` transform="rotate(-90 %s %s)"`, px(x), px(y)), text)
}

func (s *svg) line(x1, y1, x2, y2 float64, colour string, width float64) {
	fmt.Fprintf(&s.body, `<line x1="%s" y1="%s" x2="%s" y2="%s" stroke="%s" stroke-width="%s"/>`+"\n", px(x1), px(y1), px(x2), px(y2), colour, px(width))
}

func (s *svg) rect(x, y, w, h float64, colour string) {
	fmt.Fprintf(&s.body, `<rect x="%s" y="%s" width="%s" height="%s" fill="%s"/>`+"\n", px(x), px(y), px(w), px(h), colour)
}

func (s *svg) dot(x, y, r float64, colour string) {
	fmt.Fprintf(&s.body, `<circle cx="%s" cy="%s" r="%s" fill="%s"/>`+"\n", px(x), px(y), px(r), colour)
}

// path draws a line through points; a NaN interrupts it.
func (s *svg) path(xs, ys []float64, look pen) {
	var d strings.Builder
	next := "M"
	for i := range xs {
		if math.IsNaN(xs[i]) || math.IsNaN(ys[i]) {
			next = "M"
			continue
		}
		d.WriteString(next + px(xs[i]) + " " + px(ys[i]))
		next = "L"
	}
	dash := ""
	if look.dash != "" {
		dash = ` stroke-dasharray="` + look.dash + `"`
	}
	fmt.Fprintf(&s.body, `<path d="%s" fill="none" stroke="%s" stroke-width="%s" stroke-linejoin="round"%s/>`+"\n", d.String(), look.colour, px(look.width), dash)
}

// pen is the style of a line.
type pen struct {
	colour string
	width  float64
	dash   string
}
