package extract

import (
	"strings"
	"testing"
)

// Other pages that a page recommends are others at each visit, also where a line tells what each of them is about.
func TestTeasersAreNoText(t *testing.T) {
	t.Parallel()
	card := func(title string) string {
		return "<div class=card><a href=x><img src=x></a><span>4 March</span><h3><a href=x>" + title + "</a></h3><p>" + prose(7) + "</p></div>"
	}
	item := "<li><a href=x>Winter in the valley</a><p>" + prose(7) + "</p></li>"
	cards := card("Of the harbour at night") + card("A new bridge over the river")
	for name, body := range map[string]string{
		"by class":                 article("", "<div class=related-posts><h2>Our picks</h2><div>"+cards+"</div><a href=x>More</a></div>"),
		"by label":                 article("", "<div><h2>Recommended for you</h2><div>"+cards+"</div></div>"),
		"in a list":                article("", "<div><h2>Read next</h2><ul>"+item+item+"</ul></div>"),
		"after their label":        strings.Replace(article("", ""), "</div>", "<h2>Related posts</h2><div>"+cards+"</div></div>", 1),
		"in a column":              article("", "<aside><h3>Trending</h3><div>"+cards+"</div></aside>"),
		"of an author":             article("", "<div><h2>More from Ann Lee</h2><div>"+cards+"</div></div>"),
		"with a bent apostrophe":   article("", "<div><h2>You’ll also like</h2><ul><li><a href=a>Of the harbour</a><li><a href=b>A new bridge</a></ul></div>"),
		"a list of recommended":    article("", "<div><h2>Recommended articles</h2><ul><li><a href=a>Of the harbour</a><li><a href=b>A new bridge</a></ul></div>"),
		"a widget of comments":     article("", "<div class=widget_recent_comments><ul><li>Ann on <a href=a>Of the harbour</a><li>Bob on <a href=b>A new bridge</a></ul></div>"),
		"the latest of the site's": article("", "<div><h2>Latest articles</h2><ul><li><a href=a>Of the harbour</a><li><a href=b>A new bridge</a></ul></div>"),
	} {
		if got := parse(t, body).Text; got != paragraphs {
			t.Errorf("%s: %q", name, strings.TrimPrefix(got, paragraphs))
		}
	}
	comment := "<div class=post><a href=u>Ann</a><p>" + prose(8) + "</p><a href=r>Reply</a></div>"
	for name, more := range map[string]string{
		"comments behind them":    "<div><h2>Related posts</h2><div>" + cards + "</div><div class=comments>" + comment + comment + "</div></div>",
		"comments below a label":  "<h2>Related posts</h2><div></div><div class=comments>" + comment + comment + "</div>",
		"posts below a label":     "<h2>Related posts</h2><div>" + comment + comment + "</div>",
		"offers":                  "<div class=recommended>" + strings.Repeat("<div class=box><h3>Pro</h3><p>"+prose(8)+"</p><a href=x>Choose this plan</a></div>", 2) + "</div>",
		"a text before them":      "<div><h2>Related posts</h2><p>" + prose(8) + "</p><ul>" + item + item + "</ul></div>",
		"a section on other work": "<div class=related-work>" + strings.Repeat("<p>"+prose(8)+" See <a href=x>their report of it</a>.</p>", 2) + "</div>",
	} {
		if got := parse(t, article("", more)).Text; !strings.Contains(got, prose(8)) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
