package mcp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Serve answers the client at the other end of in and out until it leaves or the context
// ends, which is no error.
func (s *Server) Serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	answers := &oneByOne{WriteCloser: out}
	said := &lines{Closer: in, in: bufio.NewReader(in), answers: answers}
	err := s.tools.Run(ctx, polite{&sdk.IOTransport{Reader: said, Writer: answers, MaxLineLength: requestMost}})
	if err == nil || ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return fmt.Errorf("what came on standard input is not what an agent's program says: %w", err)
}

// requestMost bounds a question in bytes: those for our tools are some lines.
const requestMost = 1 << 20

// polite is a transport that answers a client's open questions before it leaves: the SDK's
// own drops them, so nobody could pipe questions into the program.
type polite struct{ sdk.Transport }

// Connect implements sdk.Transport.
func (t polite) Connect(ctx context.Context) (sdk.Connection, error) {
	conn, err := t.Transport.Connect(ctx)
	return &politeConn{Connection: conn, open: map[jsonrpc.ID]bool{}, changed: make(chan struct{})}, err
}

// listens is a question that is answered only when the client leaves.
const listens = "subscriptions/listen"

// politeConn knows which questions are open.
type politeConn struct {
	sdk.Connection
	mu      sync.Mutex
	open    map[jsonrpc.ID]bool
	changed chan struct{} // closed, and made anew, when a question is answered
	left    error         // how reading has ended
}

// Read implements sdk.Connection. The end of the input, however it ends, comes once all
// questions are answered.
func (c *politeConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	if c.left == nil { // it is only read by one
		message, err := c.Connection.Read(ctx)
		if err == nil {
			if r, is := message.(*jsonrpc.Request); is && r.IsCall() && r.Method != listens {
				c.mu.Lock()
				c.open[r.ID] = true
				c.mu.Unlock()
			}
			return message, nil
		}
		c.left = err
	}
	patience := time.NewTimer(answerLimit)
	defer patience.Stop()
	for {
		c.mu.Lock()
		open, changed := len(c.open), c.changed
		c.mu.Unlock()
		if open == 0 {
			return nil, c.left
		}
		select {
		case <-changed:
		case <-patience.C: // a question that the client has taken back has no answer
			return nil, c.left
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Write implements sdk.Connection.
func (c *politeConn) Write(ctx context.Context, message jsonrpc.Message) error {
	err := c.Connection.Write(ctx, message)
	if r, is := message.(*jsonrpc.Response); is {
		c.answered(func() { delete(c.open, r.ID) })
	}
	return err
}

// Close implements sdk.Connection: nothing will be answered any more.
func (c *politeConn) Close() error {
	c.answered(func() { clear(c.open) })
	return c.Connection.Close()
}

func (c *politeConn) answered(which func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	which()
	close(c.changed)
	c.changed = make(chan struct{})
}
