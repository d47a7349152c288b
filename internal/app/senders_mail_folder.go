package app

import (
	"context"
	"log/slog"
	"time"

	"recrawl/internal/archive"
	"recrawl/internal/config"
	"recrawl/internal/crawl"
	"recrawl/internal/export"
	"recrawl/internal/export/source"
	"recrawl/internal/sink"
	"recrawl/internal/sink/folder"
	"recrawl/internal/sink/mail"
	"recrawl/internal/store"
)

// mailSender makes the senders of sinks of kind mail.
func mailSender(c config.SMTP, log *slog.Logger) func(context.Context, string, string, crawl.SinkSpec) (sink.Sender, error) {
	server := mail.Server{Host: c.Host, Port: c.Port, User: c.User, Password: c.Password, From: c.From, Encryption: c.TLS}
	return func(_ context.Context, _, _ string, spec crawl.SinkSpec) (sink.Sender, error) {
		return made(mail.New(spec, server, log, time.Now))
	}
}

// folderSender makes the senders of sinks of kind folder. Selects returns the choice of pages
// by URL that a sink's spec makes.
func folderSender(
	folders map[string]string, s store.Store, files archive.Store, selects func(name string, spec crawl.SinkSpec) func(url string) bool,
) func(context.Context, string, string, crawl.SinkSpec) (sink.Sender, error) {
	return func(ctx context.Context, crawlName, name string, spec crawl.SinkSpec) (sink.Sender, error) {
		record, err := s.Crawl(ctx, crawlName)
		if err != nil {
			return nil, err
		}
		src, err := source.New(s, files, record)
		if err != nil {
			return nil, err
		}
		chosen := selects(name, spec)
		if export.Format(spec.Format) == export.Mirror {
			src = src.WithRequisites().Choosing(chosen)
		}
		if spec.Article {
			src = src.WithArticles()
		}
		return made(folder.New(spec, folders, folder.Collection{
			Store: s.ID(), Crawl: crawlName, Source: src, Rendering: config.Release + " " + src.Rules(), Now: time.Now, Selects: chosen,
		}))
	}
}

// made keeps a nil sender from becoming a non-nil interface.
func made[S sink.Sender](s S, err error) (sink.Sender, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}
