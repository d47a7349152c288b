package temporalkit

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	sdklog "go.temporal.io/sdk/log"
	"google.golang.org/grpc"

	"recrawl/internal/keyring"
)

// Options override the settings of the environment (TEMPORAL_*) and of Temporal's
// configuration file; empty fields leave them.
type Options struct {
	Address   string
	Namespace string
	Logger    *slog.Logger
	// Own: a `starter dev` has started the server at Address. It has no TLS and asks for no
	// API key, so those of the environment and the configuration file are for another server,
	// and are not used.
	Own bool
	// Dial connects to a server that this program started itself, wherever it
	// listens at the moment; Address, the environment and the configuration file are
	// then ignored.
	Dial func(ctx context.Context, address string) (net.Conn, error)
	// Keys encrypt what Temporal keeps.
	Keys keyring.Ring
	// Struggling, unless nil, learns of the tasks that workers on this connection get.
	Struggling *Struggling
	// Waits, unless nil, learns how long the tasks of workers on this connection waited.
	Waits *Waits
	// Meter, unless nil, receives the SDK's measurements.
	Meter Meter
	// Patience is how long the server may take to answer at first; 0 is 5 seconds.
	Patience time.Duration
}

// defaultPatience is long for a server that is up, and short for a person.
const defaultPatience = 5 * time.Second

// embeddedAddress stands for the server behind Options.Dial.
const embeddedAddress = "passthrough:///embedded"

// Dial connects to Temporal and checks that it answers within its Patience.
// The error is one line that names the address and says what to set.
func Dial(ctx context.Context, o Options) (client.Client, error) {
	opts, err := o.clientOptions()
	if err != nil {
		return nil, err
	}
	patience := cmp.Or(o.Patience, defaultPatience)
	opts.ConnectionOptions.GetSystemInfoTimeout = patience
	dialCtx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := client.DialContext(dialCtx, opts)
	if err != nil {
		return nil, newDialError(ctx, opts, err)
	}
	return &sealedClient{Client: c, data: opts.DataConverter}, nil
}

// clientOptions are the options for the SDK.
func (o Options) clientOptions() (opts client.Options, err error) {
	if o.Dial != nil {
		opts.HostPort = embeddedAddress
		opts.ConnectionOptions.DialOptions = []grpc.DialOption{grpc.WithContextDialer(o.Dial)}
		// On one machine compression costs more than it saves.
		opts.ConnectionOptions.GrpcCompression = &client.GrpcCompressionNone{}
	} else if opts, err = o.settings(); err != nil {
		return opts, fmt.Errorf("temporal settings (TEMPORAL_* variables or configuration file): %w", err)
	} else if config := opts.ConnectionOptions.TLS; config != nil {
		opts.ConnectionOptions.DialOptions = append(opts.ConnectionOptions.DialOptions, grpc.WithTransportCredentials(newRenewing(config)))
	}
	if o.Address != "" && o.Dial == nil {
		opts.HostPort = o.Address
	}
	opts.HostPort = cmp.Or(opts.HostPort, client.DefaultHostPort)
	opts.Namespace = cmp.Or(o.Namespace, opts.Namespace)
	if o.Struggling != nil {
		opts.ConnectionOptions.DialOptions = append(opts.ConnectionOptions.DialOptions, grpc.WithChainUnaryInterceptor(o.Struggling.intercept))
	}
	if metrics := o.metrics(); metrics != nil {
		opts.MetricsHandler = metrics
	}
	if o.Logger != nil {
		opts.Logger = sdklog.NewStructuredLogger(o.Logger)
	}
	data := newConverter(o.Keys)
	opts.DataConverter, opts.FailureConverter = data, newFailures(o.Keys, data)
	return opts, nil
}

// settings are those of the environment and of Temporal's configuration file.
func (o Options) settings() (client.Options, error) {
	profile, err := loadProfile()
	if err != nil {
		return client.Options{}, err
	}
	if o.Own {
		return client.Options{HostPort: profile.Address, Namespace: profile.Namespace}, nil
	}
	return profile.ToClientOptions(envconfig.ToClientOptionsRequest{})
}

// loadProfile drops white space around the settings, as we do around our own. The line end of a
// mounted secret belongs to no key, and gRPC sends none that has it.
func loadProfile() (envconfig.ClientConfigProfile, error) {
	profile, err := envconfig.LoadClientConfigProfile(envconfig.LoadClientConfigProfileOptions{})
	for _, text := range []*string{&profile.Address, &profile.Namespace, &profile.APIKey} {
		*text = strings.TrimSpace(*text)
	}
	return profile, err
}

// Namespace returns the namespace that Dial would use.
func Namespace(o Options) string {
	if o.Namespace != "" {
		return o.Namespace
	}
	if profile, err := loadProfile(); err == nil && profile.Namespace != "" {
		return profile.Namespace
	}
	return client.DefaultNamespace
}

func oneLine(err error) string {
	return strings.Join(strings.Fields(err.Error()), " ")
}
