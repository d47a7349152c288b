package program

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"recrawl/internal/sink"
)

// asked is the code of a sink that is paused because its program answered "stop".
const asked = "program"

// maxAnswer bounds a line of a program, in bytes.
const maxAnswer = 4 << 10

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
		if state := p.wait(); !p.babbled && !state.Success() {
			return s.judge(state, &p.said)
		}
	}
	p.kill()
	return s.failed(ctx, p, said, err)
}

// resident returns the running program. One that ended since the last message is started
// anew, since its end says nothing about this one.
func (s *Sender) resident() (*process, error) {
	if s.running != nil && s.running.over() {
		s.running.wait()
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
	case p.babbled:
		words = fmt.Sprintf("said a line of more than %d bytes", maxAnswer)
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
	in    io.WriteCloser
	lines chan string // closed at the end of its output
	// said, and babbled, which marks a line that was too long, are read only after wait or
	// kill.
	said    tail
	babbled bool
	ended   func() *os.ProcessState
	done    chan struct{} // closed when it has ended
	stop    context.CancelFunc
}

// start starts the program. It runs until end or kill, or until it ends by itself.
func (s *Sender) start() (*process, error) {
	ctx, cancel := context.WithCancel(context.Background())
	p := &process{lines: make(chan string), done: make(chan struct{}), stop: cancel}
	cmd := s.command(ctx, &p.said)
	in, err := cmd.StdinPipe()
	if err != nil {
		cancel()
		return nil, err
	}
	out, answers := io.Pipe()
	p.in, cmd.Stdout = in, answers
	if err := cmd.Start(); err != nil {
		cancel()
		return nil, err
	}
	go func() {
		defer close(p.done)
		_ = cmd.Wait() // its state tells
		answers.Close()
	}()
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer out.Close()
		p.read(ctx, out)
	}()
	p.ended = sync.OnceValue(func() *os.ProcessState { <-read; <-p.done; return cmd.ProcessState })
	return p, nil
}

// read hands on the lines until the output, or the process, ends.
func (p *process) read(ctx context.Context, out io.Reader) {
	defer close(p.lines)
	scanner := bufio.NewScanner(out)
	scanner.Buffer(nil, maxAnswer)
	for scanner.Scan() {
		select {
		case p.lines <- scanner.Text():
		case <-ctx.Done():
			return
		}
	}
	p.babbled = errors.Is(scanner.Err(), bufio.ErrTooLong)
}

// over reports whether the program ended between messages.
func (p *process) over() bool {
	select {
	case <-p.done:
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
		_, _ = p.in.Write(line) // a program that does not read ends, or does not answer
	}()
	answers := p.lines
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

// wait waits until the process has ended, and ends it if only its output has.
func (p *process) wait() *os.ProcessState {
	timer := time.AfterFunc(maxEnding, p.stop)
	defer timer.Stop()
	_ = p.in.Close()
	state := p.ended()
	p.stop()
	return state
}

func (p *process) kill() {
	p.stop()
	_ = p.in.Close() // it has ended anyway
	p.ended()
}
