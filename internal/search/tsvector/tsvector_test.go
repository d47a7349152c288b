package tsvector_test

import (
	"testing"

	"recrawl/internal/search"
	"recrawl/internal/search/searchtest"
	"recrawl/internal/search/tsvector"
	"recrawl/internal/store/storetest/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestIndex(t *testing.T) {
	t.Parallel()
	searchtest.Run(t, func(t *testing.T) search.Index {
		t.Helper()
		x, err := tsvector.Open(t.Context(), pgtest.DSN(t), tsvector.Options{Store: "s1"})
		if err != nil {
			t.Fatal(err)
		}
		return x
	})
}
