package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"time"

	"recrawl/internal/dialogue"
	"recrawl/internal/scope"
)

// program is one program with its process, if it runs.
type program struct {
	name, path string
	Options

	// turn holds the one right to speak with the process, and to all below.
	turn    chan struct{}
	running *dialogue.Process
	known   cache
	pause   time.Duration // before the next start after a failure
	rest    time.Time     // not started before
	trouble string        // of the last failure
	closed  bool
}

func newProgram(name, path string, o Options) *program {
	return &program{name: name, path: path, Options: o, turn: make(chan struct{}, 1), pause: firstPause}
}

// start starts the process. The caller has the turn, or is alone.
func (p *program) start() error {
	running, err := run(p.path, p.Log.With("filter", p.name))
	if err != nil {
		return err
	}
	p.running, p.known = running, cache{}
	return nil
}

// ask returns within twice the time limit: after the wait for others the program has all of
// it. With what they leave, a program would be ended because many ask it at once.
func (p *program) ask(url string) scope.Answer {
	limit := time.NewTimer(p.Timeout)
	defer limit.Stop()
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-limit.C:
		return unknown("filter program %s is busy", p.name)
	}
	limit.Reset(p.Timeout)
	if answer, ok := p.known.get(url); ok && p.running != nil {
		return answer
	}
	if !p.ready() {
		return unknown("filter program %s: %s", p.name, p.trouble)
	}
	answer, err := p.exchange(url, limit.C)
	if err != nil {
		p.fail(err)
		return unknown("filter program %s: %s", p.name, p.trouble)
	}
	p.pause = firstPause
	p.known.put(url, answer)
	return answer
}

// ready reports whether the process runs, and starts it again when it is time.
func (p *program) ready() bool {
	if p.running != nil || p.closed || p.Now().Before(p.rest) {
		return p.running != nil
	}
	if err := p.start(); err != nil {
		p.fail(err)
		return false
	}
	return true
}

func (p *program) exchange(url string, limit <-chan time.Time) (scope.Answer, error) {
	select {
	case line, ok := <-p.running.Lines:
		if ok {
			return scope.Answer{}, fmt.Errorf("it said %.40q without being asked", line)
		}
		return scope.Answer{}, end(p.running)
	default:
	}
	written := make(chan struct{})
	go func(to io.Writer) {
		defer close(written)
		_, _ = io.WriteString(to, url+"\n") // who does not read ends, or does not answer
	}(p.running.In)
	select {
	case <-written:
	case <-limit:
		return scope.Answer{}, fmt.Errorf("it read nothing within %s", p.Timeout)
	}
	select {
	case line, ok := <-p.running.Lines:
		if !ok {
			return scope.Answer{}, end(p.running)
		}
		return parse(line)
	case <-limit:
		return scope.Answer{}, fmt.Errorf("no answer within %s", p.Timeout)
	}
}

// fail ends the process: its next line would answer an earlier question.
func (p *program) fail(err error) {
	if p.running != nil {
		p.running.Kill()
		p.running = nil
	}
	p.trouble, p.rest = err.Error(), p.Now().Add(p.pause)
	p.Log.Warn("a filter program fails; its links wait", "filter", p.name, "error", err, "again in", p.pause)
	p.pause = min(2*p.pause, maxPause)
}

func (p *program) close() {
	p.turn <- struct{}{}
	defer func() { <-p.turn }()
	p.closed, p.trouble = true, "it was ended"
	if p.running != nil {
		p.running.Kill()
		p.running = nil
	}
}

// maxEnding bounds how long a killed process may keep its pipes open through its
// own child process.
const maxEnding = time.Second

func run(path string, log *slog.Logger) (*dialogue.Process, error) {
	return dialogue.Start(func(ctx context.Context) *exec.Cmd {
		cmd := exec.CommandContext(ctx, path)
		cmd.WaitDelay = maxEnding
		cmd.Stderr = &complaints{log: log}
		return cmd
	})
}

// end says why there are no more lines.
func end(p *dialogue.Process) error {
	p.Stop()
	var exit *exec.ExitError
	switch _, err := p.Wait(); {
	case errors.As(err, &exit) && exit.Exited():
		return fmt.Errorf("it ended with exit code %d", exit.ExitCode())
	case err != nil:
		return fmt.Errorf("it ended (%w)", err)
	}
	return errors.New("it ended")
}

// complaints logs a program's standard error, a bounded part of each piece.
type complaints struct{ log *slog.Logger }

// Write implements io.Writer.
func (c *complaints) Write(text []byte) (int, error) {
	c.log.Info("a filter program says", "text", string(text[:min(len(text), dialogue.MaxLine)]))
	return len(text), nil
}

// cacheSize is how many answers of a program are kept, twice: in a part that
// grows, and in the one before it.
const cacheSize = 5000

// cache remembers answers for as long as the process lives, which may know other
// things when it is started again. Its zero value is empty.
type cache struct{ young, old map[string]scope.Answer }

func (c *cache) get(url string) (scope.Answer, bool) {
	if a, ok := c.young[url]; ok {
		return a, true
	}
	a, ok := c.old[url]
	return a, ok
}

func (c *cache) put(url string, a scope.Answer) {
	if c.young == nil || len(c.young) >= cacheSize {
		c.young, c.old = map[string]scope.Answer{}, c.young
	}
	c.young[url] = a
}
