package app

import (
	"context"

	"recrawl/internal/feed"
	"recrawl/internal/feed/reader"
	"recrawl/internal/sink"
)

// sinkEvents reads changes for sinks.
type sinkEvents struct{ *reader.Reader }

// Texts implements activities.EventSource.
func (s sinkEvents) Texts(ctx context.Context, c feed.Change) (sink.Texts, error) {
	before, after, known, err := s.Reader.Texts(ctx, c)
	return sink.Texts{Before: before, After: after, Known: known}, err
}
