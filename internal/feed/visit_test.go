package feed

import (
	"testing"

	"recrawl/internal/crawl"
)

// living returns the states that a visit may find and leave.
func living() []crawl.PageState { return crawl.LivingStates() }

func TestOfVisit(t *testing.T) {
	t.Parallel()
	const (
		active, failing, gone       = crawl.Active, crawl.Failing, crawl.Gone
		redirect, duplicate, banned = crawl.Redirect, crawl.Duplicate, crawl.Excluded
	)
	for _, c := range []struct {
		what   string
		before Before
		seen   Seen
		want   Kind
	}{
		{"first content", Before{State: active}, Seen{crawl.OutcomeNew, active, 1, "", false}, PageNew},
		{"first content after failures", Before{State: failing}, Seen{crawl.OutcomeNew, active, 1, "", false}, PageNew},
		{"first content of what was gone", Before{State: gone}, Seen{crawl.OutcomeNew, active, 1, "", false}, PageNew},
		{"first content after gone and failures", Before{State: failing, Settled: gone}, Seen{crawl.OutcomeNew, active, 1, "", false}, PageNew},
		{"first content is an older page's", Before{State: active}, Seen{crawl.OutcomeNew, duplicate, 1, "", false}, PageDuplicate},
		{"first visit fails", Before{State: active}, Seen{crawl.OutcomeFailed, failing, 0, "", false}, PageFailing},
		{"first visit finds nothing", Before{State: active}, Seen{crawl.OutcomeGone, gone, 0, "", false}, PageGone},
		{"first visit is led away", Before{State: active}, Seen{crawl.OutcomeRedirected, redirect, 0, "b", false}, PageMoved},
		{"first content is not wanted", Before{State: active}, Seen{crawl.OutcomeUnsupported, active, 0, "", false}, 0},

		{"another text", Before{State: active, Version: 1}, Seen{crawl.OutcomeChanged, active, 2, "", false}, PageChanged},
		{"an earlier text", Before{State: active, Version: 3}, Seen{crawl.OutcomeReturned, active, 1, "", false}, PageChanged},
		{"the same", Before{State: active, Version: 1}, Seen{crawl.OutcomeUnchanged, active, 1, "", false}, 0},
		{"other links only", Before{State: active, Version: 1}, Seen{crawl.OutcomeCosmetic, active, 2, "", false}, VersionOnly},
		{"other links, and stopped meanwhile", Before{State: crawl.Stopped, Version: 1}, Seen{crawl.OutcomeCosmetic, crawl.Stopped, 2, "", false}, VersionOnly},
		{"noise", Before{State: active, Version: 2}, Seen{crawl.OutcomeCosmetic, active, 2, "", false}, 0},
		{"suspect", Before{State: active, Version: 1}, Seen{crawl.OutcomeSuspect, active, 1, "", false}, 0},
		{"suspect at the second look", Before{State: active, Version: 1}, Seen{crawl.OutcomeChanged, active, 2, "", false}, PageChanged},
		{"skipped", Before{State: active, Version: 1}, Seen{crawl.OutcomeSkipped, active, 1, "", false}, 0},
		{"throttled", Before{State: active, Version: 1}, Seen{crawl.OutcomeThrottled, active, 1, "", false}, 0},
		{"too large now", Before{State: active, Version: 1}, Seen{crawl.OutcomeTooLarge, active, 1, "", false}, 0},

		{"gone", Before{State: active, Version: 1}, Seen{crawl.OutcomeGone, gone, 1, "", false}, PageGone},
		{"gone again", Before{State: gone, Version: 1}, Seen{crawl.OutcomeGone, gone, 1, "", false}, 0},
		{"back", Before{State: gone, Version: 1}, Seen{crawl.OutcomeUnchanged, active, 1, "", false}, PageBack},
		{"back with another text", Before{State: gone, Version: 1}, Seen{crawl.OutcomeChanged, active, 2, "", false}, PageBack},
		{"gone, then throttled", Before{State: gone, Version: 1}, Seen{crawl.OutcomeThrottled, gone, 1, "", false}, 0},
		{"gone, then moved", Before{State: gone, Version: 1}, Seen{crawl.OutcomeRedirected, redirect, 1, "b", false}, PageMoved},

		{"failing", Before{State: active, Version: 1}, Seen{crawl.OutcomeFailed, failing, 1, "", false}, PageFailing},
		{"failing again", Before{State: failing, Version: 1}, Seen{crawl.OutcomeTimedOut, failing, 1, "", false}, 0},
		{"recovered", Before{State: failing, Settled: active, Version: 1}, Seen{crawl.OutcomeUnchanged, active, 1, "", false}, PageRecovered},
		{"recovered, and nobody knows what was before", Before{State: failing, Version: 1}, Seen{crawl.OutcomeUnchanged, active, 1, "", false}, PageRecovered},
		{"recovered with other links", Before{State: failing, Version: 1}, Seen{crawl.OutcomeCosmetic, active, 2, "", false}, PageRecovered},
		{"another text after failures", Before{State: failing, Settled: active, Version: 1}, Seen{crawl.OutcomeChanged, active, 2, "", false}, PageChanged},
		{"stopped, failing, answers", Before{State: failing, Settled: crawl.Stopped, Version: 1}, Seen{crawl.OutcomeUnchanged, active, 1, "", false}, PageRecovered},
		{"gone, failing", Before{State: gone, Version: 1}, Seen{crawl.OutcomeFailed, failing, 1, "", false}, PageFailing},
		{"gone, failing, gone", Before{State: failing, Settled: gone, Version: 1}, Seen{crawl.OutcomeGone, gone, 1, "", false}, PageRecovered},
		{"gone, failing, back", Before{State: failing, Settled: gone, Version: 1}, Seen{crawl.OutcomeUnchanged, active, 1, "", false}, PageBack},
		{"failing, gone", Before{State: failing, Settled: active, Version: 1}, Seen{crawl.OutcomeGone, gone, 1, "", false}, PageGone},

		{"moved", Before{State: active, Version: 1}, Seen{crawl.OutcomeRedirected, redirect, 1, "b", false}, PageMoved},
		{"moved to the same", Before{State: redirect, Location: "b", Version: 1}, Seen{crawl.OutcomeRedirected, redirect, 1, "b", false}, 0},
		{"moved to another", Before{State: redirect, Location: "b", Version: 1}, Seen{crawl.OutcomeRedirected, redirect, 1, "c", false}, PageMoved},
		{"moved, and nobody knows where to before", Before{State: redirect, Version: 1}, Seen{crawl.OutcomeRedirected, redirect, 1, "c", false}, 0},
		{"moved, failing, moved to the same", Before{State: failing, Settled: redirect, Location: "b"}, Seen{crawl.OutcomeRedirected, redirect, 0, "b", false}, PageRecovered},
		{"moved, failing, moved to another", Before{State: failing, Settled: redirect, Location: "b"}, Seen{crawl.OutcomeRedirected, redirect, 0, "c", false}, PageMoved},
		{"another spelling", Before{State: active, Version: 1}, Seen{crawl.OutcomeRedirected, active, 1, "B", true}, 0},
		{"moved, then another spelling", Before{State: redirect, Location: "b"}, Seen{crawl.OutcomeRedirected, redirect, 0, "B", true}, 0},
		{"back from elsewhere", Before{State: redirect, Location: "b", Version: 1}, Seen{crawl.OutcomeChanged, active, 2, "", false}, PageBack},

		{"excluded", Before{State: active, Version: 1}, Seen{crawl.OutcomeExcluded, banned, 1, "", false}, PageExcluded},
		{"excluded again", Before{State: banned, Version: 1}, Seen{crawl.OutcomeExcluded, banned, 1, "", false}, 0},
		{"allowed again", Before{State: banned, Version: 1}, Seen{crawl.OutcomeUnchanged, active, 1, "", false}, PageBack},
		{"a duplicate", Before{State: active, Version: 1}, Seen{crawl.OutcomeChanged, duplicate, 2, "", false}, PageDuplicate},
		{"still one, of another text", Before{State: duplicate, Version: 1}, Seen{crawl.OutcomeChanged, duplicate, 2, "", false}, PageChanged},
		{"still one", Before{State: duplicate, Version: 1}, Seen{crawl.OutcomeUnchanged, duplicate, 1, "", false}, 0},
		{"none any more", Before{State: duplicate, Version: 1}, Seen{crawl.OutcomeChanged, active, 2, "", false}, PageBack},

		{"stopped meanwhile", Before{State: crawl.Stopped, Version: 1}, Seen{crawl.OutcomeUnchanged, crawl.Stopped, 1, "", false}, 0},
		{"gone, and stopped meanwhile", Before{State: crawl.Stopped, Version: 1}, Seen{crawl.OutcomeGone, crawl.Stopped, 1, "", false}, 0},
		{"changed, and stopped meanwhile", Before{State: crawl.Stopped, Version: 1}, Seen{crawl.OutcomeChanged, crawl.Stopped, 2, "", false}, PageChanged},
		{"new, and evicted meanwhile", Before{State: crawl.Evicted}, Seen{crawl.OutcomeNew, crawl.Evicted, 1, "", false}, PageNew},
		{"returned to known meanwhile", Before{State: crawl.Known, Version: 1}, Seen{crawl.OutcomeUnchanged, crawl.Known, 1, "", false}, 0},
		{"resumed and planned as stopped", Before{State: active, Version: 1}, Seen{crawl.OutcomeUnchanged, crawl.Stopped, 1, "", false}, PageStopped},
		{"returned and planned as evicted", Before{State: active, Version: 1}, Seen{crawl.OutcomeUnchanged, crawl.Evicted, 1, "", false}, PageEvicted},
	} {
		kind, data := OfVisit(c.before, c.seen)
		if kind != c.want {
			t.Errorf("%s: %s, want %s", c.what, kind, c.want)
		}
		returned := kind == PageChanged && c.seen.Outcome == crawl.OutcomeReturned
		want := Data{Was: c.before.State, State: c.seen.State, From: c.before.Version}
		if returned {
			want.ReturnedTo = c.seen.Version
		}
		if kind == 0 || kind == VersionOnly {
			want = Data{}
		}
		if data != want {
			t.Errorf("%s: %+v, want %+v", c.what, data, want)
		}
	}
}

// Whatever a visit finds, a change of state is a change, and so is another text; without
// them there is none. The past is asked for where it matters.
func TestEveryTransitionIsAChange(t *testing.T) {
	t.Parallel()
	for _, was := range living() {
		for _, is := range living() {
			for _, outcome := range crawl.Outcomes() {
				for _, version := range []int{1, 2} {
					checkTransition(t, Before{State: was, Settled: crawl.Active, Location: "b", Version: 1}, Seen{Outcome: outcome, State: is, Version: version, Location: "b"})
				}
			}
		}
	}
}

func checkTransition(t *testing.T, before Before, seen Seen) {
	t.Helper()
	kind, data := OfVisit(before, seen)
	text := seen.Version != before.Version && seen.Outcome != crawl.OutcomeCosmetic
	if kind == VersionOnly && (seen.Outcome != crawl.OutcomeCosmetic || seen.Version == before.Version || data.Encode(kind, seen.Version) != "") {
		t.Errorf("%+v, %+v: %s with %+v", before, seen, kind, data)
	}
	if got, want := kind != 0 && kind != VersionOnly, before.State != seen.State || text; got != want {
		t.Errorf("%+v, %+v: %s", before, seen, kind)
	}
	if kind != VersionOnly && (kind != 0 && !kind.OfPage() || kind > PageDuplicate) {
		t.Errorf("%+v, %+v: %s is no change that a visit finds", before, seen, kind)
	}
	if NeedsPast(before.State, seen) {
		return
	}
	unknown := before
	unknown.Settled, unknown.Location = 0, ""
	if again, _ := OfVisit(unknown, seen); again != kind {
		t.Errorf("%+v, %+v: %s without its past, %s with it", before, seen, again, kind)
	}
	if decoded, err := DecodeData(data.Encode(kind, seen.Version), kind, seen.Version); err != nil || decoded != data {
		t.Errorf("%+v became %+v, %v", data, decoded, err)
	}
}

func TestMostRowsStoreNoData(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		before Before
		seen   Seen
		want   string
	}{
		{Before{State: crawl.Active}, Seen{Outcome: crawl.OutcomeNew, State: crawl.Active, Version: 1}, ""},
		{Before{State: crawl.Active, Version: 6}, Seen{Outcome: crawl.OutcomeChanged, State: crawl.Active, Version: 7}, ""},
		{Before{State: crawl.Active, Version: 7}, Seen{Outcome: crawl.OutcomeGone, State: crawl.Gone, Version: 7}, ""},
		{Before{State: crawl.Gone, Version: 7}, Seen{Outcome: crawl.OutcomeUnchanged, State: crawl.Active, Version: 7}, ""},
		{Before{State: crawl.Active, Version: 7}, Seen{Outcome: crawl.OutcomeFailed, State: crawl.Failing, Version: 7}, ""},
		{Before{State: crawl.Active, Version: 2}, Seen{Outcome: crawl.OutcomeChanged, State: crawl.Active, Version: 7}, `{"was":"active","state":"active","from":2}`},
		{Before{State: crawl.Active, Version: 7}, Seen{Outcome: crawl.OutcomeReturned, State: crawl.Active, Version: 2}, `{"was":"active","state":"active","from":7,"returned_to":2}`},
	} {
		kind, data := OfVisit(c.before, c.seen)
		if got := data.Encode(kind, c.seen.Version); got != c.want {
			t.Errorf("%s stores %s, want %s", kind, got, c.want)
		}
	}
}

// A past that NeedsPast does not ask for decides nothing.
func TestNeedsPast(t *testing.T) {
	t.Parallel()
	decides := false
	for _, was := range crawl.PageStates() {
		for _, is := range crawl.PageStates() {
			for _, outcome := range []crawl.Outcome{crawl.OutcomeNew, crawl.OutcomeChanged, crawl.OutcomeUnchanged, crawl.OutcomeCosmetic, crawl.OutcomeGone, crawl.OutcomeRedirected, crawl.OutcomeFailed} {
				for _, seen := range []Seen{{outcome, is, 1, "b", false}, {outcome, is, 1, "b", true}, {outcome, is, 2, "b", false}, {outcome, is, 0, "", false}} {
					kinds := map[Kind]bool{}
					for _, settled := range append(crawl.PageStates(), 0) {
						for _, location := range []string{"", "a", "b"} {
							kind, _ := OfVisit(Before{State: was, Settled: settled, Location: location, Version: 1}, seen)
							kinds[kind] = true
						}
					}
					decides = decides || len(kinds) > 1
					if len(kinds) > 1 && !NeedsPast(was, seen) {
						t.Errorf("%s, then %+v: %v by a past that nobody reads", was, seen, kinds)
					}
				}
			}
		}
	}
	if !decides {
		t.Error("the past decides nothing")
	}
}
