package cli

import (
	"context"
	"fmt"
	"io"

	"recrawl/internal/config"
	"recrawl/internal/feed/reader"
	"recrawl/internal/mcp"
	"recrawl/internal/store"
)

type mcpCmd struct {
	AllowVisit bool `help:"Let agents ask for visits of pages, too."`
}

// Help implements kong.HelpProvider.
func (mcpCmd) Help() string {
	return `Serves agents through the Model Context Protocol, on standard input and output: an agent's program starts it. Its
tools list crawls, read pages as they are or were at a date, and say what changed. They only read, unless
--allow-visit lets them ask for visits. starter dev and starter web serve the same at /mcp, for reading
(docs/mcp.md).

    starter mcp --data /srv/recrawl
    starter mcp --store postgres://… --archive s3://…`
}

// Run serves the program that has started it, until that ends.
func (c mcpCmd) Run(s *session) error {
	return s.withStore(func(opened Opened) error {
		o := mcp.Options{
			Reports: s.reporter(opened, io.Discard), Crawl: opened.Crawl, Version: config.Release, Log: s.cfg.NewLog(s.env.Stderr, s.cfg.Log),
		}
		var files reader.Contents
		if s.places.Archive != "" {
			archive, err := s.env.Backend.OpenArchive(s.ctx, s.places.Archive)
			if err != nil {
				return fmt.Errorf("cannot open the archive: %w", err)
			}
			files, o.Files = archive, archive
		}
		o.Changes = reader.New(opened.Feed, files)
		if c.AllowVisit {
			operator := s.operator()
			o.Visit = func(ctx context.Context, page store.PageRecord) (string, error) {
				return operator.ChangePage(ctx, page, VisitNow, "")
			}
		}
		if s.env.Terminal {
			fmt.Fprintln(s.env.Stderr, "starter: an agent's program starts this command and speaks to it; Ctrl-C ends it (see docs/mcp.md)")
		}
		return mcp.New(o).Serve(s.ctx, io.NopCloser(s.env.Stdin), keptOpen{s.env.Stdout})
	})
}

// keptOpen is an output that its user does not close.
type keptOpen struct{ io.Writer }

// Close implements io.Closer.
func (keptOpen) Close() error { return nil }
