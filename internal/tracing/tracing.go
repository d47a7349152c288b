package tracing

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"recrawl/activities"
	"recrawl/internal/fetch"
)

// endLimit is how long the last spans may take to be sent when the worker ends.
const endLimit = 3 * time.Second

// Tracer makes spans. Nil makes none.
type Tracer struct {
	tracer   trace.Tracer
	provider *sdktrace.TracerProvider
}

// Start begins to send traces, if the standard variables say so; else the Tracer is nil.
// The exporter reads the process' own environment.
func Start(ctx context.Context, getenv func(string) string, version string, log *slog.Logger) (*Tracer, error) {
	by, err := settings(getenv)
	if by == "" || err != nil {
		return nil, err
	}
	var exporter sdktrace.SpanExporter
	if by == byGRPC {
		exporter, err = otlptracegrpc.New(ctx)
	} else {
		exporter, err = otlptracehttp.New(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("traces cannot be sent: %w", err)
	}
	// The library knows one place for its errors, for the whole process.
	otel.SetErrorHandler(&once{log: log})
	return newTracer(ctx, sdktrace.WithBatcher(exporter), version)
}

// newTracer makes a tracer that hands its spans on.
func newTracer(ctx context.Context, to sdktrace.TracerProviderOption, version string) (*Tracer, error) {
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "recrawl"), attribute.String("service.version", version)),
		resource.WithTelemetrySDK(), resource.WithHost(), resource.WithProcessPID(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	provider := sdktrace.NewTracerProvider(to, sdktrace.WithResource(about), sdktrace.WithIDGenerator(ids{}))
	return &Tracer{tracer: provider.Tracer("recrawl"), provider: provider}, nil
}

// End sends what is left.
func (t *Tracer) End() error {
	if t == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), endLimit)
	defer cancel()
	return t.provider.Shutdown(ctx)
}

// once logs the first error as a warning, and the others for those who look closely: a
// collector that is gone is an error every few seconds.
type once struct {
	log  *slog.Logger
	said atomic.Bool
}

// Handle implements otel.ErrorHandler.
func (o *once) Handle(err error) {
	level := slog.LevelDebug
	if !o.said.Swap(true) {
		level = slog.LevelWarn
	}
	o.log.Log(context.Background(), level, "traces are not sent", "error", err)
}

// Activity begins the span of an activity. visit names its visit, the same for all activities
// of that visit; it is "" for an activity that belongs to none.
func (t *Tracer) Activity(ctx context.Context, name, visit string, attributes map[string]string) (context.Context, func(error)) {
	if visit != "" {
		ctx = context.WithValue(ctx, traceKey{}, traceID(visit))
	}
	about := make([]attribute.KeyValue, 0, len(attributes))
	for key, value := range attributes {
		about = append(about, attribute.String(key, value))
	}
	ctx, span := t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(about...))
	return ctx, func(err error) {
		if err != nil {
			span.SetStatus(codes.Error, err.Error())
		}
		span.End()
	}
}

// Fetcher makes a span of each request.
func (t *Tracer) Fetcher(f activities.Fetcher) activities.Fetcher {
	if t == nil {
		return f
	}
	return &tracedFetcher{f, t}
}

type tracedFetcher struct {
	activities.Fetcher
	t *Tracer
}

// Do makes one request.
func (f *tracedFetcher) Do(ctx context.Context, req fetch.Request, sink io.Writer) fetch.Result {
	ctx, span := f.t.tracer.Start(ctx, "GET", trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("http.request.method", "GET"), attribute.String("url.full", req.URL.String()), attribute.String("server.address", req.URL.HostKey())))
	defer span.End()
	r := f.Fetcher.Do(ctx, req, sink)
	span.SetAttributes(attribute.Int("http.response.status_code", r.Status), attribute.Int64("http.response.body.size", r.Bytes), attribute.String("recrawl.outcome", r.Outcome.String()))
	if r.Problem != "" {
		span.SetStatus(codes.Error, r.Problem)
	}
	return r
}

// traceKey is the context's key of the id that a new trace is to have.
type traceKey struct{}

// traceID is the same for whoever asks with the same name.
func traceID(name string) (id trace.TraceID) {
	sum := sha256.Sum256([]byte(name))
	copy(id[:], sum[:])
	return id
}

// ids gives a trace the id that the context holds. A sampler that takes a share of the
// traces goes by their ids: so it takes a visit whole, or leaves it.
type ids struct{}

// NewIDs implements sdktrace.IDGenerator.
func (i ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	id, ok := ctx.Value(traceKey{}).(trace.TraceID)
	if !ok {
		_, _ = rand.Read(id[:]) // never fails
	}
	return id, i.NewSpanID(ctx, id)
}

// NewSpanID implements sdktrace.IDGenerator.
func (ids) NewSpanID(context.Context, trace.TraceID) (id trace.SpanID) {
	_, _ = rand.Read(id[:])
	return id
}
