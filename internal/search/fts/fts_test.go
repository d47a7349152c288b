package fts_test

import (
	"path/filepath"
	"testing"

	"recrawl/internal/search"
	"recrawl/internal/search/fts"
	"recrawl/internal/search/searchtest"
)

func TestIndex(t *testing.T) {
	t.Parallel()
	searchtest.Run(t, func(t *testing.T) search.Index {
		t.Helper()
		x, err := fts.Open(t.Context(), filepath.Join(t.TempDir(), fts.Name), fts.Options{Store: "s1"})
		if err != nil {
			t.Fatal(err)
		}
		return x
	})
}
