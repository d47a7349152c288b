package store

import (
	"context"
	"time"
)

// Exchanges provides the data for exports.
type Exchanges interface {
	// ListExchanges lists the visits of some pages, in the order of page id and visit
	// number, with the version that the page had after each.
	ListExchanges(ctx context.Context, p ExchangeParams) ([]ExchangeRecord, error)
}

// ExchangeParams are the inputs of ListExchanges.
type ExchangeParams struct {
	Pages []int64
	// After and AfterVisit are the page and the visit after which the list begins.
	After      int64
	AfterVisit int
	Until      time.Time // visits at or before it
	Found      bool      // only visits that found a version, or found it again after another
	Limit      int
}

// ExchangeRecord is a visit with the version that its page had after it. The version is
// zero if there was none, or if it is gone. Its heads are set only if the visit found it.
type ExchangeRecord struct {
	VisitRecord
	Version VersionRecord
}
