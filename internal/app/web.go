package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"go.temporal.io/sdk/client"

	"recrawl/internal/archive"
	"recrawl/internal/cli"
	"recrawl/internal/config"
	"recrawl/internal/feed/reader"
	"recrawl/internal/mcp"
	"recrawl/internal/monitor"
	"recrawl/internal/report"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit/embedded"
	"recrawl/internal/web"
)

// defaultWebPort is the port of the page for operators where it is free.
const defaultWebPort = 8234

// Web implements cli.Backend.
func (b Backend) Web(ctx context.Context, o cli.WebOptions) (err error) {
	l, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return fmt.Errorf("cannot listen at %s: %w: choose another place with --listen", o.Listen, err)
	}
	opened, err := b.OpenStore(ctx, o.At.Store)
	if err != nil {
		return errors.Join(fmt.Errorf("cannot open the store: %w", err), l.Close())
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	options := web.Options{
		Report: o.Reporter(opened), Feed: opened.Feed, Judge: o.Judge(ctx, opened), TemporalUI: uiOf(o.UI, o.At.Temporal.Namespace), Guard: guardOf(o.Web), Log: o.Log,
	}
	var files archive.Store
	if o.At.Archive != "" {
		if files, err = b.OpenArchive(ctx, o.At.Archive); err != nil {
			return errors.Join(fmt.Errorf("cannot open the archive: %w", err), l.Close())
		}
		options.Files = files
	}
	options.MCP = agentsOf(options, opened.Crawl)
	temporal := newKeptTemporal(func(ctx context.Context) (client.Client, error) { return dialTemporal(ctx, o.At.Temporal) }, o.At.Temporal)
	defer temporal.close()
	jobs := newJobs(ctx)
	defer jobs.wait()
	if !o.ReadOnly {
		options.Commands = webCommands{operator: cli.Operator{Backend: b, At: o.At, Dial: temporal.flows}, jobs: jobs}
	}
	options.Ready = readyOf(o, opened, files, temporal)
	page := servePage(ctx, l, web.New(options).Handler(), o.Log)
	defer page.close()
	fmt.Fprintf(o.Out, "the page is at %s; Ctrl-C stops\n", page.address())
	select {
	case <-ctx.Done():
		return nil
	case err := <-page.ended:
		return err
	}
}

// readyOf asks what `starter web` needs. A page without buttons asks no Temporal server.
func readyOf(o cli.WebOptions, opened cli.Opened, files archive.Store, temporal *keptTemporal) http.Handler {
	parts := []monitor.Part{storePart(opened)}
	if !o.ReadOnly {
		parts = append(parts, temporalPart(temporal.connected))
	}
	if files != nil {
		parts = append(parts, archivePart(files))
	}
	return webReadiness(o.Log, parts...)
}

// WebReady implements cli.Backend.
func (Backend) WebReady(ctx context.Context, listen string) error {
	return monitor.Ready(ctx, "the page", listen)
}

// agentsOf answers agents from the page's own sources. They only read: only people may
// press buttons.
func agentsOf(o web.Options, crawl func(ctx context.Context, name string) (store.CrawlRecord, error)) http.Handler {
	return mcp.New(mcp.Options{
		Reports: o.Report, Changes: reader.New(o.Feed, o.Files), Crawl: crawl, Files: o.Files, Version: config.Release, Log: o.Log,
	}).Handler()
}

// guardOf says who may use the page.
func guardOf(w config.Web) web.Guard {
	return web.Guard{Hosts: w.Hosts, Token: w.Token, ReadToken: w.ReadToken}
}

// uiOf is the Temporal UI's address of a namespace, "" if the UI is not known.
func uiOf(ui, namespace string) string {
	if ui == "" {
		return ""
	}
	if namespace == "" {
		namespace = client.DefaultNamespace
	}
	return strings.TrimSuffix(ui, "/") + "/namespaces/" + namespace
}

// webPage is the server of the page for operators.
type webPage struct {
	listener net.Listener
	server   *http.Server
	stop     context.CancelFunc
	ended    chan error // gets the error of a server that ends by itself, and is closed when it has ended
}

// headerLimit is how long a browser may take to send its request.
const headerLimit = 30 * time.Second

// servePage serves until it is closed.
func servePage(ctx context.Context, l net.Listener, handler http.Handler, logger *slog.Logger) *webPage {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	p := &webPage{listener: l, stop: stop, ended: make(chan error, 1)}
	p.server = &http.Server{
		Handler: handler, ReadHeaderTimeout: headerLimit, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx }, // streams end with us
		ErrorLog:    slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
	go func() {
		defer close(p.ended)
		if err := p.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			p.ended <- fmt.Errorf("serve the page: %w", err)
		}
	}()
	return p
}

// address is the page's address for people.
func (p *webPage) address() string {
	host, port, err := net.SplitHostPort(p.listener.Addr().String())
	if err != nil {
		return "http://" + p.listener.Addr().String()
	}
	if ip := net.ParseIP(host); ip != nil && (ip.IsLoopback() || ip.IsUnspecified()) {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// closeLimit is how long answers that are being written may take.
const closeLimit = 3 * time.Second

// close ends the server and waits until it has ended.
func (p *webPage) close() {
	p.stop()
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	if err := p.server.Shutdown(ctx); err != nil {
		_ = p.server.Close()
	}
	<-p.ended
}

// startWeb serves the page beside the worker, and prints its address before anything else.
func (d *devRun) startWeb(ctx context.Context) (stop func(), err error) {
	l, err := embedded.Listen(embedded.Port{Number: portOr(d.WebPort, rememberedPort(strings.TrimPrefix(d.state.Web, "http://")), defaultWebPort), Must: d.WebPort != 0}, "the page for operators")
	if err != nil {
		return nil, err
	}
	jobs := newJobs(ctx)
	d.stateMu.Lock()
	defer d.stateMu.Unlock()
	operator, parts := d.operator(), partsOf(d.store, d.state.Store)
	reporter := parts.Reporter(operator.At, d.Config.Contact)
	reporter.Out, reporter.Format = io.Discard, report.JSON
	options := web.Options{
		Report: reporter, Feed: d.store, Files: d.files, Judge: cli.NewScopeJudge(ctx, d.Config, parts),
		Guard: guardOf(d.Config.Web), TemporalUI: uiOf(d.state.TemporalUI, d.state.TemporalNamespace), Log: d.log,
		Commands: webCommands{operator: operator, jobs: jobs},
	}
	options.MCP = agentsOf(options, d.store.Crawl)
	options.Ready = webReadiness(d.log, temporalPart(func(context.Context) (client.Client, error) { return d.client, nil }), storePart(d.store), archivePart(d.files))
	page := servePage(ctx, l, web.New(options).Handler(), d.log)
	d.state.Web = page.address()
	d.writeState()
	fmt.Fprintf(d.Out, "page         %s\n", d.state.Web)
	return func() { jobs.wait(); page.close() }, nil
}

// operator carries out the page's requests. The caller holds stateMu.
func (d *devRun) operator() cli.Operator {
	at := cli.TemporalOptions{
		Address: d.state.TemporalAddress, Namespace: d.state.TemporalNamespace, TaskQueue: d.home.TaskQueue, Store: d.state.Store, Keys: d.Config.Keys,
		Folder: d.dir.path,
	}
	return cli.Operator{
		Backend: Backend{}, At: cli.Target{Store: d.state.Store, Archive: d.state.Archive, Temporal: at, Data: d.dir.path},
		Dial: func(context.Context) (cli.Client, error) { return keptClient{newFlowClient(d.client, at)}, nil },
	}
}
