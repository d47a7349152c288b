package app

import (
	"context"
	"fmt"

	"recrawl/internal/crawl"
	"recrawl/internal/sink"
)

// senders makes the senders of sinks by their kinds.
type senders map[string]makeSender

type makeSender func(ctx context.Context, crawlName, name string, spec crawl.SinkSpec) (sink.Sender, error)

// newSenders are the kinds of senders that a worker has, a line for each.
func newSenders() senders {
	return senders{}
}

// Sender implements activities.Senders.
func (s senders) Sender(ctx context.Context, crawlName, name string, spec crawl.SinkSpec) (sink.Sender, error) {
	made, ok := s[spec.Kind]
	if !ok {
		return nil, fmt.Errorf("this worker has no sender for sinks of the kind %s", spec.Kind)
	}
	return made(ctx, crawlName, name, spec)
}
