package app

import (
	"testing"

	"recrawl/internal/crawl"
)

// If this worker has no sender of a kind, the error names the kind, and the delivery is
// tried again: another worker may have one.
func TestSenderOfAnUnknownKind(t *testing.T) {
	t.Parallel()
	if s, err := (senders{}).Sender(t.Context(), "news", "x", crawl.SinkSpec{Kind: "fax"}); err == nil || s != nil {
		t.Errorf("%v, %v", s, err)
	}
}
