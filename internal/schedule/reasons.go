package schedule

import (
	"slices"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule/gamma"
)

// Codes of reasons. They are stored: never change the meaning of one or of its
// numbers, which [numbers] names.
const (
	CodeFirst       = "first"       // nothing to compare with yet
	CodeChanges     = "changes"     // n changes of the last "of" comparisons
	CodeTold        = "told"        // n of the comparisons were the server's (304)
	CodeDoubted     = "doubted"     // a 304 named another version than ours: asked for whole the next time
	CodeEvery       = "every"       // one visit every s
	CodeRounds      = "rounds"      // one visit every n rounds of s
	CodeInternal    = "internal"    // share of the internal pages changed: period cut from n rounds
	CodeRefresh     = "refresh"     // refresh time s, because of the share p of changes; was "from"
	CodeSelective   = "selective"   // share of the internal pages changed, "at" is asked for
	CodeMin         = "min"         // raised to min_interval
	CodeMax         = "max"         // cut to max_interval
	CodeJitter      = "jitter"      // moved by a share, so that pages part
	CodeProbe       = "probe"       // looked at again every s
	CodeFailed      = "failed"      // n visits in a row failed
	CodeThrottled   = "throttled"   // the host asked for quiet, n visits in a row
	CodeRetryAfter  = "retry_after" // the host asked for s of quiet
	CodeRest        = "rest"        // it sent its host into back-off: left alone for s
	CodeRedirected  = "redirected"  // the page answers with a redirect
	CodeRespelled   = "respelled"   // the server wants the page's address spelled otherwise
	CodeGone        = "gone"        // 404 or 410
	CodeExcluded    = "excluded"    // robots or scope forbid it
	CodeLifted      = "lifted"      // robots or scope forbade it, and do so no more: asked for again after s
	CodeUnsupported = "unsupported" // content type not wanted
	CodeTooLarge    = "too_large"   // body over the limit
	CodeDuplicate   = "duplicate"   // same content as another page
	CodeTrapped     = "trapped"     // part of a trap
	CodeSecondLook  = "second_look" // suspect content: looked at again after only s
	CodeComeBack    = "come_back"   // lost, but had content: looked at again after s

	CodeKept   = "kept"   // a requisite: asked for again when a page needs it after s
	CodeNoCopy = "nocopy" // a requisite without a copy: asked for again when a page needs it after s

	CodeBelief    = "belief"     // changes a day: mean, and low to high with 90 %
	CodePrior     = "prior"      // the same, for a page that was never compared
	CodeAged      = "aged"       // last changed by itself, or was found, s ago: rate x times that of an average age
	CodeSite      = "site"       // a share of the site's pages changed at once: not the page's own change
	CodeNoisy     = "noisy"      // changed at each of the last n looks, once after s
	CodeSqrt      = "sqrt"       // least delay: due when the index is theta, after s
	CodeFresh     = "fresh"      // most fresh time: due as with sqrt
	CodeAge       = "age"        // least age: due as with sqrt
	CodeHarmonic  = "harmonic"   // least harmonic penalty: due as with sqrt
	CodeNever     = "never"      // never worth a visit at the threshold
	CodeOwn       = "own"        // no threshold is known yet: that of a page visited every s
	CodeExplore   = "explore"    // not after s, to learn how often it changes
	CodeEarly     = "early"      // after only s: by its regular visit a change would be certain, and teach nothing
	CodeRare      = "rare"       // after s all the same: a page that is given up may stop changing
	CodePrice     = "price"      // the host is full: price instead of theta
	CodeQueue     = "queue"      // the host's line is long: s sooner
	CodeHourly    = "hourly"     // changes s seconds after each hour, give or take "within"; 1 if the visit is to learn when
	CodeDaily     = "daily"      // the same after midnight UTC
	CodeWeekdays  = "weekdays"   // the same from Mondays to Fridays
	CodeWeight    = "weight"     // weight w
	CodeIndex     = "index"      // index v now, of theta
	CodeUnchanged = "if_same"    // then after s if the next visit finds no change
	CodeChanged   = "if_changed" // then after s if the next visit finds a change
	CodeHeavier   = "if_weight"  // after s if the weight were twice as large
	CodeHostFree  = "if_free"    // after s if the host had room
	CodeUnbound   = "if_unbound" // after s without the bounds

	CodeEngine    = "engine"    // the engine makes this many visits a day, of those asked for
	CodeStretched = "stretched" // the interval is times as long because of that
	CodePlanned   = "planned"   // visits planned a day, budget
	CodeSpacing   = "spacing"   // the budget has a visit of each page every s, not every "from" as before
	CodeThreshold = "threshold" // threshold moved from, to; from 0 is its start
)

// numbers names the numbers of each code that a [ground] may carry, in order. Durations
// are in seconds ("s"), rates in changes a day.
var numbers = map[string][]string{
	CodeChanges: {"n", "of"}, CodeTold: {"n"}, CodeEvery: {"s"}, CodeRounds: {"n", "s"}, CodeInternal: {"share", "n"},
	CodeRefresh: {"s", "p", "from"}, CodeSelective: {"share", "at"}, CodeMin: {"s"}, CodeMax: {"s"}, CodeJitter: {"share"},
	CodeProbe: {"s"}, CodeSecondLook: {"s"}, CodeComeBack: {"s"}, CodeLifted: {"s"}, CodeFailed: {"n"}, CodeThrottled: {"n"}, CodeRetryAfter: {"s"}, CodeRest: {"s"},
	CodeBelief: {"mean", "low", "high"}, CodePrior: {"mean", "low", "high"}, CodeNoisy: {"n", "s"},
	CodeKept: {"s"}, CodeNoCopy: {"s"},
	CodeAged: {"s", "x"}, CodeSite: {"share"},
	CodeSqrt: {"s", "theta"}, CodeFresh: {"s", "theta"}, CodeAge: {"s", "theta"}, CodeHarmonic: {"s", "theta"},
	CodeNever: {"theta"}, CodeOwn: {"s"}, CodeExplore: {"s"}, CodeEarly: {"s"}, CodeRare: {"s"}, CodePrice: {"price", "theta"}, CodeQueue: {"s"}, CodeWeight: {"w"}, CodeIndex: {"v", "theta"},
	CodeUnchanged: {"s"}, CodeChanged: {"s"}, CodeHeavier: {"s"}, CodeHostFree: {"s"}, CodeUnbound: {"s"},
	CodeHourly: {"s", "within", "learns"}, CodeDaily: {"s", "within", "learns"}, CodeWeekdays: {"s", "within", "learns"},
	CodeEngine: {"visits", "asked"}, CodeStretched: {"times"}, CodePlanned: {"visits", "budget"}, CodeSpacing: {"s", "from"}, CodeThreshold: {"from", "to"},
}

// ground is a reason of fixed size. Its content stays numeric until somebody asks for
// it, so planning a visit allocates nothing.
type ground struct {
	code   string
	num    [3]float64
	belief gamma.Distribution // of CodeBelief and CodePrior, instead of numbers
}

// because makes a ground from the numbers that [numbers] names.
func because(code string, num ...float64) ground {
	g := ground{code: code}
	copy(g.num[:], num)
	return g
}

func (g ground) reason() crawl.Reason {
	r := crawl.Reason{Code: g.code}
	if g.belief != (gamma.Distribution{}) {
		// Quantiles take as long as the rest of a plan, so they are computed only here.
		g = because(g.code, g.belief.Mean(), g.belief.Quantile(0.05), g.belief.Quantile(0.95))
	}
	if names := numbers[g.code]; len(names) > 0 {
		r.Num = make(map[string]float64, len(names))
		for i, name := range names {
			r.Num[name] = g.num[i]
		}
	}
	return r
}

// grounds are the reasons of one decision, in order.
type grounds struct {
	list [17]ground
	n    int
}

// add appends grounds. It ignores those without a code.
func (all *grounds) add(more ...ground) {
	for _, g := range more {
		if g.code != "" {
			all.list[all.n] = g
			all.n++
		}
	}
}

// timed reports whether the decision is for a time of a timetable.
func (all *grounds) timed() bool {
	return slices.ContainsFunc(all.list[:all.n], func(g ground) bool {
		return g.code == CodeHourly || g.code == CodeDaily || g.code == CodeWeekdays
	})
}

func (all *grounds) reasons() []crawl.Reason {
	list := make([]crawl.Reason, all.n)
	for i, g := range all.list[:all.n] {
		list[i] = g.reason()
	}
	return list
}
