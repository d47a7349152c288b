package main

import (
	"cmp"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/markusmobius/go-trafilatura"

	"recrawl/internal/extract"
)

// articleExtractors make the text of a page for readers.
var articleExtractors = []extractor{
	{"main text", own},
	{"article", article},
	{"go-trafilatura", func(body []byte) string { return foreign(body, trafilatura.Balanced) }},
}

func article(body []byte) string {
	text, err := extract.Article(extract.Source{Body: body, ContentType: "text/html", URL: base}, extract.Rules{})
	if err != nil {
		return ""
	}
	return text
}

// goldPage is a page with the text that is its article.
type goldPage struct {
	name    string // the folder's and the file's
	group   string // the folder
	heldOut bool
	body    []byte
	text    string
}

// measureArticles prints how well articles are told: a folder has, for each page, NAME.html
// and the article's text in NAME.txt; folders in it are groups. Half of the pages, by their
// names, are held out.
func measureArticles(args []string) error {
	flags := flag.NewFlagSet("articles", flag.ContinueOnError)
	dir := flags.String("gold", "", "`folder` of pages with their articles")
	worst := flags.Int("worst", 0, "list the `number` of pages for tuning on which the rules do worst")
	only := flags.String("only", "", "measure only what has this `name`, such as article")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *dir == "" {
		return fmt.Errorf("articles: name the folder of pages with -gold")
	}
	pages, err := goldPages(*dir)
	if err != nil {
		return err
	}
	extractors := slices.DeleteFunc(slices.Clone(articleExtractors), func(x extractor) bool { return *only != "" && x.name != *only })
	if len(extractors) == 0 {
		return fmt.Errorf("articles: nothing that is measured is called %q", *only)
	}
	measured := map[string][]articleScore{}
	for _, x := range extractors {
		for _, page := range pages {
			start := time.Now()
			text := x.text(page.body)
			score := scoreArticle(page.text, text)
			score.page, score.took = page, time.Since(start)
			measured[x.name] = append(measured[x.name], score)
		}
	}
	printArticles(os.Stdout, extractors, measured)
	printWorst(os.Stdout, measured["article"], *worst)
	return nil
}

func goldPages(dir string) ([]goldPage, error) {
	var pages []goldPage
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		bare, isPage := strings.CutSuffix(path, ".html")
		if err != nil || !isPage {
			return err
		}
		text, err := os.ReadFile(bare + ".txt")
		if err != nil {
			return fmt.Errorf("read the article of %s: %w", path, err)
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read a page: %w", err)
		}
		name, err := filepath.Rel(dir, bare)
		if err != nil {
			return fmt.Errorf("name %s: %w", path, err)
		}
		digest := fnv.New32a()
		io.WriteString(digest, filepath.Base(name))
		pages = append(pages, goldPage{name: name, group: filepath.Dir(name), heldOut: digest.Sum32()%2 == 1, body: body, text: string(text)})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return pages, nil
}

// articleScore is how a text compares with the gold's: by shingles of four words, as the
// public benchmark of article extraction has it, and by single words.
type articleScore struct {
	page            goldPage
	shingles, words fit
	took            time.Duration
}

// fit are the precision and the recall of one page. What is empty has none.
type fit struct {
	precision, recall   float64
	hasText, hasArticle bool
}

func scoreArticle(gold, text string) articleScore {
	return articleScore{shingles: fitOf(runsOf(gold, 4), runsOf(text, 4)), words: fitOf(runsOf(gold, 1), runsOf(text, 1))}
}

// runsOf counts the runs of n words in a text; a shorter text is one run.
func runsOf(text string, n int) map[string]int {
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
	runs := map[string]int{}
	if len(words) > 0 && len(words) < n {
		runs[strings.Join(words, " ")]++
	}
	for i := 0; i+n <= len(words); i++ {
		runs[strings.Join(words[i:i+n], " ")]++
	}
	return runs
}

func fitOf(gold, text map[string]int) fit {
	var inBoth, inGold, inText int
	for run, n := range gold {
		inGold += n
		inBoth += min(n, text[run])
	}
	for _, n := range text {
		inText += n
	}
	return fit{share(inBoth, inText), share(inBoth, inGold), inText > 0, inGold > 0}
}

// averages are those of the precision, the recall and what both make together.
func averages(fits []fit) (precision, recall, f1 float64) {
	var texts, articles int
	for _, f := range fits {
		if f.hasText {
			precision += f.precision
			texts++
		}
		if f.hasArticle {
			recall += f.recall
			articles++
		}
	}
	precision, recall = precision/float64(max(texts, 1)), recall/float64(max(articles, 1))
	if precision+recall > 0 {
		f1 = 2 * precision * recall / (precision + recall)
	}
	return precision, recall, f1
}

func printArticles(w io.Writer, extractors []extractor, measured map[string][]articleScore) {
	groups := []string{""}
	for _, s := range measured[extractors[0].name] {
		if !slices.Contains(groups, s.page.group) {
			groups = append(groups, s.page.group)
		}
	}
	for _, group := range groups {
		for _, heldOut := range []bool{false, true} {
			fmt.Fprintf(w, "\n%s, held out: %v\n%-18s %6s %9s %9s %9s %9s %9s\n", cmp.Or(group, "all pages"), heldOut, "", "pages", "precision", "recall", "F1", "F1 words", "ms a page")
			for _, x := range extractors {
				var shingles, words []fit
				var took time.Duration
				for _, s := range measured[x.name] {
					if s.page.heldOut == heldOut && (group == "" || s.page.group == group) {
						shingles, words, took = append(shingles, s.shingles), append(words, s.words), took+s.took
					}
				}
				precision, recall, f1 := averages(shingles)
				_, _, f1Words := averages(words)
				fmt.Fprintf(w, "%-18s %6d %9.3f %9.3f %9.3f %9.3f %9.1f\n", x.name, len(shingles), precision, recall, f1, f1Words, float64(took.Microseconds())/1000/float64(max(len(shingles), 1)))
			}
		}
	}
}

// printWorst lists the pages for tuning that are told worst.
func printWorst(w io.Writer, scores []articleScore, n int) {
	looked := slices.DeleteFunc(slices.Clone(scores), func(s articleScore) bool { return s.page.heldOut })
	slices.SortFunc(looked, func(a, b articleScore) int {
		return cmp.Compare(min(a.shingles.precision, a.shingles.recall), min(b.shingles.precision, b.shingles.recall))
	})
	for _, s := range looked[:min(n, len(looked))] {
		fmt.Fprintf(w, "%.3f %.3f %s\n", s.shingles.precision, s.shingles.recall, s.page.name)
	}
}
