package tracing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"recrawl/activities"
	"recrawl/internal/crawl"
	"recrawl/internal/fetch"
	"recrawl/internal/urlkey"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		env  map[string]string
		want protocol
		says string
	}{
		{nil, "", ""},
		{map[string]string{envEndpoint: "http://c:4318"}, byHTTP, ""},
		{map[string]string{envTracesEndpoint: "http://c:4318/v1/traces"}, byHTTP, ""},
		{map[string]string{envExporter: "otlp"}, byHTTP, ""},
		{map[string]string{envExporter: "otlp", envProtocol: "grpc"}, byGRPC, ""},
		{map[string]string{envEndpoint: "http://c", envProtocol: "grpc", envTracesProtocol: "http/protobuf"}, byHTTP, ""},
		{map[string]string{envEndpoint: "http://c", envExporter: "none"}, "", ""},
		{map[string]string{envEndpoint: "http://c", envDisabled: "TRUE", envExporter: "zipkin"}, "", ""},
		{map[string]string{envProtocol: "grpc"}, "", ""}, // says how, and not that
		{map[string]string{envExporter: "zipkin"}, "", `OTEL_TRACES_EXPORTER: "zipkin" is not a way to send traces that we know: write otlp or none`},
		{map[string]string{envEndpoint: "http://c", envProtocol: "http/json"}, "", `OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" is not a protocol that we know: write http/protobuf or grpc`},
	} {
		got, err := settings(func(name string) string { return c.env[name] })
		if said := fmt.Sprint(err); got != c.want || (c.says == "") != (err == nil) || err != nil && said != c.says {
			t.Errorf("%v: %q, %v, want %q, %s", c.env, got, err, c.want, c.says)
		}
	}
}

type answered struct {
	activities.Fetcher
	result fetch.Result
}

func (a answered) Do(context.Context, fetch.Request, io.Writer) fetch.Result { return a.result }

// All activities of a visit are one trace, wherever they run, and its request is in the
// activity that makes it.
func TestTraceOfAVisit(t *testing.T) {
	t.Parallel()
	spans := tracetest.NewInMemoryExporter()
	worker := func() *Tracer {
		t.Helper()
		tracer, err := newTracer(t.Context(), sdktrace.WithSyncer(spans), "1.2.3")
		if err != nil {
			t.Fatal(err)
		}
		return tracer
	}
	one, other := worker(), worker()
	_, end := one.Activity(t.Context(), "Acquire", "news/7/3", map[string]string{"recrawl.crawl": "news"})
	end(nil)
	ctx, end := other.Activity(t.Context(), "Fetch", "news/7/3", nil)
	u, err := urlkey.Canonical("https://news.example/a")
	if err != nil {
		t.Fatal(err)
	}
	other.Fetcher(answered{result: fetch.Result{Status: 500, Outcome: crawl.OutcomeFailed, Problem: "HTTP 500"}}).Do(ctx, fetch.Request{URL: u}, io.Discard)
	end(errors.New("it failed"))
	_, end = one.Activity(t.Context(), "Acquire", "news/7/4", nil)
	end(nil)
	_, end = one.Activity(t.Context(), "Maintain", "", nil)
	end(nil)
	var said []string
	ids := map[string]string{}
	for _, s := range spans.GetSpans() {
		name := s.Name
		ids[name+fmt.Sprint(len(said))] = s.SpanContext.TraceID().String()
		said = append(said, fmt.Sprintf("%s %s %t", name, s.Status.Description, s.Parent.IsValid()))
	}
	if got, want := strings.Join(said, "; "), "Acquire  false; GET HTTP 500 true; Fetch it failed false; Acquire  false; Maintain  false"; got != want {
		t.Fatalf("spans %q, want %q", got, want)
	}
	if ids["Acquire0"] != ids["GET1"] || ids["GET1"] != ids["Fetch2"] {
		t.Errorf("a visit has the traces %v", ids)
	}
	if ids["Acquire3"] == ids["Acquire0"] || ids["Maintain4"] == ids["Acquire0"] || ids["Maintain4"] == ids["Acquire3"] {
		t.Errorf("different visits share a trace: %v", ids)
	}
	about := spans.GetSpans()[0].Resource.String()
	if !strings.Contains(about, "service.name=recrawl") || !strings.Contains(about, "service.version=1.2.3") {
		t.Errorf("they come from %s", about)
	}
}

// A collector gets the spans where the standard variables say, and one that is gone is told
// of once.
func TestStart(t *testing.T) {
	paths := make(chan string, 10)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		paths <- fmt.Sprintf("%s %s %t", r.URL.Path, r.Header.Get("Authorization"), strings.Contains(string(body), "DetectChange"))
	}))
	t.Cleanup(collector.Close)
	env := map[string]string{envEndpoint: collector.URL, "OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Bearer x", "OTEL_EXPORTER_OTLP_TIMEOUT": "1000"}
	for name, value := range env {
		t.Setenv(name, value)
	}
	tracer, err := Start(t.Context(), func(name string) string { return env[name] }, "1.2.3", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	_, end := tracer.Activity(t.Context(), "DetectChange", "news/7/3", nil)
	end(nil)
	if err := tracer.End(); err != nil {
		t.Error(err)
	}
	if got, want := <-paths, "/v1/traces Bearer x true"; got != want {
		t.Errorf("the collector got %q, want %q", got, want)
	}
	if tracer, err := Start(t.Context(), func(string) string { return "" }, "", nil); tracer != nil || err != nil || tracer.End() != nil {
		t.Errorf("without variables: %v, %v", tracer, err)
	}
}

func TestOnce(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	o := &once{log: slog.New(slog.NewTextHandler(&text, nil))}
	for range 3 {
		o.Handle(errors.New("no collector"))
	}
	if strings.Count(text.String(), "\n") != 1 || !strings.Contains(text.String(), "WARN") {
		t.Errorf("the log says %s", text.String())
	}
}
