package webhook

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"recrawl/internal/crawl"
	"recrawl/internal/sink/program"
)

var block = regexp.MustCompile("(?s)\n```([a-z]+)\n(.*?\n)```\n")

// examples returns the blocks of docs/sinks.md in a language.
func examples(t *testing.T, language string) []string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "sinks.md"))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range block.FindAllStringSubmatch(string(page), -1) {
		if m[1] == language {
			all = append(all, m[2])
		}
	}
	if len(all) == 0 {
		t.Fatalf("docs/sinks.md has no example in %s", language)
	}
	return all
}

// Each spec of docs/sinks.md makes senders.
func TestDocsSpecs(t *testing.T) {
	t.Parallel()
	for _, text := range examples(t, "yaml") {
		var spec struct {
			Sinks map[string]crawl.SinkSpec `json:"sinks"`
		}
		var raw any
		if err := yaml.Unmarshal([]byte(text), &raw); err != nil {
			t.Fatal(err)
		}
		asJSON, err := json.Marshal(raw)
		if err != nil {
			t.Fatal(err)
		}
		decoder := json.NewDecoder(bytes.NewReader(asJSON))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&spec); err != nil || len(spec.Sinks) == 0 {
			t.Errorf("%v:\n%s", err, text)
		}
		for name, s := range spec.Sinks {
			switch s.Kind {
			case "webhook":
				_, err = New(s, Options{})
			case "exec":
				_, err = program.New(s, program.Options{Programs: program.Programs{"kafka": {}}})
			default:
				err = fmt.Errorf("kind %q", s.Kind)
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// verify reports whether a request with this body was signed with the secret, and lately.
func verify(secret string, header http.Header, body []byte, now time.Time) bool {
	key, errKey := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	at, errTime := strconv.ParseInt(header.Get("webhook-timestamp"), 10, 64)
	if errKey != nil || errTime != nil || now.Sub(time.Unix(at, 0)).Abs() > 5*time.Minute {
		return false
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%d.%s", header.Get("webhook-id"), at, body)
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, signature := range strings.Fields(header.Get("webhook-signature")) {
		if hmac.Equal([]byte(signature), []byte(want)) {
			return true
		}
	}
	return false
}

// has reports whether a program is there. In CI, where nobody reads what was left out, it must
// be.
func has(t *testing.T, program string) bool {
	t.Helper()
	_, err := exec.LookPath(program)
	if err != nil && os.Getenv("CI") != "" {
		t.Errorf("there is no %s", program)
	}
	return err == nil
}

// verifiers are the examples of docs/sinks.md, in each language.
func verifiers(t *testing.T) map[string]func(secret string, r received) bool {
	t.Helper()
	source, err := os.ReadFile("docs_test.go")
	if err != nil {
		t.Fatal(err)
	}
	if example := examples(t, "go")[0]; !bytes.Contains(source, []byte("\n"+example)) {
		t.Errorf("docs/sinks.md has another verify than this file:\n%s", example)
	}
	run := func(r received, secret string, name string, args ...string) bool {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Stdin = bytes.NewReader(r.body)
		cmd.Env = append(os.Environ(), "SECRET="+secret)
		out, err := cmd.CombinedOutput()
		if err != nil && cmd.ProcessState.ExitCode() != 1 || len(out) > 0 {
			t.Errorf("%s: %v, %s", name, err, out)
		}
		return err == nil
	}
	headers := func(r received) []string {
		return []string{r.header.Get("webhook-id"), r.header.Get("webhook-timestamp"), r.header.Get("webhook-signature")}
	}
	all := map[string]func(string, received) bool{
		"go": func(secret string, r received) bool { return verify(secret, r.header, r.body, time.Now()) },
	}
	if has(t, "openssl") {
		all["sh"] = func(secret string, r received) bool {
			return run(r, secret, "sh", append([]string{"-c", examples(t, "sh")[0] + `verify "$@"`, "sh"}, headers(r)...)...)
		}
	}
	if has(t, "python3") {
		all["python"] = func(secret string, r received) bool {
			const call = `
import os, sys
names = ["webhook-id", "webhook-timestamp", "webhook-signature"]
sys.exit(0 if verify(os.environ["SECRET"], dict(zip(names, sys.argv[1:])), sys.stdin.buffer.read()) else 1)
`
			return run(r, secret, "python3", append([]string{"-c", examples(t, "python")[0] + call}, headers(r)...)...)
		}
	}
	return all
}

// The receivers of docs/sinks.md accept what was sent, and nothing else. Those in a shell
// and in Python are tried if there is an openssl and a Python.
func TestDocsVerify(t *testing.T) {
	t.Parallel()
	r := listen(t, false, nil)
	now := time.Now()
	s := sender(t, crawl.SinkSpec{Secret: "env:NEW env:OLD"}, Options{Now: func() time.Time { return now }}, r)
	send := func(at time.Time) received {
		t.Helper()
		now = at
		if err := s.Send(t.Context(), change()); err != nil {
			t.Fatal(err)
		}
		all := r.all()
		return all[len(all)-1]
	}
	good, old := send(now), send(now.Add(-time.Hour))
	forged := good
	forged.body = bytes.Replace(forged.body, []byte("12"), []byte("13"), 1)
	other := "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 32))
	for language, accepts := range verifiers(t) {
		if !accepts(newSecret, good) || !accepts(oldSecret, good) {
			t.Errorf("%s: what was sent is not accepted", language)
		}
		if accepts(newSecret, forged) || accepts(newSecret, old) || accepts(other, good) {
			t.Errorf("%s: a forgery, or one an hour old, is accepted", language)
		}
	}
}
