package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
)

// crawlDo is a crawl's next step.
type crawlDo int

const (
	crawlSleep    crawlDo = iota // until the next maintenance pass
	crawlMaintain                // a maintenance pass, or a part of one
	crawlAdmit                   // start a Discover that admits known pages
	crawlWake                    // wake a batch of pages that came due while paused
	crawlClose                   // close a batch of a stopped crawl's pages
	crawlRank                    // rank the pages
	crawlReplace                 // exchange a batch of a full collection's pages
)

// crawlNext says what a crawl in this state does at this time. People's requests come
// before maintenance.
func crawlNext(s *contract.CrawlProgress, now time.Time) crawlDo {
	switch {
	case s.State == crawl.CrawlStopped:
		return crawlClose
	case s.Waking:
		return crawlWake
	case s.Admit:
		return crawlAdmit
	case s.Rank != nil:
		return crawlRank
	case s.Replace:
		return crawlReplace
	case s.NextTurn.After(now):
		return crawlSleep
	}
	return crawlMaintain
}

// heed adopts the crawl's state from the store if somebody else changed it there since this
// workflow last did: a command came while no workflow was there to receive it.
func heed(s *contract.CrawlProgress, out contract.MaintainOut) {
	if out.State == 0 || out.Generation <= s.Generation {
		return
	}
	if s.State == crawl.CrawlPaused && out.State == crawl.CrawlRunning {
		s.Waking = true
	}
	s.State, s.Generation = out.State, out.Generation
}

// changedUnheard reports whether a crawl that runs has been changed in the store without this
// workflow. It may have been paused and resumed, and pages have come due in between.
func changedUnheard(s *contract.CrawlProgress, out contract.MaintainOut) bool {
	return s.State == crawl.CrawlRunning && out.State == crawl.CrawlRunning && out.Generation > s.Generation
}

// partDone records a part of a maintenance pass. The next pass keeps the rhythm of the
// last one, unless that time has already passed.
func partDone(s *contract.CrawlProgress, out contract.MaintainOut, now time.Time) {
	s.Problem = ""
	s.Restarted += out.Restarted
	s.After = out.After
	if out.Room {
		s.Admit = true
	}
	if out.After != 0 {
		return
	}
	if s.Rank == nil {
		s.Rank = out.RankDue
	}
	if _, failed := out.Problems[contract.StepCounts]; !failed {
		s.Counts = out.Status
	}
	s.Turns++
	s.Problems = clipped(out.Problems)
	// The next pass repairs what this one could not.
	_, unrepaired := out.Problems[contract.StepRestart]
	s.Repair = s.Repair && unrepaired
	s.LastTurn = now
	planTurn(s, now)
}

// clipped bounds the texts of the steps' problems that a run carries.
func clipped(problems map[string]string) map[string]string {
	if len(problems) == 0 {
		return nil
	}
	kept := make(map[string]string, len(problems))
	for _, step := range workflow.DeterministicKeys(problems) {
		kept[step] = clip(problems[step], maxWords)
	}
	return kept
}

// passFailed gives up a pass. The next one does its work, including a repair.
func passFailed(s *contract.CrawlProgress, problem string, now time.Time) {
	s.Problem = problem
	s.After = 0
	planTurn(s, now)
}

// rankDone records a ranking; the exchange that follows from it comes next. A failed
// ranking is due again at the next pass.
func rankDone(s *contract.CrawlProgress, out contract.RankOut) {
	s.Rank, s.Ranked, s.Replace = nil, &out, true
}

func rankFailed(s *contract.CrawlProgress, problem string) {
	s.Rank, s.Problem = nil, "ranking: "+problem
}

// replaceDone records a batch of exchanges.
func replaceDone(s *contract.CrawlProgress, out contract.ReplaceOut) {
	s.Evicted += out.Evicted
	s.Replace = out.More
}

func replaceFailed(s *contract.CrawlProgress, problem string) {
	s.Replace, s.Problem = false, "exchanging pages: "+problem
}

func planTurn(s *contract.CrawlProgress, now time.Time) {
	s.NextTurn = s.NextTurn.Add(s.Every)
	if !s.NextTurn.After(now) {
		s.NextTurn = now.Add(s.Every)
	}
}

// opened adopts the crawl as it stands in the store.
func opened(s *contract.CrawlProgress, out contract.OpenCrawlOut, now time.Time) {
	s.CrawlID, s.Name, s.State, s.Generation = out.CrawlID, out.Name, out.State, out.Generation
	s.Every = max(out.MaintainEvery, time.Second)
	// New limits or more seeds are a reason to exchange pages, if these have ranks. (They
	// have none before the first ranking, and histories of code that ranked nothing must
	// replay.)
	s.Replace = s.Replace || s.Ranked != nil
	if latest := now.Add(s.Every); s.NextTurn.After(latest) {
		s.NextTurn = latest
	}
}
