package app

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// UntilTold returns a context that ends when the program is told to end: by Ctrl-C, by a supervisor,
// or by a terminal that is closed, unless it was started to outlive that (nohup).
func UntilTold() (context.Context, context.CancelFunc) {
	told := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		told = append(told, syscall.SIGHUP)
	}
	return signal.NotifyContext(context.Background(), told...)
}

// outliveReaders makes a write to an output that nobody reads any more an error, until undo is
// called. By default it ends a program of Go at once: behind a pipe, the tee that Ctrl-C ended
// first would take us away from requests under way, at the word that we are stopping.
func outliveReaders() (undo func()) {
	never := make(chan os.Signal, 1) // the error says the same
	signal.Notify(never, syscall.SIGPIPE)
	return func() { signal.Stop(never) }
}

// endUnread returns a context that ends when nobody reads the output any more that it returns, too:
// `starter dev | head` is over when head is.
func endUnread(ctx context.Context, out io.Writer) (context.Context, io.Writer, context.CancelFunc) {
	ctx, end := context.WithCancel(ctx)
	return ctx, &unread{out, end}, end
}

// unread is an output that calls end when its reader has gone. A full disk is no such end.
type unread struct {
	out io.Writer
	end func()
}

// Write implements io.Writer.
func (u *unread) Write(p []byte) (int, error) {
	n, err := u.out.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		u.end()
	}
	return n, err
}
