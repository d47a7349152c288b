package noisetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// content is the content of one page, apart from its markup. The parts that a
// reader comes for are in title, paragraphs, items and table; the rest changes by
// itself.
type content struct {
	*language
	rng *rand.Rand

	title      string
	author     string
	paragraphs [][]sentence
	items      []sentence // of a list, or the headlines of cards and results
	table      [][]string // the first row is its head
	published  time.Time
	origin     time.Time // when it was first rendered

	dynamic
}

// dynamic is the difference between two renderings without a change of the page.
type dynamic struct {
	now      time.Time // when the page is made
	updated  time.Time // the time on its stamp
	views    int
	shares   int
	session  string
	ads      []advert
	nav      []link
	related  []link
	popular  []link
	trail    []link // breadcrumbs and tags
	pageTime int    // milliseconds that the page took to make
}

type advert struct{ head, text, call, url string }

type link struct{ text, url string }

// sentence is a text with, in some, a number or a date at its %s.
type sentence struct {
	form   string
	number string
	date   time.Time
}

func (c *content) say(s sentence) string {
	switch {
	case s.number != "":
		return fmt.Sprintf(s.form, s.number)
	case !s.date.IsZero():
		return fmt.Sprintf(s.form, c.date(s.date))
	}
	return s.form
}

// paragraph is the text of one paragraph.
func (c *content) paragraph(i int) string {
	var texts []string
	for _, s := range c.paragraphs[i] {
		texts = append(texts, c.say(s)+c.stop)
	}
	return strings.Join(texts, c.space)
}

func (c *content) pick(list []string) string { return list[c.rng.IntN(len(list))] }

// phrase is some words, the first with a capital.
func (c *content) phrase(least, most int) string {
	words := make([]string, least+c.rng.IntN(most-least+1))
	for i := range words {
		words[i] = c.pick(c.words)
	}
	text := []rune(strings.Join(words, c.space))
	return strings.ToUpper(string(text[:1])) + string(text[1:])
}

func (c *content) sentence() sentence {
	switch c.rng.IntN(6) {
	case 0:
		return sentence{form: c.pick(c.numbered), number: c.number()}
	case 1:
		return sentence{form: c.pick(c.dated), date: c.day()}
	}
	return sentence{form: c.phrase(6, 14)}
}

// number is a price or a version.
func (c *content) number() string {
	if c.rng.IntN(3) == 0 {
		return fmt.Sprintf("%d.%d.%d", 1+c.rng.IntN(9), c.rng.IntN(20), c.rng.IntN(20))
	}
	return c.price(100 + c.rng.IntN(99_900))
}

func (c *content) day() time.Time {
	return time.Date(1990+c.rng.IntN(40), time.Month(1+c.rng.IntN(12)), 1+c.rng.IntN(28), 0, 0, 0, 0, time.UTC)
}

func (c *content) links(count, least, most int) []link {
	links := make([]link, count)
	for i := range links {
		links[i] = link{c.phrase(least, most), fmt.Sprintf("/%s/%d", c.pick([]string{"a", "news", "p", "item", "tag"}), c.rng.IntN(1e6))}
	}
	return links
}

func (c *content) navLinks() []link {
	order := c.rng.Perm(len(c.navWords))[:5+c.rng.IntN(len(c.navWords)-5)]
	links := make([]link, len(order))
	for i, n := range order {
		links[i] = link{c.navWords[n], fmt.Sprintf("/section/%d", n)}
	}
	return links
}

func (c *content) advert() advert {
	return advert{c.phrase(2, 5), c.phrase(5, 14) + " " + c.price(500+c.rng.IntN(50_000)), c.phrase(1, 2), fmt.Sprintf("https://ads.example/click?id=%d", c.rng.IntN(1e9))}
}

// newContent writes a page of some size: tiny, short, usual or long.
func newContent(l *language, rng *rand.Rand, size int) *content {
	c := &content{language: l, rng: rng}
	c.title, c.author = c.phrase(3, 8), c.phrase(2, 2)
	for range size {
		paragraph := []sentence{{form: c.pick(c.numbered), number: c.number()}, {form: c.pick(c.dated), date: c.day()}, {form: c.phrase(6, 14)}}
		for range rng.IntN(4) {
			paragraph = append(paragraph, c.sentence())
		}
		rng.Shuffle(len(paragraph), func(i, j int) { paragraph[i], paragraph[j] = paragraph[j], paragraph[i] })
		c.paragraphs = append(c.paragraphs, paragraph)
	}
	for range 3 + rng.IntN(9) {
		c.items = append(c.items, sentence{form: c.phrase(3, 9)})
	}
	columns := 3 + rng.IntN(3)
	for range 4 + rng.IntN(12) {
		row := make([]string, columns)
		for i := range row {
			if row[i] = c.price(rng.IntN(100_000)); len(c.table) == 0 || i == 0 {
				row[i] = c.phrase(1, 2)
			}
		}
		c.table = append(c.table, row)
	}
	c.published = time.Date(2024, time.Month(1+rng.IntN(12)), 1+rng.IntN(28), 9, 30, 0, 0, time.UTC)
	c.now = time.Date(2026, time.Month(1+rng.IntN(12)), 1+rng.IntN(28), rng.IntN(24), rng.IntN(60), rng.IntN(60), 0, time.UTC)
	c.origin, c.dynamic = c.now, c.freshDynamic(c.now)
	c.updated = c.now.Add(-time.Duration(3+rng.IntN(3000)) * time.Minute)
	return c
}

// freshDynamic returns everything that changes by itself, at another time.
func (c *content) freshDynamic(now time.Time) dynamic {
	d := dynamic{
		now: now, updated: now.Add(-time.Duration(3+c.rng.IntN(3000)) * time.Minute),
		views: 10 + c.rng.IntN(90_000), shares: 2 + c.rng.IntN(900), session: fmt.Sprintf("%08x%08x", c.rng.Uint32(), c.rng.Uint32()),
		nav: c.navLinks(), related: c.links(3+c.rng.IntN(4), 4, 9), popular: c.links(4+c.rng.IntN(4), 4, 8), trail: c.links(2+c.rng.IntN(2), 1, 2),
		pageTime: 3 + c.rng.IntN(900),
	}
	for range 3 {
		d.ads = append(d.ads, c.advert())
	}
	return d
}

// clone is a copy that an edit may write on.
func (c *content) clone() *content {
	d := *c
	d.paragraphs = slices.Clone(c.paragraphs)
	for i := range d.paragraphs {
		d.paragraphs[i] = slices.Clone(d.paragraphs[i])
	}
	d.items = slices.Clone(c.items)
	d.table = slices.Clone(c.table)
	for i := range d.table {
		d.table[i] = slices.Clone(d.table[i])
	}
	return &d
}

// disturb changes one kind of noise.
func (c *content) disturb(k Kind) {
	fresh := c.freshDynamic(c.now.Add(time.Duration(7+c.rng.IntN(5000)) * time.Minute))
	switch k {
	case Ad:
		c.ads = fresh.ads
	case Timestamp:
		c.now, c.updated, c.pageTime = fresh.now, fresh.updated, fresh.pageTime
	case Counter:
		c.views, c.shares = c.views+1+c.rng.IntN(5000), c.shares+1+c.rng.IntN(50)
	case Session:
		c.session = fresh.session
	case Navigation:
		c.nav, c.trail = fresh.nav, fresh.trail
	case Related:
		c.related, c.popular = fresh.related, fresh.popular
	case AllNoise:
		views, shares := c.views, c.shares
		c.dynamic = fresh
		c.views, c.shares = views+7, shares+3
	}
}

// edit makes one small change that a reader would call one.
func (c *content) edit(k Kind) {
	switch k {
	case Number:
		s := c.spot(func(s sentence) bool { return s.number != "" })
		s.number = nextNumber(s.number, c.rng)
	case Date:
		s := c.spot(func(s sentence) bool { return !s.date.IsZero() })
		s.date = s.date.AddDate(0, 0, 1+c.rng.IntN(20))
	case Sentence:
		c.editSentence()
	case Word:
		s := c.spot(func(s sentence) bool { return s.number == "" && s.date.IsZero() })
		s.form = c.otherWord(s.form)
	case Cell:
		row := c.table[1+c.rng.IntN(len(c.table)-1)]
		i := 1 + c.rng.IntN(len(row)-1)
		row[i] = nextNumber(row[i], c.rng)
	case Item:
		c.editItem()
	}
}

// spot is a random sentence of the paragraphs that fits; every paragraph has one
// of each kind.
func (c *content) spot(fits func(sentence) bool) *sentence {
	paragraph := c.paragraphs[c.rng.IntN(len(c.paragraphs))]
	for _, i := range c.rng.Perm(len(paragraph)) {
		if fits(paragraph[i]) {
			return &paragraph[i]
		}
	}
	panic("a paragraph without a number, a date or plain words")
}

func (c *content) editSentence() {
	p := &c.paragraphs[c.rng.IntN(len(c.paragraphs))]
	at := c.rng.IntN(len(*p))
	switch c.rng.IntN(3) {
	case 0:
		*p = slices.Insert(*p, at, c.sentence())
	case 1:
		*p = slices.Delete(*p, at, at+1)
	default:
		(*p)[at] = sentence{form: c.phrase(7, 14)}
	}
}

func (c *content) editItem() {
	at := c.rng.IntN(len(c.items))
	switch c.rng.IntN(3) {
	case 0:
		c.items = slices.Insert(c.items, at, sentence{form: c.phrase(3, 9)})
	case 1:
		c.items = slices.Delete(c.items, at, at+1)
	default:
		c.items[at] = sentence{form: c.otherWord(c.items[at].form)}
	}
}

// otherWord replaces one word; in a language without spaces, one is inserted.
func (c *content) otherWord(form string) string {
	words := strings.Fields(form)
	at := c.rng.IntN(len(words))
	word := c.pick(c.words)
	if c.space == "" {
		return form + word
	}
	for strings.EqualFold(word, words[at]) {
		word = c.pick(c.words)
	}
	words[at] = word
	return strings.Join(words, " ")
}

// nextNumber changes one digit of a number.
func nextNumber(number string, rng *rand.Rand) string {
	text := []byte(number)
	for _, i := range rng.Perm(len(text)) {
		if text[i] >= '0' && text[i] <= '9' {
			text[i] = '0' + (text[i]-'0'+1+byte(rng.IntN(8)))%10
			break
		}
	}
	return string(text)
}
