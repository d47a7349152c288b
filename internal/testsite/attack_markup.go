package testsite

import (
	"net/http"
	"strings"

	"recrawl/internal/crawl"
)

// Terminal holds control sequences for a terminal: a window title, a bell and a clear
// screen.
const Terminal = "\x1b]0;owned\x07\x1b[2J"

// markupAttacks returns hosts whose pages choke or mislead their readers.
func markupAttacks() []Attack {
	fonts, paragraphs := numbered(400, "<font size=%d>"), strings.Repeat("<p>x", 25_000)
	utf16 := "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-16\r\n\r\n"
	attacks := []Attack{
		{"no-charset-of-this-world", crawl.OutcomeNew, "", says("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=\"?\"\r\n\r\n<p>\xff\xfe")},
		{"utf-16-that-is-none", crawl.OutcomeNew, "", says(utf16, "<p>odd")},
		{"picture-that-says-it-is-html", crawl.OutcomeNew, "", says(htmlStart, "\x89PNG\r\n\x1a\n", strings.Repeat("\x00\xff", 1000))},
		{"html-that-says-it-is-a-picture", crawl.OutcomeUnsupported, "image/png", says(imageStart, "<p>x")},
		{"nuls", crawl.OutcomeNew, "", says(htmlStart, strings.Repeat("\x00", 68<<10))},
		{"nested-elements", crawl.OutcomeNew, "", says(htmlStart, strings.Repeat("<div>", 2000))},
		{"ten-thousand-links", crawl.OutcomeNew, "", says(htmlStart, numbered(10_000, `<a href="http://h%d.invalid/">x</a>`))},
		{"elements-only", crawl.OutcomeNew, "", filled("<p>x")},
		{"attributes-only", crawl.OutcomeNew, "", filled("<p a b c d e f g h i j k l m n o p>")},
		{"words-only", crawl.OutcomeNew, "", filled("a ")},
		{"largest-tree", crawl.OutcomeNew, "", says(htmlStart, strings.Repeat("<p>x", 120_000))},
		// Each paragraph closes what the first one has open, and opens all of it again; and
		// the same, hidden from a count of tags: these end tags end nothing.
		{"elements-that-return", crawl.OutcomeNew, "", says(htmlStart, "<p>", fonts, paragraphs)},
		{"elements-that-return-in-secret", crawl.OutcomeNew, "", says(htmlStart, "<p>", fonts, strings.Repeat("</i>", 400), paragraphs)},
		{"body-of-bodies", crawl.OutcomeNew, "", says(htmlStart, numbered(5000, "<body a%d>"))},
		{"body-of-bodies-in-secret", crawl.OutcomeNew, "", says(htmlStart, "<svg><title></svg>", numbered(5000, "<body a%d>"))},
		{"terminal", crawl.OutcomeNew, "", says(htmlStart, "<title>", Terminal, "</title><p>", Terminal)},
		{"strange-links", crawl.OutcomeNew, "", says(htmlStart, "<base href='http://user:secret@strange-links.invalid:1/'>", strangeLinks)},
	}
	for i := range attacks {
		attacks[i].Handler = withoutRobots(attacks[i].Handler)
	}
	return attacks
}

// strangeLinks lead to no page, or to a place where nobody should go.
const strangeLinks = `<meta http-equiv=refresh content="0; url=file:///etc/passwd">
<a href="javascript:alert(1)">x</a><a href="file:///etc/passwd">x</a><a href="data:text/html,x">x</a>
<a href="http://[::ffff:169.254.169.254]/">x</a><a href="http://0x7f.1/">x</a><a href="//user:secret@[::1]:22/">x</a>
<a href="gopher://127.0.0.1:6379/_FLUSHALL">x</a><a href="http://127.0.0.1:6379/%0d%0aFLUSHALL">x</a><a href="http://xn--/">x</a>`

// filled serves a page of one repeated piece, as large as allowed.
func filled(piece string) http.Handler {
	return onWire(func(w *wire) { w.send(htmlStart, strings.Repeat(piece, (largestBody-1)/len(piece))) })
}
