package feed_test

import (
	"bytes"
	"encoding"
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/feed"
)

// page returns the text of docs/changes.md.
func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/changes.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var (
	code     = regexp.MustCompile("`([^`]+)`")
	fieldRow = regexp.MustCompile(`^\| ([^|]+) \| (number|text|time|boolean|object|list of text) \| [^|]+ \|$`)
	kindRow  = regexp.MustCompile("^\\| `((?:page|crawl|trap|host|sink|feed)\\.[a-z]+)` \\| [^|]+ \\|$")
)

// typeOf names a type in the words of the page.
func typeOf(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return "time"
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return "text"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeOf(t.Elem())
	case reflect.Struct:
		return "object"
	case reflect.Slice:
		return "list of " + typeOf(t.Elem())
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "boolean"
	}
	return "number"
}

// fields collects the fields of a type's JSON with those of its objects, and their types.
func fields(t reflect.Type, prefix string, into map[string]string) map[string]string {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		into[prefix+name] = typeOf(f.Type)
		if typeOf(f.Type) == "object" {
			of := f.Type
			if of.Kind() == reflect.Pointer {
				of = of.Elem()
			}
			fields(of, prefix+name+".", into)
		}
	}
	return into
}

// docs/changes.md describes each field of an event, with its type, and no other.
func TestDocsDescribeEvents(t *testing.T) {
	t.Parallel()
	there := fields(reflect.TypeFor[feed.Event](), "", map[string]string{})
	told := map[string]bool{}
	for line := range strings.Lines(page(t)) {
		row := fieldRow.FindStringSubmatch(strings.TrimSpace(line))
		if row == nil {
			continue
		}
		for _, name := range code.FindAllStringSubmatch(row[1], -1) {
			if is, ok := there[name[1]]; !ok || is != row[2] || told[name[1]] {
				t.Errorf("docs/changes.md says that %s is a %s; events have %q, said before: %v", name[1], row[2], is, told[name[1]])
			}
			told[name[1]] = true
		}
	}
	for name, is := range there {
		if !told[name] {
			t.Errorf("docs/changes.md does not say what %s is: a %s", name, is)
		}
	}
	if len(told) < 40 {
		t.Errorf("only %d fields", len(told))
	}
}

func TestDocsDescribeKinds(t *testing.T) {
	t.Parallel()
	var told []string
	for line := range strings.Lines(page(t)) {
		if row := kindRow.FindStringSubmatch(strings.TrimSpace(line)); row != nil {
			told = append(told, row[1])
		}
	}
	var there []string
	for _, k := range feed.Kinds() {
		there = append(there, k.String())
	}
	if !slices.Equal(told, there) {
		t.Errorf("docs/changes.md describes %v, and there are %v", told, there)
	}
}

// The example is an event as programs print it.
func TestDocsExample(t *testing.T) {
	t.Parallel()
	found := 0
	for line := range strings.Lines(page(t)) {
		if !strings.HasPrefix(line, `{"v":1`) {
			continue
		}
		found++
		var e feed.Event
		dec := json.NewDecoder(strings.NewReader(line))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&e); err != nil {
			t.Fatal(err)
		}
		var again bytes.Buffer
		enc := json.NewEncoder(&again)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(e); err != nil || again.String() != line {
			t.Errorf("%v: the example is\n%sand would be printed as\n%s", err, line, again.String())
		}
	}
	if found != 1 {
		t.Errorf("%d examples", found)
	}
}

func TestSelectKinds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"page.new": 1, "page.*": 13, "*": len(feed.Kinds()), "page.new,page.*,page.new": 13, "sink.*,feed.gap": 2} {
		got, err := feed.SelectKinds(strings.Split(text, ","))
		if err != nil || len(got) != want || !slices.IsSorted(got) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	if got, err := feed.SelectKinds(nil); err != nil || got != nil {
		t.Errorf("none: %v, %v", got, err)
	}
	for _, text := range []string{"", "page", "pages.*", "page.new*er", "Page.new", "*.new"} {
		if got, err := feed.SelectKinds([]string{text}); err == nil || !strings.Contains(err.Error(), "use page.new, ") {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

// Every kind has words, and those of events say what is known.
func TestWords(t *testing.T) {
	t.Parallel()
	for _, k := range feed.Kinds() {
		if what := (feed.Event{Kind: k}).What(); what == "" || strings.Contains(what, ".") {
			t.Errorf("%s: %q", k, what)
		}
	}
	p := &feed.EventPage{ID: 7, URL: "https://a.test/", Title: "Now"}
	for _, c := range []struct {
		e    feed.Event
		want string
	}{
		{feed.Event{Kind: feed.PageChanged, Page: p, ReturnedTo: 2}, "changed, as in version 2|https://a.test/||Now"},
		{feed.Event{Kind: feed.PageGone, Page: p, Status: 410, Problem: "gone"}, "gone (410)|https://a.test/|gone|Now"},
		{feed.Event{Kind: feed.PageMoved, Page: p, Location: "https://b.test/", Version: &feed.EventVersionOf{Title: "Then"}}, "moved|https://a.test/|to https://b.test/|Then"},
		{feed.Event{Kind: feed.PageForgotten, Page: &feed.EventPage{ID: 7}, URLHash: "ab"}, "forgotten|page 7, whose URL has SHA-256 ab||"},
		{feed.Event{Kind: feed.PageNew, Page: &feed.EventPage{ID: 7}}, "new|page 7, forgotten since||"},
		{feed.Event{Kind: feed.HostBlocked, Host: "a.test", Blocked: true}, "host blocked|a.test||"},
		{feed.Event{Kind: feed.HostBlocked, Host: "a.test"}, "host unblocked|a.test||"},
		{feed.Event{Kind: feed.TrapHeld, Host: "a.test", Pattern: "a.test/cal/#"}, "held as a trap|a.test/cal/#||"},
		{feed.Event{Kind: feed.FeedGap, Sink: "mail", Missed: 1}, "1 change missed|sink mail||"},
		{feed.Event{Kind: feed.SinkPaused, Sink: "mail", Code: "gone"}, "sink paused|sink mail|gone|"},
		{feed.Event{Kind: feed.CrawlSpec, Crawl: "news"}, "another spec|crawl news||"},
	} {
		if got := c.e.What() + "|" + c.e.Where() + "|" + c.e.Detail() + "|" + c.e.Title(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	if got := (feed.EventDiff{WordsAdded: 1, WordsRemoved: 2}).Size(); got != "1 word added, 2 removed" {
		t.Error(got)
	}
}
