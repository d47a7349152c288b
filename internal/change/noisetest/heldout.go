package noisetest

import "fmt"

// The parts and templates on which the rules were not tuned: their failures were
// not examined, only their rates.

func (d *draft) heldOutAd(a advert, label string) {
	switch d.choose(7) {
	case 0:
		d.put(`<div class="widget_text advads-placement"><div class="textwidget"><a href="%s">%s</a><br>%s</div></div>`, a.url, a.head, a.text)
	case 1:
		d.put(`<div data-ad-slot="1234" class="%s"><p>%s</p><h5>%s</h5><p>%s</p></div>`, d.class(), label, a.head, a.text)
	case 2:
		d.put(`<section aria-label="%s" class="%s"><a href="%s">%s</a><p>%s</p></section>`, label, d.class(), a.url, a.head, a.text)
	case 3:
		d.put(`<table align="center" class="ad728"><tr><td><font size="1">%s</font><br><a href="%s">%s</a> %s</td></tr></table>`, label, a.url, a.head, a.text)
	case 4:
		d.put(`<div class="mpu js-dfp"><div class="ad__label">%s</div><p><a href="%s">%s</a></p><p>%s</p></div>`, label, a.url, a.head, a.text)
	case 5:
		d.put(`<figure class="promo-box native-ad"><figcaption><b>%s</b> %s <a href="%s">%s</a></figcaption></figure>`, a.head, a.text, a.url, a.call)
	case 6:
		d.put(`<div class="%s"><span class="%s">%s</span><p class="%s">%s</p><a href="%s" rel="sponsored">%s</a></div>`, d.class(), d.class(), label, d.class(), a.text, a.url, a.head)
	}
}

func (d *draft) heldOutClock() {
	text := d.clock(d.now)
	switch d.choose(4) {
	case 0:
		d.put(`<time class="%s" datetime="%s">%s</time>`, d.class(), d.now.Format("2006-01-02T15:04"), text)
	case 1:
		d.put(`<p class="today">%s</p>`, text)
	case 2:
		d.put(`<div align="right"><font size="2">%s</font></div>`, text)
	case 3:
		d.put(`<div class="%s"><span>%s</span></div>`, d.class(), d.now.Format("2006-01-02 15:04:05"))
	}
}

func (d *draft) heldOutStamp() {
	switch d.choose(4) {
	case 0:
		d.put(`<div class="article__timestamp">%s</div>`, d.stamp())
	case 1:
		d.put(`<p><em>%s</em></p>`, d.stamp())
	case 2:
		d.put(`<div class="%s"><a href="/by">%s</a> | %s</div>`, d.class(), d.author, d.stamp())
	case 3:
		d.put(`<ul class="byline"><li>%s</li><li>%s</li></ul>`, d.date(d.published), d.stamp())
	}
}

func (d *draft) heldOutCounter() {
	switch d.choose(5) {
	case 0:
		d.put(`<li class="stats">%s</li>`, d.viewsText())
	case 1:
		d.put(`<p class="%s">%s, %s</p>`, d.class(), d.author, d.viewsText())
	case 2:
		d.put(`<div class="hit-counter">%s</div>`, d.count(d.views))
	case 3:
		d.put(`<div><em>%s</em> &bull; `+d.comments+`</div>`, d.viewsText(), d.shares)
	case 4:
		d.put(`<div title="views" class="%s"><svg><path d="M0 0"/></svg> %s</div>`, d.class(), d.viewsText())
	}
}

func (d *draft) heldOutMenu() {
	switch d.choose(5) {
	case 0:
		d.links(d.nav, `<table class="navtable"><tr><td>`, `</td><td>`, `</td></tr></table>`)
	case 1:
		d.links(d.nav, fmt.Sprintf(`<div class="%s"><ul><li>`, d.class()), `</li><li>`, `</li></ul></div>`)
	case 2:
		d.links(d.nav, `<div class="region region-primary-menu"><ul class="menu clearfix"><li>`, `</li><li>`, `</li></ul></div>`)
	case 3:
		d.links(d.nav, `<p align="center">[ `, ` | `, ` ]</p>`)
	case 4:
		d.links(d.nav, `<header class="md-header"><nav class="md-header__inner"><div class="md-tabs">`, ` `, `</div></nav></header>`)
	}
}

func (d *draft) heldOutBreadcrumbs() {
	switch d.choose(2) {
	case 0:
		d.links(d.trail, `<nav aria-label="Breadcrumbs"><ul class="pathway"><li>`, `</li><li>`, `</li></ul></nav>`)
	case 1:
		d.links(d.trail, `<p class="bread-crumb-trail">`, ` / `, `</p>`)
	}
}

func (d *draft) heldOutRelated() {
	heading := d.label(d.relatedForms)
	switch d.choose(5) {
	case 0:
		d.put(`<section class="block block-views"><h2 class="block-title">%s</h2><div class="view-content">`, heading)
		for _, l := range d.related {
			d.put(`<div class="views-row"><span class="field-content"><a href="%s">%s</a></span></div>`, l.url, l.text)
		}
		d.put(`</div></section>`)
	case 1:
		d.put(`<div class="jp-relatedposts"><p><strong>%s</strong></p>`, heading)
		d.links(d.related, `<div>`, `</div><div>`, `</div></div>`)
	case 2:
		d.put(`<section class="%s"><h2>%s</h2><ol>`, d.class(), heading)
		for i, l := range d.related {
			d.put(`<li><a href="%s"><img src="/r%d.webp" alt=""><div>%s</div></a></li>`, l.url, i, l.text)
		}
		d.put(`</ol></section>`)
	case 3:
		d.put(`<p><b>%s</b></p>`, heading)
		d.links(d.related, `<p>`, `<br>`, `</p>`)
	case 4:
		d.put(`<div data-component="related"><h4>%s</h4>`, heading)
		d.links(d.related, `<article><h5>`, `</h5></article><article><h5>`, `</h5></article></div>`)
	}
}

func (d *draft) heldOutSide() {
	heading := d.label(d.relatedForms)
	switch d.choose(3) {
	case 0:
		d.put(`<div class="region-sidebar-second"><div class="block"><h3>%s</h3>`, heading)
		d.links(d.popular, `<ul><li>`, `</li><li>`, `</li></ul></div>`)
		d.ad(2)
		d.put(`</div>`)
	case 1:
		d.put(`<aside><section><h2>%s</h2>`, heading)
		d.links(d.popular, `<div>`, `</div><div>`, `</div></section>`)
		d.ad(2)
		d.put(`</aside>`)
	case 2:
		d.put(`<div class="%s"><section><h4>%s</h4>`, d.class(), heading)
		d.links(d.popular, `<ul><li>`, `</li><li>`, `</li></ul></section>`)
		d.ad(2)
		d.put(`</div>`)
	}
}

func (d *draft) heldOutFoot() {
	links := append([]link{{d.sitelink, "/legal"}}, d.nav[:2]...)
	switch d.choose(3) {
	case 0:
		d.links(links, `<div id="colophon">`, ` · `, fmt.Sprintf(`<br>© %d</div>`, d.now.Year()))
	case 1:
		d.links(links, `<footer class="site-info"><ul><li>`, `</li><li>`, `</li></ul></footer>`)
	case 2:
		d.links(links, `<center><font size="1">`, ` | `, `</font></center>`)
	}
}

var heldOut = []template{
	{name: "portal article", edits: all, write: func(d *draft) {
		d.documentHead("path-node page-node-type-article")
		d.put(`<div class="layout-container"><header role="banner"><div class="region-header"><a href="/">Example</a>`)
		d.clockPart()
		d.put(`</div></header>`)
		d.menu()
		d.put(`<div class="region region-breadcrumb">`)
		d.breadcrumbs()
		d.put(`</div><div class="layout-main clearfix"><div class="layout-content"><div class="region region-content"><div class="node node--type-article"><h1 class="page-title">%s</h1>`, d.title)
		d.stampPart()
		d.counter()
		d.put(`<div class="field field--name-body">`)
		d.text(true)
		d.dataTable()
		d.put(`</div></div></div></div>`)
		d.side()
		d.put(`</div>`)
		d.relatedPart()
		d.foot()
		d.put(`</div>`)
		d.documentEnd()
	}},
	{name: "story platform", edits: textual, write: func(d *draft) {
		d.documentHead("")
		d.put(`<div id="__next"><div class="%s"><div class="%s"><a href="/">Stories</a>`, d.class(), d.class())
		d.form()
		d.menu()
		d.put(`</div><article class="%s"><div class="%s"><h1 class="%s">%s</h1><div class="%s">`, d.class(), d.class(), d.class(), d.title, d.class())
		d.stampPart()
		d.counter()
		d.put(`</div><section>`)
		d.text(d.choose(2) == 0)
		d.put(`</section></div></article><div class="%s">`, d.class())
		d.ad(0)
		d.relatedPart()
		d.put(`</div>`)
		d.clockPart()
		d.foot()
		d.put(`</div></div>`)
		d.documentEnd()
	}},
	{name: "handbook", edits: all, write: func(d *draft) {
		d.documentHead("docs-wrapper")
		d.menu()
		d.put(`<div class="main-wrapper"><aside class="theme-doc-sidebar-container">`)
		d.links(d.popular, `<ul class="menu__list"><li>`, `</li><li>`, `</li></ul></aside><main class="docMainContainer">`)
		d.breadcrumbs()
		d.put(`<div class="theme-doc-markdown markdown"><header><h1>%s</h1></header>`, d.title)
		for i := range d.paragraphs {
			d.put(`<h2 id="s%d">%s</h2><p>%s</p>`, i, d.navWords[i%5], d.paragraph(i))
			if i == 0 {
				d.put(`<aside class="tip" aria-label="Tip"><p>%s</p></aside>`, d.say(d.items[0]))
			}
		}
		d.list()
		d.dataTable()
		d.put(`</div>`)
		d.stampPart()
		d.counter()
		d.put(`</main><div class="toc"><a href="#s0">%s</a></div></div>`, d.navWords[0])
		d.ad(0)
		d.clockPart()
		d.foot()
		d.documentEnd()
	}},
	{name: "store", edits: all, write: func(d *draft) {
		d.documentHead("template-product")
		d.put(`<div class="announcement-bar"><p>%s</p></div>`, d.navWords[1])
		d.menu()
		d.clockPart()
		d.put(`<main id="MainContent" role="main"><section class="product-section"><div class="product__media"><img src="/m.webp" alt=""></div><div class="product__info"><h1>%s</h1><span class="price-item">%s</span>`, d.title, d.price(1999))
		d.form()
		d.put(`<div class="product__description rte">`)
		d.text(false)
		d.put(`</div><details open><summary>%s</summary>`, d.navWords[2])
		d.dataTable()
		d.put(`</details>`)
		d.counter()
		d.put(`</div></section>`)
		d.ad(0)
		d.relatedPart()
		d.put(`</main>`)
		d.stampPart()
		d.foot()
		d.documentEnd()
	}},
	{name: "classified list", edits: textual, write: func(d *draft) {
		d.documentHead("")
		d.menu()
		d.put(`<div class="content"><div class="bar">`)
		d.clockPart()
		d.counter()
		d.put(`</div><table class="listing"><tbody>`)
		for i, s := range d.items {
			d.put(`<tr class="row"><td>%s</td><td><a href="/v/%d">%s</a></td><td>%s</td></tr>`, d.date(d.published), i, d.say(s), d.age(i))
		}
		d.put(`</tbody></table>`)
		for i := range d.paragraphs {
			d.put(`<dl><dt><a href="/w/%d">%s</a></dt><dd>%s</dd></dl>`, i, d.title, d.paragraph(i))
		}
		d.stampPart()
		d.put(`</div>`)
		d.ad(0)
		d.relatedPart()
		d.foot()
		d.documentEnd()
	}},
	{name: "questions and answers", edits: words, write: func(d *draft) {
		d.documentHead("question-page unified-theme")
		d.put(`<header class="s-topbar">`)
		d.menu()
		d.clockPart()
		d.put(`</header><div class="container"><div id="left-sidebar">`)
		d.links(d.popular, `<ul><li>`, `</li><li>`, `</li></ul></div><div id="content"><div id="question-header"><h1><a href="/q/1">%s</a></h1></div>`)
		d.stampPart()
		d.counter()
		for i := range d.paragraphs {
			d.put(`<div class="answer"><div class="answercell"><div class="s-prose js-post-body"><p>%s</p></div><div class="user-info"><div>%s</div><a href="/users/%d">%s</a></div></div></div>`,
				d.paragraph(i), d.age(5+30*i), i, d.author)
			if i == 0 {
				d.ad(0)
			}
		}
		d.put(`</div><div id="right-bar">`)
		d.relatedPart()
		d.put(`</div></div>`)
		d.foot()
		d.documentEnd()
	}},
	{name: "magazine front page", edits: textual, write: func(d *draft) {
		d.documentHead("")
		d.put(`<div class="%s">`, d.class())
		d.clockPart()
		d.menu()
		d.put(`</div><main>`)
		for i, s := range d.items {
			d.put(`<article class="%s"><a href="/s/%d"><h3>%s</h3></a><p>%s</p><time>%s</time></article>`, d.hash, i, d.say(s), d.paragraph(i%len(d.paragraphs)), d.age(1+2*i))
			if i == 1 {
				d.ad(0)
			}
		}
		for i := range d.paragraphs {
			d.put(`<article class="%s"><p>%s</p></article>`, d.hash, d.paragraph(i))
		}
		d.put(`</main>`)
		d.stampPart()
		d.counter()
		d.side()
		d.foot()
		d.documentEnd()
	}},
	{name: "notice", edits: words, tiny: true, write: func(d *draft) {
		d.documentHead("")
		d.menu()
		d.put(`<center><h2>%s</h2><p>%s</p></center>`, d.title, d.paragraph(0))
		d.stampPart()
		d.counter()
		d.ad(0)
		d.documentEnd()
	}},
	{name: "standings", edits: all, write: func(d *draft) {
		d.documentHead("")
		d.put(`<div id="wrapper">`)
		d.menu()
		d.clockPart()
		d.put(`<div id="main"><h1>%s</h1>`, d.title)
		d.put(`<table class="wikitable sortable"><caption>%s</caption><tbody>`, d.navWords[0])
		for _, row := range d.table {
			d.put(`<tr>`)
			for i, cell := range row {
				if i == 0 {
					d.put(`<td><a href="/t">%s</a></td>`, cell)
					continue
				}
				d.put(`<td align="right">%s</td>`, cell)
			}
			d.put(`</tr>`)
		}
		d.put(`</tbody></table>`)
		d.text(false)
		d.stampPart()
		d.counter()
		d.put(`</div>`)
		d.ad(0)
		d.side()
		d.put(`</div>`)
		d.documentEnd()
	}},
	{name: "page of the nineties", edits: all, write: func(d *draft) {
		d.documentHead("")
		d.put(`<center><img src="/logo.gif" alt=""></center>`)
		d.menu()
		d.clockPart()
		d.put(`<hr><font face="Arial"><b>%s</b><br><br>`, d.title)
		for i := range d.paragraphs {
			d.put(`%s<br><br>`, d.paragraph(i))
		}
		d.list()
		d.dataTable()
		d.put(`</font><hr>`)
		d.relatedPart()
		d.ad(0)
		d.counter()
		d.put(`<br>`)
		d.stampPart()
		d.foot()
		d.documentEnd()
	}},
}
