//go:build unix

package postgres

import (
	"testing"

	"recrawl/internal/store/storetest"
	"recrawl/internal/store/storetest/pgtest"
)

func TestCosts(t *testing.T) {
	e, err := openEngine(t.Context(), pgtest.DSN(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	storetest.RunCosts(t, e, storetest.Costs{
		AtOnce:  storetest.Counts{Durable: 1, Lazy: 1, Statements: 24, Trips: 7},
		Granted: storetest.Counts{Durable: 1, Lazy: 2, Statements: 30, Trips: 10},
		Asks:    storetest.Counts{Lazy: 1, Statements: 11, Trips: 7},
		Serves:  storetest.Counts{Durable: 2, Lazy: 1, Reads: 1, Statements: 27, Trips: 18}, // a first visit: and who refills the crawl
		Links:   storetest.Counts{Durable: 1, Statements: 10, Trips: 5},
		Records: storetest.Counts{Durable: 1, Statements: 10, Trips: 2},
	})
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
