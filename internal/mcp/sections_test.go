package mcp_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"recrawl/internal/document"
	"recrawl/internal/mcp"
	"recrawl/internal/report"
	"recrawl/internal/store"
)

// written are reports in which every page has the same text.
type written struct {
	mcp.Reports
	markdown string
}

func (r written) DocumentOf(_ context.Context, _ report.Contents, p store.PageRecord, _ report.DocumentQuery) (document.Document, error) {
	return document.New(document.Meta{URL: p.URL, Title: p.Last.Title, Crawl: p.Crawl, Page: p.PageID, Version: p.Last.Seq, Fetched: p.Last.At, Changed: p.Last.At}, r.markdown), nil
}

// reads connects to a server whose one page has a text.
func (w *world) reads(markdown string) (page int64) {
	w.Helper()
	p := w.page("/")
	w.finds(p.PageID, "Home", html("Home", "<p>Welcome.</p>"), days(1))
	w.options.Reports = written{w.options.Reports, markdown}
	w.connect()
	return p.PageID
}

const handbook = "Preface.\n\n# Handbook\n\nOn cars.\n\n## Engine \\& oil\n\nThree litres.\n\n```sh\n# Brakes\n## not a heading\n```\n\n" +
	"### In winter\n\nFour litres.\n\n## Brakes\n\n~~~~\n```\n# Engine & oil\n~~~\n~~~~\n\nCheck them.\n\n#hashtag is none\n\n# Index\n\nA to Z.\n"

func TestSections(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.reads(handbook)
	for section, want := range map[string][2]string{ // how it begins and ends
		"1":            {"# Handbook", "#hashtag is none"},
		"Handbook":     {"# Handbook", "#hashtag is none"},
		"engine & OIL": {"## Engine", "Four litres."},
		"2":            {"## Engine", "Four litres."},
		"In winter":    {"### In winter", "Four litres."},
		"4":            {"## Brakes", "#hashtag is none"},
		" brakes ":     {"## Brakes", "#hashtag is none"},
		"Index":        {"# Index", "A to Z."},
		"5":            {"# Index", "A to Z."},
	} {
		r := w.answers("read_page", map[string]any{"page": page, "section": section})
		_, text, _ := strings.Cut(r.theirs(), "\n\n")
		if text = strings.TrimSpace(text); !strings.HasPrefix(text, want[0]) || !strings.HasSuffix(text, want[1]) {
			t.Errorf("section %q is\n%s", section, text)
		}
	}
	for _, section := range []string{"0", "6", "-1", "not a heading", "hashtag is none", "…"} {
		if r := w.call("read_page", map[string]any{"page": page, "section": section}); !r.isError || !strings.Contains(r.text, "there is no section") {
			t.Errorf("section %q: %s", section, r.text)
		}
	}
}

// A text that does not fit is preceded by a list of its sections, each of which can be read
// by the number that it has there.
func TestOutline(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var b strings.Builder
	for c := range 40 {
		fmt.Fprintf(&b, "# Chapter %d\n\n", c+1)
		for s := range 10 {
			fmt.Fprintf(&b, "## Section %d of %d\n\n%s\n\n", s+1, c+1, strings.Repeat("word ", 40))
		}
	}
	page := w.reads(b.String())
	r := w.answers("read_page", map[string]any{"page": page})
	r.says("sections: 440, listed below before the text", "part: characters 0 to ")
	r.quotes("sections:\n1. Chapter 1 (", "\n12. Chapter 2 (", "\n430. Chapter 40 (")
	if strings.Contains(r.theirs(), ". Section 1 of 1 (") {
		t.Errorf("the list is too deep for its length:\n%s", r.theirs()[:3000])
	}
	chapter := w.answers("read_page", map[string]any{"page": page, "section": "430"})
	chapter.quotes("# Chapter 40\n\n## Section 1 of 40\n")
	chapter.says("next_offset: none")
}

// The end of an answer is counted in characters, and no character is split.
func TestOffsetsAreCharacters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	text := strings.Repeat("東京都は日本の首都😀", 4000)
	page := w.reads(text)
	var whole strings.Builder
	for args := map[string]any{"page": page}; ; {
		r := w.answers("read_page", args)
		_, part, _ := strings.Cut(r.theirs(), "\n\n")
		whole.WriteString(part)
		if r.fact("next_offset") == "none" {
			break
		}
		args["offset"] = r.number("next_offset")
	}
	if whole.String() != text {
		t.Errorf("the parts are not the whole: %d bytes of %d", whole.Len(), len(text))
	}
}
