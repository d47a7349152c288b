package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// TestOperatorPage looks at a crawl by its page, in starter dev and beside it, and presses
// buttons, which must do the same as the commands.
func TestOperatorPage(t *testing.T) {
	sideBySide(t, 10)
	var fails atomic.Bool
	fails.Store(true)
	site := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/robots.txt":
			http.NotFound(w, r)
		case fails.Load():
			http.Error(w, "not now", http.StatusInternalServerError)
		default:
			fmt.Fprint(w, "<!DOCTYPE html><title>Prices &amp; more</title><p>A ticket costs 12 euros, as everybody knows.")
		}
	}))
	args := append([]string{"--name", "t", "--web-port", freePort(t)}, crawlSettings("100ms")...)
	d := startDev(t, filepath.Join(t.TempDir(), "data"), append(args, site.url+"/")...)
	address := d.state().Web
	if said, _, _ := strings.Cut(d.out.String(), "Temporal UI"); !strings.Contains(said, "page         "+address) {
		t.Errorf("dev does not name the page before anything else:\n%s", d.out)
	}
	d.await("the page fails", func() bool { return strings.Contains(d.getPage(address, "/crawls/t"), "1 page fails") })
	fails.Store(false)
	// The page does not wait for a slow answer: that the retry has worked is seen below.
	if told := d.press(address, "/crawls/t/retry"); !strings.Contains(told, "asked for 1 visit, as soon as the hosts allow") && !strings.Contains(told, "has begun and goes on") {
		t.Errorf("retry: %s", told)
	}
	d.await("the retry leads to a visit", func() bool { return strings.Contains(d.getPage(address, "/crawls/t"), "Prices &amp; more") })

	out, end := d.beside("web", "--listen", "127.0.0.1:"+freePort(t))
	d.await("starter web serves", func() bool { return strings.Contains(out.String(), "; Ctrl-C stops") })
	other := regexp.MustCompile(`http://[^;]+`).FindString(out.String())
	if told := d.press(other, "/crawls/t/do/pause"); !strings.Contains(told, "paused: no request begins until it is resumed") {
		t.Errorf("pause: %s", told)
	}
	var status struct{ State string }
	d.await("the crawl is paused", func() bool {
		return json.Unmarshal([]byte(d.getPage(address, "/crawls/t.json")), &status) == nil && status.State == "paused"
	})
	end()
}

// beside runs a long-running command on the same data folder; end stops it, and checks that
// it ends well.
func (d *dev) beside(args ...string) (out *syncBuffer, end func()) {
	d.t.Helper()
	cmd := exec.Command(programs.starter, append([]string{"--data", d.data}, args...)...)
	out = &syncBuffer{}
	cmd.Env, cmd.Stdout, cmd.Stderr = cleanEnv(d.t), out, out
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait(); close(ended) }()
	d.t.Cleanup(func() { cmd.Process.Kill(); <-ended })
	return out, func() {
		d.t.Helper()
		cmd.Process.Signal(syscall.SIGINT)
		if err := <-ended; err != nil {
			d.t.Errorf("starter %s ended: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// getPage returns the answer from an address of the page.
func (d *dev) getPage(address, path string) string {
	d.t.Helper()
	return d.bodyOf(http.Get(address + path))
}

// press presses a button as a browser does, again if the machine was too busy for it, and returns
// the page that it leads to.
func (d *dev) press(address, path string) (told string) {
	d.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		d.t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	d.await("the machine has time for "+path, func() bool {
		r, err := browser.PostForm(address+path, url.Values{"back": {"/crawls/t"}})
		if err == nil && r.StatusCode == http.StatusConflict { // the command's error
			body, err := io.ReadAll(r.Body)
			if r.Body.Close(); err == nil && tooBusy(string(body)) {
				return false
			}
			d.t.Fatalf("%s: %v\n%s", path, err, body)
		}
		told = d.bodyOf(r, err)
		return true
	})
	return told
}

func (d *dev) bodyOf(r *http.Response, err error) string {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		d.t.Fatalf("%s: %d, %v\n%s", r.Request.URL, r.StatusCode, err, body)
	}
	return string(body)
}
