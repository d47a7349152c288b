package bench

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"recrawl/internal/config"
)

// Machine returns a line on where and when figures were measured.
func Machine(now time.Time) string {
	model := ""
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				model = ", " + strings.TrimSpace(value)
				break
			}
		}
	}
	load := ""
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		if first, _, ok := strings.Cut(string(text), " "); ok {
			load = ", load average " + first
		}
	}
	return fmt.Sprintf("Measured %s with recrawl %s, %s, on %d cores%s%s.", now.UTC().Format(time.DateOnly), config.VersionText(), runtime.Version(), runtime.NumCPU(), model, load)
}
