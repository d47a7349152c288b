package mail

import (
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/wneessen/go-mail/smtp"
	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"recrawl/internal/feed"
	"recrawl/internal/sink"
)

// nasty are pieces of malicious titles.
var nasty = []string{
	"\r\nBcc: eve@example.com", "\n\nbody", "\r\n.\r\nMAIL FROM:<eve@example.com>\r\n", "\r", "\x00", "\x1b[31m", "=?utf-8?q?=0d=0aBcc:_eve?=",
	"\u202e", "\u2066", "\u200b", "\ufeff", "\u2028", "\U000e0041", "<script>alert(1)</script>", "</h3><img src=http://x/>", `" onmouseover="x`,
	"javascript:alert(1)", "{{.Crawl}}", "<!--", "]]>", "\xff\xfe", strings.Repeat("long ", 2000), strings.Repeat("x", 3000), "--", "é", "日本", ".",
}

func hostile() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		pieces := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(nasty), rapid.String()), 0, 6).Draw(t, "pieces")
		return strings.Join(pieces, "")
	})
}

// headers are all that a mail of ours has.
var headers = []string{"Auto-Submitted", "Content-Type", "Date", "From", "List-Id", "Message-Id", "Mime-Version", "Subject", "To", "X-Auto-Response-Suppress"}

// Whatever a page, a diff, a crawl or a sink is called, no mail has another header or
// another receiver, no mail runs or loads anything, and each line of a text stays one line.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	s := sender(t, Server{Host: "mail.example.org", From: "crawler@example.org"}, "ann@example.com")
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string { return hostile().Draw(t, name) }
		e := feed.Event{
			ID: text("id"), Kind: rapid.SampledFrom(feed.Kinds()).Draw(t, "kind"), At: at, Crawl: text("crawl"), Host: text("host"), Pattern: text("pattern"), Sink: text("sink"),
			Page: &feed.EventPage{ID: 1, URL: "https://example.com/" + text("url"), Title: text("title")}, Location: text("location"), Problem: text("problem"), Code: text("code"),
			Diff: &feed.EventDiff{Added: []string{text("added"), text("added")}, Removed: []string{text("removed")}},
		}
		letters := []letter{letterOf(e), letterOfDigest(sink.Digest{ID: text("digest"), Crawl: e.Crawl, Sink: e.Sink, From: at, To: at.Add(time.Hour), Events: []feed.Event{e, e}, Left: 1})}
		for i, l := range letters {
			data, err := s.compose(l)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range strings.Split(strings.TrimSuffix(string(data), "\r\n"), "\r\n") {
				if len(line) > 998 || strings.ContainsAny(line, "\r\n\x00") {
					t.Fatalf("a line that mail servers refuse: %.200q", line)
				}
			}
			checkMail(t, readRapid(t, data), 3*(i+1))
		}
	})
}

func readRapid(t *rapid.T, data []byte) readMail {
	m, err := parse(string(data))
	if err != nil {
		t.Fatalf("%v in\n%s", err, data)
	}
	return m
}

func checkMail(t *rapid.T, m readMail, diffLines int) {
	if got := slices.Sorted(maps.Keys(m.header)); !slices.Equal(got, headers) {
		t.Fatalf("headers %q", got)
	}
	for name, values := range m.header {
		if len(values) != 1 {
			t.Fatalf("%s: %q", name, values)
		}
	}
	if to := m.header.Get("To"); to != "<ann@example.com>" {
		t.Fatalf("to %q", to)
	}
	subject, err := decodeHeader(m.header.Get("Subject"))
	if err != nil || utf8.RuneCountInString(subject) > 2*maxSubject || subject != clean(subject, 2*maxSubject) {
		t.Fatalf("subject %q, %v", subject, err)
	}
	marks := 0
	for _, line := range strings.Split(m.plain, "\n") {
		if strings.HasPrefix(line, "+ ") || strings.HasPrefix(line, "- ") || line == "+" || line == "-" {
			marks++
		}
	}
	if marks > diffLines { // fewer where a heading begins like one is impossible, more is forged
		t.Fatalf("%d lines of a diff, want at most %d:\n%s", marks, diffLines, m.plain)
	}
	checkMarkup(t, m.html)
}

// checkMarkup refuses everything that our own template does not write.
func checkMarkup(t *rapid.T, text string) {
	allowed := map[string][]string{
		"html": nil, "head": nil, "meta": {"charset", "name", "content"}, "body": {"style"}, "h3": {"style"}, "p": {"style"},
		"a": {"href", "rel"}, "div": {"style", "dir"}, "del": {"style"}, "ins": {"style"},
	}
	for z := html.NewTokenizer(strings.NewReader(text)); ; {
		switch z.Next() {
		case html.ErrorToken:
			if z.Err() != io.EOF {
				t.Fatal(z.Err())
			}
			return
		case html.CommentToken:
			t.Fatalf("a comment in %s", text)
		case html.StartTagToken, html.SelfClosingTagToken:
			token := z.Token()
			attributes, ok := allowed[token.Data]
			if !ok {
				t.Fatalf("an element %s in %s", token.Data, text)
			}
			for _, a := range token.Attr {
				if !slices.Contains(attributes, a.Key) || a.Key == "href" && !strings.HasPrefix(a.Val, "https://example.com/") {
					t.Fatalf("an attribute %s=%q of %s", a.Key, a.Val, token.Data)
				}
			}
		}
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"  a \r\n\t b ": "a b", "\u202eabc\u202c": "abc", "a\u200bb": "ab", "می\u200cخواهم": "می\u200cخواهم", "\xffa": "a",
		strings.Repeat("x", 11): strings.Repeat("x", 10) + "…", "": "", "\x1b[1m": "[1m", "👩\u200d👧": "👩\u200d👧",
	} {
		if got := clean(in, 10); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// Every kind of change has words.
func TestEveryKindHasWords(t *testing.T) {
	t.Parallel()
	for _, k := range feed.Kinds() {
		if headings[k] == "" {
			t.Errorf("%s has no heading", k)
		}
		if got := headingOf(feed.Event{Kind: k, Crawl: "news", Host: "h", Sink: "s", Pattern: "p"}); strings.HasSuffix(got, ": ") {
			t.Errorf("%s: %q", k, got)
		}
	}
}

// plainClient speaks to a server in the clear.
func plainClient(t *testing.T) *smtp.Client {
	t.Helper()
	here, there := net.Pipe()
	t.Cleanup(func() { _ = here.Close(); _ = there.Close() })
	go func() { _, _ = there.Write([]byte("220 ready\r\n")) }()
	c, err := smtp.NewClient(here, "mail.example.org")
	if err != nil {
		t.Fatal(err)
	}
	return c
}
