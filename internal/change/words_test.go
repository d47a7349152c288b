package change

import (
	"testing"

	"recrawl/internal/crawl"
)

// Every code that a verdict gives has words.
func TestWord(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]crawl.Reason{
		"first version (8 bytes)":                 {Code: CodeFirst, Num: map[string]float64{"bytes": 8, "text_bytes": 5}},
		"the same bytes":                          {Code: CodeSameBytes},
		"other bytes, the same text":              {Code: CodeSameText},
		"other text (+12 bytes)":                  {Code: CodeText, Num: map[string]float64{"text_delta": 12}},
		"other text (-3 bytes)":                   {Code: CodeText, Num: map[string]float64{"text_delta": -3}},
		"other text":                              {Code: CodeText},
		"other text (resemblance 0.29)":           {Code: CodeText, Num: map[string]float64{"text_delta": 0, "resemblance": 0.29}},
		"other text (-3 bytes, resemblance 0.97)": {Code: CodeText, Num: map[string]float64{"text_delta": -3, "resemblance": 125.0 / 128}},
		"nearly the same text (+1 bytes, resemblance 0.99), 0.98 is enough":                                   {Code: CodeResembles, Num: map[string]float64{"text_delta": 1, "resemblance": 127.0 / 128, "threshold": 0.98}},
		"nothing but noise in the text (-2 bytes, resemblance 0.85)":                                          {Code: CodeNoise, Num: map[string]float64{"text_delta": -2, "resemblance": 0.8593}},
		"nothing but noise in the text":                                                                       {Code: CodeNoise},
		"more than noise, though 0.98 is reached":                                                             {Code: CodeEdit, Num: map[string]float64{"threshold": 0.98}},
		`another title ("Gate 31")`:                                                                           {Code: CodeTitle, Text: "Gate 31"},
		"the same words, but it looks otherwise: buttons, ticks, empty cells, what is struck out or the like": {Code: CodeBeside},
		"other bytes, and no text to compare":                                                                 {Code: CodeNoText},
		"other links":                                                                                         {Code: CodeLinks},
		`reads like an error or a wall ("page not found"), nothing of the page in it`:                         {Code: CodeErrorWords, Text: "page not found"},
		"no text, where there was one":                                                                        {Code: CodeNothingLeft},
		"the front page's text instead of its own (https://a.test/, resemblance 0.50)":                        {Code: CodeFrontPage, Text: "https://a.test/", Num: map[string]float64{"resemblance": 0.5}},
		"redirects to the front page https://a.test/":                                                         {Code: CodeToFrontPage, Text: "https://a.test/"},
		"redirects to a login or a check https://a.test/login":                                                {Code: CodeToWall, Text: "https://a.test/login"},
		"as at visit 3, but 5 or more other pages of the host show the same":                                  {Code: CodeShared, Num: map[string]float64{"visit": 3, "pages": 5}},
		"as suspect as at visit 3, so it counts":                                                              {Code: CodeConfirmed, Num: map[string]float64{"visit": 3}},
		"what visit 3 found is gone, and never counted":                                                       {Code: CodeDropped, Num: map[string]float64{"visit": 3}},
	} {
		if got, ok := Word(r); !ok || got != want {
			t.Errorf("%+v is %q, want %q", r, got, want)
		}
	}
	if got, ok := Word(crawl.Reason{Code: "every"}); ok {
		t.Errorf("another package's reason is %q", got)
	}
}
