package extract

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// one is the only link of a page.
func one(t *testing.T, body string) Link {
	t.Helper()
	page := parse(t, body)
	if len(page.Links) != 1 {
		t.Fatalf("%d links: %+v", len(page.Links), page.Links)
	}
	return page.Links[0]
}

// TestLinkDetails runs each case on the tree and tag by tag.
func TestLinkDetails(t *testing.T) {
	link := func(change func(*Link)) Link {
		l := Link{URL: "https://example.com/x", Kind: KindA, Place: PlaceBody, Reach: ReachHost}
		change(&l)
		return l
	}
	cases := []struct {
		name, body string
		want       Link
	}{
		{"text", "<a href=/x> The <b>text</b>\n of it</a>", link(func(l *Link) { l.Text = "The text of it" })},
		{"blocks in a link", "<a href=/x><h3>Head</h3><p>text</p></a>", link(func(l *Link) { l.Text = "Head text" })},
		{"a picture in a link", `<a href=/x><img alt="A boat"></a>`, link(func(l *Link) { l.Text = "A boat" })},
		{"a title where there is no text", `<a href=/x title="A title"> </a>`, link(func(l *Link) { l.Text = "A title" })},
		{"a link that is never closed", "<a href=/x>text", link(func(l *Link) { l.Text = "text" })},
		{"controls", "<a href=/x>a\u202eb\x01c</a>", link(func(l *Link) { l.Text = "ab c" })},
		{"relations", `<a rel="NoOpener nofollow  noopener" href=/x></a>`, link(func(l *Link) { l.Rel, l.NoFollow = "nofollow noopener", true })},
		{"relations with commas", `<a rel="nofollow,noopener" href=/x></a>`, link(func(l *Link) { l.Rel, l.NoFollow = "nofollow noopener", true })},
		{"relations with semicolons", `<a rel="external;UGC;" href=/x></a>`, link(func(l *Link) { l.Rel, l.NoFollow = "external ugc", true })},
		{"relations with bars", `<a rel="noopener|sponsored" href=/x></a>`, link(func(l *Link) { l.Rel, l.NoFollow = "noopener sponsored", true })},
		{"relations in quotes", `<a rel="”nofollow”" href=/x></a>`, link(func(l *Link) { l.Rel, l.NoFollow = "nofollow", true })},
		{"a relation with a hyphen", `<a rel="no-follow" href=/x></a>`, link(func(l *Link) { l.Rel, l.NoFollow = "no-follow", true })},
		{"a relation that is an address", `<a rel="https://api.w.org/no,x" href=/x></a>`, link(func(l *Link) { l.Rel = "https://api.w.org/no x" })},
		{"relations that forbid nothing", `<a rel="noopener,follow dofollow nofollowed" href=/x></a>`, link(func(l *Link) { l.Rel = "dofollow follow nofollowed noopener" })},
		{"a relation far behind", `<a rel="` + strings.Repeat("met ", 1000) + `nofollow" href=/x></a>`, link(func(l *Link) { l.Rel, l.NoFollow = "met", true })},
		{"area", `<map><area alt=here href=/x></map>`, link(func(l *Link) { l.Kind, l.Text = KindArea, "here" })},
		{"iframe", `<iframe title=inner src=/x></iframe>`, link(func(l *Link) { l.Kind, l.Text = KindIframe, "inner" })},
		{"refresh", `<meta http-equiv=refresh content="0; url=/x">`, link(func(l *Link) { l.Kind = KindRefresh })},
		{"another language", `<link rel=alternate hreflang=de href=/x>`, link(func(l *Link) { l.Kind, l.Rel = KindLink, "alternate" })},
		{"main", "<main><p><a href=/x></a></main>", link(func(l *Link) { l.Place = PlaceMain })},
		{"by its role", "<div role='Main other'><a href=/x></a></div>", link(func(l *Link) { l.Place = PlaceMain })},
		{"nav", "<header><nav><a href=/x></a></nav></header>", link(func(l *Link) { l.Place = PlaceNav })},
		{"after nav", "<header><nav></nav><a href=/x></a></header>", link(func(l *Link) { l.Place = PlaceHeader })},
		{"footer", "<footer><a href=/x></a></footer>", link(func(l *Link) { l.Place = PlaceFooter })},
		{"footer of an article", "<article><footer><a href=/x></a></footer></article>", link(func(l *Link) { l.Place = PlaceMain })},
		{"aside of an article", "<article><aside><a href=/x></a></aside></article>", link(func(l *Link) { l.Place = PlaceAside })},
		{"the main part speaks", `<nav><a href=/x rel=nofollow>menu</a></nav><main><a href=/x>main</a></main>`, link(func(l *Link) { l.Place, l.Text = PlaceMain, "main" })},
		{"a text speaks", `<main><a href=/x></a><a href=/x>text</a></main>`, link(func(l *Link) { l.Place, l.Text = PlaceMain, "text" })},
	}
	for _, c := range cases {
		for shape, wrap := range map[string]func(string) string{"tree": strings.TrimSpace, "flat": deep} {
			t.Run(c.name+" "+shape, func(t *testing.T) {
				if got := one(t, wrap(c.body)); !reflect.DeepEqual(got, c.want) {
					t.Errorf("got  %+v\nwant %+v", got, c.want)
				}
			})
		}
	}
}

func TestReach(t *testing.T) {
	for href, want := range map[string]Reach{
		"/x": ReachHost, "https://example.com/x": ReachHost, "http://example.com/x": ReachHost, "//www.example.com/": ReachSite,
		"//example.org/": ReachExternal, "//example.com:81/": ReachSite,
	} {
		if got := one(t, fmt.Sprintf(`<a href="%s">`, href)).Reach; got != want {
			t.Errorf("%s: %s, want %s", href, got, want)
		}
	}
}

func TestAnchorLimit(t *testing.T) {
	got := one(t, `<a href=/x>`+strings.Repeat("é", 5000)+`</a>`).Text
	if got != strings.Repeat("é", maxAnchor) {
		t.Errorf("%d bytes", len(got))
	}
}

func TestLanguage(t *testing.T) {
	const meta = "<meta http-equiv=Content-Language content='fr, en'>"
	cases := []struct{ name, body, header, want string }{
		{"html", "<html lang=de>", "fr", "de"},
		{"canonical", "<html lang=EN_us>", "", "en-US"},
		{"of three letters", "<html lang=deu>", "", "de"},
		{"xml:lang", "<html xml:lang=pt-br>", "", "pt-BR"},
		{"the first", "<html lang=de xml:lang=fr>", "", "de"},
		{"meta", meta, "de", "fr"},
		{"element before meta", "<html lang=de>" + meta, "", "de"},
		{"header", "<p>", "it, en", "it"},
		{"no tag", "<html lang='the queen&#39;s'>", "it", "it"},
		{"empty", "<html lang=''>", "", ""},
		{"nobody says", "<p>", "", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, body := range []string{c.body, c.body + deep("")} {
				page, err := Parse(Source{Body: []byte(body), ContentType: "text/html", Language: c.header, URL: mustURL(t, self)}, Rules{})
				if err != nil || page.Language != c.want {
					t.Errorf("got %q, %v, want %q", page.Language, err, c.want)
				}
			}
		})
	}
}

func TestFeeds(t *testing.T) {
	t.Parallel()
	many := strings.Repeat(`<link rel=alternate type=application/rss+xml href=/again>`, 3)
	for n := range 20 {
		many += fmt.Sprintf(`<link rel=alternate type=application/rss+xml href=/%d>`, n)
	}
	for body, want := range map[string]string{
		`<link rel="alternate" type="application/rss+xml" href="feed">`:                                              "https://example.com/dir/feed",
		`<base href="/b/"><link rel="ALTERNATE home" type="Application/Atom+XML; charset=utf-8" href="feed"><p>x`:    "https://example.com/b/feed",
		`<link rel=alternate type=application/feed+json href=//b.test/feed.json>`:                                    "https://b.test/feed.json",
		`<link rel=alternate type=text/html href=/de><link rel=alternate type=application/json href=/api>`:           "",
		`<link rel=stylesheet type=application/rss+xml href=/a><link type=application/rss+xml href=/b>`:              "",
		`<link rel=alternate type=application/rss+xml><link rel=alternate type=application/rss+xml href="ftp://x/">`: "",
	} {
		page := parse(t, body)
		if got := strings.Join(page.Feeds, " "); got != want {
			t.Errorf("%s: feeds %q, want %q", body, got, want)
		}
		for _, l := range page.Links {
			if l.URL == want {
				t.Errorf("%s: the feed is a link too", body)
			}
		}
	}
	if got := parse(t, many).Feeds; len(got) > maxFeeds || got[0] != "https://example.com/again" {
		t.Errorf("%d feeds: %v", len(got), got)
	}
}
