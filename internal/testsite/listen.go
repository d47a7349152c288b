package testsite

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// listenLoopback listens on a loopback address ("127.0.0.1:0" takes any free port)
// and returns the port.
func listenLoopback(ctx context.Context, address string) (net.Listener, string, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, "", fmt.Errorf("testsite: %w", err)
	}
	at, ok := listener.Addr().(*net.TCPAddr)
	if !ok || !at.IP.IsLoopback() {
		listener.Close()
		return nil, "", fmt.Errorf("testsite: %s is not on loopback, and this site is for nobody else", address)
	}
	return listener, strconv.Itoa(at.Port), nil
}

// quietServer serves a site. It does not log clients that hang up.
func quietServer(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
}

// TellFirstWrites is a listener that calls told after the first write to each of its
// connections. That of a TLS server is its answer to the handshake.
func TellFirstWrites(l net.Listener, told func(peer net.Addr)) net.Listener {
	return tellingListener{l, told}
}

type tellingListener struct {
	net.Listener
	told func(peer net.Addr)
}

func (l tellingListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &tellingConn{Conn: conn, told: l.told}, nil
}

type tellingConn struct {
	net.Conn
	told func(peer net.Addr)
	once sync.Once
}

func (c *tellingConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.once.Do(func() { c.told(c.RemoteAddr()) })
	return n, err
}
