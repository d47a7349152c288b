package change

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"recrawl/internal/crawl"
)

// Lines that stand on most pages of a host are not a page's own text: notices about
// cookies, language pickers, help lines, skip links. They are found by comparing with
// other pages of the host, only where two renderings differ, and only if a crawl asks
// for it: a line such as "in stock" stands on most pages of a shop too, and readers come
// for it.
const (
	// Neighbours is how many other pages of the host, the oldest ones, are compared.
	Neighbours = 8
	// leastNeighbours of them must show a line, and more than half. So if each page
	// shows one of two lines, at most one of these is boilerplate, and their exchange is
	// an edit.
	leastNeighbours = 4
	// mostShared is how many different lines are checked; more than that means a new page.
	mostShared = 50
	// leastLetters is how many letters a line must have: shorter ones are often cells.
	leastLetters = 12
)

// CodeBoilerplate: lines that differ stand on most other pages of the host. Numbers: lines,
// and neighbours, the pages that were compared.
const CodeBoilerplate = "boilerplate"

// Neighbour is another page of the same host, in its last version.
type Neighbour struct {
	Older bool // than the page that is compared
	Text  string
}

// WithoutBoilerplate returns two renderings of a page without the lines that only one of
// them has and that stand on most of the neighbours, and the reason; false if there are
// none. A line with a digit is never left out, nor is a whole text.
//
// No change of a host is lost: a page leaves out only lines that an older neighbour shows
// in its last version. So the oldest of the pages that show a line reports when it comes,
// goes or is reworded; the others ignore a line that has come once most have it, and one
// that has gone as long as most versions have it.
func WithoutBoilerplate(prev, next Rendering, neighbours []Neighbour) (p, n Rendering, reason crawl.Reason, found bool) {
	shared := sharedLines(onlyOnce(prev.Text, next.Text), neighbours)
	if len(shared) == 0 {
		return prev, next, crawl.Reason{}, false
	}
	p, n = prev, next
	p.Text, n.Text = dropLines(prev.Text, shared), dropLines(next.Text, shared)
	if strings.TrimSpace(p.Text) == "" || strings.TrimSpace(n.Text) == "" {
		return prev, next, crawl.Reason{}, false
	}
	num := map[string]float64{"lines": float64(len(shared)), "neighbours": float64(len(neighbours))}
	return p, n, crawl.Reason{Code: CodeBoilerplate, Num: num}, true
}

// onlyOnce returns the lines that only one of two texts has, and that may be
// boilerplate; none if there are too many.
func onlyOnce(a, b string) []string {
	in := map[string]uint8{}
	for i, text := range []string{a, b} {
		for line := range strings.SplitSeq(text, "\n") {
			in[line] |= 1 << i
		}
	}
	var lines []string
	for line, texts := range in {
		if texts != 1|2 && strings.TrimSpace(line) != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) > mostShared {
		return nil
	}
	return slices.DeleteFunc(lines, func(line string) bool {
		letters := 0
		for _, r := range line {
			if unicode.IsLetter(r) {
				letters += 1 + utf8.RuneLen(r)/3 // in dense scripts each letter says more
			}
		}
		return letters < leastLetters || strings.ContainsFunc(line, unicode.IsDigit)
	})
}

// sharedLines returns the lines that most neighbours show, among them an older one.
func sharedLines(lines []string, neighbours []Neighbour) map[string]bool {
	pages, older := map[string]int{}, map[string]bool{}
	for _, neighbour := range neighbours {
		shows := map[string]bool{}
		for line := range strings.SplitSeq(neighbour.Text, "\n") {
			shows[line] = true
		}
		for _, line := range lines {
			if shows[line] {
				pages[line]++
				older[line] = older[line] || neighbour.Older
			}
		}
	}
	shared := map[string]bool{}
	for _, line := range lines {
		if n := pages[line]; n >= leastNeighbours && 2*n > len(neighbours) && older[line] {
			shared[line] = true
		}
	}
	return shared
}

// dropLines returns a text without some lines.
func dropLines(text string, drop map[string]bool) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		if !drop[line] {
			b.WriteString(line)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// boilerplateWord words CodeBoilerplate plainly.
func boilerplateWord(r crawl.Reason) string {
	return fmt.Sprintf("%.0f lines that stand on most of %.0f other pages of the host are not compared", r.Num["lines"], r.Num["neighbours"])
}
