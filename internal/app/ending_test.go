package app

import (
	"errors"
	"fmt"
	"io"
	"os"
	"testing"
)

// A run ends when the reader of its output has gone, and at nothing else that is wrong with it.
func TestEndUnread(t *testing.T) {
	t.Parallel()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	ctx, out, end := endUnread(t.Context(), writer)
	defer end()
	if _, err := fmt.Fprintln(out, "ready"); err != nil || ctx.Err() != nil {
		t.Errorf("read: %v, %v", err, ctx.Err())
	}
	reader.Close()
	if _, err := fmt.Fprintln(out, "ready"); err == nil || ctx.Err() == nil {
		t.Errorf("unread: %v, %v", err, ctx.Err())
	}

	ctx, out, end = endUnread(t.Context(), full{})
	defer end()
	if _, err := io.WriteString(out, "x"); err == nil || ctx.Err() != nil {
		t.Errorf("full: %v, %v", err, ctx.Err())
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }
