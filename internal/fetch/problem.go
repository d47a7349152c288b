package fetch

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"
)

// Causes that end an exchange.
var (
	errDeadline = errors.New("time limit")
	errSlow     = errors.New("body too slow")
	errFlood    = errors.New("too many bytes on the connection")
	errCoding   = errors.New("content coding that was not offered")
)

// localError marks an error on our side.
type localError struct{ err error }

func (e localError) Error() string { return e.err.Error() }
func (e localError) Unwrap() error { return e.err }

// isTimeout reports whether the system gave up waiting for the host.
func isTimeout(err error) bool {
	var timeout net.Error
	var dns *net.DNSError
	return errors.As(err, &timeout) && timeout.Timeout() && !errors.As(err, &dns)
}

// isHeaderLimit reports whether net/http refused the header's size. It has no
// type for that.
func isHeaderLimit(err error) bool {
	text := err.Error()
	return strings.Contains(text, "server response headers exceeded") ||
		strings.Contains(text, "response header list larger than advertised limit")
}

// Explain words an error of a connection or an exchange for people.
func Explain(err error) string {
	for _, words := range []func(error) string{explainAddress, explainTLS, explainConnection, explainContent, explainHTTP2} {
		if text := words(err); text != "" {
			return text
		}
	}
	return err.Error()
}

// explainAddress words the reason that kept us from a connection.
func explainAddress(err error) string {
	var refused *RefusedError
	var port *portError
	var dns *net.DNSError
	switch {
	case errors.As(err, &port):
		return fmt.Sprintf("port %s belongs to another protocol and is never asked", port.port)
	case errors.As(err, &refused):
		return fmt.Sprintf("the host's address %s is not a public one; name its network in allow_networks to fetch from it", refused.Address)
	case errors.As(err, &dns) && dns.IsNotFound:
		return fmt.Sprintf("the host name %s does not exist", dns.Name)
	case errors.As(err, &dns) && dns.IsTimeout:
		return fmt.Sprintf("the name server did not answer for %s", dns.Name)
	case errors.As(err, &dns):
		return fmt.Sprintf("the name server cannot tell the address of %s: %s", dns.Name, dns.Err)
	}
	return ""
}

// explainTLS words the fault of the server's certificate or TLS.
func explainTLS(err error) string {
	var (
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
		invalid   x509.CertificateInvalidError
		record    tls.RecordHeaderError
		alert     *net.OpError
		verify    *tls.CertificateVerificationError
	)
	switch {
	case errors.As(err, &authority):
		return "TLS: the server's certificate is signed by nobody we trust"
	case errors.As(err, &name):
		return fmt.Sprintf("TLS: the server's certificate is not for %s", name.Host)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "TLS: the server's certificate has expired or is not yet valid"
	case errors.As(err, &verify), errors.As(err, &invalid):
		return "TLS: the server's certificate is not valid: " + err.Error()
	case errors.As(err, &record):
		return "TLS: the server does not speak TLS on this port"
	case errors.As(err, &alert) && alert.Op == "remote error": // crypto/tls has no type for it
		return "TLS: the server refused the connection: " + tlsWords(alert.Err)
	case errors.As(err, &alert) && alert.Op == "local error":
		return "TLS: the server broke the protocol: " + tlsWords(alert.Err)
	case strings.HasPrefix(err.Error(), tlsPrefix):
		return "TLS: " + tlsWords(err)
	}
	return ""
}

const tlsPrefix = "tls: "

func tlsWords(err error) string { return strings.TrimPrefix(err.Error(), tlsPrefix) }

// explainConnection words how a connection ended early.
func explainConnection(err error) string {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the host refused the connection"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "the host reset the connection"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "there is no route to the host"
	case errors.Is(err, syscall.ETIMEDOUT):
		return "the host did not answer the connection"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the host closed the connection before its answer was complete"
	}
	return ""
}

// explainContent words the fault of an answer.
func explainContent(err error) string {
	var corrupt *corruptError
	switch {
	case errors.Is(err, errCoding):
		return "the body has a " + err.Error()
	case errors.As(err, &corrupt):
		return corrupt.Error()
	case strings.Contains(err.Error(), "malformed"):
		return "the server's answer is not HTTP"
	}
	return ""
}

// http2Codes are the codes with which a side ends a stream or a connection of HTTP/2 (RFC 9113 7).
var http2Codes = []string{
	"NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED", "FRAME_SIZE_ERROR",
	"REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", calmCode, "INADEQUATE_SECURITY",
}

// calmCode says that we ask for too much.
const calmCode = "ENHANCE_YOUR_CALM"

// http2End returns the text of an error that ended a stream or connection of HTTP/2, "" if that was
// not the end, and whether the server ended it. Net/http has no exported types for that.
func http2End(err error) (text string, theirs bool) {
	text, _, _ = strings.Cut(err.Error(), ", debug=") // the server's own words follow
	switch {
	case strings.Contains(text, "received from peer"), strings.Contains(text, "GOAWAY"):
		return text, true
	case strings.Contains(text, "stream error: "), strings.Contains(text, "connection error: "):
		return text, false
	}
	return "", false
}

// explainHTTP2 words an early end by HTTP/2.
func explainHTTP2(err error) string {
	text, theirs := http2End(err)
	i := slices.IndexFunc(http2Codes, func(code string) bool { return strings.Contains(text, code) })
	switch {
	case text == "", i < 0 && !theirs:
		return ""
	case i < 0:
		return "the server ended the exchange early (HTTP/2 GOAWAY)"
	case theirs && http2Codes[i] == calmCode:
		return "the server wants fewer requests (HTTP/2 " + calmCode + ")"
	case theirs:
		return "the server ended the exchange early (HTTP/2 " + http2Codes[i] + ")"
	}
	return "the server broke the rules of HTTP/2: " + text
}

// wantsCalm reports whether a server refuses a request because there are too many.
func wantsCalm(err error) bool {
	text, theirs := http2End(err)
	return theirs && strings.Contains(text, calmCode)
}
