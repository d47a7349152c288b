package cli

import (
	"context"
	"io"
	"log/slog"

	"recrawl/internal/config"
	"recrawl/internal/report"
)

type webCmd struct {
	Listen   string `default:"127.0.0.1:8234" placeholder:"HOST:PORT" help:"Where to listen, by default 127.0.0.1:8234. Other machines reach 0.0.0.0:8234, which takes a token."`
	ReadOnly bool   `help:"Show everything, and carry out nothing."`
	Ready    bool   `help:"Serve nothing: ask the page that listens there whether it works, and end with 0 or 1."`
	UI       string `name:"ui" placeholder:"URL" help:"The Temporal UI, for links to workflows, by default RECRAWL_WEB_UI, or that of the last starter dev in the data folder."`
}

// Help implements kong.HelpProvider.
func (webCmd) Help() string {
	return `starter dev serves the page by itself. Beside a fleet of workers it is a program of its own, which reads the store
and asks Temporal. Beyond this machine it asks for the token of RECRAWL_WEB_TOKEN, or of RECRAWL_WEB_READ_TOKEN
from those who may only look; RECRAWL_WEB_HOSTS lists the names by which people reach it (docs/web.md).

    starter web
    starter web --ready
    RECRAWL_WEB_TOKEN=file:/etc/recrawl/web-token starter web --listen 0.0.0.0:8234`
}

// WebOptions are the options of `starter web`.
type WebOptions struct {
	At       Target
	Listen   string // host:port
	ReadOnly bool
	// UI is the address of the Temporal UI, "" if it is not known.
	UI       string
	Web      config.Web
	Log      *slog.Logger
	Reporter func(Opened) report.Reporter
	Judge    func(context.Context, Opened) report.ScopeJudge
	Out      io.Writer
}

// Run serves the page until the context ends.
func (c webCmd) Run(s *session) error {
	if c.Ready {
		return s.env.Backend.WebReady(s.ctx, c.Listen)
	}
	if s.places.Store == "" {
		return usage(config.ErrNoStore)
	}
	if err := s.cfg.Web.CheckListen(c.Listen); err != nil {
		return usagef("--listen %w", err)
	}
	if c.UI == "" {
		c.UI = s.cfg.Web.UI
	}
	if c.UI == "" && s.places.FromDev {
		state, err := config.ReadDevState(s.places.Data)
		if err != nil {
			return err
		}
		c.UI = state.TemporalUI
	}
	return s.env.Backend.Web(s.ctx, WebOptions{
		At: s.target(), Listen: c.Listen, ReadOnly: c.ReadOnly, UI: c.UI, Web: s.cfg.Web, Log: s.cfg.NewLog(s.env.Stderr, s.cfg.Log),
		Reporter: func(o Opened) report.Reporter { return s.reporter(o, nil) },
		Judge:    func(ctx context.Context, o Opened) report.ScopeJudge { return NewScopeJudge(ctx, s.cfg, o) },
		Out:      s.env.screen,
	})
}
