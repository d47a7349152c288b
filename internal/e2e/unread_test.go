package e2e

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestStopsUnread: whoever reads the output may be gone before we are told to stop, as tee is after
// Ctrl-C, and so may the terminal. It is a stop like any other.
func TestStopsUnread(t *testing.T) {
	sideBySide(t, 10)
	data := filepath.Join(t.TempDir(), "data")
	for _, told := range []os.Signal{syscall.SIGINT, syscall.SIGHUP} {
		if signal.Ignored(told) { // the tests run under nohup, and so does the program
			continue
		}
		reader, writer, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience())
		defer cancel()
		cmd := exec.CommandContext(ctx, programs.starter, "dev", "--data", data)
		cmd.Env = append(cleanEnv(t), "RECRAWL_TEMPORAL_CLI="+programs.temporal)
		cmd.Stdout, cmd.Stderr = writer, writer
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		writer.Close()
		ready := false
		for out := bufio.NewScanner(reader); !ready && out.Scan(); {
			ready = strings.Contains(out.Text(), "ready")
		}
		reader.Close()
		if err := cmd.Process.Signal(told); err != nil {
			t.Error(err)
		}
		err = cmd.Wait()
		left := (&dev{t: t, data: data}).state().TemporalPID
		if !ready || err != nil || left != 0 {
			t.Errorf("%v: ready %v, ended with %v, its Temporal server in the state: %d", told, ready, err, left)
		}
	}
}
