package feed

import (
	"fmt"
	"maps"
	"slices"
)

// Kind says what happened. The numbers are stored and the names are part of the feed's
// format: never renumber or rename them.
type Kind uint8

// The kinds of changes. Those of a page that one visit can find come first; a visit is at
// most one of them.
const (
	PageNew       Kind = 1 // the first content of the page
	PageChanged   Kind = 2 // another text than before, or an earlier one again
	PageGone      Kind = 3 // 404 or 410
	PageBack      Kind = 4 // has content again after it was gone, moved, excluded or a duplicate
	PageMoved     Kind = 5 // answers with a redirect
	PageFailing   Kind = 6 // the last visits failed
	PageRecovered Kind = 7 // answers again after it failed
	PageExcluded  Kind = 8 // robots, a directive or the scope forbids it
	PageDuplicate Kind = 9 // has the same content as another page, its original

	PageStopped   Kind = 10 // a person stopped it
	PageEvicted   Kind = 11 // it gave its place to a better page
	PageResumed   Kind = 12 // it is visited again after it was stopped or evicted
	PageForgotten Kind = 13 // it was taken down

	CrawlState  Kind = 14 // the crawl was paused, resumed or stopped
	CrawlSpec   Kind = 15 // the crawl has another spec
	TrapHeld    Kind = 16 // a part of a site without end is held
	HostBlocked Kind = 17 // a person blocked or unblocked a host
	SinkPaused  Kind = 18 // a sink delivers no more until a person resumes it
	FeedGap     Kind = 19 // changes were removed before a sink had read them
)

// VersionOnly is a row of the feed that is no change: a visit found another version of the
// same text, with other links or decoration. Exports since a cursor need it. It is not among
// Kinds, and whoever does not ask for it by name gets none.
const VersionOnly Kind = 20

var kinds = map[Kind]string{
	PageNew: "page.new", PageChanged: "page.changed", PageGone: "page.gone", PageBack: "page.back",
	PageMoved: "page.moved", PageFailing: "page.failing", PageRecovered: "page.recovered",
	PageExcluded: "page.excluded", PageDuplicate: "page.duplicate", PageStopped: "page.stopped",
	PageEvicted: "page.evicted", PageResumed: "page.resumed", PageForgotten: "page.forgotten",
	CrawlState: "crawl.state", CrawlSpec: "crawl.spec", TrapHeld: "trap.held",
	HostBlocked: "host.blocked", SinkPaused: "sink.paused", FeedGap: "feed.gap",
}

// Kinds lists all kinds of changes in their order.
func Kinds() []Kind { return slices.Sorted(maps.Keys(kinds)) }

func (k Kind) String() string {
	if s, ok := kinds[k]; ok {
		return s
	}
	return fmt.Sprintf("%d", uint8(k))
}

// MarshalText implements encoding.TextMarshaler.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (k *Kind) UnmarshalText(text []byte) error {
	for v, s := range kinds {
		if s == string(text) {
			*k = v
			return nil
		}
	}
	return fmt.Errorf("%q is not a kind of change", text)
}

// OfPage reports whether the change is one of a page.
func (k Kind) OfPage() bool { return k >= PageNew && k <= PageForgotten }
