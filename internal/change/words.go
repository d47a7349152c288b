package change

import (
	"fmt"
	"math"
	"strings"

	"recrawl/internal/crawl"
)

// Word says a reason of a verdict in plain words; false if it is none of this
// package's.
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
	case CodeLinks:
		return "other links", true
	case CodeBoilerplate:
		return boilerplateWord(r), true
	case CodeDuplicate:
		return "the same content as " + r.Text, true
	case CodeNearDuplicate:
		return fmt.Sprintf("nearly the same content as %s (resemblance %s)", r.Text, degree(r.Num["resemblance"])), true
	}
	return NoiseWord(r)
}

// howMuch says in parentheses by how much two texts differ, as far as it is known.
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
// sketches that are equal resemble by 1.00, and what is below a threshold must
// not look as if it had reached it.
func degree(resemblance float64) string {
	const slack = 1e-9 // 0.29 × 100 is a little less than 29
	return fmt.Sprintf("%.2f", math.Floor(resemblance*100+slack)/100)
}
