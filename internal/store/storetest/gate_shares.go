package storetest

import (
	"testing"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
	"recrawl/internal/store/sqlstore"
)

// FairLine tries a host with a line of visited pages that come back all the time,
// on an empty store: pages that were never visited get the share that is kept for
// them, whoever has waited longest gets an eighth, and the gaps are kept.
func FairLine(t *testing.T, e sqlstore.Engine, waiting int, pace Pace) {
	t.Helper()
	const probes = 3
	known := min(waiting/2, 500)
	h := newFairHost(t, e, pace, waiting, probes, known)
	log := h.run()
	first, probed, revisits := 0, map[int64]bool{}, 0
	for i, r := range log {
		switch r.class {
		case crawl.ClassFirst:
			first++
		case crawl.ClassProbe:
			probed[r.page] = true
		default:
			revisits++
		}
		if i > 0 && r.begun.Sub(log[i-1].ended) < pace.Delay {
			t.Errorf("request %d began %v after the one before", i, r.begun.Sub(log[i-1].ended))
		}
	}
	t.Logf("%d waiting: %d first visits, %d revisits, %d of %d that waited longest", waiting, first, revisits, len(probed), probes)
	// The share falls as the host is discovered; one or two are on their way at the end.
	if share := polite.Discover(int64(known-first), int64(waiting+first)); first < min(len(log)/share.Every, known)-2 {
		t.Errorf("%d first visits among %d requests, one in %d was due", first, len(log), share.Every)
	}
	if len(probed) < probes {
		t.Errorf("%d of the %d that waited longest were served in %d requests", len(probed), probes, len(log))
	}
	if revisits < len(log)/4 {
		t.Errorf("%d revisits among %d requests", revisits, len(log))
	}
}
