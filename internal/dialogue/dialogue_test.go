//go:build unix

package dialogue

import (
	"context"
	"io"
	"os/exec"
	"slices"
	"testing"
	"time"
)

// start runs a script of the shell.
func start(t *testing.T, script string) *Process {
	t.Helper()
	p, err := Start(func(ctx context.Context) *exec.Cmd {
		cmd := exec.CommandContext(ctx, "/bin/sh", "-c", script)
		cmd.WaitDelay = time.Second // of what the shell has started
		return cmd
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

func TestDialogue(t *testing.T) {
	t.Parallel()
	p := start(t, "while read line; do echo \"you said $line\"; done; exit 3")
	for _, say := range []string{"one", "two"} {
		if _, err := io.WriteString(p.In, say+"\n"); err != nil {
			t.Fatal(err)
		}
		if got := <-p.Lines; got != "you said "+say {
			t.Errorf("the program answers %q", got)
		}
	}
	if err := p.In.Close(); err != nil {
		t.Fatal(err)
	}
	if line, open := <-p.Lines; open {
		t.Errorf("one more line: %q", line)
	}
	if state, err := p.Wait(); err == nil || state.ExitCode() != 3 {
		t.Errorf("it ended with %v, %v; want exit code 3", state, err)
	}
	<-p.Done()
	if p.Babbled() {
		t.Error("all of its lines were short")
	}
}

// What a program has written before its end is read, though nobody waits for it.
func TestLastLines(t *testing.T) {
	t.Parallel()
	p := start(t, "echo a; echo b; echo c")
	var lines []string
	for line := range p.Lines {
		lines = append(lines, line)
	}
	if _, err := p.Wait(); err != nil || !slices.Equal(lines, []string{"a", "b", "c"}) {
		t.Errorf("read %q, then %v", lines, err)
	}
}

// A line that is too long ends the output: what follows could not be told apart.
func TestBabble(t *testing.T) {
	t.Parallel()
	p := start(t, "echo short; head -c 5000 /dev/zero | tr '\\0' x; echo; echo next; exec cat")
	var lines []string
	for line := range p.Lines {
		lines = append(lines, line)
	}
	p.Kill()
	if !slices.Equal(lines, []string{"short"}) || !p.Babbled() {
		t.Errorf("read %q, babbled: %v", lines, p.Babbled())
	}
}

// A program that nobody listens to, and one that does not end by itself, can be ended.
func TestKill(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"while :; do echo y; done", "exec cat", "trap '' TERM INT; while :; do sleep 1; done"} {
		p := start(t, script)
		p.Kill()
		p.Kill() // twice is as good as once
		select {
		case <-p.Done():
		default:
			t.Errorf("%s goes on", script)
		}
	}
}

func TestNoProgram(t *testing.T) {
	t.Parallel()
	_, err := Start(func(ctx context.Context) *exec.Cmd { return exec.CommandContext(ctx, "/no/such/program") })
	if err == nil {
		t.Error("it was started")
	}
}
