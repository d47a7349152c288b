package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"recrawl/internal/dialogue"
	"recrawl/internal/sink"
)

// asked is the code of a sink that is paused because its program answered "stop".
const asked = "program"

// ask hands a message to the program that stays, and starts it if it does not run. Anything
// but an answer to this message ends it: a late answer must not count for the next.
func (s *Sender) ask(ctx context.Context, id string, line []byte) error {
	p, err := s.resident()
	if err != nil {
		return s.later("cannot be started: " + reason(err))
	}
	limit := time.NewTimer(s.limit)
	defer limit.Stop()
	said, err := p.exchange(ctx, limit.C, line)
	if err == nil {
		understood, answered := s.answer(said, id)
		if understood {
			return answered
		}
		err = errForeign
	}
	s.running = nil
	if errors.Is(err, errEnded) {
		if state := p.finish(); !p.Babbled() && !state.Success() {
			return s.judge(state, &p.said)
		}
	}
	p.Kill()
	return s.failed(ctx, p, said, err)
}

// resident returns the running program. One that ended since the last message is started
// anew, since its end says nothing about this one.
func (s *Sender) resident() (*process, error) {
	if s.running != nil && s.running.over() {
		s.running.finish()
		s.running = nil
	}
	if s.running == nil {
		p, err := s.start()
		if err != nil {
			return nil, err
		}
		s.running = p
	}
	return s.running, nil
}

// Errors of an exchange.
var (
	errEnded   = errors.New("it ended")
	errLimit   = errors.New("time limit")
	errForeign = errors.New("it answered something else")
)

// failed says why there is no answer.
func (s *Sender) failed(ctx context.Context, p *process, said string, err error) error {
	words := "ended without an answer"
	switch {
	case errors.Is(err, context.Canceled):
		return s.cancelled(ctx)
	case errors.Is(err, errLimit), errors.Is(err, context.DeadlineExceeded):
		words = "did not answer in time"
	case errors.Is(err, errForeign):
		words = fmt.Sprintf("said %q, which is no answer to this message", s.clean(said))
	case p.Babbled():
		words = fmt.Sprintf("said a line of more than %d bytes", dialogue.MaxLine)
	}
	return s.later(words + s.quote(&p.said))
}

// answer reads "WORD ID REASON": whether it is an answer to this message, and which.
func (s *Sender) answer(line, id string) (understood bool, err error) {
	verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	to, why, _ := strings.Cut(strings.TrimSpace(rest), " ")
	if to != id {
		return false, nil
	}
	words := "says " + verb
	if why = s.clean(why); why != "" {
		words += ": " + why
	}
	switch verb {
	case "ok":
		return true, nil
	case "later":
		return true, s.later(words)
	case "refused":
		return true, &sink.Refused{Reason: s.problem(words)}
	case "stop":
		return true, &sink.Stop{Code: asked, Reason: s.problem(words)}
	}
	return false, nil
}

// process is a program that stays, while it runs.
type process struct {
	*dialogue.Process
	said tail // read only after finish or Kill
}

// start starts the program. It runs until end or kill, or until it ends by itself.
func (s *Sender) start() (*process, error) {
	p := &process{}
	var err error
	p.Process, err = dialogue.Start(func(ctx context.Context) *exec.Cmd { return s.command(ctx, &p.said) })
	return p, err
}

// over reports whether the program ended between messages.
func (p *process) over() bool {
	select {
	case <-p.Done():
		return true
	default:
		return false
	}
}

// exchange writes a line and reads one. A line written earlier, or a second one after an
// answer, is read as the answer to this or the next message, and has the wrong id.
func (p *process) exchange(ctx context.Context, limit <-chan time.Time, line []byte) (answer string, err error) {
	written := make(chan struct{})
	go func() {
		defer close(written)
		_, _ = p.In.Write(line) // who does not read ends, or does not answer
	}()
	answers := p.Lines
	for written != nil || answers != nil { // an answer may come before all is read
		select {
		case <-written:
			written = nil
		case said, ok := <-answers:
			if !ok {
				return "", errEnded
			}
			answer, answers = said, nil
		case <-limit:
			return "", errLimit
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	return answer, nil
}

// finish waits until the process has ended, and ends it if only its output has.
func (p *process) finish() *os.ProcessState {
	timer := time.AfterFunc(maxEnding, p.Stop)
	defer timer.Stop()
	_ = p.In.Close()
	state, _ := p.Wait() // its state tells
	p.Stop()
	return state
}
