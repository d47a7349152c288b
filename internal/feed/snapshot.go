package feed

// SnapshotPage is a page in a snapshot: its state, instead of what happened to it.
type SnapshotPage struct {
	V     int       `json:"v"`
	Kind  string    `json:"kind"` // KindSnapshot
	Crawl string    `json:"crawl"`
	Page  EventPage `json:"page"`
	// Version is the page's version, absent if it has none.
	Version *EventVersionOf `json:"version,omitempty"`
}

// Place is a place in the feed from which to go on, for when no event says it: after a
// snapshot, and when no event was selected.
type Place struct {
	V      int    `json:"v"`
	Kind   string `json:"kind"` // KindCursor
	Cursor Cursor `json:"cursor"`
}

// The kinds of lines that are no events. They are part of the feed's format.
const (
	KindSnapshot = "snapshot"
	KindCursor   = "cursor"
)

// PlaceAt returns the line of a cursor.
func PlaceAt(c Cursor) Place { return Place{V: EventVersion, Kind: KindCursor, Cursor: c} }
