package contract

import (
	"encoding/json"
	"time"

	"go.temporal.io/sdk/temporal"

	"recrawl/internal/feed"
	"recrawl/internal/sink"
)

// SinkWorkflow is the type of the workflow of a sink.
const SinkWorkflow = "Sink"

// Activities of sinks.
var (
	Deliver     = Activity[DeliverIn, DeliverOut]{"Deliver"}             // regular
	CommandSink = Activity[SinkCommandIn, SinkCommandOut]{"CommandSink"} // regular
)

// SinkWake is the signal that tells a sink that there is something to do: SinkWakeArg.
const SinkWake = "wake"

// Updates of a sink, besides Pause and Resume.
const (
	SinkTest   = "test"   // sends a made-up change, and reports the receiver's answer
	SinkReplay = "replay" // ReplayArg
	SinkSkip   = "skip"   // skips the change at which the sink stands
)

// SinkID is the workflow id of a sink.
func SinkID(crawlName, name string) string { return mustID(SinkIDs(crawlName) + name) }

// SinkIDs is the common beginning of the ids of all sinks of a crawl.
func SinkIDs(crawlName string) string { return "sink/" + crawlName + "/" }

// SinkAttributes are the search attributes of a sink.
func SinkAttributes(crawlName string) temporal.SearchAttributes {
	return temporal.NewSearchAttributes(AttrCrawl.ValueSet(AttrValue(crawlName)))
}

// SinkIn is the input of a sink's workflow and its whole state. The sink's progress, its
// standing with its receiver and its spec are in the store.
type SinkIn struct {
	Store   string `json:"store,omitempty"`
	CrawlID int64  `json:"crawl_id"`
	Crawl   string `json:"crawl"`
	Sink    string `json:"sink"`
	// Wake is when the sink looks for changes by itself; zero is now. Why gives the
	// reason.
	Wake time.Time `json:"wake,omitzero"`
	Why  string    `json:"why,omitempty"`
	// Woken: it should look now. Asked: even if it waits to try its receiver again.
	Woken bool `json:"woken,omitempty"`
	Asked bool `json:"asked,omitempty"`
	// Finishing: the crawl is stopped. The sink completes when it has delivered
	// everything before this time, which is a moment later; then it is Done.
	Finishing time.Time `json:"finishing,omitzero"`
	Done      bool      `json:"done,omitempty"`
	// Last is the result of the last Deliver; Sent and Undelivered are totals.
	Last        DeliverOut `json:"last,omitzero"`
	Sent        int64      `json:"sent,omitempty"`
	Undelivered int64      `json:"undelivered,omitempty"`
	Failures    int        `json:"failures,omitempty"` // of the activity itself, in a row
	Runs        int        `json:"runs,omitempty"`
	Tuning      Tuning     `json:"tuning,omitzero"`
}

// SinkWakeArg says why a sink is woken.
type SinkWakeArg struct {
	// Asked: a person or another spec is the reason, so the receiver is tried again at
	// once.
	Asked bool `json:"asked,omitempty"`
}

// DeliverIn delivers a batch of a sink's changes.
type DeliverIn struct {
	Store   string `json:"store,omitempty"`
	CrawlID int64  `json:"crawl_id"`
	Crawl   string `json:"crawl"`
	Sink    string `json:"sink"`
	// Asked: the receiver is tried now, though it is not time yet.
	Asked bool `json:"asked,omitempty"`
}

// StoreID implements Addressed.
func (in DeliverIn) StoreID() string { return in.Store }

// DeliverOut is the result. It says nothing about pages by itself, so that a sink's history
// contains nothing about a page that is taken down unless its receiver's answer, in Reason
// or Problem, named it: a takedown searches for that.
type DeliverOut struct {
	Sent        int `json:"sent,omitempty"`
	Undelivered int `json:"undelivered,omitempty"`
	// Passed are changes that the sink is not for.
	Passed int `json:"passed,omitempty"`
	// More: there is more to deliver at once. Wait: nothing can be done before then, and
	// Reason says why. Neither: the sink has delivered everything.
	More   bool          `json:"more,omitempty"`
	Wait   time.Duration `json:"wait,omitempty"`
	Reason string        `json:"reason,omitempty"`
	// Paused: a person must resume the sink. Code and Problem say why.
	Paused  bool   `json:"paused,omitempty"`
	Code    string `json:"code,omitempty"`
	Problem string `json:"problem,omitempty"`
	Tries   int    `json:"tries,omitempty"`
	// Lag is the age of the oldest undelivered change, 0 if there is none.
	Lag time.Duration `json:"lag,omitempty"`
	// Ended: the crawl no longer has this sink. Stopped: the crawl is stopped.
	Ended   bool `json:"ended,omitempty"`
	Stopped bool `json:"stopped,omitempty"`
}

// SinkCommandIn is a person's command to a sink.
type SinkCommandIn struct {
	Store   string    `json:"store,omitempty"`
	CrawlID int64     `json:"crawl_id"`
	Crawl   string    `json:"crawl"`
	Sink    string    `json:"sink"`
	Command string    `json:"command"` // the name of the update
	Replay  ReplayArg `json:"replay,omitzero"`
}

// StoreID implements Addressed.
func (in SinkCommandIn) StoreID() string { return in.Store }

// SinkCommandOut describes what was done. Look: there may be something to deliver now.
type SinkCommandOut struct {
	Message string `json:"message"`
	Look    bool   `json:"look,omitempty"`
	// Refused: the receiver did not accept the test, or not all of what was replayed.
	Refused  bool           `json:"refused,omitempty"`
	Replayed *sink.Replayed `json:"replayed,omitempty"` // of ReplayArg.Changes
}

// ReplayArg says what is sent again: all after a cursor, or some changes that the receiver
// had refused.
type ReplayArg struct {
	After   string  `json:"after,omitempty"`
	Changes []int64 `json:"changes,omitempty"`
	// Malformed is an input of another form, as it was typed, or its beginning.
	Malformed string `json:"-"`
}

// CheckAfter says what is wrong with the cursor, if one is given.
func (a ReplayArg) CheckAfter() error {
	if a.After == "" {
		return nil
	}
	_, err := feed.ParseCursor(a.After)
	return err
}

// UnmarshalJSON implements json.Unmarshaler. A text is taken for the cursor.
func (a *ReplayArg) UnmarshalJSON(data []byte) error {
	type plain ReplayArg
	var object plain
	var cursor string
	switch {
	case json.Unmarshal(data, &object) == nil:
		*a = ReplayArg(object)
	case json.Unmarshal(data, &cursor) == nil:
		*a = ReplayArg{After: cursor}
	default:
		const most = 100
		*a = ReplayArg{Malformed: string(data[:min(len(data), most)])}
	}
	return nil
}
