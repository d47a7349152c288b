package sink

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"recrawl/internal/feed"
)

// digestLine is a digest as programs read it.
type digestLine struct {
	V      int        `json:"v"`
	Digest digestBody `json:"digest"`
}

type digestBody struct {
	ID     string       `json:"id"`
	Crawl  string       `json:"crawl"`
	Sink   string       `json:"sink"`
	From   time.Time    `json:"from"`
	To     time.Time    `json:"to"`
	Events []feed.Event `json:"events"`
	Left   int          `json:"left,omitempty"`
}

// EncodeEvent writes an event as programs read it: one line of JSON, without its end.
func EncodeEvent(e feed.Event) ([]byte, error) { return line(e) }

// EncodeDigest writes a digest as programs read it: {"v":1,"digest":{…}} on one line,
// without its end.
func EncodeDigest(d Digest) ([]byte, error) {
	events := d.Events
	if events == nil {
		events = []feed.Event{}
	}
	return line(digestLine{V: feed.EventVersion, Digest: digestBody{
		ID: d.ID, Crawl: d.Crawl, Sink: d.Sink, From: d.From, To: d.To, Events: events, Left: d.Left,
	}})
}

// line writes readable JSON: & and < are not escaped.
func line(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("write a change as JSON: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
