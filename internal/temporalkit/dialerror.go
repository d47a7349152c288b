package temporalkit

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// dialError is a failed Dial, on one line.
type dialError struct {
	text   string
	absent bool // nobody answered
	cause  error
}

func (e *dialError) Error() string { return e.text }

func (e *dialError) Unwrap() error { return e.cause }

// IsAbsent reports whether an error of Dial says that nobody answers, as when the server
// is starting, and not that it refuses us or we refuse it.
func IsAbsent(err error) bool {
	var dial *dialError
	return errors.As(err, &dial) && dial.absent
}

// IsBusy reports whether an error of a call says that the server did not answer in time, or
// cannot at the moment, so that the same call may succeed later.
func IsBusy(err error) bool {
	var late *serviceerror.DeadlineExceeded
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &late) || passing(err)
}

func newDialError(ctx context.Context, opts client.Options, err error) *dialError {
	text := oneLine(err)
	if refused := shakeHands(ctx, opts); refused != nil {
		text = oneLine(refused)
	}
	if advice := refusal(opts, err, text); advice != "" {
		return &dialError{text: fmt.Sprintf("temporal at %s: %s (%s)", opts.HostPort, advice, text), cause: err}
	}
	advice := "start it, or set TEMPORAL_ADDRESS"
	switch {
	case hangsUp(text) && opts.ConnectionOptions.TLS == nil:
		advice = "if it asks for TLS, set TEMPORAL_TLS=true, else start it, or set TEMPORAL_ADDRESS"
	case hangsUp(text): // gateways refuse a certificate so, without a word
		advice = "if it asks for a client certificate, see that those of TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH are valid, else start it, or set TEMPORAL_ADDRESS"
	}
	return &dialError{text: fmt.Sprintf("temporal does not answer at %s (%s): %s", opts.HostPort, text, advice), absent: true, cause: err}
}

// hangsUp reports whether a server took a connection and ended it without a word. Whether the
// client notices when it reads or when it writes is chance.
func hangsUp(text string) bool {
	for _, end := range [...]string{"error reading server preface", "broken pipe", "connection reset by peer"} {
		if strings.Contains(text, end) {
			return true
		}
	}
	return false
}

// handshakeLimit bounds the check of why TLS fails.
const handshakeLimit = 2 * time.Second

// shakeHands returns the error with which TLS fails, nil if it succeeds or is not used.
// gRPC does not always know: a server refuses a client after the client's side of the
// handshake, and a client that writes then may never read why.
func shakeHands(ctx context.Context, opts client.Options) error {
	config := opts.ConnectionOptions.TLS
	if config == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, handshakeLimit)
	defer cancel()
	config = config.Clone()
	config.NextProtos = []string{"h2"}
	conn, err := (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", opts.HostPort)
	if err == nil {
		defer conn.Close()
		// An accepted client is greeted with the server's settings, or the server waits for
		// ours.
		_ = conn.SetReadDeadline(time.Now().Add(handshakeLimit)) // it is open
		_, err = conn.Read(make([]byte, 1))
	}
	if err != nil && strings.Contains(err.Error(), "tls: ") {
		return err
	}
	return nil
}

// refusal says who refuses whom and what to set, or "" if nobody does. TLS errors reach us
// only as text.
func refusal(opts client.Options, err error, text string) string {
	has := func(part string) bool { return strings.Contains(text, part) }
	switch {
	case has("non-printable ASCII characters") && has(`"authorization"`):
		return "our API key has a character that cannot be sent, such as a line end: correct TEMPORAL_API_KEY"
	case has("remote error: tls: unrecognized name"):
		return "it has no certificate for the name by which we ask: correct TEMPORAL_ADDRESS, or TEMPORAL_TLS_SERVER_NAME"
	case has("remote error: tls:"):
		if opts.ConnectionOptions.TLS == nil || len(opts.ConnectionOptions.TLS.Certificates) == 0 {
			return "it asks for a client certificate: set TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH"
		}
		return "it does not take our client certificate: give TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH those that it knows"
	case has("certificate signed by unknown authority"):
		return "we do not trust who signed its certificate: set TEMPORAL_TLS_SERVER_CA_CERT_PATH to the certificate of that authority"
	case has("x509: certificate is valid for"), has("x509: cannot validate certificate for"), has("x509: certificate is not valid for any names"):
		return "its certificate is for another name: correct TEMPORAL_ADDRESS, or set TEMPORAL_TLS_SERVER_NAME to the name in the certificate"
	case has("x509: certificate has expired or is not yet valid"):
		return "its certificate is not valid now: it must be replaced there, or our clock is wrong"
	case has("x509:"):
		return "its certificate is not valid: it must be replaced there"
	case has("first record does not look like a TLS handshake"):
		return "it speaks no TLS: unset TEMPORAL_TLS* and TEMPORAL_API_KEY, or set TEMPORAL_TLS=false"
	}
	var denied *serviceerror.PermissionDenied
	code := status.Code(err)
	switch {
	case code == codes.Unauthenticated, code == codes.PermissionDenied, errors.As(err, &denied):
		if opts.Credentials == nil {
			return "it refuses us without an API key: set TEMPORAL_API_KEY"
		}
		return "it refuses our API key: set TEMPORAL_API_KEY to one that may use the namespace"
	case code == codes.InvalidArgument, code == codes.Unimplemented:
		return "it is not a Temporal server that we can use: correct TEMPORAL_ADDRESS"
	}
	return ""
}
