// Package browsertest drives a real Chromium for tests, as a person uses one: it opens
// addresses, clicks, presses keys and takes pictures, in light and dark and at any width,
// and records the browser's complaints. Tests only.
//
// It speaks the DevTools protocol over a pipe to the browser: no port is open, and no other
// program is between.
package browsertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// patience bounds a wait for the browser. It belongs to no verdict: it only ends a test that
// hangs, however busy the machine is.
const patience = 5 * time.Minute

// Options says how a browser is started. The zero value is usable.
type Options struct {
	// Names lead to this machine's loopback besides its own names, such as a site of an
	// attacker. No other name resolves.
	Names []string
}

// Browser is a running Chromium.
type Browser struct {
	pipe *pipe
	cmd  *exec.Cmd
}

// names are the program's names in distributions. The first is Chromium without windows: it draws
// no frame around a page, and takes half of the processor time.
var names = []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// program finds the browser.
func program() (string, error) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("no Chromium is installed: `make packages` installs it on Debian")
}

// Start runs a browser until the test has ended.
func Start(t testing.TB, o Options) *Browser {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	b, err := start(path, t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.stop(); err != nil {
			t.Errorf("Chromium: %v", err)
		}
	})
	return b
}

func start(path, profile string, o Options) (*Browser, error) {
	toBrowser, commands, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	answers, fromBrowser, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, toBrowser.Close(), commands.Close())
	}
	cmd := exec.Command(path, arguments(profile, o)...)
	cmd.ExtraFiles = []*os.File{toBrowser, fromBrowser} // 3 and 4, as --remote-debugging-pipe wants them
	// The profile is the browser's home too: nothing is read from or left in the user's.
	cmd.Env = append(os.Environ(), "HOME="+profile, "XDG_CONFIG_HOME="+profile, "XDG_CACHE_HOME="+profile)
	err = cmd.Start()
	toBrowser.Close()
	fromBrowser.Close()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", path, err), commands.Close(), answers.Close())
	}
	return &Browser{pipe: newPipe(commands, answers), cmd: cmd}, nil
}

// arguments keeps the browser to this machine, and its pictures the same from run to run.
func arguments(profile string, o Options) []string {
	var resolve []string // the first that matches decides
	for _, name := range o.Names {
		resolve = append(resolve, "MAP "+name+" 127.0.0.1")
	}
	resolve = append(resolve, "EXCLUDE localhost", "EXCLUDE 127.0.0.1", "EXCLUDE [::1]", "MAP * ~NOTFOUND")
	args := []string{
		"--headless=new", "--remote-debugging-pipe", "--user-data-dir=" + profile,
		// axe makes much garbage, and a larger nursery is collected less often.
		"--js-flags=--min-semi-space-size=64",
		"--no-first-run", "--no-default-browser-check", "--no-proxy-server",
		"--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--disable-extensions", "--disable-breakpad", "--disable-dev-shm-usage", "--disable-gpu", "--mute-audio", "--hide-scrollbars",
		"--force-device-scale-factor=1", "--font-render-hinting=none", "--lang=en-GB",
		"--host-resolver-rules=" + strings.Join(resolve, ","),
	}
	if os.Getuid() == 0 {
		args = append(args, "--no-sandbox") // Chromium's sandbox refuses root
	}
	return append(args, "about:blank")
}

// stop ends the browser and waits for it.
func (b *Browser) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err := b.pipe.call(ctx, "", "Browser.close", nil)
	if errors.Is(err, errGone) {
		err = nil // it may end before it has answered
	}
	if err != nil {
		err = errors.Join(err, b.cmd.Process.Kill())
	}
	b.pipe.wait()
	waited := b.cmd.Wait()
	return errors.Join(err, waited)
}
