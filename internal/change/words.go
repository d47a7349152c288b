package change

import (
	"fmt"

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
		if delta := r.Num["text_delta"]; delta != 0 {
			return fmt.Sprintf("other text (%+.0f bytes)", delta), true
		}
		return "other text", true
	case CodeNoText:
		return "other bytes, and no text to compare", true
	case CodeLinks:
		return "other links", true
	}
	return "", false
}
