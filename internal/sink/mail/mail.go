// Package mail is the sink that writes to people: a mail for each change, or one for all
// changes in a span of time, through the operator's mail server.
package mail

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	netmail "net/mail"
	"strings"
	"sync"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/sink"
)

// How the connection to the mail server is encrypted.
const (
	// StartTLS begins in the clear and insists on STARTTLS before sending anything.
	StartTLS = "starttls"
	// TLS encrypts from the first byte, as on port 465.
	TLS = "tls"
	// Plain encrypts nothing. A password is sent only in a form that cannot be read, or to
	// this machine.
	Plain = "none"
)

// Server is the operator's mail server; see the RECRAWL_SMTP_* settings.
type Server struct {
	Host string // "" if there is none
	Port int
	// User and Password log in, unless User is "". Password is asked at each connection.
	User     string
	Password func() (string, error)
	// From is the sender's address, perhaps with a name.
	From string
	// Encryption is StartTLS, TLS or Plain; "" is StartTLS.
	Encryption string
	// Roots are the authorities that the server's certificate may be of; nil are the system's.
	Roots *x509.CertPool
}

// Codes of stops.
const (
	CodeNoServer      = "no_mail_server"
	CodeBadAddress    = "bad_address"
	CodeLoginRefused  = "mail_login_refused"
	CodeSenderRefused = "mail_sender_refused"
)

// Time limits of one message.
const (
	// connectLimit bounds connecting and logging in.
	connectLimit = 30 * time.Second
	// handLimit bounds handing a message over, up to its last line.
	handLimit = 2 * time.Minute
	// replyLimit bounds the wait for the answer to the whole message. A server that filters
	// contents takes minutes, and whoever gives up before sends the mail again though it is
	// delivered. RFC 5321 (4.5.3.2.6) asks for ten minutes; six leave room for the others
	// in the time of a delivery.
	replyLimit = 6 * time.Minute
	// shortLimit bounds an exchange without a message: the goodbye, and the question whether
	// a kept connection still works.
	shortLimit = 10 * time.Second
)

// Sender implements sink.Sender. It keeps its connection between messages.
type Sender struct {
	server Server
	from   *netmail.Address
	to     []*netmail.Address
	log    *slog.Logger
	now    func() time.Time

	mu   sync.Mutex
	conn *connection // nil if there is none
}

var (
	_ sink.Sender  = (*Sender)(nil)
	_ sink.Patient = (*Sender)(nil)
)

// TimeLimit implements sink.Patient.
func (s *Sender) TimeLimit() time.Duration { return connectLimit + handLimit + replyLimit }

// New makes the sender of a sink. Wrong settings give a *sink.Stop. now gives the mails
// their dates.
func New(spec crawl.SinkSpec, server Server, log *slog.Logger, now func() time.Time) (*Sender, error) {
	if server.Host == "" {
		return nil, &sink.Stop{Code: CodeNoServer, Reason: "the worker has no mail server: whoever runs the workers sets RECRAWL_SMTP_HOST and RECRAWL_SMTP_FROM"}
	}
	from, err := netmail.ParseAddress(server.From)
	if err != nil {
		return nil, &sink.Stop{Code: CodeBadAddress, Reason: fmt.Sprintf("RECRAWL_SMTP_FROM: %q is not a mail address", server.From)}
	}
	to, err := Addresses(spec.To)
	if err != nil {
		return nil, &sink.Stop{Code: CodeBadAddress, Reason: err.Error()}
	}
	return &Sender{server: server, from: from, to: to, log: log, now: now}, nil
}

// mostAddresses bounds the receivers of one sink. Mail servers take at least 100.
const mostAddresses = 100

// Addresses reads the receivers of a sink: addresses with commas between.
func Addresses(list string) ([]*netmail.Address, error) {
	all, err := netmail.ParseAddressList(list)
	switch {
	case err != nil:
		return nil, fmt.Errorf("to: %.200q is not a list of mail addresses: write them with commas between", list)
	case len(all) > mostAddresses:
		return nil, fmt.Errorf("to: %d addresses are too many: give at most %d, or the address of a mailing list", len(all), mostAddresses)
	}
	for _, a := range all {
		if strings.ContainsFunc(a.Address, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '<' || r == '>' }) {
			return nil, fmt.Errorf("to: %.200q is not a mail address", a.Address)
		}
	}
	return all, nil
}

// Send implements sink.Sender.
func (s *Sender) Send(ctx context.Context, e feed.Event) error {
	return s.deliver(ctx, letterOf(e))
}

// SendDigest implements sink.Sender.
func (s *Sender) SendDigest(ctx context.Context, d sink.Digest) error {
	return s.deliver(ctx, letterOfDigest(d))
}

// Close implements sink.Sender.
func (s *Sender) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	conn := s.conn
	if s.conn = nil; conn == nil {
		return nil
	}
	return conn.quit()
}

// deliver hands a letter to the mail server. A connection that was kept from the letter
// before may have ended meanwhile: then there is a new one.
func (s *Sender) deliver(ctx context.Context, l letter) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	message, err := s.compose(l)
	if err != nil {
		return err
	}
	if err := s.open(ctx); err != nil {
		return err
	}
	err = s.conn.transfer(ctx, s.from.Address, s.to, message)
	if !keepsConnection(err) {
		s.conn.drop()
		s.conn = nil
	}
	var part *sink.Refused
	if errors.As(err, &part) && part.Final {
		s.log.Warn("a mail reached some of its receivers only", "problem", part.Reason)
	}
	return err
}

// open makes a connection ready for a message: the kept one if it still works.
func (s *Sender) open(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, connectLimit)
	defer cancel()
	if s.conn != nil {
		if s.conn.again(ctx) == nil {
			return nil
		}
		s.conn.drop()
	}
	s.conn, err = s.server.connect(ctx)
	return err
}

// keepsConnection: after a clear answer, the server takes the next message.
func keepsConnection(err error) bool {
	var refused *sink.Refused
	return err == nil || errors.As(err, &refused)
}
