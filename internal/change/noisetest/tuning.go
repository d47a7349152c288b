package noisetest

import (
	"fmt"
)

// The parts and templates on which the rules may be tuned. Each part has several
// markups; a template names its place.

func (d *draft) ad(i int) {
	a, label := d.ads[i], d.label(d.adLabels)
	if d.heldOut {
		d.heldOutAd(a, label)
		return
	}
	switch d.choose(7) {
	case 0:
		d.put(`<div class="ad-container"><span class="ad-label">%s</span><a href="%s"><strong>%s</strong></a><p>%s</p><a href="%s">%s</a></div>`, label, a.url, a.head, a.text, a.url, a.call)
	case 1:
		d.put(`<ins class="adsbygoogle" style="display:block"><a href="%s">%s</a> %s</ins>`, a.url, a.head, a.text)
	case 2:
		d.put(`<aside class="advertisement"><h4>%s</h4><p>%s <a href="%s">%s</a></p></aside>`, a.head, a.text, a.url, a.call)
	case 3:
		d.put(`<div id="banner-ad-%d" class="banner"><a href="%s"><img src="/i/%d.png" alt=""></a><div>%s</div><div>%s</div></div>`, i, a.url, len(a.text), a.head, a.text)
	case 4:
		d.put(`<div class="%s"><small>%s</small><div class="%s"><a href="%s">%s</a> %s</div></div>`, d.class(), label, d.class(), a.url, a.head, a.text)
	case 5:
		d.put(`<div class="sponsored-content box"><h4>%s</h4><p>%s</p><a class="btn" href="%s">%s</a></div>`, a.head, a.text, a.url, a.call)
	case 6:
		d.put(`<div class="%s"><div>%s</div><a href="%s"><h3>%s</h3><p>%s</p></a></div>`, d.class(), label, a.url, a.head, a.text)
	}
}

func (d *draft) clockPart() {
	if d.heldOut {
		d.heldOutClock()
		return
	}
	text := d.clock(d.now)
	switch d.choose(4) {
	case 0:
		d.put(`<span class="date">%s</span>`, text)
	case 1:
		d.put(`<div id="clock">%s</div>`, d.now.Format("15:04:05"))
	case 2:
		d.put(`<div class="topbar">%s</div>`, text)
	case 3:
		d.put(`<div class="current-date"><time datetime="%s">%s</time></div>`, d.now.Format("2006-01-02"), text)
	}
}

func (d *draft) stampPart() {
	if d.heldOut {
		d.heldOutStamp()
		return
	}
	switch d.choose(4) {
	case 0:
		d.put(`<p class="meta">%s</p>`, d.stamp())
	case 1:
		d.put(`<span class="updated"><time>%s</time></span>`, d.stamp())
	case 2:
		d.put(`<div class="%s"><span>%s</span> · <span>%s</span></div>`, d.class(), d.author, d.stamp())
	case 3:
		d.put(`<small>%s</small>`, d.stamp())
	}
}

func (d *draft) counter() {
	if d.heldOut {
		d.heldOutCounter()
		return
	}
	switch d.choose(5) {
	case 0:
		d.put(`<span class="views">%s</span>`, d.viewsText())
	case 1:
		d.put(`<div class="post-meta">%s · %s</div>`, d.date(d.published), d.viewsText())
	case 2:
		d.put(`<span class="view-count" title="views"><i class="icon-eye"></i> %s</span>`, d.count(d.views))
	case 3:
		d.put(`<p>%s | `+d.comments+`</p>`, d.viewsText(), d.shares)
	case 4:
		d.put(`<div class="%s"><span>%s</span><span>%s</span></div>`, d.class(), d.author, d.viewsText())
	}
}

func (d *draft) menu() {
	if d.heldOut {
		d.heldOutMenu()
		return
	}
	switch d.choose(5) {
	case 0:
		d.links(d.nav, `<nav><ul><li>`, `</li><li>`, `</li></ul></nav>`)
	case 1:
		d.links(d.nav, `<div id="menu"><ul><li>`, `</li><li>`, `</li></ul></div>`)
	case 2:
		d.links(d.nav, `<ul class="navbar-nav mr-auto"><li class="nav-item">`, `</li><li class="nav-item">`, `</li></ul>`)
	case 3:
		d.links(d.nav, fmt.Sprintf(`<div class="%s">`, d.class()), ` `, `</div>`)
	case 4:
		d.links(d.nav, `<div role="navigation" class="main-menu">`, ` | `, `</div>`)
	}
}

func (d *draft) breadcrumbs() {
	if d.heldOut {
		d.heldOutBreadcrumbs()
		return
	}
	switch d.choose(2) {
	case 0:
		d.links(d.trail, `<div class="breadcrumb">`, ` &raquo; `, `</div>`)
	case 1:
		d.links(d.trail, `<ol class="breadcrumbs" aria-label="breadcrumb"><li>`, `</li><li>`, `</li></ol>`)
	}
}

func (d *draft) relatedPart() {
	if d.heldOut {
		d.heldOutRelated()
		return
	}
	heading := d.label(d.relatedForms)
	switch d.choose(5) {
	case 0:
		d.put(`<div class="related-posts"><h3>%s</h3>`, heading)
		d.links(d.related, `<ul><li>`, `</li><li>`, `</li></ul></div>`)
	case 1:
		d.put(`<section class="recommended"><h2>%s</h2><div class="row">`, heading)
		for i, l := range d.related {
			d.put(`<div class="card"><a href="%s"><img src="/t/%d.jpg" alt=""><h4>%s</h4></a></div>`, l.url, i, l.text)
		}
		d.put(`</div></section>`)
	case 2:
		d.put(`<div class="%s"><div class="%s">%s</div>`, d.class(), d.class(), heading)
		for _, l := range d.related {
			d.put(`<div><a href="%s">%s</a></div>`, l.url, l.text)
		}
		d.put(`</div>`)
	case 3:
		d.put(`<h3>%s</h3>`, heading)
		d.links(d.related, `<ul class="links"><li>`, `</li><li>`, `</li></ul>`)
	case 4:
		d.put(`<aside><h2>%s</h2>`, heading)
		d.links(d.related, `<p>`, `</p><p>`, `</p></aside>`)
	}
}

// side is a column with the most read articles, and an advert.
func (d *draft) side() {
	if d.heldOut {
		d.heldOutSide()
		return
	}
	heading := d.label(d.relatedForms)
	switch d.choose(3) {
	case 0:
		d.put(`<div id="sidebar"><div class="widget"><h3>%s</h3>`, heading)
		d.links(d.popular, `<ol><li>`, `</li><li>`, `</li></ol></div>`)
		d.ad(2)
		d.put(`</div>`)
	case 1:
		d.put(`<aside class="sidebar col-md-4"><div class="popular"><h4>%s</h4>`, heading)
		d.links(d.popular, `<ul><li>`, `</li><li>`, `</li></ul></div>`)
		d.ad(2)
		d.put(`</aside>`)
	case 2:
		item := d.class()
		d.put(`<div class="%s"><div class="%s">%s</div><div>`, d.class(), d.class(), heading)
		for _, l := range d.popular {
			d.put(`<div class="%s"><a href="%s">%s</a></div>`, item, l.url, l.text)
		}
		d.put(`</div>`)
		d.ad(2)
		d.put(`</div>`)
	}
}

func (d *draft) foot() {
	if d.heldOut {
		d.heldOutFoot()
		return
	}
	links := append([]link{{d.sitelink, "/privacy"}}, d.nav[:3]...)
	switch d.choose(3) {
	case 0:
		d.links(links, `<footer><p>`, ` · `, `</p>`)
		d.put(`<p>© %d Example</p></footer>`, d.now.Year())
	case 1:
		d.links(links, `<div id="footer"><ul><li>`, `</li><li>`, `</li></ul>`)
		d.put(`<p>Page generated in 0.%03d seconds</p></div>`, d.pageTime)
	case 2:
		d.links(links, fmt.Sprintf(`<div class="site-footer %s">`, d.class()), ` `, `</div>`)
	}
	if d.choose(2) == 0 {
		d.put(`<div class="cookie-notice">%s <a href="/privacy">%s</a></div>`, d.cookie, d.sitelink)
	}
}

func (d *draft) list() {
	d.put(`<ul>`)
	for _, s := range d.items {
		d.put(`<li>%s</li>`, d.say(s))
	}
	d.put(`</ul>`)
}

func (d *draft) dataTable() {
	d.put(`<table class="table"><thead><tr>`)
	for _, cell := range d.table[0] {
		d.put(`<th>%s</th>`, cell)
	}
	d.put(`</tr></thead><tbody>`)
	for _, row := range d.table[1:] {
		d.put(`<tr>`)
		for _, cell := range row {
			d.put(`<td>%s</td>`, cell)
		}
		d.put(`</tr>`)
	}
	d.put(`</tbody></table>`)
}

// text writes the paragraphs with an advert after the second and the list before
// the last.
func (d *draft) text(adInside bool) {
	for i := range d.paragraphs {
		d.put(`<p>%s</p>`, d.paragraph(i))
		if i == 1 && adInside {
			d.ad(1)
		}
		if i == len(d.paragraphs)-2 {
			d.list()
		}
	}
	if len(d.paragraphs) < 2 {
		d.list()
	}
}

var tuning = []template{
	{name: "article", edits: all, write: func(d *draft) {
		d.documentHead("single")
		d.put(`<header><a class="logo" href="/">Example</a>`)
		d.clockPart()
		d.menu()
		d.form()
		d.put(`</header>`)
		d.ad(0)
		d.put(`<main><article><header>`)
		d.breadcrumbs()
		d.put(`<h1>%s</h1>`, d.title)
		d.stampPart()
		d.counter()
		d.put(`</header>`)
		d.text(true)
		d.dataTable()
		d.put(`<footer>`)
		d.relatedPart()
		d.put(`</footer></article></main>`)
		d.side()
		d.foot()
		d.documentEnd()
	}},
	{name: "blog", edits: textual, write: func(d *draft) {
		d.documentHead("post-template-default single single-post has-sidebar")
		d.put(`<div id="page" class="site"><div id="header"><h2><a href="/">Example</a></h2>`)
		d.clockPart()
		d.put(`</div>`)
		d.menu()
		d.put(`<div id="content" class="site-content"><div id="primary" class="content-area"><div class="post hentry"><h1 class="entry-title">%s</h1><div class="entry-meta">`, d.title)
		d.stampPart()
		d.counter()
		d.put(`</div><div class="entry-content">`)
		d.text(d.choose(2) == 0)
		d.put(`</div><div class="sharedaddy"><a href="/s?f">Share %d</a></div>`, d.shares)
		d.relatedPart()
		d.put(`</div></div>`)
		d.side()
		d.put(`</div>`)
		d.foot()
		d.put(`</div>`)
		d.documentEnd()
	}},
	{name: "docs", edits: all, write: func(d *draft) {
		d.documentHead("wy-body-for-nav")
		d.links(d.nav, `<div class="related" role="navigation" aria-label="related navigation"><ul><li>`, `</li><li>`, `</li></ul></div>`)
		d.put(`<div class="document"><div class="documentwrapper"><div class="bodywrapper"><div class="body" role="main"><section id="top"><h1>%s</h1>`, d.title)
		for i := range d.paragraphs {
			d.put(`<p>%s</p>`, d.paragraph(i))
			if i == 0 {
				d.put(`<div class="admonition note"><p class="admonition-title">Note</p><p>%s</p></div><pre>x = %d</pre>`, d.items[0].form, i)
			}
		}
		d.list()
		d.dataTable()
		d.put(`</section></div></div></div><div class="sphinxsidebar" role="navigation"><h3>%s</h3>`, d.navWords[0])
		d.links(d.popular, `<ul><li>`, `</li><li>`, `</li></ul></div></div>`)
		d.ad(0)
		d.put(`<div class="footer" role="contentinfo">`)
		d.stampPart()
		d.counter()
		d.put(`</div>`)
		d.documentEnd()
	}},
	{name: "shop item", edits: all, write: func(d *draft) {
		d.documentHead("product-page")
		d.put(`<div class="header container"><a href="/">Shop</a>`)
		d.clockPart()
		d.menu()
		d.put(`</div><div class="container">`)
		d.breadcrumbs()
		d.put(`<div class="row"><div class="col-md-6"><img src="/p.jpg" alt=""></div><div class="col-md-6 product-info"><h1>%s</h1><div class="price">%s</div>`, d.title, d.say(d.paragraphs[0][0]))
		d.form()
		d.list()
		d.counter()
		d.put(`</div></div><div class="tabs"><div id="description">`)
		for i := range d.paragraphs {
			d.put(`<p>%s</p>`, d.paragraph(i))
		}
		d.put(`</div><div id="specs">`)
		d.dataTable()
		d.put(`</div></div>`)
		d.stampPart()
		d.ad(0)
		d.relatedPart()
		d.put(`</div>`)
		d.foot()
		d.documentEnd()
	}},
	{name: "listing", edits: textual, write: func(d *draft) {
		d.documentHead("archive category")
		d.put(`<header class="masthead">`)
		d.menu()
		d.clockPart()
		d.put(`</header><div class="wrap"><h1>%s</h1>`, d.title)
		d.counter()
		d.ad(0)
		for i, s := range d.items {
			d.put(`<div class="result"><h3><a href="/r/%d">%s</a></h3><p class="snippet">%s</p></div>`, i, d.say(s), d.paragraph(i%len(d.paragraphs)))
		}
		for i := range d.paragraphs {
			d.put(`<div class="result"><h3><a href="/q/%d">%s</a></h3><p class="snippet">%s</p></div>`, i, d.title, d.paragraph(i))
		}
		d.put(`<div class="pagination"><a href="?page=2&amp;sid=%s">2</a> <a href="?page=3">3</a></div>`, d.session)
		d.stampPart()
		d.put(`</div>`)
		d.side()
		d.foot()
		d.documentEnd()
	}},
	{name: "forum thread", edits: words, write: func(d *draft) {
		d.documentHead("section-viewtopic ltr")
		d.put(`<div id="wrap"><div id="page-header"><a href="/index.php?sid=%s">Board</a>`, d.session)
		d.clockPart()
		d.put(`</div>`)
		d.breadcrumbs()
		d.menu()
		d.put(`<div id="page-body"><h2 class="topic-title">%s</h2><div class="action-bar">`, d.title)
		d.counter()
		d.put(`</div>`)
		for i := range d.paragraphs {
			d.put(`<div class="post" id="p%d"><div class="postprofile"><a href="/u/%d">%s</a><div>%s</div></div><div class="postbody"><p class="author">%s</p><div class="content">%s</div></div></div>`,
				i, i, d.author, d.navWords[i%5], d.age(3+i*7), d.paragraph(i))
			if i == 0 {
				d.ad(0)
			}
		}
		d.stampPart()
		d.put(`</div>`)
		d.relatedPart()
		d.foot()
		d.put(`</div>`)
		d.documentEnd()
	}},
	{name: "front page", edits: textual, write: func(d *draft) {
		d.documentHead("home")
		d.put(`<header><h1><a href="/">Example</a></h1>`)
		d.clockPart()
		d.menu()
		d.put(`</header><div class="stage">`)
		d.ad(0)
		for i, s := range d.items {
			d.put(`<div class="teaser"><a href="/n/%d"><h2>%s</h2></a><p>%s</p><span class="ago">%s</span></div>`, i, d.say(s), d.paragraph(i%len(d.paragraphs)), d.age(1+i))
		}
		for i := range d.paragraphs {
			d.put(`<div class="teaser"><p>%s <a href="/m/%d">%s</a></p></div>`, d.paragraph(i), i, d.readMore)
		}
		d.put(`</div>`)
		d.side()
		d.stampPart()
		d.counter()
		d.foot()
		d.documentEnd()
	}},
	{name: "tiny", edits: words, tiny: true, write: func(d *draft) {
		d.documentHead("")
		if d.choose(2) == 0 {
			d.put(`<h1>%s</h1>`, d.title)
		}
		d.put(`<p>%s</p>`, d.paragraph(0))
		d.counter()
		d.stampPart()
		d.ad(0)
		d.menu()
		d.documentEnd()
	}},
	{name: "table", edits: all, write: func(d *draft) {
		d.documentHead("")
		d.put(`<table width="100%%"><tr><td colspan="2"><b>Example</b>`)
		d.clockPart()
		d.put(`</td></tr><tr><td width="150" valign="top">`)
		d.menu()
		d.put(`</td><td valign="top"><h1>%s</h1>`, d.title)
		d.text(false)
		d.dataTable()
		d.ad(0)
		d.relatedPart()
		d.put(`</td></tr><tr><td colspan="2">`)
		d.stampPart()
		d.put(`<br>`)
		d.counter()
		d.put(`</td></tr></table>`)
		d.documentEnd()
	}},
	{name: "single-page application", edits: all, write: func(d *draft) {
		d.documentHead("")
		d.put(`<div id="root"><div class="%s"><div class="%s"><a href="/">Example</a>`, d.class(), d.class())
		d.menu()
		d.clockPart()
		d.put(`</div><div class="%s"><div class="%s"><h1>%s</h1><div class="%s">`, d.class(), d.class(), d.title, d.class())
		d.stampPart()
		d.counter()
		d.put(`</div><div class="%s">`, d.class())
		for i := range d.paragraphs {
			d.put(`<div class="%s"><span>%s</span></div>`, d.class(), d.paragraph(i))
			if i == 1 {
				d.ad(1)
			}
		}
		d.list()
		d.dataTable()
		d.put(`</div></div>`)
		d.relatedPart()
		d.put(`</div>`)
		d.side()
		d.foot()
		d.put(`</div></div>`)
		d.documentEnd()
	}},
}
