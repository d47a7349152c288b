package atom_test

import (
	"bytes"
	"encoding/xml"
	"regexp"
	"strings"
	"testing"
	"time"

	"recrawl/internal/feed"
	"recrawl/internal/feed/atom"
)

// element is any element, as a reader that knows nothing of the writer sees it.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Children []element  `xml:",any"`
	Text     string     `xml:",chardata"`
}

func (e element) all(name string) (found []element) {
	for _, c := range e.Children {
		if c.XMLName.Local == name {
			found = append(found, c)
		}
	}
	return found
}

func (e element) attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

var uuid5 = regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

// checkFeed checks a feed against RFC 4287: section 4.1.1 of feeds, 4.1.2 of entries, 3.3
// of dates, 4.2.6 of ids, 4.1.3.3 of text.
func checkFeed(t *testing.T, text []byte) element {
	t.Helper()
	var root element
	if err := xml.Unmarshal(text, &root); err != nil {
		t.Fatalf("not XML: %v\n%s", err, text)
	}
	if root.XMLName.Space != "http://www.w3.org/2005/Atom" || root.XMLName.Local != "feed" {
		t.Fatalf("the root is %v", root.XMLName)
	}
	exactly := func(e element, name string, most int) string {
		found := e.all(name)
		if len(found) == 0 || len(found) > most {
			t.Fatalf("%s has %d %s", e.XMLName.Local, len(found), name)
		}
		for _, c := range found {
			if c.XMLName.Space != "http://www.w3.org/2005/Atom" {
				t.Errorf("%s is not of Atom's namespace", name)
			}
		}
		return found[0].Text
	}
	ids := map[string]bool{}
	common := func(e element) {
		id := exactly(e, "id", 1)
		if !uuid5.MatchString(id) || ids[id] {
			t.Errorf("id %q is no URN or not the only one", id)
		}
		ids[id] = true
		if exactly(e, "title", 1) == "" {
			t.Error("an empty title")
		}
		if at, err := time.Parse(time.RFC3339, exactly(e, "updated", 1)); err != nil || at.IsZero() {
			t.Errorf("updated: %v", err)
		}
	}
	common(root)
	if author := root.all("author"); len(author) != 1 || exactly(author[0], "name", 1) == "" {
		t.Error("no author")
	}
	for _, e := range root.all("entry") {
		common(e)
		links := e.all("link")
		if len(links) > 1 || len(links) == 1 && (links[0].attr("rel") != "alternate" || links[0].attr("href") == "") {
			t.Errorf("links %v", links)
		}
		if exactly(e, "content", 1) == "" || e.all("content")[0].attr("type") != "text" {
			t.Error("no content")
		}
		if len(e.all("category")) != 1 || e.all("category")[0].attr("term") == "" {
			t.Error("no category")
		}
	}
	return root
}

var at = time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC)

func events() []feed.Event {
	return []feed.Event{
		{
			V: 1, ID: "ab.1", Kind: feed.PageChanged, At: at, Crawl: "news", Page: &feed.EventPage{ID: 7, URL: "https://example.com/?a=1&b=<2>", Title: "Old"},
			Version: &feed.EventVersionOf{Seq: 2, Title: `Prices & "more" <now>`}, Before: &feed.EventVersionOf{Seq: 1},
			Diff: &feed.EventDiff{WordsAdded: 1, WordsRemoved: 2, Added: []string{"12 euros ]]>"}, Removed: []string{"10 euros\x00\x1b[2J"}, Cut: true},
		},
		{V: 1, ID: "ab.2", Kind: feed.PageMoved, At: at.Add(time.Second), Crawl: "news", Page: &feed.EventPage{ID: 8, URL: "https://example.com/old"}, Location: "https://example.com/new"},
		{V: 1, ID: "ab.3", Kind: feed.PageForgotten, At: at.Add(2 * time.Second), Crawl: "news", Page: &feed.EventPage{ID: 9}, URLHash: "00ff"},
		{V: 1, ID: "ab.4", Kind: feed.SinkPaused, At: at.Add(time.Minute), Crawl: "news", Sink: "mail", Code: "refused"},
	}
}

func write(t *testing.T, f atom.Feed) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := atom.Write(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFeed(t *testing.T) {
	t.Parallel()
	text := write(t, atom.Feed{Name: "news", Epoch: "ab", Updated: at, Software: "recrawl/1.2.3", Events: events()})
	root := checkFeed(t, text)
	entries := root.all("entry")
	if len(entries) != 4 || entries[0].all("category")[0].attr("term") != "sink.paused" {
		t.Fatalf("%d entries, the newest not first:\n%s", len(entries), text)
	}
	if got := root.all("updated")[0].Text; got != "2026-03-01T12:01:00.123456Z" {
		t.Errorf("updated %s is not the time of the newest event", got)
	}
	changed := entries[3]
	if got, want := changed.all("title")[0].Text, `changed: Prices & "more" <now>`; got != want {
		t.Errorf("title %q, want %q", got, want)
	}
	if got, want := changed.all("link")[0].attr("href"), "https://example.com/?a=1&b=<2>"; got != want {
		t.Errorf("link %q, want %q", got, want)
	}
	for _, want := range []string{"1 word added, 2 removed", "+ 12 euros ]]>", "- 10 euros", "…"} {
		if !strings.Contains(changed.all("content")[0].Text, want) {
			t.Errorf("%q does not say %q", changed.all("content")[0].Text, want)
		}
	}
	if len(entries[1].all("link")) != 0 {
		t.Error("a forgotten page has a link")
	}
}

// A reader recognises an entry by its id, whatever else is in the feed.
func TestIDsAreStable(t *testing.T) {
	t.Parallel()
	id := func(text []byte, n int) string { return checkFeed(t, text).all("entry")[n].all("id")[0].Text }
	all := write(t, atom.Feed{Name: "news", Epoch: "ab", Updated: at, Software: "recrawl/1", Events: events()})
	some := write(t, atom.Feed{Epoch: "ab", Updated: at, Software: "recrawl/2", Events: events()[1:2]})
	if a, b := id(all, 2), id(some, 0); a != b {
		t.Errorf("%s and %s for the same change", a, b)
	}
	feedID := func(f atom.Feed) string { return checkFeed(t, write(t, f)).all("id")[0].Text }
	if feedID(atom.Feed{Name: "news", Epoch: "ab", Updated: at, Software: "r/1"}) == feedID(atom.Feed{Name: "docs", Epoch: "ab", Updated: at, Software: "r/1"}) {
		t.Error("two crawls have the same feed")
	}
	whole := atom.Feed{Name: "news", Epoch: "ab", Updated: at, Software: "r/1"}
	if got := feedID(whole); got != "urn:uuid:c5a0b122-7acc-515c-a0c5-6b78af230a2e" {
		t.Errorf("the feed of all changes is now %s: its readers take it for another", got)
	}
	gone, fresh := whole, whole
	gone.Chosen, fresh.Chosen = "kinds=page.gone", "kinds=page.new"
	if a, b := feedID(gone), feedID(fresh); a == b || a == feedID(whole) {
		t.Error("parts of a feed are the same feed to readers")
	}
}

// A feed says where it is, if it is anywhere.
func TestSelf(t *testing.T) {
	t.Parallel()
	root := checkFeed(t, write(t, atom.Feed{Name: "news", Epoch: "ab", Updated: at, Software: "recrawl/1", Self: "https://crawl.test/a?b=1&c=2"}))
	if links := root.all("link"); len(links) != 1 || links[0].attr("rel") != "self" || links[0].attr("href") != "https://crawl.test/a?b=1&c=2" {
		t.Errorf("%v", links)
	}
}

func TestEmptyFeed(t *testing.T) {
	t.Parallel()
	root := checkFeed(t, write(t, atom.Feed{Name: "news", Epoch: "ab", Updated: at, Software: "recrawl/1"}))
	if len(root.all("entry")) != 0 || root.all("updated")[0].Text != "2026-03-01T12:00:00.123456Z" {
		t.Errorf("%+v", root)
	}
}
