package robots

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"recrawl/internal/urlkey"
)

// rewriting changes how a file is written and not its meaning. It is given the
// lines of a file without their ends.
type rewriting struct {
	name string
	line func(line string) string
	end  string
}

var rewritings = []rewriting{
	{"comments added", func(line string) string { return line + " # Disallow: /" }, "\n"},
	{"comments removed", withoutComment, "\n"},
	{"CRLF", func(line string) string { return line }, "\r\n"},
	{"CR", func(line string) string { return line }, "\r"},
	{"white space around", func(line string) string { return " \t" + line + " \t" }, "\n"},
	{"case of keys", onKey(swapCase), "\n"},
	{"case of agents", onValue(swapCase, "user-agent"), "\n"},
	{"text after the agent", onValue(func(v string) string { return v + " 1.0" }, "user-agent"), "\n"},
	{"white space at the colon", onValue(func(v string) string { return "\t " + v }, "user-agent", "allow", "disallow", "crawl-delay"), "\n"},
	{"unreserved characters encoded", onValue(encodeUnreserved, "allow", "disallow"), "\n"},
	{"hex digits in lower case", onValue(lowerHex, "allow", "disallow"), "\n"},
}

// withoutComment cuts the comment, and the space that it hides.
func withoutComment(line string) string {
	line, _, _ = strings.Cut(line, "#")
	return line
}

func swapCase(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return r
	}, s)
}

func onKey(change func(string) string) func(string) string {
	return func(line string) string {
		key, value, ok := strings.Cut(line, ":")
		if !ok || strings.Contains(key, "#") {
			return line
		}
		return change(key) + ":" + value
	}
}

// onValue changes the values of some keys, without a comment behind them. No
// wildcard that ends a value may get something behind it, so it is trimmed.
func onValue(change func(string) string, keys ...string) func(string) string {
	return func(line string) string {
		key, value, ok := strings.Cut(withoutComment(line), ":")
		value = trim(value)
		if !ok || value == "" || !slices.Contains(keys, strings.ToLower(trim(key))) {
			return line
		}
		return key + ":" + change(value)
	}
}

// encodeUnreserved encodes every second unreserved character that is no part of
// a code.
func encodeUnreserved(value string) string {
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		if c := value[i]; i%2 == 1 && isUnreserved(c) && !strings.Contains(value[max(0, i-2):i], "%") {
			b.Write([]byte{'%', upperHex[c>>4], upperHex[c&15]})
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func lowerHex(value string) string {
	out := []byte(value)
	for i := 2; i < len(out); i++ {
		if out[i-2] == '%' && hexValue(out[i-1]) >= 0 && hexValue(out[i]) >= 0 {
			out[i-1], out[i] = lower(out[i-1]), lower(out[i])
		}
	}
	return string(out)
}

// junk are lines that say nothing, alone or when misread.
var junk = []string{
	"", ":", "::", "Disallow", "Allow /a b", "Disallow /x /", "Disalow-all: /", "Host: example.com", "Noindex: /", "Request-rate: 1/10", "\x00\x01", "\xfe\xfd", "%%%",
	"<html>", "Crawl-delay: never", "Crawl-delay: -5", "Sitemap: ::", "Disallow\u00a0: /", "# Disallow: /", "\u2028Disallow: /",
	"User-agent-x: *", "X" + strings.Repeat("x", 20000) + ": /",
}

// opinion is the part of the verdicts that must not depend on how a file is written.
type opinion struct {
	allowed         bool
	line, groupLine int
	delay           string
}

func opinionOf(text string, u urlkey.URL) opinion {
	f := Parse([]byte(text))
	v := f.Check("recrawl", u)
	return opinion{v.Allowed, v.Line, v.GroupLine, f.CrawlDelay("recrawl").String()}
}

// moved is an opinion after a line was put in before line at.
func (o opinion) moved(at int) opinion {
	for _, line := range []*int{&o.line, &o.groupLine} {
		if *line >= at {
			*line++
		}
	}
	return o
}

// checkInvariants: differences that do not matter by RFC 9309 do not matter. All
// bounds that depend on the size of a file are far away.
func checkInvariants(t interface {
	Helper()
	Errorf(string, ...any)
}, text string, at int, u urlkey.URL,
) {
	t.Helper()
	texts := slices.Collect(func(yield func(string) bool) {
		for line := range lines([]byte(Text([]byte(text)))) {
			if !yield(string(line)) {
				return
			}
		}
	})
	want := opinionOf(strings.Join(texts, "\n"), u)
	for _, r := range rewritings {
		var b strings.Builder
		for _, line := range texts {
			b.WriteString(r.line(line) + r.end)
		}
		if got := opinionOf(b.String(), u); got != want {
			t.Errorf("%s: %+v instead of %+v of %q, as %q", r.name, got, want, text, b.String())
		}
	}
	at = max(at, -at) % (len(texts) + 1)
	for _, broken := range junk {
		with := strings.Join(slices.Insert(slices.Clone(texts), at, broken), "\n")
		if got, want := opinionOf(with, u), want.moved(at+1); got != want {
			t.Errorf("%.40q as line %d of %q: %+v instead of %+v", broken, at+1, text, got, want)
		}
	}
}

// TestInvariants tries files that look like those of sites.
func TestInvariants(t *testing.T) {
	t.Parallel()
	line := rapid.OneOf(
		rapid.SampledFrom([]string{"User-agent: recrawl", "user-agent: Recrawl/2", "User-agent: *", "User-agent: other", "User-agent: *", "Crawl-delay: 3", "Sitemap: http://h/s", "Unknown: x", "", "# c", "disallow", "Useragent recrawl"}),
		rapid.Custom(func(t *rapid.T) string {
			key := rapid.SampledFrom([]string{"Allow", "Disallow", "disallow ", "Disalow"}).Draw(t, "key")
			value := rapid.StringMatching(`[/*]?[ab.é%~*]{0,3}(%(2F|2f|41|7e|2A|3a|zz))?[a/?=:]{0,3}\$?`).Draw(t, "value")
			return key + ": " + value + rapid.SampledFrom([]string{"", " ", "#x", " # x"}).Draw(t, "end")
		}),
	)
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(line, 0, 10).Draw(t, "lines")
		path := rapid.StringMatching(`/[ab.é~]{0,3}(%(2F|41|7e|2A|3A))?[a/?=:]{0,3}`).Draw(t, "path")
		u, err := urlkey.Canonical("http://h" + path)
		if err != nil {
			t.Fatal(err)
		}
		checkInvariants(t, strings.Join(texts, "\n"), rapid.IntRange(0, 10).Draw(t, "at"), u)
	})
}

func FuzzInvariants(f *testing.F) {
	f.Add("User-agent: recrawl # x\r\nDisallow : /a%7eb/*c$ # d\rAllow: /~\n", 1, "~b/c")
	f.Add("User agent: *\nDisallow /%C3%A9é\nCrawl-delay: 5\nUser-agent: a\nAllow: *", 2, "é")
	f.Add("user-agent:*\ndisallow:/?u=http://x\nallow:/%3fu=%2F", 0, "?u=http:%2f/x")
	f.Fuzz(func(t *testing.T, text string, at int, path string) {
		if len(text) > 10_000 || len(path) > 1000 {
			return // far from all bounds
		}
		u, err := urlkey.Canonical("http://example.com/" + path)
		if err != nil {
			return
		}
		checkInvariants(t, text, at, u)
	})
}
