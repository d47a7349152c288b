package store

import (
	"context"
	"time"
)

// Exchanges gives what exports are made of.
type Exchanges interface {
	// ListExchanges lists the visits of some pages, in order of page id and visit
	// number, with the versions that the pages had after them.
	ListExchanges(ctx context.Context, p ExchangeParams) ([]ExchangeRecord, error)
}

// ExchangeParams are the inputs of ListExchanges.
type ExchangeParams struct {
	Pages []int64
	// After and AfterVisit are the page and the visit after which it lists.
	After      int64
	AfterVisit int
	Until      time.Time // visits at or before it
	Found      bool      // only visits that found a version
	Limit      int
}

// ExchangeRecord is a visit with the version that its page had after it; the zero
// version if there is none, or none any more. Its heads are there only if the
// visit found it.
type ExchangeRecord struct {
	VisitRecord
	Version VersionRecord
}
