package temporalkit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	sdklog "go.temporal.io/sdk/log"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"recrawl/internal/contract"
)

// Options override what the environment (TEMPORAL_*) and Temporal's
// configuration file say; empty fields leave it.
type Options struct {
	Address   string
	Namespace string
	Logger    *slog.Logger
	// Dial connects to a server that this program started itself, wherever it
	// listens at the moment; Address, the environment and the configuration file are
	// then ignored.
	Dial func(ctx context.Context, address string) (net.Conn, error)
	// Struggling, unless nil, hears of the tasks that workers on this connection get.
	Struggling *Struggling
	// Patience is how long the server may take to answer at first; 0 is 5 seconds.
	Patience time.Duration
}

// defaultPatience is long for a server that is up, and short for a person.
const defaultPatience = 5 * time.Second

// embeddedAddress stands for the server behind Options.Dial.
const embeddedAddress = "passthrough:///embedded"

// Dial connects to Temporal and checks that it answers within its Patience.
// The error is one line that names the address.
func Dial(ctx context.Context, o Options) (client.Client, error) {
	var opts client.Options
	if o.Dial != nil {
		opts.HostPort = embeddedAddress
		opts.ConnectionOptions.DialOptions = []grpc.DialOption{grpc.WithContextDialer(o.Dial)}
	} else {
		var err error
		if opts, err = envconfig.LoadDefaultClientOptions(); err != nil {
			return nil, fmt.Errorf("temporal settings (TEMPORAL_* variables or configuration file): %w", err)
		}
	}
	if o.Address != "" && o.Dial == nil {
		opts.HostPort = o.Address
	}
	if o.Namespace != "" {
		opts.Namespace = o.Namespace
	}
	if opts.HostPort == "" {
		opts.HostPort = client.DefaultHostPort
	}
	if o.Struggling != nil {
		opts.ConnectionOptions.DialOptions = append(opts.ConnectionOptions.DialOptions, grpc.WithChainUnaryInterceptor(o.Struggling.intercept))
	}
	if o.Logger != nil {
		opts.Logger = sdklog.NewStructuredLogger(o.Logger)
	}
	patience := cmp.Or(o.Patience, defaultPatience)
	opts.ConnectionOptions.GetSystemInfoTimeout = patience
	dialCtx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := client.DialContext(dialCtx, opts)
	if err != nil {
		return nil, &dialError{fmt.Sprintf("temporal does not answer at %s (%s): start it, or set TEMPORAL_ADDRESS", opts.HostPort, oneLine(err)), err}
	}
	return c, nil
}

// dialError is a failed Dial, on one line.
type dialError struct {
	text  string
	cause error
}

func (e *dialError) Error() string { return e.text }

func (e *dialError) Unwrap() error { return e.cause }

// IsAbsent reports whether an error of Dial says that nobody answers, as it is while the
// server starts, and not that it refuses us.
func IsAbsent(err error) bool {
	var dial *dialError
	var refused *serviceerror.PermissionDenied
	if !errors.As(err, &dial) || errors.As(err, &refused) {
		return false
	}
	switch status.Code(dial.cause) {
	case codes.Unauthenticated, codes.PermissionDenied, codes.InvalidArgument, codes.Unimplemented:
		return false
	}
	return true
}

// Namespace returns the namespace that Dial would use.
func Namespace(o Options) string {
	if o.Namespace != "" {
		return o.Namespace
	}
	if opts, err := envconfig.LoadDefaultClientOptions(); err == nil && opts.Namespace != "" {
		return opts.Namespace
	}
	return client.DefaultNamespace
}

// EnsureSearchAttributes registers recrawl's search attributes and waits until
// the server accepts them: a workflow that starts before would fail its first
// task.
func EnsureSearchAttributes(ctx context.Context, c client.Client, namespace string) error {
	want := map[string]enumspb.IndexedValueType{}
	for _, name := range contract.SearchAttributes() {
		want[name] = enumspb.INDEXED_VALUE_TYPE_KEYWORD
	}
	missing, err := missingAttributes(ctx, c, namespace, want)
	if err != nil {
		return err
	}
	if len(missing) == 0 {
		return nil
	}
	_, err = c.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{SearchAttributes: missing, Namespace: namespace})
	if err != nil && !strings.Contains(err.Error(), "already exist") {
		return fmt.Errorf("register search attributes %s: %w", strings.Join(slices.Sorted(maps.Keys(missing)), ", "), err)
	}
	return waitForAttributes(ctx, c, namespace, want)
}

func waitForAttributes(ctx context.Context, c client.Client, namespace string, want map[string]enumspb.IndexedValueType) error {
	ticker := time.NewTicker(250 * time.Millisecond)
	defer ticker.Stop()
	for {
		missing, err := missingAttributes(ctx, c, namespace, want)
		if err == nil && len(missing) == 0 {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("search attributes did not become visible: %w", ctx.Err())
		}
	}
}

func missingAttributes(ctx context.Context, c client.Client, namespace string, want map[string]enumspb.IndexedValueType) (map[string]enumspb.IndexedValueType, error) {
	have, err := c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		return nil, fmt.Errorf("list search attributes of namespace %s: %w", namespace, err)
	}
	missing := map[string]enumspb.IndexedValueType{}
	for name, typ := range want {
		got, ok := have.CustomAttributes[name]
		switch {
		case !ok:
			missing[name] = typ
		case got != typ:
			return nil, fmt.Errorf("search attribute %s exists with type %s, recrawl needs %s: use another namespace", name, got, typ)
		}
	}
	return missing, nil
}

func oneLine(err error) string {
	return strings.Join(strings.Fields(err.Error()), " ")
}
