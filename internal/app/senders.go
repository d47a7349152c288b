package app

import (
	"context"
	"fmt"
	"log/slog"

	"recrawl/internal/config"
	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/sink"
	"recrawl/internal/sink/program"
	"recrawl/internal/sink/webhook"
	"recrawl/internal/urlkey"
)

// senders makes the senders of sinks by their kinds.
type senders map[string]makeSender

type makeSender func(ctx context.Context, crawlName, name string, spec crawl.SinkSpec) (sink.Sender, error)

// newSenders are the kinds of senders that a worker has, a line for each.
func newSenders(cfg config.Config, p parts, log *slog.Logger) senders {
	return senders{
		crawl.SinkWebhook: webhookSender,
		crawl.SinkExec:    programSender(cfg),
		crawl.SinkMail:    mailSender(cfg.SMTP, log),
		crawl.SinkFolder:  folderSender(cfg.SinkFolders, p.store, p.files, selectedBy),
		crawl.SinkSearch:  searchSender(p, selectedBy),
	}
}

// webhookSender makes the senders of sinks of kind webhook.
func webhookSender(_ context.Context, _, _ string, spec crawl.SinkSpec) (sink.Sender, error) {
	return made(webhook.New(spec, webhook.Options{UserAgent: "recrawl/" + config.Release}))
}

// programSender makes the senders of sinks of kind exec.
func programSender(cfg config.Config) makeSender {
	return func(_ context.Context, _, _ string, spec crawl.SinkSpec) (sink.Sender, error) {
		return made(program.New(spec, program.Options{Programs: cfg.SinkPrograms, Variables: cfg.SinkVariables}))
	}
}

// selectedBy is the choice of pages that a sink's hosts and prefixes make.
func selectedBy(name string, spec crawl.SinkSpec) func(url string) bool {
	filter := sink.NewFilter(name, spec)
	return func(url string) bool {
		u, err := urlkey.Canonical(url)
		if err != nil {
			return false
		}
		return filter.Place(feed.Event{Kind: feed.PageChanged, Page: &feed.EventPage{URL: url, Host: u.HostKey()}}).Send
	}
}

// Sender implements activities.Senders.
func (s senders) Sender(ctx context.Context, crawlName, name string, spec crawl.SinkSpec) (sink.Sender, error) {
	makes, ok := s[spec.Kind]
	if !ok {
		return nil, fmt.Errorf("this worker has no sender for sinks of the kind %s", spec.Kind)
	}
	return makes(ctx, crawlName, name, spec)
}
