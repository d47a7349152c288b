package extract

import (
	"strings"
	"testing"
)

// Names of where a CMS files a page, and of its state, say nothing about its content.
func TestFilingNamesSayNothing(t *testing.T) {
	for name, body := range map[string]string{
		"Drupal, article":            `<div class="node node--type-page node--promoted"><p>The ticket costs 12 euro</div>`,
		"Drupal 7":                   `<div id=node-7 class="node node-promoted node-sponsored"><p>The ticket costs 12 euro</div>`,
		"Drupal, a field":            `<div class="field field--name-field-sponsored"><p>The ticket costs 12 euro</div>`,
		"WordPress":                  `<div class="type-post status-publish tag-sponsored category-advertising tag-werbung"><p>The ticket costs 12 euro</div>`,
		"WordPress, a status":        `<div class="post-7 post-sponsored status-promoted type-ads"><p>The ticket costs 12 euro</div>`,
		"a category of related work": `<div class="category-related"><p>The <a href=x>ticket</a> costs 12 euro</div>`,
		"a modifier of a card":       `<div class="product-card--promoted"><p>The ticket costs 12 euro</div>`,
		"a modifier of a block":      `<div class="c-article c-article--sponsored-label"><p>The ticket costs 12 euro</div>`,
		"a modifier of an element":   `<div class="list__item--ad"><p>The ticket costs 12 euro</div>`,
		"a state":                    `<div class="has-ads is-promoted with-werbung no-adverts"><p>The ticket costs 12 euro</div>`,
	} {
		t.Run(name, func(t *testing.T) {
			text := parse(t, article(body, "")).Text
			if !strings.Contains(text, "12 euro") {
				t.Errorf("the price is missing: %q", text)
			}
		})
	}
}

// Names of taxonomies, of subjects and of authors say nothing about a page's content, nor does a
// state beside the name of a thing.
func TestFiledThingsStay(t *testing.T) {
	for _, class := range []string{
		"product type-product product_cat-werbung", "product_tag-sponsored", "portfolio_category-ads", "cat-item cat-advertising", "tax-ads", "term-advertising", "topic-ads", "tags-sponsored",
		"categories-advertising", "keyword-ads", "genre-ads", "author-werbung", "archive-ads", "section-advertising",
		"product promoted", "event promoted", "job promoted", "views-row promoted", "post sponsored", "item promoted",
		"model gpt-4o", "gpt-5-mini tab-pane", "ChatGPT", // which is about that, and not in a slot of Google's tag
	} {
		if text := parse(t, article("", `<div class="`+class+`"><p>The ticket costs 12 euro</div>`)).Text; !strings.Contains(text, "12 euro") {
			t.Errorf("%s: the price is missing: %q", class, text)
		}
	}
	for _, class := range []string{"box promoted", "ad promoted", "post advertisement", "product_ads", "promoted", "list sponsored", "event-ads"} {
		if text := parse(t, article("", `<div class="`+class+`"><p>Buy this</div>`)).Text; text != paragraphs {
			t.Errorf("%s: got %q", class, text)
		}
	}
}

// Help centers ask whether a page helped, and what they ask comes and goes.
func TestHelpWidgetsAreLeftOut(t *testing.T) {
	const options = `<h2>Need more help?</h2><h3>Try these next steps:</h3><a href=x>Post to the help community</a> <a href=y>Contact us</a>`
	for _, class := range []string{"need-more-help-container", "need-more-help", "article-survey-container", "article-votes", "article_votes__controls", "was-this-helpful"} {
		if text := parse(t, article("", `<div class="`+class+`">`+options+`</div>`)).Text; text != paragraphs {
			t.Errorf("%s: got %q", class, text)
		}
		if text := parse(t, article("", `<div class="`+class+`"><p>`+prose(3)+`</div>`)).Text; text == paragraphs {
			t.Errorf("%s: running text is missing", class)
		}
	}
}

// An element that the markup calls an article is one, whatever its classes say.
func TestArticlesAreNeverDroppedByAClass(t *testing.T) {
	const price = "<p>The ticket costs 12 euro and <a href=x>a map</a> is with it"
	for name, body := range map[string]string{
		"an article":                   `<article class="promoted">` + price + `</article>`,
		"an article of a class":        `<article class="node node--promoted">` + price + `</article>`,
		"an article by role":           `<div role=article class="ads">` + price + `</div>`,
		"an article with an advert id": `<article data-ad-id=7>` + price + `</article>`,
		"hentry":                       `<div class="sponsored hentry">` + price + `</div>`,
		"h-entry":                      `<div id=ads class=h-entry>` + price + `</div>`,
		"the body of an article":       `<div class="ad werbung" itemprop="text articleBody">` + price + `</div>`,
		"a related article":            `<article class="related">` + price + `</article>`,
		"articles in promoted ones":    `<div class="promoted"><div><article>` + price + `</article></div></div>`,
		"a whole article in related":   `<div class="related"><article><a href=x>` + prose(5) + `</a>` + price + strings.Repeat(`<p>`+prose(6), 4) + `</article></div>`,
		"the main part":                `<main class="ads">` + price + `</main>`,
	} {
		t.Run(name, func(t *testing.T) {
			text := parse(t, article("", body)).Text
			if !strings.Contains(text, "12 euro") {
				t.Errorf("the price is missing: %q", text)
			}
		})
	}
}

// The longest running text of a page is its content, whatever its class.
func TestLongestTextIsNeverDroppedByAClass(t *testing.T) {
	long := strings.Repeat("<p>"+prose(5), 5) + "<p>The ticket costs 12 euro"
	for _, class := range []string{"promoted", "ad", "gdpr", "related"} {
		t.Run(class, func(t *testing.T) {
			links := "<a href=x>" + strings.Repeat(prose(8), 4) + "</a>"
			body := "<h1>Title</h1><p>" + prose(1) + `<div class="` + class + `">` + long + links + "</div><p>" + prose(2)
			if text := parse(t, body).Text; !strings.Contains(text, "12 euro") {
				t.Errorf("the price is missing: %q", text)
			}
		})
	}
}

func TestANewsletterOnItsOwnStays(t *testing.T) {
	if text := parse(t, article("", `<div class="newsletter"><p>Issue 7: the ticket costs 12 euro</div>`)).Text; !strings.Contains(text, "12 euro") {
		t.Errorf("the price is missing: %q", text)
	}
}

// An advert, or a list of links to other articles, is still recognised.
func TestNamesThatStillSaySomething(t *testing.T) {
	const links = "<a href=a>Of the harbour</a> <a href=b>A new bridge</a>"
	for name, body := range map[string]string{
		"a block of adverts":      `<div class="block--ad">Buy this</div>`,
		"an advert in an article": `<div class="article__ad">Buy this</div>`,
		"a modified advert":       `<div class="ad-card--wide">Buy this</div>`,
		"the way to other posts":  `<div class="post-navigation">` + links + `</div>`,
		"related posts":           `<div class="related-posts"><article><h3><a href=a>Of the harbour</a></h3></article><article><h3><a href=b>A new bridge</a></h3></article></div>`,
		"a form for comments":     `<div class="comment-respond"><form><label>Your email address</label><input></form></div>`,
		"a form for newsletters":  `<div class="c-newsletter"><p>News by mail</p><input type=email></div>`,
		"a counter":               `<span class="post-views">1,234</span>`,
		"a slot of Google's tag":  `<div id=div-gpt-ad-1617-0>Buy this</div>`,
	} {
		t.Run(name, func(t *testing.T) {
			if text := parse(t, article("", body)).Text; text != paragraphs {
				t.Errorf("got %q", text)
			}
		})
	}
}

// A framework makes names up, in which the letters of a word come by chance, and others when the site is built anew.
func TestMadeUpNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]hint{
		"hAdKqz": 0, "AdKfxp": 0, "sc-kzqAd bQAdZr": 0, "card__xTAdq": 0, "kKqAd": 0,
		"topAd": hintAd, "adUnit": hintAd, "adSlot": hintAd, "AdBox": hintAd, "topAd3": hintAd, "navBar": hintMenu, "hdrNav": hintMenu, "rightAdColumn": hintAd, "hero_topAd": hintAd,
	} {
		if got := classHintsOf(name); got != want {
			t.Errorf("%q: %b, want %b", name, got, want)
		}
	}
}
