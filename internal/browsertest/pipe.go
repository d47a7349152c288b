package browsertest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// errGone is the error of calls to a browser that has ended.
var errGone = errors.New("the browser has ended")

// pipe carries the DevTools protocol: JSON messages, each ended by a zero byte.
type pipe struct {
	commands io.WriteCloser
	done     chan struct{} // closed when the browser's output ends

	mu      sync.Mutex
	last    int64
	waiting map[int64]chan message
	notify  map[string]func(message) // by session
}

// message is one of the protocol, in either direction.
type message struct {
	ID      int64           `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Message string `json:"message"`
		Data    string `json:"data"`
	} `json:"error,omitempty"`
}

// newPipe reads answers until they end.
func newPipe(commands io.WriteCloser, answers io.ReadCloser) *pipe {
	p := &pipe{commands: commands, done: make(chan struct{}), waiting: map[int64]chan message{}, notify: map[string]func(message){}}
	go p.read(answers)
	return p
}

// wait returns when the browser's output has ended.
func (p *pipe) wait() {
	<-p.done
	p.commands.Close()
}

func (p *pipe) read(answers io.ReadCloser) {
	defer close(p.done)
	defer answers.Close()
	for r := bufio.NewReader(answers); ; {
		line, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if err := json.Unmarshal(line[:len(line)-1], &m); err != nil {
			return
		}
		p.deliver(m)
	}
}

// deliver passes a message to its waiting caller. Events of a session come in order.
func (p *pipe) deliver(m message) {
	p.mu.Lock()
	answer, asked := p.waiting[m.ID]
	delete(p.waiting, m.ID)
	notify := p.notify[m.Session]
	p.mu.Unlock()
	switch {
	case m.ID != 0 && asked:
		answer <- m
	case m.ID == 0 && notify != nil:
		notify(m)
	}
}

// listen makes f receive the events of a session.
func (p *pipe) listen(session string, f func(message)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notify[session] = f
}

// call asks the browser and waits for its answer.
func (p *pipe) call(ctx context.Context, session, method string, params any) (json.RawMessage, error) {
	answer := make(chan message, 1)
	if err := p.send(session, method, params, answer); err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	select {
	case m := <-answer:
		if m.Error != nil {
			return nil, fmt.Errorf("%s: %s %s", method, m.Error.Message, m.Error.Data)
		}
		return m.Result, nil
	case <-p.done:
		return nil, fmt.Errorf("%s: %w", method, errGone)
	case <-ctx.Done():
		return nil, fmt.Errorf("%s: %w", method, ctx.Err())
	}
}

func (p *pipe) send(session, method string, params any, answer chan message) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	if params == nil {
		raw = nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	line, err := json.Marshal(message{ID: p.last, Session: session, Method: method, Params: raw})
	if err != nil {
		return err
	}
	p.waiting[p.last] = answer
	if _, err := p.commands.Write(append(line, 0)); err != nil {
		return errGone
	}
	return nil
}
