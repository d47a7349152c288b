// Package searchtest states the promises of search.Index as tests that every driver runs.
package searchtest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/search"
)

// Open returns an empty index. It is closed by the test.
type Open func(t *testing.T) search.Index

// Run runs all tests.
func Run(t *testing.T, open Open) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, search.Index){
		"Words": words, "Languages": languages, "Order": order, "OrderOfTwoWords": orderOfTwoWords, "Copies": copies, "Parts": parts, "Filters": filters, "Changes": changes,
		"SomeWords": someWords, "RarePrefix": rarePrefix, "SyntaxIsText": syntaxIsText, "Crawls": crawls, "Forget": forget, "Together": together, "Held": held, "Large": large, "Ranked": ranked,
	} {
		t.Run(name, func(t *testing.T) { //nolint:paralleltest // drivers open one database after the other
			x := open(t)
			t.Cleanup(func() { check(t, x.Close()) })
			test(t, x)
		})
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// at is the time of all documents.
var at = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// doc returns a document of crawl 1 of which only the text matters.
func doc(page int64, text string) search.Document {
	sum := sha256.Sum256([]byte(text))
	return search.Document{
		Crawl: 1, Page: page, Version: 1, URL: fmt.Sprintf("https://a.test/%d", page), Host: "a.test", Text: text,
		Digest: hex.EncodeToString(sum[:]), Importance: 1, At: at, Mark: "m" + fmt.Sprint(page),
	}
}

// find returns the pages that a query of crawl 1 finds, in their order.
func find(t *testing.T, x search.Index, q search.Query) []int64 {
	t.Helper()
	if q.Crawl == 0 {
		q.Crawl = 1
	}
	r, err := x.Query(t.Context(), q)
	check(t, err)
	var pages []int64
	for _, h := range r.Hits {
		pages = append(pages, h.Page)
	}
	return pages
}

// finds checks which pages words find, whatever their order.
func finds(t *testing.T, x search.Index, words string, want ...int64) {
	t.Helper()
	got := find(t, x, search.Query{Words: words})
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%q finds %v, want %v", words, got, want)
	}
}

func words(t *testing.T, x search.Index) {
	check(t, x.Put(t.Context(), []search.Document{
		doc(1, "The retry policy of an activity"), doc(2, "An activity has no policy"), doc(3, "Nothing of the kind"),
	}))
	finds(t, x, "policy", 1, 2)
	finds(t, x, "POLICY, Activity!", 1, 2)
	finds(t, x, "retry activity", 1)
	finds(t, x, "polic")
	finds(t, x, "")
	finds(t, x, "?! … ☃")
	r, err := x.Query(t.Context(), search.Query{Crawl: 1, Words: "retry"})
	check(t, err)
	if h := r.Hits[0]; h.URL != "https://a.test/1" || h.Version != 1 || h.Score <= 0 || h.Copies != 0 || r.Some || r.More {
		t.Errorf("%+v", r)
	}
}

func languages(t *testing.T, x search.Index) {
	check(t, x.Put(t.Context(), []search.Document{
		doc(1, "東京都に住んでいます。"), doc(2, "京都の寺"), doc(3, "Crème brûlée in der Straße"), doc(4, "서울에서 만나요"),
		doc(5, "ﬁne ＡＢＣ １２３"), doc(6, "ภาษาไทย"), doc(7, "Ёлка и мёд"), doc(8, "コーヒーカップ"), doc(9, "हिन्दी भाषा"), doc(10, "كِتَابٌ"),
	}))
	finds(t, x, "東京", 1)
	finds(t, x, "京都", 1, 2)
	finds(t, x, "東京都", 1)
	finds(t, x, "寺", 2)
	finds(t, x, "京", 1, 2)
	finds(t, x, "都", 1, 2)
	finds(t, x, "creme BRULEE", 3)
	finds(t, x, "STRASSE", 3)
	finds(t, x, "서울", 4)
	finds(t, x, "fine abc 123", 5)
	finds(t, x, "ไทย", 6)
	finds(t, x, "елка", 7)
	finds(t, x, "ｺｰﾋｰ", 8)
	finds(t, x, "हिन्दी", 9)
	finds(t, x, "كتاب", 10)
	finds(t, x, "cre\u0300me", 3)
}

func order(t *testing.T, x search.Index) {
	title, heading, text, important := doc(1, "some words of this page"), doc(2, "other words of that page"), doc(3, "words of a kiwi as we know"), doc(4, "words on a kiwi as we know")
	title.Title, heading.Headings, important.Importance = "Kiwi", []string{"What it is", "A kiwi"}, 50
	filler := make([]search.Document, 20)
	for i := range filler {
		filler[i] = doc(int64(100+i), fmt.Sprintf("page %d of words as we know", i))
	}
	check(t, x.Put(t.Context(), append(filler, text, heading, title)))
	if got := find(t, x, search.Query{Words: "kiwi"}); !slices.Equal(got, []int64{1, 2, 3}) {
		t.Errorf("title, headings, text: %v", got)
	}
	check(t, x.Put(t.Context(), []search.Document{important}))
	if got := find(t, x, search.Query{Words: "kiwi"}); slices.Index(got, 4) > slices.Index(got, 3) {
		t.Errorf("a page of more importance comes after: %v", got)
	}
	check(t, x.Weigh(t.Context(), 1, map[int64]float64{4: 0.01, 3: 60, 999: 1}))
	if got := find(t, x, search.Query{Words: "kiwi"}); slices.Index(got, 4) < slices.Index(got, 3) {
		t.Errorf("a page that lost its importance comes before: %v", got)
	}
}

// orderOfTwoWords: each word counts where it stands, however far they are from each other.
func orderOfTwoWords(t *testing.T, x search.Index) {
	far := strings.Repeat("other words of no meaning and ", 40)
	title, heading, text := doc(1, "much of it "+far+" lemon"), doc(2, "more of it "+far+" lemon"), doc(3, "kiwi lemon "+far+" end")
	title.Title, heading.Headings = "Kiwi", []string{"Kiwi"}
	docs := []search.Document{text, heading, title}
	for i := range 20 {
		docs = append(docs, doc(int64(100+i), fmt.Sprintf("page %d of %s", i, far)))
	}
	check(t, x.Put(t.Context(), docs))
	if got := find(t, x, search.Query{Words: "kiwi lemon"}); !slices.Equal(got, []int64{1, 2, 3}) {
		t.Errorf("title, headings, text: %v", got)
	}
}

func copies(t *testing.T, x search.Index) {
	var docs []search.Document
	for i := range 60 {
		d := doc(int64(i+1), "the very same text")
		d.Importance = float64(i + 1)
		docs = append(docs, d)
	}
	other := doc(100, "the very other text")
	check(t, x.Put(t.Context(), append(docs, other)))
	r, err := x.Query(t.Context(), search.Query{Crawl: 1, Words: "very text", Limit: 5})
	check(t, err)
	if len(r.Hits) != 2 || r.Hits[0].Page != 60 || r.Hits[0].Copies != 59 || r.Hits[1].Page != 100 || r.Hits[1].Copies != 0 || r.More {
		t.Errorf("%+v", r)
	}
	var pages []int64
	for i := range 59 {
		pages = append(pages, int64(i+2))
	}
	check(t, x.Delete(t.Context(), 1, pages))
	r, err = x.Query(t.Context(), search.Query{Crawl: 1, Words: "same"})
	check(t, err)
	if len(r.Hits) != 1 || r.Hits[0].Page != 1 || r.Hits[0].Copies != 0 {
		t.Errorf("without copies: %+v", r)
	}
	empty := doc(200, "kiwi")
	empty.Digest = ""
	again := doc(201, "kiwi")
	again.Digest = ""
	check(t, x.Put(t.Context(), []search.Document{empty, again}))
	finds(t, x, "kiwi", 200, 201)
}

func parts(t *testing.T, x search.Index) {
	var docs []search.Document
	for i := range 25 {
		docs = append(docs, doc(int64(i+1), fmt.Sprintf("kiwi %s", strings.Repeat("filler ", i*4))))
	}
	check(t, x.Put(t.Context(), docs))
	all := find(t, x, search.Query{Words: "kiwi", Limit: 100})
	if len(all) != 25 || all[0] != 1 {
		t.Fatalf("all: %v", all)
	}
	var got []int64
	for offset := 0; ; offset += 10 {
		r, err := x.Query(t.Context(), search.Query{Crawl: 1, Words: "kiwi", Offset: offset})
		check(t, err)
		for _, h := range r.Hits {
			got = append(got, h.Page)
		}
		if more := offset+10 < 25; r.More != more {
			t.Errorf("from %d on there is more: %t", offset, r.More)
		}
		if !r.More {
			break
		}
	}
	if !slices.Equal(got, all) {
		t.Errorf("in parts %v, at once %v", got, all)
	}
	if got := find(t, x, search.Query{Words: "kiwi lemon filler", Offset: 100}); got != nil {
		t.Errorf("behind the end: %v", got)
	}
}

func filters(t *testing.T, x search.Index) {
	a, b, c := doc(1, "kiwi one"), doc(2, "kiwi two"), doc(3, "kiwi three")
	b.URL, c.URL, c.Host = "https://a.test/docs/b_", "https://b.test/docs/c", "b.test"
	d := doc(4, "kiwi four")
	d.URL, d.Host = "https://c.test/1/2/3/4/5/6/7?a=/b/", "c.test:8080"
	check(t, x.Put(t.Context(), []search.Document{a, b, c, d}))
	for _, one := range []struct {
		q    search.Query
		want []int64
	}{
		{search.Query{Host: "b.test"}, []int64{3}},
		{search.Query{Prefix: "https://a.test/docs/"}, []int64{2}},
		{search.Query{Prefix: "https://a.test/docs/b%"}, nil},
		{search.Query{Prefix: "https://a.test/docs/__"}, nil},
		{search.Query{Host: "a.test", Prefix: "https://b.test/"}, nil},
		{search.Query{Prefix: "https://b.test/", Host: "b.test"}, []int64{3}},
		{search.Query{Prefix: "https://b.test"}, []int64{3}},
		{search.Query{Prefix: "https://"}, []int64{1, 2, 3, 4}},
		{search.Query{Prefix: "htt"}, []int64{1, 2, 3, 4}},
		{search.Query{Prefix: "b.test"}, nil},
		{search.Query{Host: "b.tes"}, nil},
		{search.Query{Prefix: "https://c.test/1/2/3/4/5/6/7"}, []int64{4}},
		{search.Query{Prefix: "https://c.test/1/2/3/4/5/6/"}, []int64{4}},
		{search.Query{Prefix: "https://c.test/1/2/"}, []int64{4}},
		{search.Query{Prefix: "https://c.test/1/2/3/4/5/7/"}, nil},
		{search.Query{Prefix: "https://c.test/1/3/"}, nil},
		{search.Query{Prefix: "https://c.test/1/2/3/4/5/6/7?a=/b/"}, []int64{4}},
		{search.Query{Prefix: "https://c.test/1/2/3/4/5/6/7?a=/c/"}, nil},
		{search.Query{Host: "c.test:8080", Prefix: "https://c.test/"}, []int64{4}},
	} {
		one.q.Words = "kiwi"
		got := find(t, x, one.q)
		slices.Sort(got)
		if !slices.Equal(got, one.want) {
			t.Errorf("%+v finds %v, want %v", one.q, got, one.want)
		}
	}
}

func changes(t *testing.T, x search.Index) {
	check(t, x.Put(t.Context(), []search.Document{doc(1, "kiwi"), doc(2, "lemon")}))
	changed := doc(1, "melon")
	changed.Version, changed.Title = 2, "New"
	check(t, x.Put(t.Context(), []search.Document{changed}))
	finds(t, x, "kiwi")
	r, err := x.Query(t.Context(), search.Query{Crawl: 1, Words: "melon"})
	check(t, err)
	if len(r.Hits) != 1 || r.Hits[0].Version != 2 || r.Hits[0].Title != "New" {
		t.Errorf("%+v", r)
	}
	last := doc(1, "melon at last")
	check(t, x.Put(t.Context(), []search.Document{doc(1, "grape"), doc(4, "melon too"), last}))
	finds(t, x, "grape")
	finds(t, x, "melon", 1, 4)
	check(t, x.Put(t.Context(), nil))
	check(t, x.Delete(t.Context(), 1, []int64{2, 3, 4}))
	finds(t, x, "lemon")
	check(t, x.Put(t.Context(), []search.Document{doc(2, "lemon again")}))
	finds(t, x, "lemon", 2)
	check(t, x.Purge(t.Context()))
	finds(t, x, "melon", 1)
	finds(t, x, "lemon", 2)
}

func someWords(t *testing.T, x search.Index) {
	var docs []search.Document
	for i := range 40 {
		docs = append(docs, doc(int64(i+1), fmt.Sprintf("how do I do this in case %d", i)))
	}
	docs[7].Text += " retry"
	docs[8].Text += " timeout"
	check(t, x.Put(t.Context(), docs))
	r, err := x.Query(t.Context(), search.Query{Crawl: 1, Words: "how do I retry a timeout"})
	check(t, err)
	var pages []int64
	for _, h := range r.Hits {
		pages = append(pages, h.Page)
	}
	slices.Sort(pages)
	if !r.Some || !slices.Equal(pages, []int64{8, 9}) {
		t.Errorf("some words: %+v", r)
	}
	r, err = x.Query(t.Context(), search.Query{Crawl: 1, Words: "how nowhere"})
	check(t, err)
	if !r.Some || len(r.Hits) != 10 || !r.More {
		t.Errorf("only a common word is there: %d hits, %+v", len(r.Hits), r)
	}
	r, err = x.Query(t.Context(), search.Query{Crawl: 1, Words: "nowhere never"})
	check(t, err)
	if len(r.Hits) != 0 {
		t.Errorf("no word is there: %+v", r)
	}
}

// rarePrefix: a page that has several words with a beginning counts once for it.
func rarePrefix(t *testing.T, x search.Index) {
	var docs []search.Document
	for i := range 30 {
		text := fmt.Sprintf("page %d of nothing", i)
		switch {
		case i < 6:
			text += " 東京 東西 東南 "
		case i < 10:
			text += " kiwi"
		}
		docs = append(docs, doc(int64(i+1), text))
	}
	check(t, x.Put(t.Context(), docs))
	finds(t, x, "東 kiwi lemon", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
}

// syntaxIsText: an engine's syntax is plain text in a query.
func syntaxIsText(t *testing.T, x search.Index) {
	check(t, x.Put(t.Context(), []search.Document{doc(1, "one AND two OR three NOT near title"), doc(2, "three")}))
	for _, words := range []string{
		`"`, `""`, `'`, `\`, `*`, `^`, `(`, `)`, `{title}`, `:*`, `&`, `|`, `!`, `<->`, `%`, `_`, `;--`, `$1`, `?1`, "\x00", "\xff\xfe", `title:`, `- `, `NEAR(`, `'''`, `\\'`,
	} {
		_, err := x.Query(t.Context(), search.Query{Crawl: 1, Words: words})
		check(t, err)
		finds(t, x, words+" one "+words+" two "+words, 1)
	}
	finds(t, x, "three NOT near", 1)
	finds(t, x, "thr*")
	finds(t, x, `"one two"`, 1)
	finds(t, x, "o'ne")
	finds(t, x, strings.Repeat("three ", 10_000), 1, 2)
	hostile := doc(3, `'); DROP TABLE docs; -- \' "quoted" <b>x</b>`)
	hostile.URL, hostile.Title = `https://a.test/'"\%`, `O'Reilly \ "title"`
	check(t, x.Put(t.Context(), []search.Document{hostile}))
	finds(t, x, "drop table docs", 3)
	if got := find(t, x, search.Query{Words: "drop", Prefix: `https://a.test/'"\`}); !slices.Equal(got, []int64{3}) {
		t.Errorf("by a prefix of such characters: %v", got)
	}
}

func crawls(t *testing.T, x search.Index) {
	other := doc(1, "kiwi of another crawl")
	other.Crawl = 2
	check(t, x.Put(t.Context(), []search.Document{doc(1, "kiwi"), other}))
	if got := find(t, x, search.Query{Crawl: 2, Words: "another"}); !slices.Equal(got, []int64{1}) {
		t.Errorf("crawl 2: %v", got)
	}
	finds(t, x, "another")
	if got := find(t, x, search.Query{Crawl: 3, Words: "kiwi"}); got != nil {
		t.Errorf("crawl 3: %v", got)
	}
	check(t, x.SetCursor(t.Context(), 1, "here"))
	check(t, x.SetCursor(t.Context(), 3, "there"))
	check(t, x.SetCursor(t.Context(), 1, "further"))
	for crawl, want := range map[int64]string{1: "further", 2: "", 3: "there", 4: ""} {
		if got, err := x.Cursor(t.Context(), crawl); err != nil || got != want {
			t.Errorf("cursor of %d: %q, %v", crawl, got, err)
		}
	}
	check(t, x.Drop(t.Context(), 1))
	check(t, x.Drop(t.Context(), 77))
	finds(t, x, "kiwi")
	if got, err := x.Crawls(t.Context()); err != nil || !slices.Equal(got, []int64{2, 3}) {
		t.Errorf("crawls %v, %v", got, err)
	}
	if got, err := x.Cursor(t.Context(), 1); err != nil || got != "" {
		t.Errorf("cursor of a crawl that was dropped: %q, %v", got, err)
	}
	check(t, x.Put(t.Context(), []search.Document{doc(1, "kiwi again")}))
	finds(t, x, "kiwi", 1)
}

func forget(t *testing.T, x search.Index) {
	other, second := doc(1, "kiwi"), doc(3, "kiwi pie")
	other.Crawl = 2
	second.Host = "a.test:8080"
	check(t, x.Put(t.Context(), []search.Document{doc(1, "kiwi"), doc(2, "kiwi tree"), other, second}))
	if n, err := x.Forget(t.Context(), search.Target{URL: "https://a.test/1"}); err != nil || n != 2 {
		t.Errorf("a page of two crawls: %d, %v", n, err)
	}
	finds(t, x, "kiwi", 2, 3)
	if n, err := x.Forget(t.Context(), search.Target{Host: "a.test"}); err != nil || n != 1 {
		t.Errorf("a host: %d, %v", n, err)
	}
	finds(t, x, "kiwi", 3)
	check(t, x.Purge(t.Context()))
	if n, err := x.Forget(t.Context(), search.Target{Host: "nowhere.test"}); err != nil || n != 0 {
		t.Errorf("nothing: %d, %v", n, err)
	}
}

var errStop = errors.New("stop")

func together(t *testing.T, x search.Index) {
	check(t, x.Put(t.Context(), []search.Document{doc(1, "kiwi")}))
	err := x.Together(t.Context(), 1, func(x search.Index) error {
		check(t, x.Put(t.Context(), []search.Document{doc(2, "kiwi tree")}))
		check(t, x.Delete(t.Context(), 1, []int64{1}))
		check(t, x.SetCursor(t.Context(), 1, "there"))
		if got, err := x.Cursor(t.Context(), 1); err != nil || got != "there" {
			t.Errorf("inside: %q, %v", got, err)
		}
		return errStop
	})
	if !errors.Is(err, errStop) {
		t.Errorf("%v", err)
	}
	finds(t, x, "kiwi", 1)
	if got, err := x.Cursor(t.Context(), 1); err != nil || got != "" {
		t.Errorf("outside: %q, %v", got, err)
	}
	check(t, x.Together(t.Context(), 1, func(x search.Index) error { return x.Put(t.Context(), []search.Document{doc(2, "kiwi tree")}) }))
	finds(t, x, "kiwi", 1, 2)
	order, ended := make(chan string, 2), make(chan error, 1)
	check(t, x.Together(t.Context(), 1, func(in search.Index) error {
		go func() {
			ended <- x.Together(t.Context(), 1, func(search.Index) error { order <- "second"; return nil })
		}()
		if err := in.Put(t.Context(), []search.Document{doc(3, "kiwi pie")}); err != nil {
			return err
		}
		order <- "first"
		return nil
	}))
	check(t, <-ended)
	if a, b := <-order, <-order; a != "first" || b != "second" {
		t.Errorf("%s, %s", a, b)
	}
}

func held(t *testing.T, x search.Index) {
	some := doc(5, "kiwi")
	some.Importance = 2.5
	check(t, x.Put(t.Context(), []search.Document{doc(1, "a"), doc(2, "b"), some, doc(9, "c")}))
	got, err := x.Held(t.Context(), 1, 1, 5)
	check(t, err)
	want := map[int64]search.Held{2: {Mark: "m2", Importance: 1}, 5: {Mark: "m5", Importance: 2.5}}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	check(t, x.Weigh(t.Context(), 1, map[int64]float64{5: 3}))
	if got, err = x.Held(t.Context(), 1, 4, 9); err != nil || got[5] != (search.Held{Mark: "m5", Importance: 3}) || len(got) != 2 {
		t.Errorf("%v, %v", got, err)
	}
}

// large: no text is too long for an engine.
func large(t *testing.T, x search.Index) {
	var text strings.Builder
	for i := range 300_000 {
		fmt.Fprintf(&text, "%dé%s ", i, strings.Repeat("x", i%80))
	}
	long := doc(1, text.String())
	long.Title, long.Headings = strings.Repeat("kiwi ", 5000), []string{strings.Repeat("東", 5000)}
	check(t, x.Put(t.Context(), []search.Document{long, doc(2, strings.Repeat("lemon ", 200_000)), doc(3, "")}))
	finds(t, x, "kiwi", 1)
	finds(t, x, "7e"+strings.Repeat("x", 7), 1)
	finds(t, x, "lemon", 2)
}
