package mcp_test

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

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
	r.says("sections: 440; the 40 highest are listed below before the text", "part: characters 0 to ")
	r.quotes("sections:\n1. Chapter 1 (", "\n12. Chapter 2 (", "\n430. Chapter 40 (")
	if strings.Contains(r.theirs(), ". Section 1 of 1 (") {
		t.Errorf("the list is too deep for its length:\n%s", r.theirs()[:3000])
	}
	chapter := w.answers("read_page", map[string]any{"page": page, "section": "430"})
	chapter.quotes("# Chapter 40\n\n## Section 1 of 40\n")
	chapter.says("next_offset: none")
}

// If only the title is high enough for a list that fits, or nothing is, the first sections below
// it are listed.
func TestOutlineIsNeverEmpty(t *testing.T) {
	t.Parallel()
	many := func(mark string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%s Part %d\n\n%s\n\n", mark, i+1, strings.Repeat("word ", 40))
		}
		return b.String()
	}
	long := strings.Repeat("word ", 5000) + "\n\n"
	for _, c := range []struct{ what, markdown, says, begins, ends string }{
		{"a title and 300 below it", "# Title\n\n" + many("##", 300), "sections: 301; the first 100 of the 301 highest are listed", "1. Title (", "… and 201 more"},
		{"no title", many("###", 300), "sections: 300; the first 100 of the 300 highest are listed", "    1. Part 1 (", "… and 200 more"},
		{"titles", many("#", 150), "sections: 150; the first 100 of the 150 highest are listed", "1. Part 1 (", "… and 50 more"},
		{"deep parts", "# Title\n\n" + many("##", 20) + many("###", 300), "sections: 321; the 21 highest are listed", "1. Title (", "21. Part 20 ("},
		{"two titles", "# Title\n\n# Other\n\n" + many("###", 300), "sections: 302; the 2 highest are listed", "1. Title (", "2. Other ("},
		{"few", "# Title\n\n" + many("##", 3) + long, "sections: 4, listed", "1. Title (", "4. Part 3 ("},
	} {
		w := newWorld(t)
		r := w.answers("read_page", map[string]any{"page": w.reads(c.markdown)})
		if got := r.theirs(); !strings.Contains(got, "\nsections:\n"+c.begins) || !strings.Contains(got, c.ends) {
			t.Errorf("%s:\n%s", c.what, got[:min(len(got), 6000)])
		}
		r.says(c.says)
	}
}

// What an answer says of how to go on does so, also after a question about a time.
func TestToGoOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.page("/long")
	paragraphs := func(word string) string {
		var b strings.Builder
		for i := range 400 {
			fmt.Fprintf(&b, "<p>%s %d: %s</p>", word, i, strings.Repeat(word+" ", 20))
		}
		return b.String()
	}
	w.finds(page.PageID, "Long", html("Long", paragraphs("before")), days(9))
	w.finds(page.PageID, "Long", html("Long", paragraphs("after")), days(2))
	w.connect()
	for tool, args := range map[string]map[string]any{
		"read_page": {"page": page.PageID, "at": days(5).Format(time.RFC3339)}, "diff_page": {"page": page.PageID, "since": days(5).Format(time.RFC3339)},
	} {
		first := w.answers(tool, args)
		for _, m := range regexp.MustCompile(`(offset|version|from|to) (\d+)`).FindAllStringSubmatch(first.fact("to_go_on"), -1) {
			n, err := strconv.Atoi(m[2])
			w.check(err)
			args[m[1]] = n
		}
		if next := w.answers(tool, args); !strings.Contains(next.theirs(), "before") || !strings.HasPrefix(next.fact("part"), "characters "+first.fact("next_offset")+" to ") {
			t.Errorf("%s %v:\n%s", tool, args, next.text[:min(len(next.text), 2000)])
		}
	}
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
