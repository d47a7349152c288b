package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"
)

// attemptLimit ends an attempt at an address when there is another to try.
const attemptLimit = 2 * time.Second

// dialer connects to the addresses of a host, one after the other. The check
// sees the address of each attempt, after all name resolution, so a name cannot
// change its address in between.
type dialer struct {
	names  *names
	check  Control // nil checks nothing
	budget *budget
	// deadline is the time after which nothing is written.
	deadline time.Time
	// reached is set to the connected address, without its port; nil means that nobody
	// wants it.
	reached *string
	// enter waits for a place at an address, which exit gives back; nil means that none is
	// needed.
	enter func(ctx context.Context, addr netip.Addr) error
	exit  func()
}

// punctual is a connection on which nothing is written after the deadline. A
// process can be stopped at any point, even after the last check of the clock; so
// that check is here, next to the system call.
type punctual struct {
	net.Conn
	deadline time.Time
}

func (p punctual) Write(b []byte) (int, error) {
	if late(p.deadline) {
		return 0, os.ErrDeadlineExceeded
	}
	return p.Conn.Write(b)
}

// late reports whether a deadline has passed, by the monotonic clock, which
// nobody sets, or the wall clock, which goes on while the machine sleeps.
func late(deadline time.Time) bool {
	now := time.Now()
	return !deadline.IsZero() && (!now.Before(deadline) || !now.Round(0).Before(deadline.Round(0)))
}

// dial implements http.Transport.DialContext.
func (d dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("dial: %w", err)
	}
	addrs, err := d.names.addresses(ctx, host)
	if err != nil {
		return nil, fmt.Errorf("dial: %w", err)
	}
	err = fmt.Errorf("dial: %w", &net.DNSError{Err: "no addresses", Name: host, IsNotFound: true})
	for i, addr := range addrs {
		limit := attemptLimit
		if i == len(addrs)-1 {
			limit = 0
		}
		conn, failure := d.reach(ctx, network, addr, port, limit)
		if failure == nil {
			if d.reached != nil {
				*d.reached = addr.String()
			}
			return meteredConn{punctual{conn, d.deadline}, d.budget}, nil
		}
		if errors.Is(failure, ErrCrowded) {
			return nil, failure
		}
		if i == 0 {
			err = failure // the address that counts
		}
		if ctx.Err() != nil {
			break
		}
	}
	d.names.forget(host)
	return nil, err
}

// reach connects to one address when there is a place.
func (d dialer) reach(ctx context.Context, network string, addr netip.Addr, port string, limit time.Duration) (net.Conn, error) {
	if d.enter == nil {
		return d.attempt(ctx, network, net.JoinHostPort(addr.String(), port), limit)
	}
	if err := d.enter(ctx, addr); err != nil {
		return nil, err
	}
	conn, err := d.attempt(ctx, network, net.JoinHostPort(addr.String(), port), limit)
	if err != nil {
		d.exit()
	}
	return conn, err
}

// attempt connects to one address; a limit of 0 means only the context's.
func (d dialer) attempt(ctx context.Context, network, address string, limit time.Duration) (net.Conn, error) {
	inner := net.Dialer{Timeout: limit, Control: d.check, KeepAliveConfig: net.KeepAliveConfig{Enable: false}}
	return inner.DialContext(ctx, network, address)
}

// portError: no request goes to the port; see crawl.BadPort.
type portError struct{ port string }

func (e *portError) Error() string {
	return "port " + e.port + " refused: it belongs to another protocol"
}

// IsRefused reports whether an exchange failed because the crawl may not reach
// the host's address or port.
func IsRefused(err error) bool {
	var refused *RefusedError
	var port *portError
	return errors.As(err, &refused) || errors.As(err, &port)
}
