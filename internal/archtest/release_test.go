package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"recrawl/internal/config"
)

func readRoot(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Whatever says which release this is says the same: the newest in the change log, the
// programs, the image.
func TestOneRelease(t *testing.T) {
	t.Parallel()
	for name, pattern := range map[string]string{
		"CHANGELOG.md":       `(?m)^## (\d+\.\d+\.\d+) - \d{4}-\d\d-\d\d$`,
		"Dockerfile":         `org\.opencontainers\.image\.version=(\S+)`,
		"docker-compose.yml": `(?m)^  image: recrawl:(\S+)$`,
	} {
		found := regexp.MustCompile(pattern).FindStringSubmatch(readRoot(t, name))
		if found == nil || found[1] != config.Release {
			t.Errorf("%s: its release is %q, that of the programs %q", name, found, config.Release)
		}
	}
}

// What the Makefile runs by name exists: `make record` ran no test for a long time.
func TestMakefileRunsTests(t *testing.T) {
	t.Parallel()
	tests := testNames(t)
	byName := regexp.MustCompile(`(?m)\$\(GO\) test.* (\./\S+) .*-run (Test\w+)`)
	runs := 0
	for _, m := range byName.FindAllStringSubmatch(readRoot(t, "Makefile"), -1) {
		runs++
		if name := filepath.Base(m[1]) + "." + m[2]; !tests[name] {
			t.Errorf("the Makefile runs %s, and there is no such test", name)
		}
	}
	if runs == 0 {
		t.Error("the Makefile runs no test by name")
	}
	known := map[string]bool{}
	for test := range tests {
		_, name, _ := strings.Cut(test, ".")
		known[name] = true
	}
	// Also what it leaves out by name.
	for _, name := range regexp.MustCompile(`\bTest[A-Z]\w*`).FindAllString(readRoot(t, "Makefile"), -1) {
		if !known[name] {
			t.Errorf("the Makefile names %s, and there is no such test", name)
		}
	}
}
