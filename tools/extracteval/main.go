// Command extracteval measures ways to tell the main text of a page, for
// docs/decisions.md: recrawl's own rules beside go-trafilatura without its
// fallbacks. It is a module of its own, because the product does not need what it
// compares with.
//
//	cd tools/extracteval && go run . [-only NAME] [-pairs N]
//	cd tools/extracteval && go run . changes -pages DIR [-verdicts FILE] [-against FILE] [-left FILE]
//	cd tools/extracteval && go run . near -pages DIR
//	cd tools/extracteval && go run . articles -gold DIR
//
// The second form judges snapshots of real pages, as a crawl would: how many are changes,
// which verdicts moved since an earlier run, and what cosmetic verdicts leave out.
// The third measures from which resemblance on pages are versions of each other.
// The fourth measures how well articles are told on pages with their articles' text.
//
// Two collections of pages are used. The real ones are those of the evaluation
// that go-trafilatura ships with: web pages with segments that belong to the main
// text and segments that do not. The generated ones are those of
// internal/change/noisetest. The rules were looked at with the even half of the
// real pages and the tuning half of the generated ones.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/markusmobius/go-trafilatura"
	"golang.org/x/net/html"

	"recrawl/internal/change"
	"recrawl/internal/change/noisetest"
	"recrawl/internal/extract"
	"recrawl/internal/urlkey"
)

// extractor makes the main text of a page.
type extractor struct {
	name string
	text func(body []byte) string
}

var extractors = []extractor{
	{"own rules", own},
	{"go-trafilatura", func(body []byte) string { return foreign(body, trafilatura.Balanced) }},
	{"go-trafilatura, favouring recall", func(body []byte) string { return foreign(body, trafilatura.FavorRecall) }},
	{"html.Parse, all text", everything},
}

var base = func() urlkey.URL {
	u, err := urlkey.Canonical("https://example.com/")
	if err != nil {
		log.Fatal(err)
	}
	return u
}()

func own(body []byte) string {
	page, err := extract.Parse(extract.Source{Body: body, ContentType: "text/html", URL: base}, extract.Rules{})
	if err != nil {
		return ""
	}
	return page.Text
}

func foreign(body []byte, focus trafilatura.ExtractionFocus) string {
	result, err := trafilatura.Extract(bytes.NewReader(body), trafilatura.Options{Focus: focus})
	if err != nil {
		return "" // it found nothing
	}
	return result.ContentText
}

func everything(body []byte) string {
	root, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		return ""
	}
	var b strings.Builder
	eachText(root, func(n *html.Node) { b.WriteString(n.Data) })
	return b.String()
}

func main() {
	measure, args := measureMain, os.Args[1:]
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		other, ok := map[string]func([]string) error{"articles": measureArticles, "changes": measureChanges, "near": measureNear}[args[0]]
		if !ok {
			log.Fatalf("there is no %q: say nothing, articles, changes or near", args[0])
		}
		measure, args = other, args[1:]
	}
	if err := measure(args); err != nil {
		log.Fatal(err)
	}
}

// measureMain prints how well the main text is told, by each extractor.
func measureMain(args []string) error {
	flags := flag.NewFlagSet("extracteval", flag.ContinueOnError)
	only := flags.String("only", "", "measure only what has this `name`, such as \"own rules\": the others take most of the time")
	pairs := flags.Int("pairs", 20, "`number` of generated pairs of each template and kind")
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen := slices.DeleteFunc(slices.Clone(extractors), func(x extractor) bool { return *only != "" && x.name != *only })
	if len(chosen) == 0 {
		return fmt.Errorf("nothing that is measured is called %q", *only)
	}
	real, err := realPages()
	if err != nil {
		return err
	}
	for half, name := range []string{"looked at", "held out"} {
		fmt.Printf("\nReal pages, %s\n", name)
		fmt.Printf("%-34s %9s %9s %9s %9s %12s\n", "", "precision", "recall", "missed", "false", "ms a page")
		for _, x := range chosen {
			fmt.Printf("%-34s %s\n", x.name, measureReal(x, real, half))
		}
	}
	for _, heldOut := range []bool{false, true} {
		fmt.Printf("\nGenerated pages, held out: %v\n%-34s %9s %9s\n", heldOut, "", "missed", "false")
		for _, x := range chosen {
			fmt.Printf("%-34s %s\n", x.name, measureGenerated(x, heldOut, *pairs))
		}
	}
	return nil
}

// realScore counts segments and the changes of one word in them.
type realScore struct {
	kept, lost, keptNoise, lostNoise int
	edits, missed, noises, falses    int
	took                             time.Duration
	pages                            int
}

func (s realScore) String() string {
	precision, recall := share(s.kept, s.kept+s.keptNoise), share(s.kept, s.kept+s.lost)
	return fmt.Sprintf("%9.3f %9.3f %8.2f%% %8.1f%% %12.1f", precision, recall, 100*share(s.missed, s.edits), 100*share(s.falses, s.noises),
		float64(s.took.Microseconds())/1000/float64(s.pages))
}

func share(part, all int) float64 { return float64(part) / float64(max(all, 1)) }

func measureReal(x extractor, pages []realPage, half int) realScore {
	var s realScore
	for i, page := range pages {
		if i%2 != half {
			continue
		}
		body, err := os.ReadFile(page.file)
		if err != nil {
			continue // not every page of the list is shipped
		}
		start := time.Now()
		text := x.text(body)
		s.took += time.Since(start)
		s.pages++
		whole, bare := tight(everything(body)), tight(text)
		differs := func(segment string) (tried, differs bool) {
			edited, ok := edit(body, segment)
			return ok, ok && !same(text, x.text(edited))
		}
		for _, segment := range page.with {
			if !strings.Contains(whole, tight(segment)) {
				continue
			}
			count(strings.Contains(bare, tight(segment)), &s.kept, &s.lost)
			if tried, differs := differs(segment); tried {
				s.edits++
				count(!differs, &s.missed, nil)
			}
		}
		for _, segment := range page.without {
			if !strings.Contains(whole, tight(segment)) {
				continue
			}
			count(strings.Contains(bare, tight(segment)), &s.keptNoise, &s.lostNoise)
			if tried, differs := differs(segment); tried {
				s.noises++
				count(differs, &s.falses, nil)
			}
		}
	}
	return s
}

// count adds one to one of two counters.
func count(yes bool, one, other *int) {
	switch {
	case yes:
		*one++
	case other != nil:
		*other++
	}
}

// tight is a text without white space, which extractors set differently.
func tight(s string) string { return strings.Join(strings.Fields(s), "") }

func same(a, b string) bool {
	return change.CoreDigest(a) == change.CoreDigest(b)
}

// oneSpaced makes every run of white space one space.
func oneSpaced(text string) string { return strings.Join(strings.Fields(text), " ") }

// edit writes another word into a segment that stands once in a page, in one
// piece of text.
func edit(body []byte, segment string) ([]byte, bool) {
	root, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		return nil, false
	}
	segment = oneSpaced(segment)
	var found []*html.Node
	eachText(root, func(n *html.Node) {
		if strings.Contains(oneSpaced(n.Data), segment) {
			found = append(found, n)
		}
	})
	if len(found) != 1 {
		return nil, false
	}
	words := strings.Fields(segment)
	words[len(words)/2] = "xylophone"
	found[0].Data = " " + strings.Replace(oneSpaced(found[0].Data), segment, strings.Join(words, " "), 1) + " "
	var b bytes.Buffer
	if err := html.Render(&b, root); err != nil {
		return nil, false
	}
	return b.Bytes(), true
}

// eachText visits the texts of a document that a reader may see.
func eachText(n *html.Node, do func(*html.Node)) {
	if n.Type == html.TextNode {
		do(n)
	}
	if n.Type == html.ElementNode && slices.Contains([]string{"head", "script", "style", "noscript"}, n.Data) {
		return
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		eachText(child, do)
	}
}

// measureGenerated returns the rates of missed and of false changes. Pairs of all kinds begin with the same pages,
// each of which is read once.
func measureGenerated(x extractor, heldOut bool, pairs int) string {
	const seed = 7
	var edits, missed, noises, falses int
	texts := map[string]string{} // by the page
	for p := range noisetest.Pairs(heldOut, pairs, seed) {
		before, known := texts[string(p.Prev.HTML)]
		if !known {
			before = x.text(p.Prev.HTML)
			texts[string(p.Prev.HTML)] = before
		}
		prev := change.Rendering{Text: before, At: p.Prev.At}
		next := change.Rendering{Text: x.text(p.Next.HTML), At: p.Next.At}
		noise, _ := change.CompareRenderings(prev, next)
		if p.Kind.IsEdit() {
			edits++
			count(noise, &missed, nil)
		} else {
			noises++
			count(!noise, &falses, nil)
		}
	}
	return fmt.Sprintf("%8.2f%% %8.2f%%", 100*share(missed, edits), 100*share(falses, noises))
}
