package document_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"recrawl/internal/crawl"
	"recrawl/internal/document"
	"recrawl/internal/extract"
)

func chunksOf(url, markdown string, headings ...extract.Heading) []document.Chunk {
	d := document.New(document.Meta{URL: url}, markdown)
	d.Headings = headings
	return d.Chunks()
}

// outline returns the parts of chunks that tests compare.
func outline(chunks []document.Chunk) (all []string) {
	for _, c := range chunks {
		all = append(all, fmt.Sprintf("%s#%s %d: %s", strings.Join(c.Headings, ">"), c.Anchor, c.Ordinal, strings.ReplaceAll(c.Text, "\n", "|")))
	}
	return all
}

func TestChunksByHeading(t *testing.T) {
	t.Parallel()
	const text = "Before.\n\n# Guide\n\n## Install\n\nRun it.\n\n```sh\n# no heading\nmake\n```\n\n### Linux\n\n## Empty\n\n## Use \\#1 \\*\n\n- one\n\n  ## of a list\n\n> # of a quote\n\n## Install\n\nAgain.\n"
	at := strings.Index(text, "## Install")
	got := outline(chunksOf("https://example.com/", text,
		extract.Heading{Level: 2, Text: "Install", Anchor: "install", Offset: at}, extract.Heading{Level: 2, Text: "Install", Anchor: "install-2", Offset: strings.LastIndex(text, "## Install")}))
	want := []string{
		"# 1: Before.",
		"Guide>Install#install 1: # Guide||## Install||Run it.||```sh|# no heading|make|```",
		"Guide>Install>Linux# 1: ### Linux",
		"Guide>Empty# 1: ## Empty",
		"Guide>Use #1 *# 1: ## Use \\#1 \\*||- one||  ## of a list||> # of a quote",
		"Guide>Install#install-2 2: ## Install||Again.",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A chunk's id stays when another part of the page changes, and its digest shows whether it
// did.
func TestChunksStay(t *testing.T) {
	t.Parallel()
	const text = "# A\n\none\n\n# B\n\ntwo\n\n# C\n\nthree\n"
	before, after := chunksOf("https://example.com/", text), chunksOf("https://example.com/", strings.Replace(text, "one", "one and a half", 1))
	other := chunksOf("https://example.com/other", text)
	for i := range before {
		if before[i].ID != after[i].ID || (before[i].SHA256 == after[i].SHA256) != (i > 0) || before[i].ID == other[i].ID {
			t.Errorf("%+v, %+v, %+v", before[i], after[i], other[i])
		}
	}
	line, err := json.Marshal(before[0])
	if want := `{"id":"` + before[0].ID + `","url":"https://example.com/","headings":["A"],"ordinal":1,"text":"# A\n\none","sha256":"` + before[0].SHA256 + `"}`; err != nil || string(line) != want {
		t.Errorf("%s", line)
	}
}

// Each chunk says once what the site reserves, outside of what its digest is of.
func TestChunksAreReserved(t *testing.T) {
	t.Parallel()
	d := document.New(document.Meta{URL: "https://example.com/", Reserved: []crawl.Reservation{
		{Use: crawl.UseAITrain, Source: "robots.txt: Content-Signal: ai-train=no"},
		{Use: crawl.UseAITrain, Source: "meta robots: noai"},
		{Use: crawl.UseSearch, Allowed: true, Source: "robots.txt: Content-Signal: search=yes"},
	}}, "# A\n\none\n\n# B\n\ntwo\n")
	plain := chunksOf("https://example.com/", d.Markdown)
	for i, c := range d.Chunks() {
		line, err := json.Marshal(c)
		if err != nil || !strings.HasSuffix(string(line), `,"reserved":[{"use":"ai-train","allowed":false},{"use":"search","allowed":true}]}`) {
			t.Errorf("%s, %v", line, err)
		}
		if c.ID != plain[i].ID || c.SHA256 != plain[i].SHA256 {
			t.Errorf("%+v, without reservations %+v", c, plain[i])
		}
	}
}

// A section that is too long is cut at the best place.
func TestChunksOfLongSections(t *testing.T) {
	t.Parallel()
	words := func(n int, word string) string { return strings.TrimSpace(strings.Repeat(word+" ", n)) }
	row := "| a | " + words(100, "cell") + " |\n"
	for name, c := range map[string]struct {
		text   string
		starts []string
	}{
		"blocks": {"# H\n\n" + words(300, "alpha") + "\n\n" + words(300, "beta") + "\n", []string{"# H", "beta"}},
		"a heading is not left alone": {
			"# H\n\n" + strings.Repeat("A sentence is here. ", 120) + "\n", []string{"# H\n\nA", "A sentence"},
		},
		"items": {strings.Repeat("- "+words(50, "item")+"\n", 12), []string{"- item", "- item"}},
		"nested items": {
			"- top\n" + strings.Repeat("  - "+words(50, "item")+"\n", 12), []string{"- top", "- item"},
		},
		"rows of a table": {"| x | y |\n| --- | --- |\n" + strings.Repeat(row, 6), []string{"| x | y |\n| --- | --- |\n| a", "| x | y |\n| --- | --- |\n| a"}},
		"sentences":       {strings.Repeat("It rains. ", 300), []string{"It rains.", "It rains."}},
		"words":           {words(900, "word"), []string{"word", "word", "word"}},
		"characters":      {strings.Repeat("x", 5000), []string{"x", "x", "x"}},
		"Chinese":         {strings.Repeat("今天下雨。", 500), []string{"今天", "今天"}},
		"code":            {"Text.\n\n```\n" + strings.Repeat("code\n\n", 900) + "```\n\nMore.\n", []string{"Text.", "```\ncode", "More."}},
		"code in a line":  {"a " + words(300, "`two words`") + " b", []string{"a", "`two words`"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chunks := chunksOf("https://example.com/", c.text)
			if len(chunks) != len(c.starts) {
				t.Errorf("%d chunks: %q", len(chunks), outline(chunks))
				return
			}
			for i, start := range c.starts {
				if !strings.HasPrefix(chunks[i].Text, start) {
					t.Errorf("chunk %d: %.60q, want %q", i, chunks[i].Text, start)
				}
			}
		})
	}
}

// drawMarkdown draws Markdown such as package extract writes, and worse.
func drawMarkdown(t *rapid.T) string {
	word := rapid.SampledFrom([]string{"word", "Sentence.", "東京都", "。", "`in code`", "``a ` b``", "[a link](https://example.com/x)", "\\`", "\\[", "[open", "](", "*emphasis*", "é", "\u200b", "`", strings.Repeat("z", 700), strings.Repeat("ünï", 300)})
	prose := func(n int) string {
		return strings.Join(rapid.SliceOfN(word, 1, n).Draw(t, "words"), rapid.SampledFrom([]string{" ", "  ", ""}).Draw(t, "between"))
	}
	var b strings.Builder
	for range rapid.IntRange(0, 12).Draw(t, "blocks") {
		indent := rapid.SampledFrom([]string{"", "", "  ", "> ", ">   "}).Draw(t, "indent")
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			b.WriteString(strings.Repeat("#", rapid.IntRange(1, 7).Draw(t, "level")) + " " + prose(3) + "\n")
		case 1:
			b.WriteString(indent + "```go\n")
			for range rapid.IntRange(0, 60).Draw(t, "lines") {
				b.WriteString(indent + rapid.SampledFrom([]string{"", "# comment", "- no item", "| no | row |", "x := `y`", strings.Repeat("long ", 40), "~~~"}).Draw(t, "code") + "\n")
			}
			b.WriteString(indent + "```\n")
		case 2:
			b.WriteString(indent + "| a | b |\n" + indent + "| --- | --- |\n")
			for range rapid.IntRange(0, 30).Draw(t, "rows") {
				b.WriteString(indent + "| " + prose(8) + " | cell |\n")
			}
		case 3:
			for i := range rapid.IntRange(1, 20).Draw(t, "items") {
				b.WriteString(indent + strings.Repeat("  ", i%3) + "- " + prose(20) + "\n")
			}
		default:
			b.WriteString(indent + prose(120) + "\n")
		}
		if rapid.IntRange(0, 5).Draw(t, "blank") > 0 {
			b.WriteString("\n")
		}
	}
	return b.String()
}

// withoutSpace returns a text without what cutting may drop: white space, and the marks of
// quotes.
func withoutSpace(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
}

// The chunks together are the document; none is longer than MaxChunk unless it is one thing
// that is not cut; fences of code are never opened in one and closed in another; ids are
// different.
func TestChunksProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := drawMarkdown(t)
		chunks := chunksOf("https://example.com/", text)
		rest, ids := withoutSpace(text), map[string]bool{}
		for _, c := range chunks {
			if c.Text == "" || c.Text != strings.TrimRight(c.Text, " \n") || ids[c.ID] || c.Ordinal < 1 || !utf8.ValidString(c.Text) || c.Headings == nil {
				t.Fatalf("%+v", c)
			}
			ids[c.ID] = true
			if n := utf8.RuneCountInString(c.Text); n > document.MaxChunk && !isOneThing(c.Text) {
				t.Fatalf("%d characters: %q", n, c.Text)
			}
			if n := len(fences.FindAllString(c.Text, -1)); n%2 != 0 {
				t.Fatalf("%d fences: %q", n, c.Text)
			}
			flat := withoutSpace(c.Text)
			after, ok := strings.CutPrefix(rest, flat)
			if !ok { // a table that goes on, after its head
				for _, quote := range []string{"", ">"} {
					head := quote + "|a|b|" + quote + "|---|---|"
					if body, is := strings.CutPrefix(flat, head); is && !ok {
						after, ok = strings.CutPrefix(rest, body)
					}
				}
			}
			if !ok {
				t.Fatalf("%q does not go on with %q", rest, flat)
			}
			rest = after
		}
		if rest != "" {
			t.Fatalf("%q is in no chunk of %q", rest, text)
		}
		if again := chunksOf("https://example.com/", text); fmt.Sprint(again) != fmt.Sprint(chunks) {
			t.Fatal("another time the chunks are others")
		}
	})
}

var fences = regexp.MustCompile("(?m)^[> ]*```(go)?$")

// isOneThing: a text is one block of code, one row of a table, or code within a line.
func isOneThing(text string) bool {
	bare := strings.TrimLeft(text, "> ")
	return strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "`") && strings.HasSuffix(bare, "`") || strings.HasPrefix(bare, "|") && strings.Count(text, "\n") < 3
}

// The chunks of a hostile page are not many times its size.
func TestChunksAreBounded(t *testing.T) {
	t.Parallel()
	url := "https://example.com/" + strings.Repeat("a", 2000)
	for name, text := range map[string]string{
		"headings":        strings.Repeat("# a\n\nb\n\n", 100_000),
		"empty headings":  strings.Repeat("#\n", 400_000),
		"a heading above": "# " + strings.Repeat("long ", 100_000) + "\n\n" + strings.Repeat("## a\n\nb\n\n", 4000),
	} {
		size := 0
		for _, c := range chunksOf(url, text) {
			line, err := json.Marshal(c)
			if err != nil {
				t.Fatal(err)
			}
			size += len(line)
		}
		if size > 16<<20+4*len(text) {
			t.Errorf("%s: %d bytes of %d", name, size, len(text))
		}
	}
}

// Hostile texts take time in proportion to their size: in the square of it, these would take
// hours.
func TestChunksAreLinear(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"`", "[](", "[", "](", "\" ", "x", "` `` ", "> ", "- ", "| ", "\\", "。", "#\n", "> - ", "```\n", "\n\n", "| a\n"} {
		text := strings.Repeat(unit, 1<<18/len(unit))
		var got int
		for _, c := range chunksOf("https://example.com/", text) {
			got += len(c.Text)
		}
		if got > 2*len(text)+1<<10 || got == 0 && strings.TrimSpace(text) != "" {
			t.Errorf("%q: %d bytes of %d", unit, got, len(text))
		}
	}
}
