package testsite

import (
	"net"
	"sync"
)

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
