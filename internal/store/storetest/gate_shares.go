package storetest

import (
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

// FairLine tries a host with a line of visited pages that come back all the time,
// on an empty store: pages that were never visited get the share that is kept for
// them, the page that has waited longest gets an eighth, and the gaps are kept.
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
	if pace.RealTime {
		return
	}
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

// HeldHost tries a host some of whose pages are refused, or not answered, each
// time, on an empty store. A page that had the host held is not requested again
// before all others, including those that were never visited.
func HeldHost(t *testing.T, e sqlstore.Engine, good, bad int, answer store.HostAnswer, pace Pace) {
	t.Helper()
	h := newFairHost(t, e, pace, 0, 0, good+bad)
	had, culprits, again := 0, map[int64]bool{}, 0
	h.answer = func(p *fairPage) store.HostAnswer {
		if p.PageID <= int64(bad) { // the first that are admitted
			return answer
		}
		return store.HostOK
	}
	h.plan = func(p *fairPage, a store.HostAnswer, held time.Duration) store.RecordParams {
		if culprits[p.PageID] {
			again++
		}
		if culprits[p.PageID] = held > 0; a == store.HostOK {
			had++
		}
		if had == good {
			h.stop()
		}
		return h.fixed(p, a, held)
	}
	log := h.run()
	t.Logf("%d requests for %d good pages and %d bad ones", len(log), good, bad)
	if had < good || len(culprits) < good+bad {
		t.Errorf("%d pages of %d were had, %d of %d asked for", had, good, len(culprits), good+bad)
	}
	if again > 0 {
		t.Errorf("pages that had the host held were asked for %d times before the others were had", again)
	}
}

// fixed plans as a crawl with a fixed interval of an hour does.
func (h *fairHost) fixed(p *fairPage, a store.HostAnswer, held time.Duration) store.RecordParams {
	outcome := map[store.HostAnswer]crawl.Outcome{
		store.HostOK: crawl.OutcomeUnchanged, store.HostThrottled: crawl.OutcomeThrottled, store.HostFailed: crawl.OutcomeTimedOut,
	}[a]
	page := schedule.Page{ID: p.PageID, State: crawl.Active, Visit: p.visits + 1, Failures: p.failures}
	seen := schedule.Observation{Outcome: outcome, Rest: polite.LeftAlone(held, p.failures+1)}
	plan := schedule.AfterVisit(schedule.Fixed{}, page, seen, schedule.Parameters{Round: time.Hour, Min: time.Minute, Max: 24 * time.Hour})
	params := recordParams(p.PageRef, p.visits+1)
	params.Visit.Outcome, params.Visit.State = outcome, plan.State
	params.Interval, params.Failures, params.Held = plan.Interval, plan.Failures, held
	return params
}
