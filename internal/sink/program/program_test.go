//go:build unix

package program

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/sink"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

const token = "t0ken-of-the-program"

func change(n int) feed.Event {
	return feed.Event{
		V: feed.EventVersion, ID: fmt.Sprintf("5f2a9c01.%d", n), Cursor: feed.Cursor{Epoch: "5f2a9c01", ID: int64(n)}, Kind: feed.PageChanged, At: noon, Crawl: "news",
		Page: &feed.EventPage{ID: 12, URL: "https://news.example/?a=1&b=<2>", Title: "A\nB"},
	}
}

// patience is the time limit of programs that end: it must not be reached on a busy
// machine.
const patience = time.Minute

// started makes the sender of a program of testdata, with variables in pairs.
func started(t *testing.T, script string, staying bool, limit time.Duration, variables ...string) *Sender {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", script))
	if err != nil {
		t.Fatal(err)
	}
	worker := map[string]string{"PATH": os.Getenv("PATH"), "RECRAWL_STORE": "postgres://u:hunter22@db/x", "AWS_SECRET_ACCESS_KEY": "hunter22", "TOKEN": token}
	names := []string{"TOKEN"}
	for i := 0; i < len(variables); i += 2 {
		worker[variables[i]] = variables[i+1]
		names = append(names, variables[i])
	}
	s, err := New(crawl.SinkSpec{Kind: "exec", To: "it"}, Options{
		Programs: Programs{"it": {Path: path, Stays: staying}}, Variables: names, Getenv: func(name string) string { return worker[name] }, TimeLimit: limit,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// outcome names the result of Send.
func outcome(err error) string {
	var refused *sink.Refused
	var later *sink.Later
	var stop *sink.Stop
	switch {
	case err == nil:
		return "delivered"
	case errors.As(err, &refused):
		return fmt.Sprintf("refused %d: %s", refused.Status, refused.Reason)
	case errors.As(err, &later):
		return "later: " + later.Reason
	case errors.As(err, &stop):
		return "stop " + stop.Code + ": " + stop.Reason
	}
	return "error: " + err.Error()
}

func TestMessagesAreLines(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "out")
	s := started(t, "append", false, patience, "OUT", out)
	if err := s.Send(t.Context(), change(1)); err != nil {
		t.Fatal(err)
	}
	if err := s.SendDigest(t.Context(), sink.Digest{ID: "d1", Crawl: "news", Sink: "x", From: noon, To: noon, Events: []feed.Event{change(2)}, Left: 3}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(read(t, out), "\n"), "\n")
	if len(lines) != 2 {
		t.Fatalf("%q", lines)
	}
	var e feed.Event
	if err := json.Unmarshal([]byte(lines[0]), &e); err != nil || e.ID != change(1).ID || e.Page.Title != "A\nB" {
		t.Errorf("%s, %v", lines[0], err)
	}
	want := `{"v":1,"digest":{"id":"d1","crawl":"news","sink":"x","from":"2026-11-23T12:00:00Z","to":"2026-11-23T12:00:00Z","events":[{"v":1,"id":"5f2a9c01.2",`
	if !strings.HasPrefix(lines[1], want) || !strings.HasSuffix(lines[1], `"left":3}}`) {
		t.Errorf("%s", lines[1])
	}
}

// A message that does not fit into a pipe is there as a whole before the program starts: no kill
// of the worker lets a program take a part for it.
func TestLongMessages(t *testing.T) {
	t.Parallel()
	d := sink.Digest{ID: "d1", Crawl: "news", Sink: "x", From: noon, To: noon}
	for n := range 1000 {
		d.Events = append(d.Events, change(n))
	}
	line, err := sink.EncodeDigest(d)
	if err != nil || len(line) < 128<<10 {
		t.Fatalf("%d bytes, %v", len(line), err)
	}
	in, drop := input(line)
	file, is := in.(*os.File)
	if !is {
		t.Fatalf("it comes from a %T", in)
	}
	if got, err := io.ReadAll(file); err != nil || string(got) != string(line) {
		t.Errorf("%d bytes of %d, %v", len(got), len(line), err)
	}
	drop()
	if _, err := os.Stat(file.Name()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is left: %v", err)
	}
	out := filepath.Join(t.TempDir(), "out")
	if err := started(t, "append", false, patience, "OUT", out).SendDigest(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	if got := read(t, out); got != string(line)+"\n" {
		t.Errorf("the program got %d bytes of %d", len(got), len(line)+1)
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"0":   "delivered",
		"1":   "refused 1: sink program it ended with exit code 1: trouble with [hidden]",
		"65":  "refused 65: sink program it ended with exit code 65: trouble with [hidden]",
		"75":  "later: sink program it ended with exit code 75: trouble with [hidden]",
		"78":  "stop config: sink program it ended with exit code 78: trouble with [hidden]",
		"255": "refused 255: sink program it ended with exit code 255: trouble with [hidden]",
	} {
		s := started(t, "ends", false, patience, "CODE", code)
		if got := outcome(s.Send(t.Context(), change(1))); got != want {
			t.Errorf("%s: %s, want %s", code, got, want)
		}
	}
}

func TestMisbehaviour(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ script, want string }{
		{"deaf", "delivered"},
		{"floods", "delivered"},
		{"dies", "later: sink program it was ended (signal: killed)"},
		{"babbles", "refused 1: sink program it ended with exit code 1: the  [31mlast [0m line"},
		{"nothing", "later: sink program it cannot be started: no such file or directory"},
	} {
		t.Run(c.script, func(t *testing.T) {
			t.Parallel()
			e := change(1)
			e.Problem = strings.Repeat("x", 1<<20) // more than a pipe holds
			if got := outcome(started(t, c.script, false, patience).Send(t.Context(), e)); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// Processes that a program leaves running delay nobody, even if they hold the program's
// output.
func TestLeavesSomethingRunning(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "out")
	if err := started(t, "leaves", false, patience, "OUT", out).Send(t.Context(), change(1)); err != nil {
		t.Error(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(read(t, out)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("it does not run any more: %v", err)
	}
}

// A program that hangs is ended with all processes that it started.
func TestHanging(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	alive := make(chan error, 1)
	go func() {
		f, err := os.Open(fifo) // when the program has opened it, too
		if err == nil {
			defer f.Close()
			_, err = io.ReadAll(f) // ends when nobody has it open any more
		}
		alive <- err
	}()
	s := started(t, "hangs", false, 500*time.Millisecond, "FIFO", fifo)
	for {
		if got, want := outcome(s.Send(t.Context(), change(1))), "later: sink program it did not end in time"; got != want {
			t.Fatalf("%s, want %s", got, want)
		}
		select {
		case err := <-alive:
			if err != nil {
				t.Error(err)
			}
			return
		default: // it did not even come to open the pipe: once more
		}
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	for _, staying := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := started(t, "hangs", staying, patience, "FIFO", "/dev/null").Send(ctx, change(1))
		var later *sink.Later
		if !errors.Is(err, context.Canceled) || errors.As(err, &later) {
			t.Errorf("%v", err)
		}
		ctx, cancel = context.WithTimeout(t.Context(), time.Nanosecond)
		err = started(t, "hangs", staying, patience, "FIFO", "/dev/null").Send(ctx, change(1))
		if cancel(); !errors.As(err, &later) || !strings.HasSuffix(err.Error(), " in time") {
			t.Errorf("%v", err)
		}
	}
}

// The worker's environment holds secrets. Programs get only the named variables.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "out")
	if err := started(t, "environment", false, patience, "OUT", out).Send(t.Context(), change(1)); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for line := range strings.Lines(read(t, out)) {
		name, _, _ := strings.Cut(line, "=")
		names[name] = true
	}
	for _, shell := range []string{"PWD", "OLDPWD", "SHLVL", "_"} {
		delete(names, shell)
	}
	if len(names) != 3 || !names["PATH"] || !names["TOKEN"] || !names["OUT"] {
		t.Errorf("the program has %v", names)
	}
	s, err := New(crawl.SinkSpec{To: "it"}, Options{Programs: Programs{"it": {}}, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	if cmd := s.command(t.Context(), nil); cmd.Env == nil {
		t.Error("a program without variables gets all of the worker's")
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := Parse(" mail=/opt/mail\tkafka=stay:/opt/kafka ")
	if err != nil || len(got) != 2 || got["mail"] != (Program{"/opt/mail", false}) || got["kafka"] != (Program{"/opt/kafka", true}) {
		t.Errorf("%+v, %v", got, err)
	}
	for v, want := range map[string]string{
		"Mail=/opt/mail":  `"Mail=/opt/mail": write NAME=PATH or NAME=stay:PATH, the name of 1 to 40 of a-z 0-9 . _ -`,
		"mail":            `mail: "" is not an absolute path`,
		"mail=stay:mail":  `mail: "mail" is not an absolute path`,
		"a=/a a=stay:/b":  "a is named twice",
		"mail=Stay:/a/b ": `mail: "Stay:/a/b" is not an absolute path`,
	} {
		if _, err := Parse(v); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %q", v, err, want)
		}
	}
	if names, err := ParseVariables(" A_1 b "); err != nil || strings.Join(names, "|") != "A_1|b" {
		t.Errorf("%v, %v", names, err)
	}
	if _, err := ParseVariables("A=hunter22"); err == nil || err.Error() != `"A=hunter22" is not the name of a variable: write names only, with spaces between` {
		t.Errorf("%v", err)
	}
	if _, err := New(crawl.SinkSpec{To: "x"}, Options{Programs: got}); err == nil || err.Error() != `to: this worker has no sink program "x"; whoever runs the workers lists programs in RECRAWL_SINK_PROGRAMS (there are: kafka, mail)` {
		t.Errorf("%v", err)
	}
}

func TestTail(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	tl := &tail{}
	for i := range 3000 {
		text := fmt.Sprintf("line %d\n", i)
		all.WriteString(text)
		if n, err := tl.Write([]byte(text)); n != len(text) || err != nil {
			t.Fatal(n, err)
		}
		if !strings.HasSuffix(all.String(), string(tl.end)) || len(tl.end) != min(all.Len(), maxTail) {
			t.Fatalf("after %d bytes it keeps %d", all.Len(), len(tl.end))
		}
	}
	if got := tl.line(); got != "line 2999" {
		t.Error(got)
	}
	tl.Write([]byte(strings.Repeat("x", 3*maxTail)))
	if got := tl.line(); got != "a line of more than 8 KiB" || len(tl.end) != maxTail {
		t.Error(got)
	}
}
