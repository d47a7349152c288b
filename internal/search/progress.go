package search

import (
	"encoding/json"
	"time"
)

// Progress is how far the index of a crawl is filled: what its sink keeps as its cursor.
type Progress struct {
	// Filled: all pages were looked at; since then changes say which to look at. Until then
	// After is the page up to which it was done.
	Filled bool  `json:"filled"`
	After  int64 `json:"after,omitempty"`
	// Looked is when all pages were looked at.
	Looked time.Time `json:"looked,omitzero"`
}

// ParseProgress reads a cursor. One that cannot be read is none.
func ParseProgress(cursor string) (p Progress) {
	if err := json.Unmarshal([]byte(cursor), &p); err != nil {
		return Progress{}
	}
	return p
}

// String writes it as a cursor.
func (p Progress) String() string {
	text, err := json.Marshal(p)
	if err != nil { // a year beyond 9999, which no clock has
		return ""
	}
	return string(text)
}

// Filled reports whether an index with a cursor has seen all pages.
func Filled(cursor string) bool { return ParseProgress(cursor).Filled }
