package workflows

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"recrawl/internal/contract"
	"recrawl/internal/contract/contracttest"
	"recrawl/internal/crawl"
)

func TestCrawlNext(t *testing.T) {
	t.Parallel()
	now := start
	due := &crawl.Reason{Code: "rank_age"}
	for name, c := range map[string]struct {
		s  contract.CrawlProgress
		do crawlDo
	}{
		"asleep":                 {contract.CrawlProgress{NextTurn: now.Add(1)}, crawlSleep},
		"its turn":               {contract.CrawlProgress{NextTurn: now}, crawlMaintain},
		"ranks due":              {contract.CrawlProgress{NextTurn: now, Rank: due, Replace: true}, crawlRank},
		"exchanges due":          {contract.CrawlProgress{NextTurn: now, Replace: true}, crawlReplace},
		"admission before ranks": {contract.CrawlProgress{Admit: true, Rank: due}, crawlAdmit},
		"waking before ranks":    {contract.CrawlProgress{Waking: true, Rank: due}, crawlWake},
		"stopped before all":     {contract.CrawlProgress{State: crawl.CrawlStopped, Rank: due, Replace: true}, crawlClose},
	} {
		if do := crawlNext(&c.s, now); do != c.do {
			t.Errorf("%s: %d, want %d", name, do, c.do)
		}
	}
}

// Maintenance says that ranks are due; the exchange of pages follows, batch by batch.
func TestCrawlRanksWhenDue(t *testing.T) {
	t.Parallel()
	var status contract.CrawlProgress
	l := newCrawl(t, do(25*time.Minute, func(l *live) { status = l.status() }), crawlStop(35*time.Minute))
	turns, batches := 0, 0
	var ranked []contract.RankIn
	l.world.OnMaintain = func(in contract.MaintainIn) (contract.MaintainOut, error) {
		turns++
		out := contract.MaintainOut{}
		if in.After == 0 && turns == 1 {
			return contract.MaintainOut{After: 7, RankDue: &crawl.Reason{Code: "of a part of a turn"}}, nil
		}
		if turns == 3 {
			out.RankDue = &crawl.Reason{Code: "rank_first"}
		}
		return out, nil
	}
	l.world.OnRank = func(in contract.RankIn) (contract.RankOut, error) {
		ranked = append(ranked, in)
		return contract.RankOut{Pages: 5, Links: 9}, nil
	}
	l.world.OnReplace = func(contract.ReplaceIn) (contract.ReplaceOut, error) {
		batches++
		return contract.ReplaceOut{Evicted: 2, Admitted: 2, More: batches < 3}, nil
	}
	if _, err := l.crawl(newsSpec, nil); err != nil {
		t.Fatal(err)
	}
	want := []contract.RankIn{{CrawlID: 1, Name: "news", Reason: crawl.Reason{Code: "rank_first"}}}
	if len(ranked) != 1 || ranked[0].Reason.Code != want[0].Reason.Code || ranked[0].Name != "news" || batches != 3 {
		t.Errorf("ranked %+v and exchanged %d batches, want %+v and 3", ranked, batches, want)
	}
	if status.Ranked == nil || status.Ranked.Links != 9 || status.Evicted != 6 || status.Rank != nil || status.Replace {
		t.Errorf("status %+v", status)
	}
}

func TestCrawlRanksWhenAsked(t *testing.T) {
	t.Parallel()
	l := newCrawl(t, update(5*time.Minute, contract.RankName), crawlStop(8*time.Minute))
	var ranked []contract.RankIn
	l.world.OnRank = func(in contract.RankIn) (contract.RankOut, error) {
		ranked = append(ranked, in)
		return contract.RankOut{}, nil
	}
	if _, err := l.crawl(newsSpec, nil); err != nil {
		t.Fatal(err)
	}
	if len(ranked) != 1 || ranked[0].Reason.Code != contract.RankAsked || len(l.rejects) > 0 {
		t.Errorf("ranked %+v, rejected %v", ranked, l.rejects)
	}
}

// New limits take effect at once for a crawl that has ranks.
func TestCrawlExchangesPagesAfterASpecChange(t *testing.T) {
	t.Parallel()
	spec := `{"name":"news","seeds":["https://example.com/"],"limits":{"max_pages":3}}`
	batches := []time.Duration{}
	l := newCrawl(t, update(2*time.Minute, contract.SetSpec, json.RawMessage(spec)), update(4*time.Minute, contract.RankName),
		update(6*time.Minute, contract.SetSpec, json.RawMessage(newsSpec)), crawlStop(8*time.Minute))
	l.world.OnReplace = func(contract.ReplaceIn) (contract.ReplaceOut, error) {
		batches = append(batches, l.env.Now().Sub(start).Truncate(time.Minute))
		return contract.ReplaceOut{}, nil
	}
	if _, err := l.crawl(newsSpec, nil); err != nil {
		t.Fatal(err)
	}
	if want := []time.Duration{4 * time.Minute, 6 * time.Minute}; !slices.Equal(batches, want) || len(l.rejects) > 0 {
		t.Errorf("exchanges after %v, want %v; rejected %v", batches, want, l.rejects)
	}
}

// New limits take effect at once also if they come during an exchange, which planned without them.
func TestCrawlExchangesPagesAgain(t *testing.T) {
	t.Parallel()
	spec := `{"name":"news","seeds":["https://example.com/"],"limits":{"max_pages":3}}`
	for name, result := range map[string]error{"done": nil, "failed": temporal.NewNonRetryableApplicationError("a bug", "", nil)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newCrawl(t, update(2*time.Minute, contract.RankName), update(2*time.Minute+3*time.Second, contract.SetSpec, json.RawMessage(spec)),
				crawlStop(6*time.Minute))
			batches := 0
			l.world.OnReplace = func(contract.ReplaceIn) (contract.ReplaceOut, error) {
				if l.env.Now().Before(start.Add(2*time.Minute + 5*time.Second)) {
					return contract.ReplaceOut{}, temporal.NewApplicationError("slow", "") // and tried again
				}
				batches++
				return contract.ReplaceOut{}, result
			}
			if _, err := l.crawl(newsSpec, nil); err != nil {
				t.Fatal(err)
			}
			if batches != 2 || len(l.rejects) > 0 {
				t.Errorf("%d batches exchanged, want another one with the new limits; rejected %v", batches, l.rejects)
			}
		})
	}
}

// A failed ranking or exchange is reported and left to a later pass.
func TestCrawlGoesOnWithoutRanks(t *testing.T) {
	t.Parallel()
	var first, second contract.CrawlProgress
	l := newCrawl(t, do(5*time.Minute, func(l *live) { first = l.status() }), do(15*time.Minute, func(l *live) { second = l.status() }), crawlStop(16*time.Minute))
	l.world.OnMaintain = func(contract.MaintainIn) (contract.MaintainOut, error) {
		return contract.MaintainOut{RankDue: &crawl.Reason{Code: "rank_first"}}, nil
	}
	broken := temporal.NewNonRetryableApplicationError("out of memory", "Bug", errors.New("out of memory"))
	tries := 0
	l.world.OnRank = func(contract.RankIn) (contract.RankOut, error) {
		if tries++; tries == 1 {
			return contract.RankOut{}, broken
		}
		return contract.RankOut{}, nil
	}
	l.world.OnReplace = func(contract.ReplaceIn) (contract.ReplaceOut, error) { return contract.ReplaceOut{}, broken }
	if _, err := l.crawl(newsSpec, nil); err != nil {
		t.Fatal(err)
	}
	if tries != 2 || first.Problem != "ranking: out of memory" || first.Replace || second.Problem != "exchanging pages: out of memory" {
		t.Errorf("%d rankings; problems %q, %q", tries, first.Problem, second.Problem)
	}
}

// A page that lost its place to another completes as evicted, whatever it is doing.
func TestPageEvicted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		event *at
		ask   contract.AcquireAnswer
	}{
		"asleep":          {event: signal(time.Hour, contract.Evict, nil)},
		"in line":         {event: signal(time.Hour, contract.Evict, nil), ask: contract.AnswerWait},
		"signal was lost": {ask: contract.AnswerEvicted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var events []*at
			if c.event != nil {
				events = append(events, c.event)
			}
			l := newLive(t, events...)
			l.world.OnAcquire = func(contracttest.Ask) (contract.AcquireOut, error) {
				return contract.AcquireOut{Answer: c.ask, Wait: 3 * time.Hour}, nil
			}
			in := visited(start)
			if c.ask == "" {
				in.Due = start.Add(day)
			}
			if err := l.page(in); err != nil {
				t.Fatal(err)
			}
			left := l.world.Left()
			if len(left) != 1 || left[0].State != crawl.Evicted || len(l.world.Visits()) > 0 || !slices.Equal(l.upserts, []string{"evicted"}) {
				t.Errorf("left %+v, made %v, states %v", left, l.world.Visits(), l.upserts)
			}
		})
	}
}

// A page that returns to the collection before its workflow has ended lives on, and is visited
// at once.
func TestPageEvictedAndBack(t *testing.T) {
	t.Parallel()
	l := newLive(t, signal(time.Hour, contract.Evict, nil), stopAt(2*time.Hour))
	l.world.OnLeave = func(in contract.LeaveIn) contract.LeaveOut {
		return contract.LeaveOut{Returned: in.State == crawl.Evicted}
	}
	if err := l.page(visited(start.Add(day))); err != nil {
		t.Fatal(err)
	}
	visits := l.world.Visits()
	if len(visits) != 1 || visits[0].Visit != 4 || !visits[0].At.Equal(start.Add(time.Hour)) {
		t.Errorf("visits %v, want the fourth after an hour", visits)
	}
}

// If a request is under way when the page is evicted, it is recorded first.
func TestPageEvictedDuringFetch(t *testing.T) {
	t.Parallel()
	l := newLive(t)
	l.world.OnFetch = func(try contracttest.Try) (contract.FetchOut, error) {
		l.env.SignalWorkflow(contract.Evict, nil)
		return contracttest.Unchanged(try.Now), nil
	}
	l.world.OnPlan = func(_ contract.PlanIn, out *contract.PlanOut) { out.State = crawl.Evicted }
	if err := l.page(visited(start)); err != nil {
		t.Fatal(err)
	}
	if visits := l.world.Visits(); len(visits) != 1 || !slices.Equal(l.upserts, []string{"evicted"}) {
		t.Errorf("visits %v, states %v", visits, l.upserts)
	}
}
