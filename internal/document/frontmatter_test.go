package document_test

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"recrawl/internal/crawl"
	"recrawl/internal/document"
)

var found = time.Date(2026, 11, 21, 18, 3, 38, 123456000, time.UTC)

func TestFrontMatter(t *testing.T) {
	t.Parallel()
	d := document.New(document.Meta{
		URL: "https://example.com/a", Title: `"Hours": 'when' #1 \ C:\new`, Crawl: "news", Page: 12, Version: 3,
		Fetched: found, Changed: found.Add(-time.Hour).Truncate(time.Second),
		Language: "de-AT", Canonical: "https://example.com/", ContentType: "text/html; charset=utf-8",
		Reserved: []crawl.Reservation{{Use: crawl.UseAITrain, Source: "robots.txt: Content-Signal: ai-train=no"}, {Use: crawl.UseSearch, Allowed: true, Source: "tdm-reservation: 0"}},
	}, "# Hours\n")
	const want = `---
url: "https://example.com/a"
title: "\"Hours\": 'when' #1 \\ C:\\new"
crawl: "news"
page: 12
version: 3
fetched: 2026-11-21T18:03:38.123456Z
changed: 2026-11-21T17:03:38Z
language: "de-AT"
canonical: "https://example.com/"
content_type: "text/html; charset=utf-8"
text_sha256: "fe15981a57300f6d3c099d05a11b2db8bc6b213722391cb9da0cc8e20b5929fb"
reserved:
  - use: "ai-train"
    allowed: false
    source: "robots.txt: Content-Signal: ai-train=no"
  - use: "search"
    allowed: true
    source: "tdm-reservation: 0"
---

# Hours
`
	if got := d.File(); got != want {
		t.Errorf("%s", got)
	}
	if got := (document.Meta{Fetched: found, Changed: found}).FrontMatter(); strings.Contains(got, "language") || strings.Contains(got, "canonical") || strings.Contains(got, "reserved") {
		t.Errorf("what is not known: %s", got)
	}
}

// Whatever a site says of itself, a reader of YAML gets it back, and it stands on its line.
func TestFrontMatterIsRead(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string {
			return rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"---", "\n---\n", "a: b", "\u2028", "\u202e", "\ufeff", "\x00", "\x7f", "\u0085", "\xff", "'", `"`, `\`, "🙂", "\U000e0041", " ", "null", "#"})).Draw(t, name)
		}
		m := document.Meta{
			URL: text("url"), Title: text("title") + text("more"), Crawl: text("crawl"), Page: rapid.Int64Min(1).Draw(t, "page"), Version: 2, Fetched: found, Changed: found,
			Language: text("language"), Canonical: text("canonical"), ContentType: text("type"), TextSHA256: "00",
			Reserved: []crawl.Reservation{{Use: crawl.UseSearch, Source: text("source")}},
		}
		matter := m.FrontMatter()
		inner, begins := strings.CutPrefix(matter, "---\n")
		inner, ends := strings.CutSuffix(inner, "---\n")
		if !begins || !ends || strings.Contains("\n"+inner, "\n---") {
			t.Fatalf("%q", matter)
		}
		for _, r := range inner {
			if r != '\n' && !unicode.IsPrint(r) {
				t.Fatalf("%U is in %q", r, inner)
			}
		}
		var got struct {
			URL, Title, Crawl, Language, Canonical string
			ContentType                            string `yaml:"content_type"`
			TextSHA256                             string `yaml:"text_sha256"`
			Page                                   int64
			Version                                int
			Fetched, Changed                       time.Time
			Reserved                               []struct {
				Use, Source string
				Allowed     bool
			}
		}
		if err := yaml.Unmarshal([]byte(inner), &got); err != nil {
			t.Fatalf("%v: %s", err, inner)
		}
		valid := func(s string) string { return strings.ToValidUTF8(s, string(utf8.RuneError)) }
		if got.URL != valid(m.URL) || got.Title != valid(m.Title) || got.Crawl != valid(m.Crawl) || got.Language != valid(m.Language) || got.Canonical != valid(m.Canonical) ||
			got.ContentType != valid(m.ContentType) || got.TextSHA256 != "00" || got.Page != m.Page || got.Version != 2 || !got.Fetched.Equal(found) || !got.Changed.Equal(found) ||
			len(got.Reserved) != 1 || got.Reserved[0].Source != valid(m.Reserved[0].Source) {
			t.Fatalf("%+v of %+v", got, m)
		}
	})
}
