package extract

import (
	"fmt"
	"testing"

	"golang.org/x/net/html/charset"
)

// TestQueriesInTheDocumentsEncoding: as browsers send them. The path of a link is in UTF-8
// in any document.
func TestQueriesInTheDocumentsEncoding(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"windows-1251", "Пр", "%CF%F0"},
		{"koi8-r", "Пр", "%F0%D2"},
		{"iso-8859-2", "ž", "%BE"},
		{"windows-1252", "é€", "%E9%80"},
		{"shift_jis", "あ", "%82%A0"},
		{"shift_jis", "ソ", "%83%5C"}, // its second byte is a backslash
		{"shift_jis", "ア", "%83A"},   // and here a letter
		{"euc-jp", "あ", "%A4%A2"},
		{"iso-2022-jp", "あ", "%1B$B$%22%1B(B"},
		{"gbk", "中", "%D6%D0"},
		{"gb18030", "中", "%D6%D0"},
		{"big5", "中", "%A4%A4"},
		{"euc-kr", "한", "%C7%D1"},
		{"windows-1251", "☃", "%26%239731%3B"},
		{"windows-1251", "П☃р", "%CF%26%239731%3B%F0"},
		{"utf-8", "Пр", "%D0%9F%D1%80"},
		{"utf-16le", "Пр", "%D0%9F%D1%80"},
		{"utf-16be", "Пр", "%D0%9F%D1%80"},
	} {
		t.Run(c.name+" "+c.text, func(t *testing.T) {
			t.Parallel()
			in, _ := charset.Lookup(c.name)
			// As references, so that any encoding can carry the characters.
			body, err := in.NewEncoder().String(fmt.Sprintf(`<a href="/%s?a=1&amp;q=%s&amp;b#%s">x</a>`, entities("путь"), entities(c.text), entities(c.text)))
			if err != nil {
				t.Fatal(err)
			}
			page, err := Parse(Source{URL: mustURL(t, "http://h/"), ContentType: "text/html; charset=" + c.name, Body: []byte(body)}, Rules{})
			if err != nil {
				t.Fatal(err)
			}
			want := "http://h/%D0%BF%D1%83%D1%82%D1%8C?a=1&q=" + c.want + "&b"
			if len(page.Links) != 1 || page.Links[0].URL != want {
				t.Errorf("%s: links %+v, want %s", page.Charset, page.Links, want)
			}
		})
	}
}

// entities writes a text so that any encoding can carry it.
func entities(text string) (s string) {
	for _, r := range text {
		s += fmt.Sprintf("&#%d;", r)
	}
	return s
}

func TestCanonicalAndFeedsInTheDocumentsEncoding(t *testing.T) {
	t.Parallel()
	body := "<link rel=canonical href='/c?\xcf'><link rel=alternate type=application/rss+xml href='/f?\xf0'>"
	page, err := Parse(Source{URL: mustURL(t, "http://h/"), ContentType: "text/html; charset=windows-1251", Body: []byte(body)}, Rules{})
	if err != nil || page.Canonical != "http://h/c?%CF" || len(page.Feeds) != 1 || page.Feeds[0] != "http://h/f?%F0" {
		t.Errorf("%q, %q, %v", page.Canonical, page.Feeds, err)
	}
}

// TestSpellingOfLinks: the first link to a URL decides its spelling.
func TestSpellingOfLinks(t *testing.T) {
	t.Parallel()
	body := `<nav><a href="/it's">1</a></nav><main><a href="/it%27s">2</a><a href="/~joe">3</a></main><a href="/%7ejoe">4</a>`
	page, err := Parse(Source{URL: mustURL(t, "http://h/"), ContentType: "text/html", Body: []byte(body)}, Rules{})
	if err != nil || len(page.Links) != 2 || page.Links[0].Spelling != "/it's" || page.Links[1].Spelling != "" {
		t.Errorf("%+v, %v", page.Links, err)
	}
}
