package e2e

import (
	"context"
	"net/http"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestWalkToFirstChange: a reader of the README has a site of theirs watched and sees a
// change of it, using only the commands given there.
func TestWalkToFirstChange(t *testing.T) {
	sideBySide(t, 30)
	folder := t.TempDir()
	index := write(t, filepath.Join(folder, "index.html"), "<title>Mine</title><h1>Mine</h1><p>Some words that stay.</p>\n")
	s := serve(t, http.FileServer(http.Dir(folder)))
	walk(t, nil, "first-change.sh", s.url+"/", index)
}

// TestWalkToAlert: a reader of the operating guide gets an alert when a host stops
// answering, and learns what to do then.
func TestWalkToAlert(t *testing.T) {
	sideBySide(t, 35)
	s := serve(t, tree(3))
	stop := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { s.srv.Close() }))
	walk(t, []string{"METRICS_PORT=" + freePort(t), "PROMETHEUS_PORT=" + freePort(t)}, "alert.sh", s.url+"/", "curl -sf "+stop.url)
}

// walk runs one of examples/walks, with the programs on the path. What it starts ends with it.
func walk(t *testing.T, env []string, name string, args ...string) {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience())
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(root, "examples", "walks", name), args...)
	cmd.Env = append(append(cleanEnv(t), "RECRAWL_TEMPORAL_CLI="+programs.temporal, pathWith()+":"+filepath.Join(root, "bin")), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // with what it has started
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	} else {
		t.Logf("%s", out)
	}
}
