package noisetest

import (
	"fmt"
	"html"
	"math/rand/v2"
	"strings"
	"time"
)

// draft writes one rendering. Its style is drawn from a separate source, with the
// same draws for both renderings of a pair, so that only the content differs.
type draft struct {
	strings.Builder
	*content
	style   *rand.Rand
	heldOut bool
	// hash is a class name as build tools make them, fixed for a page.
	hash string
}

func newDraft(c *content, seed uint64, heldOut bool) *draft {
	style := rand.New(rand.NewPCG(seed, 0x5717E))
	return &draft{content: c, style: style, heldOut: heldOut, hash: fmt.Sprintf("%06x", style.IntN(1<<24))}
}

// put writes a format; strings are escaped, except those of type markup.
func (d *draft) put(format string, args ...any) {
	for i, a := range args {
		switch v := a.(type) {
		case string:
			args[i] = html.EscapeString(v)
		case markup:
			args[i] = string(v)
		}
	}
	fmt.Fprintf(d, format, args...)
}

// markup is text that is HTML already.
type markup string

// choose draws a number below n for the style.
func (d *draft) choose(n int) int { return d.style.IntN(n) }

// label draws one of the wordings of this half.
func (d *draft) label(wordings []string) string {
	own := half(wordings, d.heldOut)
	return own[d.choose(len(own))]
}

// class is a meaningless class name, as CSS modules and the like make.
func (d *draft) class() string {
	forms := []string{"css-%s%d", "sc-%s%d", "_%s_%d", "styles_%s__%d", "x%s%d"}
	return fmt.Sprintf(forms[d.choose(len(forms))], d.hash, d.choose(1000))
}

func (d *draft) links(list []link, before, between, after string) {
	d.WriteString(before)
	for i, l := range list {
		if i > 0 {
			d.WriteString(between)
		}
		d.put(`<a href="%s">%s</a>`, l.url, l.text)
	}
	d.WriteString(after)
}

// stamp is a line that says when the page was updated: relative or absolute.
func (d *draft) stamp() string {
	form := d.label(d.stampForms)
	if d.choose(2) == 0 {
		return fmt.Sprintf(form, d.ago(d.now.Sub(d.updated)))
	}
	at := d.updated
	return fmt.Sprintf(form, d.date(at)+" "+at.Format(d.clockForm))
}

// age is how long ago a contribution was written, as forums and blogs show it.
func (d *draft) age(hours int) string {
	return d.ago(d.now.Sub(d.origin) + time.Duration(hours)*time.Hour)
}

func (d *draft) viewsText() string {
	return fmt.Sprintf(d.label(d.viewForms), d.count(d.views))
}

// documentHead writes the part before the body, with the differences between any
// two renderings of a real site.
func (d *draft) documentHead(bodyClass string) {
	d.put(`<!DOCTYPE html><html lang="%s"><head><meta charset="utf-8"><title>%s</title>`, d.code, d.title)
	d.put(`<meta name="csrf-token" content="%s"><link rel="stylesheet" href="/style.css?v=%s"><script nonce="%s">var t = %d;</script></head><body class="%s">`,
		d.session, d.session[:6], d.session, d.now.Unix(), bodyClass)
}

func (d *draft) documentEnd() {
	d.put(`<script>track("%s")</script></body></html>`, d.session)
}

// form is a search form with a hidden token.
func (d *draft) form() {
	d.put(`<form action="/search"><input type="hidden" name="token" value="%s"><input name="q"></form>`, d.session)
}
