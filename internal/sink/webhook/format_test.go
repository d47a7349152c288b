package webhook

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"pgregory.net/rapid"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/sink"
)

var update = flag.Bool("update", false, "write the golden files anew")

var topic = &url.URL{Scheme: "https", Host: "ntfy.example", Path: "/topic"}

func formatNamed(t testing.TB, name string) format {
	t.Helper()
	f, err := formatOf(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// one returns the event's body.
func one(t testing.TB, format string, e feed.Event) []byte {
	t.Helper()
	body, err := formatNamed(t, format).event(topic, e)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// many returns the digest's body.
func many(t testing.TB, format string, d sink.Digest) []byte {
	t.Helper()
	body, err := formatNamed(t, format).digest(topic, d)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// samples returns events of all kinds, with all their fields.
func samples() []feed.Event {
	var all []feed.Event
	for _, k := range feed.Kinds() {
		e := change()
		e.Kind = k
		switch {
		case k == feed.PageChanged: // as it is
		case k == feed.PageForgotten:
			e.Page, e.URLHash = &feed.EventPage{ID: 12}, strings.Repeat("cd", 32)
			e.Version, e.Before, e.Diff = nil, nil, nil
		case k.OfPage():
			e.Diff = nil
		default:
			e.Page, e.Version, e.Before, e.Diff, e.Visit, e.Status = nil, nil, nil, nil, 0, 0
		}
		switch k {
		case feed.PageGone:
			e.Status = 404
		case feed.PageMoved:
			e.Status, e.Location = 301, "https://news.example/new"
		case feed.PageFailing:
			e.Status, e.Problem = 0, "the host refused the connection"
		case feed.CrawlState:
			e.State = crawl.CrawlPaused
		case feed.TrapHeld:
			e.Host, e.Pattern = "news.example", "news.example/calendar"
		case feed.HostBlocked:
			e.Host, e.Blocked = "news.example", true
		case feed.SinkPaused:
			e.Sink, e.Code = "team_chat", "gone"
		case feed.FeedGap:
			e.Sink, e.Missed = "team_chat", 17
		}
		all = append(all, e)
	}
	returned := change()
	returned.ReturnedTo = 1
	return append(all, returned)
}

// TestGolden shows each kind of change, and digests, in each format.
func TestGolden(t *testing.T) {
	t.Parallel()
	for _, format := range Formats() {
		var got bytes.Buffer
		for _, e := range samples() {
			fmt.Fprintf(&got, "== %s\n%s\n", e.Kind, one(t, format, e))
		}
		fmt.Fprintf(&got, "== digest\n%s\n", many(t, format, digest(3)))
		path := filepath.Join("testdata", format+".golden")
		if *update {
			if err := os.WriteFile(path, got.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s differs; with -update it is written anew:\n%s", path, got.Bytes())
		}
	}
}

// Digests name no page for a change that has none, such as a gap. Slack refuses all of a message in
// which a text is empty or missing.
func TestDigestOfOtherThanPages(t *testing.T) {
	t.Parallel()
	d := digest(0)
	d.Events = samples()
	var empty func(v any) bool
	empty = func(v any) bool {
		switch v := v.(type) {
		case []any:
			return slices.ContainsFunc(v, empty)
		case map[string]any:
			return (v["type"] == "text" || v["type"] == "link") && (v["text"] == nil || v["text"] == "") || empty(v["elements"])
		}
		return false
	}
	var slack map[string]any
	if err := json.Unmarshal(many(t, "slack", d), &slack); err != nil || empty(slack["blocks"]) {
		t.Errorf("a text is empty: %v, %v", slack, err)
	}
	var ntfy map[string]any
	if err := json.Unmarshal(many(t, "ntfy", d), &ntfy); err != nil || strings.Contains(ntfy["message"].(string)+"\n", ": \n") {
		t.Errorf("a name is empty: %v, %v", ntfy, err)
	}
}

// hostile draws text with which a page may try to be taken for something else.
func hostile(t *rapid.T, label string) string {
	parts := rapid.SliceOfN(rapid.SampledFrom([]string{
		"@everyone", "@here", "<!channel>", "<@U123>", "<@&1>", "<#C1>", "@alice", "[click](https://evil.example)", "<https://evil.example|bank>",
		"https://evil.example", "www.evil.example", "mail@evil.example", "**bold**", "_x_", "~~x~~", "# head", "> quote", "- item", "|a|b|", "||spoiler||",
		"`", "``", "```", "\n```\n", "\r\n", "\n\n# x", "\\", "\\`", "<script>", "<img src=x>", "&lt;", "&", "\"", "'", "{", "}", "\x00", "\x1b[31m", "\u202e", "\u2066", "\u200b", "\u2028",
		"\U000E0041", "\xff", "a", "ä", "漢", "👍", ":tada:", " ", "\t", "![x](https://evil.example/x.png)", "javascript:alert(1)", "#channel", "!", ".",
	}), 0, 6).Draw(t, label)
	return "Z" + strings.Join(parts, "") // something is left of it
}

// provoke returns the event with each text that others choose replaced.
func provoke(e feed.Event, text func(label string) string) feed.Event {
	page, version, diff := *e.Page, *e.Version, *e.Diff
	page.Title, version.Title = text("title"), text("version's title")
	diff.Added, diff.Removed = []string{text("added"), text("added too")}, []string{text("removed")}
	e.Page, e.Version, e.Diff = &page, &version, &diff
	e.Problem, e.Location, e.Pattern, e.Host = text("problem"), text("location"), text("pattern"), text("host")
	return e
}

var (
	fences = regexp.MustCompile("(?s)\n```diff\n(.*?)```") // for some services three anywhere end it
	spans  = regexp.MustCompile("`[^`\n]*`")
)

// skeleton returns a text in Markdown or Slack's language without its code.
func skeleton(text string) string {
	return spans.ReplaceAllString(fences.ReplaceAllString("\n"+text, "\n(block)"), "(code)")
}

// frame returns a body without the texts that the service does not interpret. Our words,
// links and markup are left.
func frame(t testing.TB, format string, body []byte) any {
	t.Helper()
	if format == "markdown" {
		return skeleton(string(body))
	}
	var v map[string]any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	switch format {
	case "slack":
		v["text"] = skeleton(v["text"].(string))
		blankSlack(v["blocks"])
	case "discord":
		for _, e := range v["embeds"].([]any) {
			e := e.(map[string]any)
			if a, ok := e["author"].(map[string]any); ok {
				a["name"] = "(text)"
			}
			if d, ok := e["description"].(string); ok {
				e["description"] = skeleton(d)
			}
			fields, _ := e["fields"].([]any)
			for _, f := range fields {
				f := f.(map[string]any)
				f["value"] = skeleton(f["value"].(string))
			}
		}
	case "ntfy":
		text := v["message"].(string)
		for _, m := range []string{"://", "@a", "@e", "@h", "www.e", "evil.e"} {
			if strings.Contains(text, m) {
				t.Fatalf("the message has %q, which a program may take for a link or mention: %q", m, text)
			}
		}
		v["message"] = strings.Count(text, "\n")
	}
	return v
}

// blankSlack takes the texts out of rich text, in which text is text.
func blankSlack(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			blankSlack(e)
		}
	case map[string]any:
		if text, ok := v["text"].(string); ok {
			v["text"] = strings.Repeat("\n", strings.Count(text, "\n")) // only ours
		}
		blankSlack(v["elements"])
	}
}

// Whatever a page says, its message is the same as for a page that says nothing: the same
// words, links, mentions and lines of ours, except for text in code, or where the service
// does not interpret text.
func TestPagesSpeakOnlyAsText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		said := provoke(change(), func(label string) string { return hostile(rt, label) })
		quiet := provoke(change(), func(string) string { return "Z" })
		d, plain := digest(2), digest(2)
		d.Events[1], plain.Events[1] = said, quiet
		for _, format := range Formats() {
			if format == "json" {
				continue
			}
			for _, bodies := range [][2][]byte{{one(t, format, said), one(t, format, quiet)}, {many(t, format, d), many(t, format, plain)}} {
				if got, want := frame(t, format, bodies[0]), frame(t, format, bodies[1]); !reflect.DeepEqual(got, want) {
					rt.Fatalf("%s: the page has changed the message\n%s\nto\n%s", format, bodies[1], bodies[0])
				}
				if i := bytes.IndexFunc(bodies[0], func(r rune) bool {
					return r != '\n' && unicode.IsControl(r) || r == 0x202E || r == 0x2066 || r == 0xE0041
				}); i >= 0 {
					rt.Fatalf("%s: a character that cannot be seen at %d: %q", format, i, bodies[0])
				}
			}
		}
	})
}

// An address that becomes a link can neither end the link nor start anything.
func TestLinks(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://a.example/x_(y)?a=1&b=[2]": "https://a.example/x_%28y%29?a=1&b=%5B2%5D",
		"https://a.example/ä`*|<>\"'":       "https://a.example/%C3%A4%60%2A%7C%3C%3E%22%27",
		"javascript:alert(1)":               "", "ftp://a.example/": "", "https://u:p@a.example/": "", "https:///x": "", "": "", "/x": "",
		"https://a.example/" + strings.Repeat("x", maxLink): "",
	} {
		if got := link(address); got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		got := link("https://a.example/" + hostile(rt, "path"))
		if got == "" {
			return
		}
		u, err := url.Parse(got)
		if err != nil || u.Host != "a.example" || strings.ContainsAny(got, " <>()[]{}|\\^`\"'*\n") || len(got) > maxLink {
			rt.Fatalf("%q, %v", got, err)
		}
	})
}

// huge returns an event with the most that there can be of everything.
func huge() feed.Event {
	e := change()
	long := strings.Repeat("\"<&\\漢👍", 2000)
	e.Page = &feed.EventPage{ID: 1, URL: "https://a.example/" + strings.Repeat("x", 8<<10), Host: strings.Repeat("a", 250), Title: long}
	e.Version = &feed.EventVersionOf{Seq: 2, Title: long, ContentType: long, Digest: strings.Repeat("a", 64), TextDigest: strings.Repeat("a", 64)}
	e.Before = &feed.EventVersionOf{Seq: 1, Title: long, ContentType: long}
	e.Location, e.Problem, e.Pattern = "https://b.example/"+strings.Repeat("y", 8<<10), long, long
	e.Diff = &feed.EventDiff{WordsAdded: 100_000, WordsRemoved: 100_000}
	for range 20 {
		e.Diff.Added = append(e.Diff.Added, long)
		e.Diff.Removed = append(e.Diff.Removed, long)
	}
	return e
}

// Bodies stay below 20 kB and within the limits of their service.
func TestBodiesAreBounded(t *testing.T) {
	t.Parallel()
	full := digest(0)
	for range 1000 {
		full.Events = append(full.Events, huge())
	}
	long := digest(1000)
	for _, format := range Formats() {
		for name, body := range map[string][]byte{
			"event": one(t, format, huge()), "digest of huge": many(t, format, full), "digest of many": many(t, format, long), "empty digest": many(t, format, digest(0)),
		} {
			if len(body) >= 20_000 {
				t.Errorf("%s, %s: %d bytes", format, name, len(body))
			}
			switch format {
			case "discord":
				var m discordMessage
				if err := json.Unmarshal(body, &m); err != nil || units(m.Embeds[0].Description) > 4096 || units(m.Embeds[0].Title) > 256 {
					t.Errorf("%s: %v, %s", name, err, body)
				}
			case "ntfy":
				var m ntfyMessage
				if err := json.Unmarshal(body, &m); err != nil || len(m.Message) > 4096 {
					t.Errorf("%s: %v, %d bytes", name, err, len(m.Message))
				}
			}
		}
	}
}

// Text without room is cut, and the body says so.
func TestCutIsSaid(t *testing.T) {
	t.Parallel()
	e := change()
	e.Diff.Added, e.Diff.Removed = nil, nil
	for i := range 40 {
		e.Diff.Added = append(e.Diff.Added, fmt.Sprintf("%d %s", i, strings.Repeat("x", 900)))
		e.Diff.Removed = append(e.Diff.Removed, fmt.Sprintf("%d %s", i, strings.Repeat("y", 900)))
	}
	var got feed.Event
	body := one(t, "json", e)
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatal(err)
	}
	if !got.Diff.Cut || len(body) < 18_000 || len(got.Diff.Added) < 5 || len(got.Diff.Removed) < 5 || got.Diff.Added[0] != e.Diff.Added[0] {
		t.Errorf("%d bytes, cut %v, %d and %d lines", len(body), got.Diff.Cut, len(got.Diff.Added), len(got.Diff.Removed))
	}
	if e.Diff.Cut || len(e.Diff.Added) != 40 {
		t.Error("the caller's event was changed")
	}
	for _, format := range []string{"slack", "discord", "ntfy", "markdown"} {
		if body := one(t, format, e); !bytes.Contains(body, []byte("…")) {
			t.Errorf("%s does not say that lines are left out: %s", format, body)
		}
	}
	got = feed.Event{}
	if err := json.Unmarshal(one(t, "json", change()), &got); err != nil || got.Diff.Cut || !reflect.DeepEqual(got.Diff, change().Diff) {
		t.Errorf("what fits is changed: %+v, %v", got.Diff, err)
	}
	var d struct {
		V      int
		Digest struct {
			ID     string
			Events []feed.Event
			Left   int
			From   time.Time
		}
	}
	if err := json.Unmarshal(many(t, "json", digest(1000)), &d); err != nil || d.V != 1 || d.Digest.ID != digest(0).ID || len(d.Digest.Events)+d.Digest.Left != 1002 || len(d.Digest.Events) < 15 || !d.Digest.From.Equal(digest(0).From) {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "", " a \n\t b ": "a b", "a\x00b": "a b", "a\u202eb\u2066c\u200bd\ufeff": "abcd", "\xff": "\uFFFD",
		"👨\u200d👩": "👨\u200d👩", "0123456789ab": "012345678…", "👍👍👍👍👍👍": "👍👍👍👍…", "01234567 9ab": "01234567…",
	} {
		if got := plain(in, 10); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		s, n := rapid.String().Draw(rt, "text"), rapid.IntRange(1, 40).Draw(rt, "limit")
		got := plain(s, n)
		if units(got) > n || got != strings.TrimSpace(got) || strings.ContainsFunc(got, unicode.IsControl) || plain(got, n) != got {
			rt.Fatalf("%q", got)
		}
	})
}
