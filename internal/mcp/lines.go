package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// lines reads what a client sends: one message on each line, as the protocol requires. A line
// that is not a message is answered with an error, where the SDK would end the session. Until its
// first message a client may be anything, such as a file, and gets no answer.
type lines struct {
	io.Closer
	in      *bufio.Reader
	answers io.Writer
	spoken  bool              // there was a message
	ahead   []json.RawMessage // of a batch
	rest    []byte            // of the message that the SDK reads
}

// Codes of JSON-RPC 2.0 (5.1).
const (
	noFault        = 0
	parseError     = -32700
	invalidRequest = -32600
)

// Read implements io.Reader.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		message, err := l.next()
		if err != nil {
			return 0, err
		}
		switch fault := faultOf(message); {
		case fault == noFault:
			l.spoken = true
			l.rest = append(message, '\n')
		case !l.spoken:
			return 0, errors.New(faultWords[fault])
		default:
			if err := l.refuse(fault); err != nil {
				return 0, err
			}
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// next returns what should be the next message: a line, or a part of one that is a batch.
func (l *lines) next() ([]byte, error) {
	for len(l.ahead) == 0 {
		line, err := l.line()
		switch {
		case len(line) > 0:
			l.ahead = apart(line)
		case err != nil:
			return nil, err
		}
	}
	message := l.ahead[0]
	l.ahead = l.ahead[1:]
	return message, nil
}

// apart takes a batch apart, so that each of its messages is answered for itself. The protocol
// has had none since 2025-06-18, and the SDK would end the session.
func apart(line []byte) []json.RawMessage {
	var batch []json.RawMessage
	if line[0] != '[' || json.Unmarshal(line, &batch) != nil || len(batch) == 0 {
		return []json.RawMessage{line}
	}
	return batch
}

// line returns the next line without the space around it. The last one may come with io.EOF.
func (l *lines) line() (line []byte, err error) {
	for {
		part, err := l.in.ReadSlice('\n')
		if line = append(line, part...); len(line) > requestMost {
			return nil, fmt.Errorf("a line has more than %d bytes", requestMost)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSpace(line), err
		}
	}
}

// faultWords say what a line is not.
var faultWords = map[int]string{parseError: "this is not JSON", invalidRequest: "this is no message of JSON-RPC 2.0"}

// refuse answers a line that is no message. Nobody knows its id.
func (l *lines) refuse(fault int) error {
	_, err := fmt.Fprintf(l.answers, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%q}}`+"\n", fault, faultWords[fault])
	return err
}

// faultOf returns what is wrong with a message.
func faultOf(line []byte) int {
	if !json.Valid(line) {
		return parseError
	}
	if _, err := jsonrpc.DecodeMessage(line); err != nil {
		return invalidRequest
	}
	return noFault
}

// oneByOne is written to by several, each of which writes a message at a time.
type oneByOne struct {
	io.WriteCloser
	mu sync.Mutex
}

// Write implements io.Writer.
func (o *oneByOne) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.WriteCloser.Write(p)
}
