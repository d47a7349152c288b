package change

import (
	"testing"

	"recrawl/internal/crawl"
)

// Every code that a verdict gives has words.
func TestWord(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]crawl.Reason{
		"first version (8 bytes)":             {Code: CodeFirst, Num: map[string]float64{"bytes": 8, "text_bytes": 5}},
		"the same bytes":                      {Code: CodeSameBytes},
		"other bytes, the same text":          {Code: CodeSameText},
		"other text (+12 bytes)":              {Code: CodeText, Num: map[string]float64{"text_delta": 12}},
		"other text (-3 bytes)":               {Code: CodeText, Num: map[string]float64{"text_delta": -3}},
		"other text":                          {Code: CodeText},
		"other bytes, and no text to compare": {Code: CodeNoText},
		"other links":                         {Code: CodeLinks},
	} {
		if got, ok := Word(r); !ok || got != want {
			t.Errorf("%+v is %q, want %q", r, got, want)
		}
	}
	if got, ok := Word(crawl.Reason{Code: "every"}); ok {
		t.Errorf("another package's reason is %q", got)
	}
}
