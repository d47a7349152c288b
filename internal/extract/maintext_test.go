package extract

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// prose is a sentence of running text; n makes it unique.
func prose(n int) string {
	return fmt.Sprintf("Sentence %d has as many words as it takes to be known for running text, and some more.", n)
}

// article is a page of running text with something around it.
func article(before, after string) string {
	return before + "<div><h1>Title</h1><p>" + prose(1) + "<p>" + prose(2) + "<p>" + prose(3) + "<p>" + prose(4) + "</div>" + after
}

// paragraphs is the text of such a page if everything around it is left out.
var paragraphs = "Title\n" + prose(1) + "\n" + prose(2) + "\n" + prose(3) + "\n" + prose(4)

func TestMainText(t *testing.T) {
	const links = "<ul><li><a href=a>Of the harbour</a><li><a href=b>A new bridge</a><li><a href=c>Winter in the valley</a></ul>"
	p1, p2 := "<p>"+prose(1), "<p>"+prose(2)
	cases := []struct{ name, body, want string }{
		// By element and role.
		{"around the main part", "<div>before</div><main>the main text</main><p>after", "the main text"},
		{"running text around the main part", "<h1>Title</h1><main>the main text</main>" + p1, "Title\nthe main text\n" + prose(1)},
		{"a main part that is none", "<main>Search</main>" + p1 + p2 + "<p>short", "Search\n" + prose(1) + "\n" + prose(2) + "\nshort"},
		{"a form that ends before what is in it", "<div><main>text<form><div>Search</form></div><p>12 euros</main></div>", "text\nSearch\n12 euros"},
		{"several main parts", "<p>x</p><main>one</main><div role=main>two</div>", "one\ntwo"},
		{"navigation in the main part", "<main>text<nav>menu</nav></main>", "text"},
		{"roles", "<div role=banner>b</div><ul role=navigation><li>n</ul><p>text<div role=contentinfo>f</div>", "text"},
		{"the site's name in the page's header", "<header><h1><a href=/>Site</a></h1><p>12:03</header><p>text", "Site\ntext"},
		{"the site's name in a page's header with links", "<header><h1>Site</h1><p>12:03" + links + "<a href=d>Home</a></header><p>text", "Site\ntext"},
		{"the title of the text in a header", "<header><h1>Title</h1><p>12 euros a month<p><a href=x>Order</a></header><p>text", "Title\n12 euros a month\ntext"},
		{"running text in the page's header", "<header>" + p1 + "<p>12:03</header><p>text", prose(1) + "\ntext"},
		{"header and footer of an article", "<article><header>by Ann</header>text<footer>tags</footer></article>", "by Ann\ntext\ntags"},
		{"an aside in an article", "<article>text<aside>note</aside></article>", "text\nnote"},
		{"links in an aside of an article", "<article>text<aside>" + links + "</aside></article>", "text"},
		{"a section that begins in the page's header", "<div id=header><h1>tool(1)</h1><h2>Name</h2><p>tool - does it<p><a href=x>Home</a></div>" + p1, "tool(1)\nName\ntool - does it\n" + prose(1)},
		{"a page in a header that does not end", "<div class=header><ul><li>Site</ul>" + p1 + p2 + p1 + "<table><tr><td>char<td>8 bits</table></div><div class=footer><div class=footer>" + strings.Repeat(p1, 3) + "</div></div>", "Site\n" + prose(1) + "\n" + prose(2) + "\n" + prose(1) + "\nchar\n8 bits"},
		{"a page in a menu that does not end", "<nav>" + links + "<p>Open from 12" + p1 + p2 + p1 + p2, "Of the harbour\nA new bridge\nWinter in the valley\nOpen from 12\n" + prose(1) + "\n" + prose(2) + "\n" + prose(1) + "\n" + prose(2)},
		{"a window around all", "<div role=dialog>" + p1 + "<p>Allow</div>", prose(1)},
		{"footnotes with links", "<main>" + p1 + `<aside class=footnote-list><aside class=footnote role=note><a href=#1>1</a><p>See <a href=x>the law</a></aside></aside></main>`, prose(1) + "\n1\nSee the law"},
		{"a short warning outside of an article", p1 + "<aside class=warning>Closed on Sunday</aside>", prose(1) + "\nClosed on Sunday"},
		{"head and foot of a section", p1 + `<section><header><h2>Open from 12</h2></header>` + "<p>tea<footer>Fee: 12 euros</footer></section>", prose(1) + "\nOpen from 12\ntea\nFee: 12 euros"},
		{"head and foot in a section of all", "<section><header><p>12:03</header>" + p1 + "<footer>about us</footer></section>", prose(1)},
		{"heads and feet of two cards", `<div class=plan><div class=header>Basic</div><p>5 euros</div> <div class="plan popular"><div class=header>Pro</div><p>12 euros<div class=footer>with tea</div></div><div class=plan><div class=footer>with milk</div></div>`, "Basic\n5 euros\nPro\n12 euros\nwith tea\nwith milk"},
		{"the head of the page beside its text", `<div class=wrap><div class=header>Site</div></div><div class=wrap>` + p1 + `</div>`, prose(1)},
		{"feet of cards", p1 + strings.Repeat(`<div class=card><p>tea<div class=footer>12 euros</div></div>`, 3), prose(1) + strings.Repeat("\ntea\n12 euros", 3)},
		// By class and id.
		{"advert by class", p1 + `<div class="col banner-ad">Buy <a href=x>this</a></div>`, prose(1)},
		{"advert by attribute", p1 + `<div data-ad-slot=1>Buy this</div>`, prose(1)},
		{"advert in a line", `<p>text <span class=adUnit>Buy</span> and more`, "text and more"},
		{"a page of small ads", `<div class=ad>a boat</div><div class=ad>a car</div><div class=ad>a house</div>`, "a boat\na car\na house"},
		{"a small ad", `<h1>A boat</h1><div class=ad-details><p class=ad-price>120 euros</p><p class=ad-text>With oars<p><a href="mailto:a@b.example">Write to Ann</a></div>`, "A boat\n120 euros\nWith oars\nWrite to Ann"},
		{"small ads with prices", strings.Repeat(`<div class=ad><span class=ad-title>a boat</span> <b class=ad-price>120 euros</b></div>`, 3), "a boat 120 euros\na boat 120 euros\na boat 120 euros"},
		{"shares of a vote", p1 + `<p>Yes <span class=share>45 %</span>, no <span class=share>55 %</span><div class=share>Share this</div>`, prose(1) + "\nYes 45 %, no 55 %"},
		{"an advert that is too long for one", `<div class=ad>` + strings.Repeat(p1, 30) + "</div><p>text", strings.Repeat(prose(1)+"\n", 30) + "text"},
		{"an advert around the title", `<div class=ad><h1>Title</h1>text</div>`, "Title\ntext"},
		{"machine-made names", `<p class=css-3ad91>text</p><p class="ad_9f3e xad1">more</p><p class=md-ad4471>rest`, "text\nrest"},
		{"a menu", p1 + `<div id=mainMenu>` + links + `</div>`, prose(1)},
		{"a menu of dishes", `<div class=menu><p>Soup 4.50<p>Fish 12.00</div>`, "Soup 4.50\nFish 12.00"},
		{"related links", p1 + `<div class=related-posts>` + links + `</div>`, prose(1)},
		{"the popular one of three plans", p1 + `<div><div class=plan><h3>Basic</h3><p>5 €<a href=a>Choose plan</a></div><div class="plan plan--popular recommended"><h3>Pro</h3><p>12 €<a href=b>Choose plan</a></div></div>`, prose(1) + "\nBasic\n5 €Choose plan\nPro\n12 €Choose plan"},
		{"the latest news beside an article", article("", "<div><h2>Latest news</h2>"+links+"</div>"), paragraphs},
		{"the latest news of a front page", "<h1>Site</h1><p>Daily<div><h2>Latest news</h2>" + links + "</div><div><h2>Most read</h2>" + links + "</div>", "Site\nDaily\nLatest news\nOf the harbour\nA new bridge\nWinter in the valley"},
		{"what other customers bought", article("", "<div><h2>16 other products in the same category:</h2>"+links+"</div>"), paragraphs},
		{"a sum that tells people from programs", p1 + `<form action=/c>Your name <input><div class="captcha form-item"><label>Math question</label> 7 + 8 = <input></div></form><p class=captcha>Solved by all`, prose(1) + "\nYour name\nSolved by all"},
		{"data that nobody sees", p1 + `<div style="display: none">{"csrf":"3f2a"}</div><code class=hidden>9f8a7b6c5d4e3f2a1b</code><p style="display:none">Sold out</p><p>{x}`, prose(1) + "\nSold out\n{x}"},
		{"related work", p1 + `<div class=related-work>` + p2 + ` See <a href=x>there</a>.</div>`, prose(1) + "\n" + prose(2) + " See there."},
		{"a side column", p1 + `<div id=sidebar>` + links + `<p>Opens at 9</div>`, prose(1) + "\nOpens at 9"},
		{"a box in the text", "<article><h1>Title</h1>" + strings.Repeat(p1, 5) + `<div class=sidebar>` + p2 + `<p><a href=x>the source</a></div></article>`, "Title\n" + strings.Repeat(prose(1)+"\n", 5) + prose(2) + "\nthe source"},
		{
			"a table of facts outside of the content", "<div>" + strings.Repeat(p1, 5) + "</div>" + links + "<table><tr><th>Level<th>Option<tr><td>The removal of parts<td><a href=x>Remove</a></table>",
			strings.Repeat(prose(1)+"\n", 5) + "Level\nOption\nThe removal of parts\nRemove",
		},
		{"a counter", `<p>text <span class="post-views icon">1,234</span>`, "text"},
		{"what is no counter", p1 + `<div class=views>Room with a view: 12 €</div><p id=hits>All hits of Abba`, prose(1) + "\nRoom with a view: 12 €\nAll hits of Abba"},
		{"the popular one of two offers", p1 + `<div class="box popular"><h3>Pro</h3><p>12 € <a href=a>Buy it</a></div>`, prose(1) + "\nPro\n12 € Buy it"},
		{"related offers", article("", strings.Repeat(`<div class="box recommended"><a href=a>Desk</a> oak, 12 €</div>`, 3)), paragraphs},
		{"a counter of shares", p1 + `<div class=share-count>457 shares</div><p>We hold 457 shares`, prose(1) + "\nWe hold 457 shares"},
		{"rows of views", `<div class=views-row>1,234</div>`, "1,234"},
		{"a notice about cookies", p1 + `<div class=cookie-banner>We use cookies</div>`, prose(1)},
		{"a section on cookies", p1 + `<section id=cookie-notice><h2>Cookie notice</h2><p>We keep them for 12 months</section>`, prose(1) + "\nCookie notice\nWe keep them for 12 months"},
		{"a heading with an id of its own", p1 + `<h3 id=questions-about-gdpr>Questions about GDPR</h3>`, prose(1) + "\nQuestions about GDPR"},
		{"a block with its heading's id", p1 + `<div class=x id=advertising-2><div><h2>Advertising</h2></div><p>A page is 12 euros</div>`, prose(1) + "\nAdvertising\nA page is 12 euros"},
		{"an id that only begins like its heading", p1 + `<div id=ad><h2>Adventure holidays</h2><p>Now 12 euros</div>`, prose(1)},
		{"a block with an id", p1 + `<div id=advertising-2><h2>Shoes</h2><p>Now 12 euros</div>`, prose(1)},
		{"figures by class", p1 + `<table class=views><tr class=ad><td class=share>34.2 %<td class=hits>12<tr class=footer><td>Total 46</table>`, prose(1) + "\n34.2 %\n12\nTotal 46"},
		{"terms by class", p1 + `<dl class=share><dt>Share<dd class=ad>12 euros</dl>`, prose(1) + "\nShare\n12 euros"},
		{"a menu of dishes with pictures", p1 + `<div class=menu><p><a href=1>Soup of the day</a> 4.50<p><a href=2>Fish</a> 12.00</div>`, prose(1) + "\nSoup of the day 4.50\nFish 12.00"},
		{"a heading with a class", p1 + `<h3 class="ui header">Open from 12</h3>`, prose(1) + "\nOpen from 12"},
		{"DocBook's navigation", `<div class=navheader><table><tr><th colspan=3>2.1. Fees<tr><td><a href=p>Prev</a><th>Chapter 2. Money<td><a href=n>Next</a></table></div><h2>2.1. Fees</h2>` + p1 + `<div class=navfooter><table><tr><td><a href=p>Prev</a><tr><td>2. Money<td>2.2. Fines</table></div>`, "2.1. Fees\n" + prose(1)},
		{"cookies to eat", `<div class=cookie-recipe>Take flour</div>`, "Take flour"},
		{"classes of the whole page", `<body class="has-sidebar ad nav-open">text`, "text"},
		// By labels.
		{"labelled advert", p1 + `<div class=x><small>Anzeige</small><div><a href=y>Buy</a> this</div></div>`, prose(1)},
		{"label alone", p1 + `<p>Advertisement<p>text`, prose(1) + "\ntext"},
		{"an article about advertising", `<div><p><b>Werbung</b> ist <a href=x>alt</a>.</div>`, "Werbung ist alt."},
		{"labelled links", p1 + `<div class=x><h3>You may also like</h3>` + links + `</div>`, prose(1)},
		{"labelled links among other text", `<div>` + p1 + `<h3>Lesen Sie auch:</h3>` + links + `<p>the end</div>`, prose(1) + "\nthe end"},
		{"a department", p1 + `<div><h3>Advertising</h3><p>Jane Doe, 555 0100, <a href=x>write</a></div>`, prose(1) + "\nAdvertising\nJane Doe, 555 0100, write"},
		{"a department in a paragraph", p1 + `<p><b>Advertising</b><br>Jane Doe, 555 0100<br><a href="mailto:ads@example.com">ads@example.com</a></p>`, prose(1) + "\nAdvertising\nJane Doe, 555 0100\nads@example.com"},
		{"one whose mail is covered", p1 + `<div><p>Anzeigen<p>555 0100<p><a href="/cdn-cgi/l/email-protection#1a2b">[email protected]</a></div>`, prose(1) + "\nAnzeigen\n555 0100\n[email protected]"},
		{"a row of prices", p1 + `<table><tr><td>Advertising<td>12 euros<td><a href=x>rates</a></table>`, prose(1) + "\nAdvertising\n12 euros\nrates"},
		{"a list of services", p1 + `<ul><li>Advertising<li>12 euros<li><a href=x>rates</a></ul>`, prose(1) + "\nAdvertising\n12 euros\nrates"},
		{"a mark on a product", p1 + `<div><div class=badge>Popular</div><p>12 euros</div><table><tr><td>Recommended</table>`, prose(1) + "\nPopular\n12 euros\nRecommended"},
		{"an aria label", p1 + `<section aria-label=Advertisement>Buy this</section>`, prose(1)},
		// By place.
		{"links beside the content", article("<div>"+links+"</div>", "<div>"+links+"</div>"), paragraphs},
		{"a menu before the title", "<div><a href=a>Home</a> | <a href=b>News</a></div><h1>Title</h1>" + links, "Title\nOf the harbour\nA new bridge\nWinter in the valley"},
		{"a page of links", "<p>" + prose(1) + "</p>" + links, prose(1) + "\nOf the harbour\nA new bridge\nWinter in the valley"},
		{"a page of many links with an introduction", "<div><h1>Title</h1><p>" + prose(1) + prose(2) + prose(3) + prose(4) + "</div>" + strings.Repeat("<p><a href=a>Of the harbour at night</a>", 20), "Title\n" + prose(1) + prose(2) + prose(3) + prose(4) + strings.Repeat("\nOf the harbour at night", 20)},
		// Anchors that are no links.
		{"a named anchor around text", article("", "<div><p><a name=fees>Adults pay 20 euros and children under the age of twelve pay nothing.</a></div>"), paragraphs + "\nAdults pay 20 euros and children under the age of twelve pay nothing."},
		{"running text in a named anchor outside the main part", "<main>text</main><p><a id=x>" + prose(1) + "</a>", "text\n" + prose(1)},
		// No main text.
		{"all is navigation", "<nav>menu</nav>", "menu"},
		{"nearly all is navigation", "<p>map<nav>" + strings.Repeat("<p>"+prose(1), 20) + "</nav>", "map" + strings.Repeat("\n"+prose(1), 20)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := parse(t, c.body).Text; got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// Related links come in another order with each visit, and adverts are others, in any language.
func TestLabels(t *testing.T) {
	t.Parallel()
	const links = "<ul><li><a href=a>Of the harbour</a><li><a href=b>A new bridge</a></ul>"
	p1 := "<p>" + prose(1)
	for _, label := range []string{
		"You may also be interested in", "관련 기사", "추천기사", "Læs også:", "Lue myös", "İlgili Haberler", "Čtěte také", "Kapcsolódó cikkek", "Citește și", "Διαβάστε επίσης",
		"Читайте також:", "相關新聞", "为您推荐", "関連商品", "اقرأ أيضاً", "مواضيع ذات صلة", "مطالب مرتبط", "כתבות נוספות", "ये भी पढ़ें:", "संबंधित खबरें", "Baca juga:", "Tin liên quan", "ข่าวที่เกี่ยวข้อง",
	} {
		if got := parse(t, article("", "<div><h2>"+label+"</h2>"+links+"</div>")).Text; got != paragraphs {
			t.Errorf("%s: %q", label, got)
		}
	}
	for _, label := range []string{"광고", "Iklan", "Quảng cáo", "โฆษณา", "Sponsorlu", "Hirdetés", "Διαφήμιση", "廣告", "تبلیغات", "פרסומת"} {
		if got := parse(t, p1+`<div class=x><small>`+label+`</small><div><a href=y>Buy</a> this</div></div>`).Text; got != prose(1) {
			t.Errorf("%s: %q", label, got)
		}
	}
	for _, notice := range []string{"إعلان", "विज्ञापन", "See also", "Související články"} {
		if got := parse(t, p1+`<div><p>`+notice+`<p><a href=x>The fees</a> rise</div>`).Text; got != prose(1)+"\n"+notice+"\nThe fees rise" {
			t.Errorf("%s: %q", notice, got)
		}
	}
}

func TestWhole(t *testing.T) {
	for body, want := range map[string]bool{
		"<main>text</main>": false, "<p>text": false, "<nav>menu</nav>": true, "": true, deep("text"): true,
	} {
		if got := parse(t, body).Whole; got != want {
			t.Errorf("%.40q: %v", body, got)
		}
	}
}

// Whatever an advert says, and whether it is there at all, no other block appears or
// disappears with it.
func TestAdvertsMoveNothing(t *testing.T) {
	for _, ad := range []string{"", "Buy", prose(9), strings.Repeat(prose(9), 4), "<a href=x>Buy</a>", "<h2>Buy</h2><p>" + prose(9), strings.Repeat("<a href=x>Buy it</a> ", 9)} {
		for place, body := range map[string]string{
			"before": article("<div class=ad>"+ad+"</div>", ""), "after": article("", "<div class=ad>"+ad+"</div>"),
			"within": strings.Replace(article("", ""), "<p>", "<div class=ad>"+ad+"</div><p>", 1),
		} {
			if got := parse(t, body).Text; got != paragraphs {
				t.Errorf("%q %s the text: %q", ad, place, got)
			}
		}
	}
}

func TestClassHints(t *testing.T) {
	for value, want := range map[string]hint{
		"": 0, "text": 0, "ad": hintAd, "Banner-Ad-3": hintAd, "bannerAd300": hintAd, "top_ad": hintAd, "ad728 nav": hintAd | hintMenu,
		"adAstra": hintAd, "radar": 0, "heading": 0, "css-3ad91": 0, "ad12345": 0, "article__header": 0, "site__header": hintEdge,
		"card-footer": 0, "footer": hintFoot, "views": hintCounter, "views-row": 0, "Post_Views": hintCounter, "shareholders": 0,
		strings.Repeat("ad-", 50): 0,
	} {
		if got := classHintsOf(value); got != want {
			t.Errorf("%q: %b, want %b", value, got, want)
		}
	}
}

// FuzzMainText: whatever the rules leave out, the rest is text of the page, in its order.
func FuzzMainText(f *testing.F) {
	f.Add("<nav><div class=ad>", "</nav><aside id=sidebar>", "related-posts")
	f.Add("<table><td><a href=x>a", "</a></td></table><h3>Lesen Sie auch</h3><ul><li><a href=y>b</a>", "menu")
	f.Add("<main><template>", "</template><article><footer>", "ad ad-1")
	f.Fuzz(func(t *testing.T, before, after, class string) {
		body := strings.ToValidUTF8(fmt.Sprintf("%s<p class=%q>%s</p>%s", before, html.EscapeString(class), prose(7), after), "")
		page := parse(t, body)
		checkText(t, page.Text)
		root, err := parseTree([]byte(body), false)
		if err != nil {
			return
		}
		s := surveyOf(root, nil)
		whole := composer{survey: s, whole: true}
		whole.walk(root, modeAll)
		whole.endLine(modeAll)
		if !isSubsequence(strings.Fields(page.Text), strings.Fields(whole.text.String())) {
			t.Errorf("%q\nis no part of %q", page.Text, whole.text.String())
		}
		if int(whole.next) != len(s.elements) {
			t.Errorf("the second walk met %d elements, the first %d", whole.next, len(s.elements))
		}
	})
}

func isSubsequence(part, all []string) bool {
	for _, word := range all {
		if len(part) > 0 && part[0] == word {
			part = part[1:]
		}
	}
	return len(part) == 0
}

// The parts of a small ad are named after it. Its title tells that the page is about it.
func TestPartsOfASmallAd(t *testing.T) {
	t.Parallel()
	for _, title := range []string{"<h1 class=vip-ad-title__header>A boat</h1>", "<div class=ad-title><h1>A boat</h1></div>"} {
		got := parse(t, title+"<span class=ad-price>120 euros</span><div class=ad-text>With oars</div><div class=ad-contact>Ann, 555 0100</div>").Text
		if want := "A boat\n120 euros\nWith oars\nAnn, 555 0100"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
