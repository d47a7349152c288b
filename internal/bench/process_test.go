//go:build unix

package bench

import (
	"context"
	"strings"
	"testing"
	"time"
)

func TestProcess(t *testing.T) {
	t.Parallel()
	p, err := Start(Command{Path: "/bin/sh", Args: []string{"-c", `trap 'echo told; exit 0' INT; echo up; while :; do sleep 0.05; done`}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = Await(t.Context(), "it is up", time.Millisecond, func(context.Context) (bool, error) { return strings.Contains(p.Output(), "up"), nil }, p)
	if err != nil {
		t.Error(err)
	}
	if err := p.Stop(); err != nil || !strings.Contains(p.Output(), "told") {
		t.Errorf("%v: %s", err, p.Output())
	}
}

// A program that ends by itself ends the wait for it, with its last output.
func TestProcessEndsByItself(t *testing.T) {
	t.Parallel()
	p, err := Start(Command{Path: "/bin/sh", Args: []string{"-c", "echo the port is taken; exit 3"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	never := func(context.Context) (bool, error) { return false, nil }
	for _, err := range []error{Await(t.Context(), "it is up", time.Millisecond, never, p), p.Stop()} {
		if err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "the port is taken") {
			t.Errorf("it ended: %v", err)
		}
	}
	if _, err := Start(Command{Path: "/no/such/program"}, nil); err == nil {
		t.Error("a program that there is not has started")
	}
}
