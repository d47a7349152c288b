package search

import (
	"encoding/json"
	"time"
)

// Progress says how far the index of a crawl is filled. Its sink keeps it as its cursor.
type Progress struct {
	// Filled: all pages were looked at, last at the time Looked; since then changes say
	// which to look at. Pages is their number.
	Filled bool      `json:"filled"`
	Looked time.Time `json:"looked,omitzero"`
	Pages  int       `json:"pages,omitempty"`
	// Looking is the progress of a look at all pages, nil if none is under way.
	Looking *Look `json:"looking,omitempty"`
	// Again: all pages are to be looked at, from the first one on.
	Again bool `json:"again,omitempty"`
	// Rendering names how texts were made when all pages were looked at.
	Rendering string `json:"rendering,omitempty"`
}

// Look is a look at all pages.
type Look struct {
	After int64 `json:"after"` // the page up to which it was done
	// Rendering names how texts are made meanwhile.
	Rendering string `json:"rendering,omitempty"`
	Pages     int    `json:"pages"`
}

// ParseProgress reads a cursor. One that cannot be read gives no progress.
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
