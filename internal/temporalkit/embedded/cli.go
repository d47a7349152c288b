package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// FindCLI returns a Temporal CLI: RECRAWL_TEMPORAL_CLI, the one beside
// this program, the one in the source tree's bin/, the one on PATH, or else
// builds the pinned one from tools/temporal and reports how long that takes.
func FindCLI(ctx context.Context, getenv func(string) string, say io.Writer) (string, error) {
	if path := getenv("RECRAWL_TEMPORAL_CLI"); path != "" {
		if isExecutable(path) {
			return path, nil
		}
		return "", fmt.Errorf("RECRAWL_TEMPORAL_CLI=%s is not a program", path)
	}
	if exe, err := os.Executable(); err == nil {
		if path := filepath.Join(filepath.Dir(exe), "temporal"); isExecutable(path) {
			return path, nil
		}
	}
	root := sourceRoot()
	if root != "" {
		if path := filepath.Join(root, "bin", "temporal"); isExecutable(path) {
			return path, nil
		}
	}
	if path, err := exec.LookPath("temporal"); err == nil {
		return path, nil
	}
	if root == "" {
		return "", errors.New("no Temporal CLI found: put `temporal` on PATH, where `make temporal` of the sources builds one into bin/, or name it in RECRAWL_TEMPORAL_CLI")
	}
	return buildCLI(ctx, root, say)
}

func buildCLI(ctx context.Context, root string, say io.Writer) (string, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return "", errors.New("no Temporal CLI and no Go to build it: install one, or put `temporal` on PATH")
	}
	out := filepath.Join(root, "bin", "temporal")
	fmt.Fprintln(say, "building the Temporal CLI once from tools/temporal; this takes about 5 minutes on 2 cores …")
	start := time.Now()
	// Built beside its name and renamed, so that an interrupted build leaves nothing.
	tmp := out + ".building"
	cmd := exec.CommandContext(ctx, "go", "build", "-o", tmp, "github.com/temporalio/cli/cmd/temporal")
	cmd.Dir = filepath.Join(root, "tools", "temporal")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the Temporal CLI: %w: %s", err, lastLine(output))
	}
	if err := os.Rename(tmp, out); err != nil {
		return "", fmt.Errorf("build the Temporal CLI: %w", err)
	}
	fmt.Fprintf(say, "built %s in %s\n", out, time.Since(start).Round(time.Second))
	return out, nil
}

// sourceRoot finds recrawl's source tree above this program or the working
// directory; "" if there is none.
func sourceRoot() string {
	var starts []string
	if exe, err := os.Executable(); err == nil {
		starts = append(starts, filepath.Dir(exe))
	}
	if wd, err := os.Getwd(); err == nil {
		starts = append(starts, wd)
	}
	for _, dir := range starts {
		for {
			if _, err := os.Stat(filepath.Join(dir, "tools", "temporal", "go.mod")); err == nil {
				return dir
			}
			parent := filepath.Dir(dir)
			if parent == dir {
				break
			}
			dir = parent
		}
	}
	return ""
}

func isExecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
