package storetest

import (
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

// BenchAllocation measures a round of maintenance over 1 000 000 pages of 1000 hosts,
// or 20 000 with -short: all entries are read, counted, and the threshold moved.
func BenchAllocation(b *testing.B, e sqlstore.Engine, settle func() error) {
	n, load := benchPages(), newBulk(b, e)
	rules, err := schedule.NewRules(crawl.DefaultSpec().Revisit)
	if err != nil {
		b.Fatal(err)
	}
	load.pages(n)
	// Beliefs of a thousand kinds, and visits in the last 20 days.
	load.exec(`UPDATE frontier SET host_id = page_id % 1000 + 1, last_at = 1800000000000000 - page_id % 1728 * 1000000000,
		next_at = 1800003600000000 + page_id % 864 * 1000000000,
		belief = '{"pairs":7,"history":' || (page_id % 128) || ',"a":' || (page_id % 10) || '.25,"b":' || (page_id % 100) || '.5,"n":' || (page_id % 5 + 1) || ',"gap":' || (page_id % 20 + 1) || ',"at":' ||
			(1800000000000 - page_id % 1728 * 1000000) || '}'`)
	if err := settle(); err != nil {
		b.Fatal(err)
	}
	b.Run("Turn", func(b *testing.B) {
		for b.Loop() {
			if round := allocate(b, load.store, load.crawlID, rules); round.Threshold <= 0 || round.Planned <= 0 {
				b.Fatalf("steered %+v", round)
			}
		}
		b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "pages/s")
	})
}

// allocate is a round as the activity makes it.
func allocate(b *testing.B, s store.Store, crawlID int64, rules schedule.Rules) schedule.Round {
	before, err := s.Steering(b.Context(), crawlID, true)
	if err != nil {
		b.Fatal(err)
	}
	tally := schedule.NewTally(rules, before.Steering, before.Hosts, schedule.Period{From: before.At, To: time.Now()})
	err = store.EachEntry(b.Context(), s, store.EntryParams{CrawlID: crawlID, Limit: 5000}, func(e store.EntryRecord) {
		tally.Add(schedule.Entry{
			Page: schedule.Page{ID: e.PageID, State: e.State, Visit: e.Visits, Belief: schedule.DecodeBelief(e.Belief)},
			Host: e.HostID, Weight: e.Weight, At: e.LastAt, Due: e.NextAt,
		})
	})
	if err != nil {
		b.Fatal(err)
	}
	round := tally.Settle(schedule.Allowance{Budget: float64(tally.Pages()) / 2})
	after := store.SteeringRecord{Steering: round.Steering, Rounds: before.Rounds + 1, Hosts: round.Hosts}
	if err := s.SetSteering(b.Context(), crawlID, after); err != nil {
		b.Fatal(err)
	}
	return round
}
