package tracing

import (
	"fmt"
	"strings"
)

// The standard variables that decide whether there are traces, and how they are sent. The
// exporters read the others themselves: endpoints, headers, certificates, sampling.
const (
	envDisabled       = "OTEL_SDK_DISABLED"
	envExporter       = "OTEL_TRACES_EXPORTER"
	envEndpoint       = "OTEL_EXPORTER_OTLP_ENDPOINT"
	envTracesEndpoint = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	envProtocol       = "OTEL_EXPORTER_OTLP_PROTOCOL"
	envTracesProtocol = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
)

// protocol is how traces are sent; "" is not at all.
type protocol string

const (
	byHTTP protocol = "http/protobuf"
	byGRPC protocol = "grpc"
)

// settings decides by the variables. Unset ones send nothing: a crawl's traces name its pages.
func settings(getenv func(string) string) (protocol, error) {
	if strings.EqualFold(getenv(envDisabled), "true") {
		return "", nil
	}
	switch exporter := getenv(envExporter); {
	case exporter == "none":
		return "", nil
	case exporter == "" && getenv(envEndpoint) == "" && getenv(envTracesEndpoint) == "":
		return "", nil
	case exporter != "" && exporter != "otlp":
		return "", fmt.Errorf("%s: %q is not a way to send traces that we know: write otlp or none", envExporter, exporter)
	}
	name, value := envTracesProtocol, getenv(envTracesProtocol)
	if value == "" {
		name, value = envProtocol, getenv(envProtocol)
	}
	switch p := protocol(value); p {
	case "":
		return byHTTP, nil
	case byHTTP, byGRPC:
		return p, nil
	}
	return "", fmt.Errorf("%s: %q is not a protocol that we know: write %s or %s", name, value, byHTTP, byGRPC)
}
