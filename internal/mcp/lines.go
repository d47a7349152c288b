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

// lines is what a client says, without the lines that are no message. These are answered with an
// error, where the SDK would leave. Before its first message a client may be anything else, such
// as a file, and then the SDK leaves after all.
type lines struct {
	io.Closer
	in      *bufio.Reader
	answers io.Writer
	spoken  bool   // there was a message
	rest    []byte // of the present one
	ahead   []byte // the line after it, if that is read already
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
		text, err := l.message()
		if len(bytes.TrimSpace(text)) == 0 {
			if err != nil {
				return 0, err
			}
			continue
		}
		switch fault := faultOf(text); {
		case fault == noFault:
			l.spoken = true
			l.rest = append(bytes.TrimSpace(text), '\n')
		case !l.spoken:
			l.rest = text
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

// messageLines bounds the lines of a message. There should be one.
const messageLines = 1000

// message returns a message, or what is none.
func (l *lines) message() (text []byte, err error) {
	for range messageLines {
		line, err := l.line()
		all := append(text[:len(text):len(text)], line...)
		if len(text) > 0 && !incomplete(all) && faultOf(all) != noFault && faultOf(line) == noFault {
			l.ahead = line // what came before it was broken off
			return text, nil
		}
		if err != nil || !incomplete(all) {
			return all, err
		}
		text = all
	}
	return text, nil
}

// line returns a line with its end.
func (l *lines) line() (line []byte, err error) {
	if line, l.ahead = l.ahead, nil; line != nil {
		return line, nil
	}
	for {
		part, err := l.in.ReadSlice('\n')
		if line = append(line, part...); len(line) > requestMost {
			return nil, fmt.Errorf("a line has more than %d bytes", requestMost)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// refuse answers what is no message. Nobody knows its id.
func (l *lines) refuse(code int) error {
	words := map[int]string{parseError: "this is not JSON", invalidRequest: "this is no message of JSON-RPC 2.0"}
	_, err := fmt.Fprintf(l.answers, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%q}}`+"\n", code, words[code])
	return err
}

// faultOf returns what is wrong with a message. What is in a batch is left to the SDK.
func faultOf(text []byte) int {
	text = bytes.TrimSpace(text)
	if !json.Valid(text) {
		return parseError
	}
	if text[0] == '[' {
		return noFault
	}
	if _, err := jsonrpc.DecodeMessage(text); err != nil {
		return invalidRequest
	}
	return noFault
}

// incomplete reports whether a text is the beginning of some JSON.
func incomplete(text []byte) bool {
	var begun json.RawMessage
	return errors.Is(json.NewDecoder(bytes.NewReader(text)).Decode(&begun), io.ErrUnexpectedEOF)
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
