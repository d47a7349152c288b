package sqlite

import (
	"testing"

	"recrawl/internal/store/storetest"
)

func TestFeedView(t *testing.T) {
	t.Parallel()
	storetest.RunFeedView(t, testEngine(t))
}
