package search

import (
	"slices"
	"testing"
)

func TestHeadings(t *testing.T) {
	t.Parallel()
	const text = "# One\n\nText # no\n\n## [Two](https://a.test/x) *of* them\n\n```sh\n# a comment\n```\n\n####### seven\n\n#tag\n\n~~~~\n# no\n~~~\n# no\n~~~~\n\n### 三\n"
	if got, want := headingsOf(text), []string{"One", "[Two] *of* them", "三"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
