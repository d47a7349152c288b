// Package dialogue keeps a program of the operator's running, which is written to and answers
// in lines.
package dialogue

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
)

// MaxLine is how long a line of a program may be, in bytes.
const MaxLine = 4 << 10

// Process is a program while it runs.
type Process struct {
	In    io.WriteCloser
	Lines <-chan string // closed at the end of its output

	stop    context.CancelFunc
	done    chan struct{} // closed when it has ended
	ended   func() (*os.ProcessState, error)
	babbled bool
}

// Start starts the program that command makes. It runs until Stop or Kill, which end the
// context, or until it ends by itself.
func Start(command func(context.Context) *exec.Cmd) (*Process, error) {
	ctx, cancel := context.WithCancel(context.Background())
	cmd := command(ctx)
	in, err := cmd.StdinPipe()
	if err != nil {
		cancel()
		return nil, err
	}
	out, answers := io.Pipe()
	cmd.Stdout = answers
	if err := cmd.Start(); err != nil {
		cancel()
		return nil, err
	}
	lines := make(chan string)
	p := &Process{In: in, Lines: lines, stop: cancel, done: make(chan struct{})}
	var waited error
	go func() {
		defer close(p.done)
		waited = cmd.Wait()
		answers.Close()
	}()
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer out.Close()
		p.read(ctx, out, lines)
	}()
	p.ended = sync.OnceValues(func() (*os.ProcessState, error) { <-read; <-p.done; return cmd.ProcessState, waited })
	return p, nil
}

// read hands on the lines until the output, or the process, ends.
func (p *Process) read(ctx context.Context, out io.Reader, lines chan<- string) {
	defer close(lines)
	scanner := bufio.NewScanner(out)
	scanner.Buffer(nil, MaxLine)
	for scanner.Scan() {
		select {
		case lines <- scanner.Text():
		case <-ctx.Done():
			return
		}
	}
	p.babbled = errors.Is(scanner.Err(), bufio.ErrTooLong)
}

// Done is closed when the program has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Stop has the program killed, if it has not ended.
func (p *Process) Stop() { p.stop() }

// Wait waits until the output and the process have ended, and returns what exec.Cmd.Wait
// says.
func (p *Process) Wait() (*os.ProcessState, error) { return p.ended() }

// Babbled reports whether its output ended for us with a line that was too long. It is asked
// after Wait or Kill only.
func (p *Process) Babbled() bool { return p.babbled }

// Kill ends the program, and waits for its end.
func (p *Process) Kill() {
	p.stop()
	_ = p.In.Close() // it has ended anyway
	_, _ = p.ended()
}
