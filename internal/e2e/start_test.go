package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// mostInit bounds what a package of ours may allocate before a program begins, in bytes. A pattern
// with counts, or one that ignores case, takes as much as several hundred kB of it.
const mostInit = 160 << 10

// TestStartIsCheap asks the runtime what the programs make before main: scripts start them
// again and again, and most commands need no table of words.
func TestStartIsCheap(t *testing.T) {
	sideBySide(t, 2)
	for _, program := range []string{programs.starter, programs.worker} {
		cmd := exec.CommandContext(t.Context(), program, "--version")
		cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
		out, _ := cmd.CombinedOutput() // the worker knows no version, and says so
		packages := 0
		for line := range strings.Lines(string(out)) {
			var name, at, unit, clock, unit2 string
			var bytes int
			if n, _ := fmt.Sscanf(line, "init %s %s %s %s %s clock, %d bytes", &name, &at, &unit, &clock, &unit2, &bytes); n < 6 {
				continue
			}
			packages++
			if strings.HasPrefix(name, "recrawl/") && bytes > mostInit {
				t.Errorf("%s makes %d kB before the program begins", name, bytes>>10)
			}
		}
		if packages < 50 {
			t.Errorf("%s told of %d packages: %s", program, packages, out)
		}
	}
}
