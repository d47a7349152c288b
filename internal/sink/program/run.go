package program

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/sink"
)

// Exit codes with a meaning (sysexits.h); 0 is delivered, and all others refuse.
const (
	exitTempFail = 75 // the same message again, later
	exitConfig   = 78 // no more messages until a person has mended it
)

// config is the code of a sink that is paused because its program asked for a person.
const config = "config"

// maxEnding bounds how long a program that has ended may keep its pipes open through a
// process of its own, and how long one may take to end.
const maxEnding = time.Second

// run starts the program for one message.
func (s *Sender) run(ctx context.Context, line []byte) error {
	running, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	said := &tail{}
	cmd := s.command(running, said)
	in, drop := input(line)
	defer drop()
	cmd.Stdin = in
	err := cmd.Run()
	switch {
	case cmd.ProcessState != nil && cmd.ProcessState.Success():
		return nil
	case errors.Is(ctx.Err(), context.Canceled):
		return s.cancelled(ctx)
	case running.Err() != nil:
		return s.later("did not end in time" + s.quote(said))
	case cmd.ProcessState == nil:
		return s.later("cannot be started: " + reason(err))
	}
	return s.judge(cmd.ProcessState, said)
}

// pipeRoom is what a pipe takes in one go.
const pipeRoom = 4 << 10

// input returns a message as a program's standard input, and the function that drops it. One that
// does not fit into a pipe is in a file, so that the program has all of it from the start: if this
// process were killed while it writes to a pipe, the program would take the first part for the
// message.
func input(line []byte) (in io.Reader, drop func()) {
	in, drop = bytes.NewReader(line), func() {}
	if len(line) <= pipeRoom {
		return in, drop
	}
	file, err := os.CreateTemp("", "recrawl-message-*")
	if err != nil {
		return in, drop // a full disk must not keep it from the program
	}
	gone := os.Remove(file.Name()) == nil // where the system removes open files
	drop = func() {
		_ = file.Close()
		if !gone {
			_ = os.Remove(file.Name())
		}
	}
	if _, err := file.Write(line); err != nil {
		return in, drop
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return in, drop
	}
	return file, drop
}

// cancelled returns the caller's cancellation, which is no answer of the program.
func (s *Sender) cancelled(ctx context.Context) error {
	return fmt.Errorf("sink program %s: %w", s.name, ctx.Err())
}

// command returns the program with its environment, in a group of processes of its own,
// which ends with the context.
func (s *Sender) command(ctx context.Context, said *tail) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.program.Path)
	cmd.Env = append([]string{}, s.env...) // never nil, which would be the worker's
	cmd.Stderr = said
	cmd.WaitDelay = maxEnding
	group(cmd)
	return cmd
}

// reason returns the text of a system error, without our path and call.
func reason(err error) string {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

// judge turns the end of the program into the result that sink.Sender promises. Processes
// that it left running do not matter.
func (s *Sender) judge(state *os.ProcessState, said *tail) error {
	code := state.ExitCode()
	words := fmt.Sprintf("ended with exit code %d%s", code, s.quote(said))
	switch {
	case state.Success():
		return nil
	case code < 0:
		return s.later("was ended (" + state.String() + ")" + s.quote(said))
	case code == exitTempFail:
		return s.later(words)
	case code == exitConfig:
		return &sink.Stop{Code: config, Reason: s.problem(words)}
	}
	return &sink.Refused{Status: code, Reason: s.problem(words)}
}

func (s *Sender) later(words string) error { return &sink.Later{Reason: s.problem(words)} }

func (s *Sender) problem(words string) string {
	return "sink program " + s.name + " " + words
}

// maxSaid bounds the bytes of a program's output that a problem quotes.
const maxSaid = 200

// quote returns the last line that the program wrote, to append to other words.
func (s *Sender) quote(said *tail) string {
	if text := s.clean(said.line()); text != "" {
		return ": " + text
	}
	return ""
}

// clean makes a program's output fit to be stored.
func (s *Sender) clean(text string) string {
	for _, secret := range s.hidden {
		text = strings.ReplaceAll(text, secret, "[hidden]")
	}
	return crawl.Clean(text, maxSaid)
}

// tail keeps the end of the text written to it.
type tail struct{ end []byte }

// maxTail is the number of bytes kept.
const maxTail = 8 << 10

// Write implements io.Writer.
func (t *tail) Write(text []byte) (int, error) {
	n := len(text)
	if n > maxTail {
		text = text[n-maxTail:]
	}
	t.end = append(t.end[max(0, len(t.end)+len(text)-maxTail):], text...)
	return n, nil
}

// line returns the last line that is not empty. One whose beginning is lost is not shown,
// since it could be the rest of a secret.
func (t *tail) line() string {
	text := strings.TrimSpace(string(t.end))
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		return text[i+1:]
	}
	if len(t.end) >= maxTail {
		return "a line of more than 8 KiB"
	}
	return text
}
