package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Command is a program to run.
type Command struct {
	Path  string
	Args  []string
	Env   []string
	Dir   string
	Stdin io.Reader
}

// Process is a program that runs beside the benchmark and ends with it, however the
// benchmark ends.
type Process struct {
	name    string
	process *os.Process
	output  *tail
	done    chan struct{}
	state   *os.ProcessState
}

// stopGrace is the time that a program may take to end when told to.
const stopGrace = 60 * time.Second

// Start runs a program until Stop. Its output is kept for messages, and passed to listen,
// unless nil, piece by piece.
func Start(c Command, listen io.Writer) (*Process, error) {
	p := &Process{name: c.Path, output: &tail{listen: listen}, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		// The kernel ends the child with the thread that made it, so that thread must
		// live as long as the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.done)
		cmd := exec.Command(c.Path, c.Args...)
		cmd.Env, cmd.Dir, cmd.Stdin = c.Env, c.Dir, c.Stdin
		cmd.Stdout, cmd.Stderr = p.output, p.output
		cmd.SysProcAttr = childAttributes()
		err := cmd.Start()
		p.process = cmd.Process
		started <- err
		if err == nil {
			_ = cmd.Wait() // its state says how it ended
			p.state = cmd.ProcessState
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	return p, nil
}

// PID returns its process id.
func (p *Process) PID() int { return p.process.Pid }

// Done is closed when it has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Output returns the end of its output.
func (p *Process) Output() string { return p.output.String() }

// Stop ends it as Ctrl-C does, and kills it if that takes too long. If the program has
// ended by itself, the error quotes its last output.
func (p *Process) Stop() error {
	select {
	case <-p.done:
		return p.ended()
	default:
	}
	_ = p.process.Signal(syscall.SIGINT)
	return p.AwaitEnd()
}

// AwaitEnd waits for the end of a program that was told to end, and kills it if that takes
// too long.
func (p *Process) AwaitEnd() error {
	select {
	case <-p.done:
		return nil
	case <-time.After(stopGrace):
		_ = p.process.Kill()
		<-p.done
		return fmt.Errorf("%s did not end within %s of being told to", p.name, stopGrace)
	}
}

func (p *Process) ended() error {
	return fmt.Errorf("%s ended by itself (%s): %s", p.name, p.state, lastLines(p.Output(), 3))
}

// Await waits until the condition holds, checking it regularly, since other programs cannot
// signal us. It gives up when the context ends, or one of these processes.
func Await(ctx context.Context, what string, every time.Duration, holds func(context.Context) (bool, error), on ...*Process) error {
	pause := time.NewTicker(every)
	defer pause.Stop()
	for {
		ok, err := holds(ctx)
		if err != nil {
			return fmt.Errorf("wait until %s: %w", what, err)
		}
		if ok {
			return nil
		}
		for _, p := range on {
			select {
			case <-p.done:
				return fmt.Errorf("wait until %s: %w", what, p.ended())
			default:
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait until %s: %w", what, context.Cause(ctx))
		case <-pause.C:
		}
	}
}

// Says reports whether a program has printed a text lately.
func Says(p *Process, text string) func(context.Context) (bool, error) {
	return func(context.Context) (bool, error) { return strings.Contains(p.Output(), text), nil }
}

// Used returns the processor time of an ended program, with all processes that it had
// started and waited for.
func (p *Process) Used() time.Duration {
	return p.state.UserTime() + p.state.SystemTime()
}

// ExitCode returns a program's exit code; -1 if a signal ended it.
func (p *Process) ExitCode() int { return p.state.ExitCode() }

// Rest waits for a time, unless the context or one of the processes ends before.
func Rest(ctx context.Context, d time.Duration, on ...*Process) error {
	until := time.Now().Add(d)
	return Await(ctx, fmt.Sprintf("%s have passed", d), min(d, 100*time.Millisecond)+1, func(context.Context) (bool, error) {
		return !time.Now().Before(until), nil
	}, on...)
}

// Run runs a program to its end and returns what it printed to its standard output.
func Run(ctx context.Context, c Command) (string, error) {
	cmd := exec.CommandContext(ctx, c.Path, c.Args...)
	cmd.Env, cmd.Dir, cmd.Stdin = c.Env, c.Dir, c.Stdin
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = errors.Join(context.Cause(ctx), err)
		}
		return out.String(), fmt.Errorf("%s %s: %w: %s", c.Path, strings.Join(c.Args, " "), err, lastLines(problem.String()+out.String(), 3))
	}
	return out.String(), nil
}

// CleanEnv returns the environment of a new user, with an empty home folder and only these
// settings.
func CleanEnv(home string, more ...string) []string {
	return append([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir()}, more...)
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], " / ")
}

// tail keeps the end of the text written to it.
type tail struct {
	listen io.Writer

	mu   sync.Mutex
	text []byte
}

const tailSize = 64 << 10

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-tailSize):]
	t.mu.Unlock()
	if t.listen != nil {
		return t.listen.Write(b)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
