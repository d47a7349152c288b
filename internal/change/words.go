package change

import (
	"fmt"
	"math"
	"strings"

	"recrawl/internal/crawl"
)

// Word words a reason of a verdict plainly; false if it is none of this package's.
func Word(r crawl.Reason) (string, bool) {
	switch r.Code {
	case CodeFirst:
		return fmt.Sprintf("first version (%.0f bytes)", r.Num["bytes"]), true
	case CodeSameBytes:
		return "the same bytes", true
	case CodeSameText:
		return "other bytes, the same text", true
	case CodeText:
		return "other text" + howMuch(r), true
	case CodeEdit:
		return fmt.Sprintf("more than noise, though %s is reached", degree(r.Num["threshold"])), true
	case CodeResembles:
		return fmt.Sprintf("nearly the same text%s, %s is enough", howMuch(r), degree(r.Num["threshold"])), true
	case CodeNoise:
		return "nothing but noise in the text" + howMuch(r), true
	case CodeNoText:
		return "other bytes, and no text to compare", true
	case CodeTitle:
		return fmt.Sprintf("another title (%q)", r.Text), true
	case CodeBeside:
		return "the same words, but it looks otherwise: buttons, ticks, empty cells, what is struck out or the like", true
	case CodeReturned:
		return fmt.Sprintf("as in version %.0f", r.Num["version"]), true
	case CodeLinks:
		return "other links", true
	case CodeBoilerplate:
		return boilerplateWord(r), true
	case CodeDuplicate:
		return "the same content as " + r.Text, true
	case CodeNearDuplicate:
		return fmt.Sprintf("nearly the same content as %s (resemblance %s)", r.Text, degree(r.Num["resemblance"])), true
	}
	if words, ok := suspectWord(r); ok {
		return words, true
	}
	return NoiseWord(r)
}

// suspectWord is Word for reasons about suspect contents.
func suspectWord(r crawl.Reason) (string, bool) {
	switch r.Code {
	case CodeErrorWords:
		return fmt.Sprintf("reads like an error or a wall (%q), nothing of the page in it", r.Text), true
	case CodeNothingLeft:
		return "no text, where there was one", true
	case CodeFrontPage:
		return fmt.Sprintf("the front page's text instead of its own (%s, resemblance %s)", r.Text, degree(r.Num["resemblance"])), true
	case CodeToFrontPage:
		return "redirects to the front page " + r.Text, true
	case CodeToWall:
		return "redirects to a login or a check " + r.Text, true
	case CodeLittleLeft:
		return fmt.Sprintf("a few other words (%.0f bytes), where there was a text of %.0f", r.Num["text_bytes"], r.Num["last_bytes"]), true
	case CodeToError:
		return "redirects to a page about an error " + r.Text, true
	case CodeShared:
		return fmt.Sprintf("as at visit %.0f, but %.0f or more other pages of the host show the same", r.Num["visit"], r.Num["pages"]), true
	case CodeConfirmed:
		return fmt.Sprintf("as suspect as at visit %.0f, so it counts", r.Num["visit"]), true
	case CodeDropped:
		return fmt.Sprintf("what visit %.0f found is gone, and never counted", r.Num["visit"]), true
	}
	return "", false
}

// howMuch gives in parentheses by how much two texts differ, if it is known.
func howMuch(r crawl.Reason) string {
	var parts []string
	if delta := r.Num["text_delta"]; delta != 0 {
		parts = append(parts, fmt.Sprintf("%+.0f bytes", delta))
	}
	if resemblance, ok := r.Num["resemblance"]; ok {
		parts = append(parts, "resemblance "+degree(resemblance))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// degree writes a resemblance with two digits, cut rather than rounded: only
// sketches that are equal resemble by 1.00, and a value below a threshold must not
// look as if it had reached it.
func degree(resemblance float64) string {
	const slack = 1e-9 // 0.29 × 100 is a little less than 29
	return fmt.Sprintf("%.2f", math.Floor(resemblance*100+slack)/100)
}
