package mail

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

// mailServer is an SMTP server on loopback with STARTTLS and AUTH PLAIN.
type mailServer struct {
	t        *testing.T
	listener net.Listener
	tls      *tls.Config
	roots    *x509.CertPool

	// What it does not do like others. They are set before the first connection.
	noTLS    bool   // offers no STARTTLS
	implicit bool   // encrypts from the first byte
	mechs    string // of AUTH, "" is PLAIN

	mu sync.Mutex
	// answer, if set, says what to answer to a command instead of the usual, "" is the
	// usual, and "drop" ends the connection. "." is the end of the data.
	answer      func(command string) string
	messages    []received
	commands    []string // without the words of logins
	connections int
}

// received is a message that was taken.
type received struct {
	from string
	to   []string
	data string
	tls  bool
	user string
}

const (
	user     = "crawler"
	password = "correct horse\tbattery"
)

func startServer(t *testing.T, change func(*mailServer)) *mailServer {
	t.Helper()
	s := &mailServer{t: t, mechs: "PLAIN"}
	s.tls, s.roots = certificate(t)
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
		_ = s.listener.Close()
		open.Range(func(conn, _ any) bool { return conn.(net.Conn).Close() == nil || true })
		sessions.Wait()
	})
	return s
}

// settings are the operator's for this server.
func (s *mailServer) settings() Server {
	at := s.listener.Addr().(*net.TCPAddr)
	return Server{
		Host: "127.0.0.1", Port: at.Port, User: user, Password: func() (string, error) { return password, nil },
		From: "Recrawl <crawler@example.org>", Roots: s.roots,
	}
}

func (s *mailServer) setAnswer(f func(command string) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = f
}

func (s *mailServer) inbox() []received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]received(nil), s.messages...)
}

func (s *mailServer) heard() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.commands, "\n")
}

func (s *mailServer) connected() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.connections
}

// session is one connection.
type session struct {
	server *mailServer
	conn   net.Conn
	r      *bufio.Reader
	mail   received
}

func (c *session) serve() {
	s := c.server
	s.mu.Lock()
	s.connections++
	s.mu.Unlock()
	if s.implicit {
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
	c.mail.tls = true
}

// say answers a command, as usual or as the test wants it; it reports whether to go on.
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
		if !c.server.noTLS && !c.mail.tls {
			offers += "\n250-STARTTLS"
		}
		return c.say(verb, offers+"\n250 AUTH "+c.server.mechs)
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
		c.mail = received{tls: c.mail.tls, user: c.mail.user, from: rest}
		return c.say(line, "250 ok")
	case "RCPT":
		if c.say(line, "250 ok") {
			c.mail.to = append(c.mail.to, rest)
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
	if mech == "PLAIN" && string(words) == "\x00"+user+"\x00"+password {
		c.mail.user = user
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
	c.mail.data = data.String()
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

// certificate makes one for loopback, and the pool that knows it.
func certificate(t *testing.T) (*tls.Config, *x509.CertPool) {
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
	roots := x509.NewCertPool()
	roots.AddCert(cert)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, roots
}
