//go:build unix

package program

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/sink"
)

var block = regexp.MustCompile("(?s)\n```(?:sh|python)\n(#!/.*?\n)```\n")

// example writes the program of docs/sinks.md that has these words in it into a folder.
func example(t *testing.T, folder, words string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "sinks.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range block.FindAllStringSubmatch(string(page), -1) {
		if strings.Contains(m[1], words) {
			return script(t, folder, "program", strings.ReplaceAll(m[1], "/var/log/recrawl", folder))
		}
	}
	t.Fatalf("docs/sinks.md has no program with %s", words)
	return ""
}

// script writes a program by another process: otherwise a process that is just being
// started could have the file open for writing too, and it could not be run.
func script(t *testing.T, folder, name, text string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `cat >"$0" && chmod +x "$0"`, path)
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// attached returns the sender of a program of the docs, with stand-ins first in its PATH
// for the programs that it calls.
func attached(t *testing.T, folder string, p Program) *Sender {
	t.Helper()
	worker := map[string]string{"PATH": folder + ":" + os.Getenv("PATH"), "HOME": os.Getenv("HOME"), "PYTHONPATH": folder, "KAFKA_BROKERS": "broker:9092", "OUT": filepath.Join(folder, "out")}
	s, err := New(crawl.SinkSpec{To: "it"}, Options{
		Programs: Programs{"it": p}, Variables: []string{"PYTHONPATH", "KAFKA_BROKERS", "OUT"}, Getenv: func(name string) string { return worker[name] }, TimeLimit: patience,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func encoded(t *testing.T, e feed.Event) string {
	t.Helper()
	line, err := sink.EncodeEvent(e)
	if err != nil {
		t.Fatal(err)
	}
	return string(line)
}

func TestDocsFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := attached(t, folder, Program{Path: example(t, folder, "changes.jsonl")})
	for i := range 2 {
		if err := s.Send(t.Context(), change(i)); err != nil {
			t.Fatal(err)
		}
	}
	log := filepath.Join(folder, "changes.jsonl")
	if got := read(t, log); got != encoded(t, change(0))+"\n"+encoded(t, change(1))+"\n" {
		t.Error(got)
	}
	if err := os.Remove(log); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(log, 0o700); err != nil { // nothing can be written there
		t.Fatal(err)
	}
	if got := outcome(s.Send(t.Context(), change(2))); !strings.HasPrefix(got, "later: ") {
		t.Error(got)
	}
}

// needs skips a test where a program is missing that its example needs.
func needs(t *testing.T, program string) {
	t.Helper()
	_, err := exec.LookPath(program)
	switch {
	case err != nil && os.Getenv("CI") != "": // where nobody reads what was skipped
		t.Fatalf("there is no %s", program)
	case err != nil:
		t.Skipf("there is no %s", program)
	}
}

func TestDocsApprise(t *testing.T) {
	t.Parallel()
	needs(t, "jq")
	folder := t.TempDir()
	s := attached(t, folder, Program{Path: example(t, folder, "apprise")})
	script(t, folder, "apprise", "#!/bin/sh\n"+`printf '%s|' "$@" >"$OUT"`+"\n")
	e := change(1)
	e.Diff = &feed.EventDiff{Added: []string{"new $(id)"}, Removed: []string{"old"}}
	if err := s.Send(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	if got, want := read(t, filepath.Join(folder, "out")), "--title|page.changed|--body|A\nB https://news.example/?a=1&b=<2>\n- old\n+ new $(id)|"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if err := s.SendDigest(t.Context(), sink.Digest{ID: "d", Events: []feed.Event{change(1), change(2)}}); err != nil {
		t.Fatal(err)
	}
	if got, want := read(t, filepath.Join(folder, "out")), "--title|Changes|--body|A\nB https://news.example/?a=1&b=<2>\nA\nB https://news.example/?a=1&b=<2>|"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	script(t, folder, "apprise", "#!/bin/sh\nexit 1\n")
	if got := outcome(s.Send(t.Context(), e)); got != "later: sink program it ended with exit code 75" {
		t.Error(got)
	}
}

func TestDocsKcat(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := attached(t, folder, Program{Path: example(t, folder, "kcat -P")})
	script(t, folder, "kcat", "#!/bin/sh\n"+`{ echo "$@"; cat; } >"$OUT"`+"\n")
	if err := s.Send(t.Context(), change(1)); err != nil {
		t.Fatal(err)
	}
	if got := read(t, filepath.Join(folder, "out")); got != "-P -b broker:9092 -t changes -X acks=all\n"+encoded(t, change(1))+"\n" {
		t.Error(got)
	}
	script(t, folder, "kcat", "#!/bin/sh\necho '% ERROR: no brokers' >&2\nexit 1\n")
	if got := outcome(s.Send(t.Context(), change(1))); got != "later: sink program it ended with exit code 75: % ERROR: no brokers" {
		t.Error(got)
	}
}

// producer stands in for confluent_kafka: it delivers all but every third message.
const producer = `
import os

class Producer:
    def __init__(self, config):
        self.config, self.calls = config, []

    def produce(self, topic, value, key, on_delivery):
        self.calls.append((topic, value, key, on_delivery))

    def flush(self, limit):
        for topic, value, key, on_delivery in self.calls:
            bad = '"id":"5f2a9c01.3"' in value
            on_delivery("broker down" if bad else None, None)
            if not bad:
                with open(os.environ["OUT"], "a") as out:
                    print(self.config["bootstrap.servers"], topic, key, value, file=out)
        self.calls = []
        return 0
`

func TestDocsProducer(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	folder := t.TempDir()
	s := attached(t, folder, Program{Path: example(t, folder, "confluent_kafka"), Stays: true})
	script(t, folder, "confluent_kafka.py", producer)
	want := ""
	for i := range 5 {
		got, wanted := outcome(s.Send(t.Context(), change(i))), "delivered"
		if i == 3 {
			wanted = "later: sink program it says later: broker down"
		} else {
			want += "broker:9092 changes 12 " + encoded(t, change(i)) + "\n"
		}
		if got != wanted {
			t.Errorf("%d: %s, want %s", i, got, wanted)
		}
	}
	if err := s.SendDigest(t.Context(), sink.Digest{ID: "d"}); err != nil {
		t.Error(err)
	}
	if got := read(t, filepath.Join(folder, "out")); !strings.HasPrefix(got, want+"broker:9092 changes  {\"v\":1,\"digest\":") {
		t.Errorf("%s, want %s", got, want)
	}
}
