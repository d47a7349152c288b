package embedded

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Where there is no /proc, ps says how a process was started.
func TestListedCommand(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("ps"); err != nil {
		t.Skip("there is no ps here")
	}
	name := filepath.Base(os.Args[0])
	if line := listedCommand(os.Getpid()); !bytes.Contains(line, []byte(name)) {
		t.Errorf("this process is listed as %q, want %s in it", line, name)
	}
	const gone = 1 << 30 // more than any system gives
	if line := listedCommand(gone); len(line) > 0 {
		t.Errorf("a process that there is not is listed as %q", line)
	}
}
