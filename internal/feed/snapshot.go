package feed

// SnapshotPage is a page as a snapshot lists it: what the page is, instead of what happened
// to it.
type SnapshotPage struct {
	V     int       `json:"v"`
	Kind  string    `json:"kind"` // KindSnapshot
	Crawl string    `json:"crawl"`
	Page  EventPage `json:"page"`
	// Version is what the page has, absent if it has none.
	Version *EventVersionOf `json:"version,omitempty"`
}

// Place is a place in the feed to go on from, where no event says it: after a snapshot, and
// where nothing came that was asked for.
type Place struct {
	V      int    `json:"v"`
	Kind   string `json:"kind"` // KindCursor
	Cursor Cursor `json:"cursor"`
}

// What the kind of a line says that is no event. They are part of the feed's format.
const (
	KindSnapshot = "snapshot"
	KindCursor   = "cursor"
)

// PlaceAt is the line of a cursor.
func PlaceAt(c Cursor) Place { return Place{V: EventVersion, Kind: KindCursor, Cursor: c} }
