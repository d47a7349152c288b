package activities_test

import (
	"strings"
	"testing"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
)

// selecting is a rule of one host by which only the prices of its pages count.
func selecting(host, selector string) func(*crawl.Spec) {
	return func(spec *crawl.Spec) {
		spec.Content.Rules = []crawl.ContentRule{{Host: host, Select: []string{selector}}}
	}
}

// One crawl watches a price on one host and all of the text on another.
func TestRulesOfAHostSayWhatIsAChange(t *testing.T) {
	t.Parallel()
	const (
		before  = `<h1>Ticket</h1><p>Rain today<p class=price>12 euro`
		weather = `<h1>Ticket</h1><p>Sun today<p class=price>12 euro`
		price   = `<h1>Ticket</h1><p>Sun today<p class=price>15 euro`
	)
	w := newWorld(t)
	pages := w.living([]string{"http://localhost/", "http://127.0.0.1/"}, selecting("localhost", ".price"))
	for _, page := range pages {
		w.seen(page, 1, before)
	}
	for i, want := range []crawl.Outcome{crawl.OutcomeCosmetic, crawl.OutcomeChanged} {
		if got := w.seen(pages[i], 2, weather); got.Outcome != want {
			t.Errorf("%s: other weather is %s, want %s", pages[i].URL, got.Outcome, want)
		}
		if got := w.seen(pages[i], 3, price); got.Outcome != crawl.OutcomeChanged {
			t.Errorf("%s: another price is %s", pages[i].URL, got.Outcome)
		}
	}
}

// A change of the rules is no change of the pages: the last version is read by the
// new rules. A change of the page is one by any rules.
func TestAChangeOfRulesIsNoneOfThePage(t *testing.T) {
	t.Parallel()
	const (
		before = `<h1>Ticket</h1><p>Rain today<p class=price>12 euro<p class=fee>2 euro`
		after  = `<h1>Ticket</h1><p>Sun today<p class=price>12 euro<p class=fee>2 euro`
		dearer = `<h1>Ticket</h1><p>Sun today<p class=price>15 euro<p class=fee>2 euro`
		none   = "none"
	)
	for name, c := range map[string]struct{ first, second string }{
		"a rule is new":      {none, ".price"},
		"a rule is another":  {".fee", ".price"},
		"a rule matches now": {".nosuch", ".price"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			urls := []string{"http://localhost/"}
			change := func(spec *crawl.Spec) {
				if c.first != none {
					selecting("localhost", c.first)(spec)
				}
			}
			page := w.living(urls, change)[0]
			w.seen(page, 1, before)
			w.open(urls, selecting("localhost", c.second))
			if got := w.seen(page, 2, after); got.Outcome != crawl.OutcomeCosmetic {
				t.Errorf("other weather and other rules are %s (%s)", got.Outcome, codes(got.Reasons))
			}
			if got := w.seen(page, 3, dearer); got.Outcome != crawl.OutcomeChanged {
				t.Errorf("another price is %s (%s)", got.Outcome, codes(got.Reasons))
			}
		})
	}
}

// When a rule is removed, all of the text counts again, compared with the last version.
func TestARuleThatIsGoneIsNoChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	urls := []string{"http://localhost/"}
	page := w.living(urls, selecting("localhost", ".price"))[0]
	w.seen(page, 1, `<h1>Ticket</h1><p>Rain today<p class=price>12 euro`)
	w.open(urls)
	if got := w.seen(page, 2, `<h1 class=x>Ticket</h1><p>Rain today<p class=price>12 euro`); got.Outcome != crawl.OutcomeCosmetic {
		t.Errorf("other markup and other rules are %s (%s)", got.Outcome, codes(got.Reasons))
	}
	if got := w.seen(page, 3, `<h1>Ticket</h1><p>Sun today<p class=price>12 euro`); got.Outcome != crawl.OutcomeChanged {
		t.Errorf("other weather is %s (%s)", got.Outcome, codes(got.Reasons))
	}
}

// A price in a part that the CMS calls promoted is no advertisement.
func TestAPriceInAPromotedPageIsAChange(t *testing.T) {
	t.Parallel()
	const body = `<h1>News</h1><p>Rain today<main><article class="node node--type-page node--promoted"><p>The ticket costs 12 euro</article></main>`
	for name, around := range map[string]string{"in a main part": "main", "elsewhere": "div"} {
		w := newWorld(t)
		page := w.living([]string{"http://localhost/"})[0]
		body := strings.ReplaceAll(body, "main>", around+">")
		w.seen(page, 1, body)
		if got := w.seen(page, 2, strings.Replace(body, "12", "15", 1)); got.Outcome != crawl.OutcomeChanged {
			t.Errorf("%s: %s (%s)", name, got.Outcome, codes(got.Reasons))
		}
	}
}

// Pages with the same price are no copies of each other.
func TestTheSamePriceMakesNoDuplicates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pages := w.living([]string{"http://localhost/a", "http://localhost/b"}, selecting("localhost", ".price"))
	text := func(of string) string {
		body := "<h1>" + of + "</h1>"
		for range 30 {
			body += "<p>What is said of " + of + " is said of nothing else but " + of + " and of what " + of + " is like."
		}
		return body + "<p class=price>12 euro"
	}
	w.seen(pages[0], 1, text("apples"))
	if got := run(w, contract.DetectChange, w.detection(pages[1], 1, text("pears"))); codes(got.Reasons) != "first-version" {
		t.Errorf("another page with the same price: %s", codes(got.Reasons))
	}
	if got := run(w, contract.DetectChange, w.detection(pages[1], 1, text("apples")+"<!-- b -->")); codes(got.Reasons) == "first-version" {
		t.Errorf("the same page is no copy: %s", codes(got.Reasons))
	}
}
