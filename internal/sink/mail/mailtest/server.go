// Package mailtest is an SMTP server on loopback, as tests of mail need one: with STARTTLS and
// a login, and answers that a test chooses.
package mailtest

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"fmt"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server is an SMTP server on loopback with STARTTLS and AUTH PLAIN.
type Server struct {
	listener net.Listener
	tls      *tls.Config
	// Root is the certificate of the server, which a client must trust.
	Root *x509.Certificate

	// Deviations from a usual server. They are set before the first connection.
	NoTLS    bool   // offers no STARTTLS
	Implicit bool   // encrypts from the first byte
	Mechs    string // of AUTH, "" is PLAIN

	mu          sync.Mutex
	answer      func(command string) string
	messages    []Received
	commands    []string // without the words of logins
	connections int
}

// Received is an accepted message.
type Received struct {
	From string
	To   []string
	Data string
	TLS  bool
	User string
}

// The login that the server accepts.
const (
	User     = "crawler"
	Password = "correct horse\tbattery"
)

// Start starts one until the test ends; change, unless nil, modifies it.
func Start(t *testing.T, change func(*Server)) *Server {
	t.Helper()
	s := &Server{Mechs: "PLAIN"}
	s.tls, s.Root = certificate(t)
	if change != nil {
		change(s)
	}
	var err error
	if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	var sessions sync.WaitGroup
	var open sync.Map
	sessions.Go(func() {
		for {
			conn, err := s.listener.Accept()
			if err != nil {
				return
			}
			open.Store(conn, true)
			sessions.Go(func() {
				defer conn.Close()
				(&session{server: s, conn: conn}).serve()
			})
		}
	})
	t.Cleanup(func() {
		s.Close()
		open.Range(func(conn, _ any) bool { return conn.(net.Conn).Close() == nil || true })
		sessions.Wait()
	})
	return s
}

// Close stops listening, as if the server were down.
func (s *Server) Close() { _ = s.listener.Close() }

// Port returns the port on which it listens.
func (s *Server) Port() int { return s.listener.Addr().(*net.TCPAddr).Port }

// Roots returns the pool that trusts it.
func (s *Server) Roots() *x509.CertPool {
	roots := x509.NewCertPool()
	roots.AddCert(s.Root)
	return roots
}

// SetAnswer sets the answers to commands: "" means the usual one, and "drop" ends the
// connection. "." is the end of the data.
func (s *Server) SetAnswer(f func(command string) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = f
}

// Inbox returns the accepted messages.
func (s *Server) Inbox() []Received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Received(nil), s.messages...)
}

// Heard returns the received commands, without the words of logins.
func (s *Server) Heard() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.commands, "\n")
}

// Connected returns the number of connections.
func (s *Server) Connected() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.connections
}

// session is one connection.
type session struct {
	server *Server
	conn   net.Conn
	r      *bufio.Reader
	mail   Received
}

func (c *session) serve() {
	s := c.server
	s.mu.Lock()
	s.connections++
	s.mu.Unlock()
	if s.Implicit {
		c.encrypt()
	}
	c.r = bufio.NewReader(c.conn)
	if !c.say("greeting", "220 ready") {
		return
	}
	for {
		line, err := c.r.ReadString('\n')
		if err != nil {
			return
		}
		if !c.command(strings.TrimRight(line, "\r\n")) {
			return
		}
	}
}

func (c *session) encrypt() {
	c.conn = tls.Server(c.conn, c.server.tls)
	c.mail.TLS = true
}

// say answers a command, as usual or as the test asked; it reports whether to go on.
func (c *session) say(command, usual string) bool {
	s := c.server
	s.mu.Lock()
	s.commands = append(s.commands, command)
	if s.answer != nil {
		if other := s.answer(command); other != "" {
			usual = other
		}
	}
	s.mu.Unlock()
	if usual == "drop" {
		return false
	}
	fmt.Fprintf(c.conn, "%s\r\n", strings.ReplaceAll(usual, "\n", "\r\n"))
	return true
}

func (c *session) command(line string) bool {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb = strings.ToUpper(verb); verb {
	case "EHLO":
		offers := "250-localhost\n250-ENHANCEDSTATUSCODES"
		if !c.server.NoTLS && !c.mail.TLS {
			offers += "\n250-STARTTLS"
		}
		return c.say(verb, offers+"\n250 AUTH "+c.server.Mechs)
	case "STARTTLS":
		if !c.say(verb, "220 go on") {
			return false
		}
		c.encrypt()
		c.r = bufio.NewReader(c.conn)
		return true
	case "AUTH":
		return c.auth(rest)
	case "MAIL":
		c.mail = Received{TLS: c.mail.TLS, User: c.mail.User, From: rest}
		return c.say(line, "250 ok")
	case "RCPT":
		if c.say(line, "250 ok") {
			c.mail.To = append(c.mail.To, rest)
			return true
		}
		return false
	case "DATA":
		return c.data()
	case "RSET":
		return c.say(verb, "250 ok")
	case "QUIT":
		c.say(verb, "221 bye")
		return false
	}
	return c.say(verb, "502 what?")
}

func (c *session) auth(rest string) bool {
	mech, text, _ := strings.Cut(rest, " ")
	words, _ := base64.StdEncoding.DecodeString(text)
	if mech == "PLAIN" && string(words) == "\x00"+User+"\x00"+Password {
		c.mail.User = User
		return c.say("AUTH", "235 welcome")
	}
	return c.say("AUTH", "535 5.7.8 no: "+strings.TrimLeft(string(words), "\x00")+" "+text)
}

func (c *session) data() bool {
	c.server.mu.Lock()
	refuse := ""
	if c.server.answer != nil {
		refuse = c.server.answer("DATA")
	}
	c.server.mu.Unlock()
	if !c.say("DATA", "354 send it") || refuse != "" {
		return refuse != "drop"
	}
	var data strings.Builder
	for {
		line, err := c.r.ReadString('\n')
		if err != nil {
			return false
		}
		if line == ".\r\n" {
			break
		}
		data.WriteString(strings.TrimPrefix(line, "."))
	}
	c.mail.Data = data.String()
	c.server.mu.Lock()
	answer := ""
	if c.server.answer != nil {
		answer = c.server.answer(".")
	}
	if answer == "" || answer == "drop" { // taken, though the sender may not hear of it
		c.server.messages = append(c.server.messages, c.mail)
	}
	c.server.mu.Unlock()
	return c.say(".", "250 taken")
}

// certificate makes one for loopback.
func certificate(t *testing.T) (*tls.Config, *x509.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "mail"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, cert
}
