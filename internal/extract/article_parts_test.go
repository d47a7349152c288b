package extract

import (
	"strings"
	"testing"
)

// articleCase is a page with its article.
type articleCase struct{ name, body, want string }

// longStory is a story of many paragraphs, and longTold its text.
var longStory, longTold = strings.Repeat(story, 5), strings.TrimSpace(strings.Repeat(told+"\n", 5))

func checkArticles(t *testing.T, cases []articleCase) {
	t.Helper()
	for _, c := range cases {
		if got := articleOf(t, c.body); got != c.want {
			t.Errorf("%s: %s\ngot  %q\nwant %q", c.name, c.body, got, c.want)
		}
	}
}

// TestArticleOfQuestions: a button that opens an answer says what that is about.
func TestArticleOfQuestions(t *testing.T) {
	t.Parallel()
	const share = "<button aria-expanded=false>Share</button>"
	answer := "<div class=panel id=a><p>" + prose(9) + "</p></div>"
	checkArticles(t, []articleCase{
		{"in a heading", "<main>" + story + "<h2><button>What does it cost?</button></h2>" + answer + "</main>", told + "\nWhat does it cost?\n" + prose(9)},
		{"in a term", "<main>" + story + "<dl><dt><button>What does it cost?</button></dt><dd>" + prose(9) + "</dd></dl></main>", told + "\nWhat does it cost?\n" + prose(9)},
		{"before its answer", "<main>" + story + "<button aria-expanded=false>What does it cost?</button>" + answer + "</main>", told + "\nWhat does it cost?\n" + prose(9)},
		{"in a box of its own", "<main>" + story + "<div><span><button aria-controls=a>What does it cost?</button></span></div>" + answer + "</main>", told + "\nWhat does it cost?\n" + prose(9)},
		// Others are no text.
		{"beside a heading's words", "<main>" + story + "<h2>Costs <button>Copy the link</button></h2>" + answer + "</main>", told + "\nCosts\n" + prose(9)},
		{"for something else", "<main>" + story + "<button aria-controls=menu>Share</button>" + answer + "</main>", told + "\n" + prose(9)},
		{"before a paragraph", "<main>" + share + story + "</main>", told},
		{"before nothing", "<main>" + story + share + "</main>", told},
	})
}

// TestArticleOfParts: of several sections, posts or answers no one is the article, however long it is.
func TestArticleOfParts(t *testing.T) {
	t.Parallel()
	checkArticles(t, []articleCase{
		{"sections", "<div><div class=tasks><h2>Tasks</h2><ul><li>Build the bridge</li></ul></div><div class=profile><h2>Profile</h2>" + longStory + "</div><div class=offer><h2>Offer</h2><ul><li>Boots, coats and money</li></ul></div></div>", "Tasks\nBuild the bridge\nProfile\n" + longTold + "\nOffer\nBoots, coats and money"},
		{"posts of a forum", "<div><div class='post online bg2'><p>" + prose(8) + "</div><div class='post online bg1'>" + longStory + "</div><div class='post bg2 online'><p>" + prose(9) + "</div></div>", prose(8) + "\n" + longTold + "\n" + prose(9)},
		{"posts of a blog", "<div><article class='post-12 post hentry category-news tag-a'>" + longStory + "</article><article class='post-11 post hentry category-art'><p>" + prose(9) + "</article></div>", longTold + "\n" + prose(9)},
		{"a question and its answers", "<div><div id=question><p>How long is the bridge, and why?</div><div id=answers>" + longStory + "</div></div>", "How long is the bridge, and why?\n" + longTold},
		// Something else beside the article.
		{"links under a heading", "<div><div><h2>Bridges</h2>" + longStory + "</div><div><h2>More</h2><a href=x>Of the harbour and a new bridge</a></div></div>", "Bridges\n" + longTold},
		{"a box under a lower heading", "<div><div><h2>Bridges</h2>" + longStory + "</div><div><h3>Boots</h3>The price of boots has gone up</div></div>", "Bridges\n" + longTold},
		{"another kind of post", "<div><div class='post main'>" + longStory + "</div><div class='post small box'><p>" + prose(9) + "</div></div>", longTold},
	})
}

// TestArticleByItsMark: a name in a class does not hide the page's own text, and what the page marks as its article is the
// article, however short.
func TestArticleByItsMark(t *testing.T) {
	t.Parallel()
	poem, lines := "<p>The sea<br>is green<br>and wide tonight<p>I saw a gull<br>and cried", "The sea\nis green\nand wide tonight\nI saw a gull\nand cried"
	checkArticles(t, []articleCase{
		{"with the headline in an element of an odd name", "<div class=above-footer><h1>Title</h1>" + longStory + "</div><div><p>" + strings.Repeat(prose(9)+" ", 4) + "</div>", longTold},
		{"nearly all of a page without a headline", "<div class=teaser>" + longStory + "</div><div>" + strings.Repeat("<p>"+prose(9), 4) + "</div>", longTold},
		{"a poem beside a side column", "<article><h1>Title</h1>" + poem + "</article><aside class=sidebar>" + story + "</aside>", lines},
		{"a song among other lines", "<h1>Title</h1><div>by Ann</div><div class=song-lyrics>" + poem + "</div><div>All rights are ours</div>", lines},
		{"a link to other songs", "<h1>Title</h1><div class=lyrics>" + poem + "</div><div class=related-lyrics>More of this by others in the land of poets and of songs</div>", lines},
		{"a short text", "<div class=menu>Menu</div><h1>Title</h1><div class=entry-content><p>" + prose(1) + "</div><div>All rights are ours</div>", prose(1)},
		{"a short text and long comments", "<div class=entry-content><p>" + prose(1) + "</div><div class=comments>" + story + "</div>", prose(1)},
		{"several such texts", "<div class=entry-content><p>" + prose(1) + "</div><div class=entry-content><p>" + prose(2) + "</div>", prose(1) + "\n" + prose(2)},
		{"a small part of the page", "<div class=entry-content><p>" + prose(1) + "</div>" + strings.Repeat("<p>A short line of the page, as many", 40), prose(1) + strings.Repeat("\nA short line of the page, as many", 40)},
	})
}

// TestArticleWithoutThreads: comments that no class names are told by the heading that counts them.
func TestArticleWithoutThreads(t *testing.T) {
	t.Parallel()
	said := "<ul><li>" + prose(8) + "<li>" + prose(9) + "</ul>"
	checkArticles(t, []articleCase{
		{"in an element", "<div>" + story + "<section><div><h2>2 Comments</h2></div>" + said + "</section></div>", told},
		{"among the text", "<div>" + story + "<h3>Kommentare (2)</h3>" + said + "<p>" + prose(7) + "</p><h2>Sources</h2><p>" + prose(6) + "</p></div>", told + "\nSources\n" + prose(6)},
		{"a link to them", "<div><h3><a href=#c>2 Comments</a></h3>" + story + "</div>", "2 Comments\n" + told},
		{"in Chinese", "<div>" + story + "<div><h3>评论（2）</h3>" + said + "</div></div>", told},
		{"a section about comments", "<div>" + story + "<section><h2>Comments</h2><p>" + prose(9) + "</section></div>", told + "\nComments\n" + prose(9)},
		{"a section with a number", "<div>" + story + "<section><h2>12 Comments on bridges</h2><p>" + prose(9) + "</section></div>", told + "\n12 Comments on bridges\n" + prose(9)},
	})
}

// TestArticleWithLead: the lead between the headline and the text belongs to the article.
func TestArticleWithLead(t *testing.T) {
	t.Parallel()
	checkArticles(t, []articleCase{
		{"in a header", "<main><header><h1>Title</h1><div>" + prose(9) + "</div></header><div class=text>" + story + "</div></main>", prose(9) + "\n" + told},
		{"beside the headline", "<main><div><h1>Title</h1></div><div><p>" + prose(9) + "</div><div>by Ann</div><div class=text>" + story + "</div></main>", prose(9) + "\n" + told},
		{"further out", "<main><h1>Title</h1><div><p>" + prose(9) + "</div><div><div>share</div><div class=text>" + story + "</div></div></main>", prose(9) + "\n" + told},
		{"a caption", "<main><h1>Title</h1><figure><figcaption>" + prose(9) + "</figcaption></figure><div class=text>" + story + "</div></main>", told},
		{"before the headline", "<main><div>" + prose(9) + "</div><h1>Title</h1><div class=text>" + story + "</div></main>", told},
		{"links", "<main><h1>Title</h1><div><a href=x>" + prose(9) + "</a></div><div class=text>" + story + "</div></main>", told},
	})
}
