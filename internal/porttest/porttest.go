// Package porttest finds ports for the servers that tests start. Tests only.
package porttest

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync/atomic"
)

// Systems give outgoing connections ports from 32768 on (Linux) or 49152 on (others).
// A client that tries to reach a server that is down may be given the server's own
// port there, and is then connected to itself; so ours are lower.
const (
	lowest = 20_000
	count  = 10_000
)

// offset and given are where this process began to look, and how far it has come.
var (
	offset = rand.IntN(count)
	given  atomic.Int64
)

// Free returns a port of 127.0.0.1 on which nobody listens, another one at each call
// until all were given. Another process may still be quicker to use it; a server that
// does not come up for that reason is to be started again on another port.
func Free(ctx context.Context) (string, error) {
	for range count {
		port := strconv.Itoa(lowest + (offset+int(given.Add(1)))%count)
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", port))
		if err == nil {
			return port, l.Close()
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
	}
	return "", errors.New("no free port")
}
