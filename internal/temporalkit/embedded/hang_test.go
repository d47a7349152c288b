package embedded

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"
)

// envHangs makes the test program a server that accepts connections and answers nothing.
const envHangs = "RECRAWL_TEST_HANGS"

func TestMain(m *testing.M) {
	if os.Getenv(envHangs) != "" {
		hang(os.Args)
	}
	os.Exit(m.Run())
}

// hang accepts connections where the arguments say, for as long as its parent lives. A
// process that only slept would be ended by Go, as one whose goroutines wait for each other.
func hang(args []string) {
	after := func(flag string) string { return args[slices.Index(args, flag)+1] }
	ended := make(chan error)
	for host, port := range map[string]string{"--ip": "--port", "--ui-ip": "--ui-port"} {
		listener, err := net.Listen("tcp", net.JoinHostPort(after(host), after(port)))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		go func() {
			for {
				if _, err := listener.Accept(); err != nil {
					ended <- err
					return
				}
			}
		}()
	}
	fmt.Fprintln(os.Stderr, <-ended)
	os.Exit(1)
}

// Only a child that answers nothing and does nothing, for long, hangs.
func TestLooks(t *testing.T) {
	t.Parallel()
	const missed, answered, busy = "m", "a", "b" // busy is a missed look at one that works
	for _, c := range []struct {
		looks string
		want  int
	}{
		{missed, 0}, // what it did before is not known
		{missed + missed, 1},
		{missed + missed + missed + missed + missed + missed + missed, 6},
		{missed + missed + missed + answered + missed, 1},
		{missed + missed + missed + busy + missed + missed, 2},
		{busy + busy + busy + busy + busy + busy + busy + busy, 0},
		{answered + answered, 0},
	} {
		var l Looks
		at, spent := time.Unix(0, 0), time.Duration(0)
		for _, look := range c.looks {
			at = at.Add(30 * time.Second)
			spent += 100 * time.Millisecond
			if string(look) == busy {
				spent += 20 * time.Second
			}
			l = l.After(string(look) == answered, at, spent)
		}
		if l.missed != c.want {
			t.Errorf("%s: %d in a row, want %d", c.looks, l.missed, c.want)
		}
	}
}

// A child that hangs is ended, and another one started.
func TestHungChildIsReplaced(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the processor time of a process is read on Linux only")
	}
	t.Setenv(envHangs, "1")
	started, up := make(chan Child, 10), make(chan struct{}, 10)
	s := &Server{
		CLI: os.Args[0], Files: In(t.TempDir()), Port: Port{}, Log: slog.New(slog.DiscardHandler),
		OnStart: func(c Child) { started <- c }, OnUp: func() { up <- struct{}{} },
		Alive: func(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() },
		look:  pace{every: 20 * time.Millisecond, patience: 20 * time.Millisecond},
	}
	ctx, stop := context.WithCancel(t.Context())
	done, err := s.Start(t.Context(), ctx)
	if err != nil {
		t.Fatal(err)
	}
	first, second := <-started, <-started
	if first.PID == second.PID {
		t.Errorf("the same child twice: %+v", first)
	}
	<-up
	<-up
	stop()
	<-done
}
