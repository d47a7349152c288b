package temporalkit

import (
	"strings"
	"testing"

	"recrawl/internal/contract"
)

// 60 000 seeds in one message were refused by Temporal with "Blob data size exceeds
// limit"; a message that is too large is not sent.
func TestTooLargeMessages(t *testing.T) {
	t.Parallel()
	seeds := strings.Split(strings.Repeat("https://example.com/some/where/a-page.html ", 60_000), " ")
	err := checkSize("what is sent", contract.AddSeedsArg{Seeds: seeds})
	if err == nil || !strings.Contains(err.Error(), "starter import") || strings.Contains(err.Error(), "\n") {
		t.Errorf("60 000 seeds: %v", err)
	}
	if err := checkSize("what is sent", contract.AddSeedsArg{Seeds: seeds[:1000]}); err != nil {
		t.Errorf("1000 seeds: %v", err)
	}
}
