package mail

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	netmail "net/mail"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wneessen/go-mail/smtp"
)

// connection is a connection to a mail server that took our login.
type connection struct {
	client *smtp.Client
	raw    net.Conn // below any encryption
}

// connect dials, encrypts and logs in. Its errors have the types of package sink.
func (s Server) connect(ctx context.Context) (_ *connection, err error) {
	address := net.JoinHostPort(s.Host, strconv.Itoa(s.Port))
	raw, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("mail server %s: %w", address, err)
	}
	c := &connection{raw: raw}
	defer c.until(ctx)()
	if err := s.greet(ctx, c); err != nil {
		c.drop()
		return nil, unanswered(address, err)
	}
	if err := s.login(c.client); err != nil {
		c.drop()
		return nil, err
	}
	return c, nil
}

// greet prepares the connection for sending mails, except for the login.
func (s Server) greet(ctx context.Context, c *connection) (err error) {
	conf := &tls.Config{ServerName: s.Host, MinVersion: tls.VersionTLS12, RootCAs: s.Roots}
	conn := c.raw
	if s.Encryption == TLS {
		encrypted := tls.Client(conn, conf)
		if err := encrypted.HandshakeContext(ctx); err != nil {
			return err
		}
		conn = encrypted
	}
	if c.client, err = smtp.NewClient(conn, s.Host); err != nil {
		return err
	}
	if err := c.client.Hello(helloName()); err != nil {
		return err
	}
	if s.Encryption == TLS || s.Encryption == Plain {
		return nil
	}
	if offers, _ := c.client.Extension("STARTTLS"); !offers {
		return errNoStartTLS
	}
	return c.client.StartTLS(conf)
}

var errNoStartTLS = errors.New("it does not offer STARTTLS, so that nothing is sent: set RECRAWL_SMTP_TLS to tls if it encrypts from the first byte (port 465), or to none if it may go in the clear")

// helloName is how we introduce ourselves.
func helloName() string {
	name, err := os.Hostname()
	if err != nil || name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return "localhost"
	}
	return name
}

// within is until, for a part that has a time limit of its own.
func (c *connection) within(ctx context.Context, limit time.Duration) (done func()) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	unwatched := c.until(ctx)
	return func() {
		unwatched()
		cancel()
	}
}

// until ends reads and writes when the context ends. The result ends the watch.
func (c *connection) until(ctx context.Context) (done func()) {
	deadline, _ := ctx.Deadline()
	_ = c.raw.SetDeadline(deadline)
	stop := context.AfterFunc(ctx, func() { _ = c.raw.Close() })
	return func() { stop() }
}

// again makes a kept connection ready for the next message.
func (c *connection) again(ctx context.Context) error {
	defer c.within(ctx, shortLimit)()
	return c.client.Reset()
}

// transfer hands one message over. If the server refuses some of the receivers for good,
// the others get it; if it takes one of them only later, nobody gets it now, since those
// who have it would get it again with every try.
func (c *connection) transfer(ctx context.Context, from string, to []*netmail.Address, message []byte) error {
	refused, end, err := c.hand(ctx, from, to, message)
	if err != nil {
		return err
	}
	defer c.within(ctx, replyLimit)()
	if err := ofMessage(end.Close()); err != nil {
		return err
	}
	if len(refused) > 0 {
		return refusedBy(refused, len(to)-len(refused))
	}
	return nil
}

// hand hands over a message without its end. Closing the end sends that, and the mail is
// delivered once the server has acknowledged it.
func (c *connection) hand(ctx context.Context, from string, to []*netmail.Address, message []byte) (refused []refusal, end io.Closer, err error) {
	defer c.within(ctx, handLimit)()
	if err := c.client.Mail("<" + from + ">"); err != nil {
		return nil, nil, ofSender(err)
	}
	for _, a := range to {
		err := c.client.Rcpt("<" + a.Address + ">")
		switch code := codeOf(err); {
		case err == nil:
		case isRefusal(code):
			refused = append(refused, refusal{a.Address, err})
		default:
			return nil, nil, ofReceiver(a.Address, err)
		}
	}
	if len(refused) == len(to) {
		return nil, nil, refusedBy(refused, 0)
	}
	w, err := c.client.Data()
	if err != nil {
		return nil, nil, ofMessage(err)
	}
	if _, err := io.Copy(w, bytes.NewReader(message)); err != nil {
		return nil, nil, fmt.Errorf("the mail server does not listen: %w", err)
	}
	return refused, w, nil
}

// quit ends the connection politely.
func (c *connection) quit() error {
	defer c.within(context.Background(), shortLimit)()
	err := c.client.Quit()
	c.drop()
	return err
}

// drop ends the connection.
func (c *connection) drop() { _ = c.raw.Close() }

// login logs in, in the safest way that the server offers.
func (s Server) login(client *smtp.Client) error {
	if s.User == "" {
		return nil
	}
	password, err := s.Password()
	if err != nil {
		return fmt.Errorf("RECRAWL_SMTP_PASSWORD: %w", err)
	}
	_, offered := client.Extension("AUTH")
	auth := s.mechanism(client, strings.Fields(offered), password)
	if auth == nil {
		return fmt.Errorf("mail server %s offers no login that we know and may use (it offers: %s): encrypt the connection, or unset RECRAWL_SMTP_USER", s.Host, clean(offered, 100))
	}
	return ofLogin(s, password, client.Auth(auth))
}

func (s Server) mechanism(client *smtp.Client, offered []string, password string) smtp.Auth {
	state, err := client.GetTLSConnectionState()
	encrypted := err == nil
	for _, m := range []struct {
		name string
		may  bool
		auth func() smtp.Auth
	}{
		{"SCRAM-SHA-256-PLUS", encrypted, func() smtp.Auth { return smtp.ScramSHA256PlusAuth(s.User, password, state) }},
		{"SCRAM-SHA-256", true, func() smtp.Auth { return smtp.ScramSHA256Auth(s.User, password) }},
		{"SCRAM-SHA-1-PLUS", encrypted, func() smtp.Auth { return smtp.ScramSHA1PlusAuth(s.User, password, state) }},
		{"SCRAM-SHA-1", true, func() smtp.Auth { return smtp.ScramSHA1Auth(s.User, password) }},
		{"PLAIN", encrypted || s.isLocal(), func() smtp.Auth { return smtp.PlainAuth("", s.User, password, s.Host, s.isLocal()) }},
		{"LOGIN", encrypted || s.isLocal(), func() smtp.Auth { return smtp.LoginAuth(s.User, password, s.Host, s.isLocal()) }},
		{"CRAM-MD5", true, func() smtp.Auth { return smtp.CRAMMD5Auth(s.User, password) }},
	} {
		if m.may && slices.ContainsFunc(offered, func(o string) bool { return strings.EqualFold(o, m.name) }) {
			return m.auth()
		}
	}
	return nil
}

// isLocal: nobody can read a connection to this machine on the way.
func (s Server) isLocal() bool {
	if ip := net.ParseIP(s.Host); ip != nil {
		return ip.IsLoopback()
	}
	return s.Host == "localhost"
}
