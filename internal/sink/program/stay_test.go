//go:build unix

package program

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// staying starts the program that stays, and returns the file with the ids that it got.
func staying(t *testing.T, mode string, limit time.Duration) (*Sender, string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	return started(t, "stays", true, limit, "MODE", mode, "OUT", out), out
}

func TestStays(t *testing.T) {
	t.Parallel()
	s, out := staying(t, "ok", patience)
	var want strings.Builder
	for i := range 50 {
		if err := s.Send(t.Context(), change(i)); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&want, "5f2a9c01.%d\n", i)
	}
	if err := s.Close(); err != nil { // the end of its input
		t.Fatal(err)
	}
	if got := read(t, out); got != want.String()+"end\n" {
		t.Error(got)
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	const short = 300 * time.Millisecond
	for _, c := range []struct {
		mode  string
		limit time.Duration
		want  string
	}{
		{"later", patience, "later: sink program it says later: the [hidden] is full"},
		{"refused", patience, "refused 0: sink program it says refused: no such field"},
		{"stop", patience, "stop program: sink program it says stop"},
		{"other", patience, `later: sink program it said "ok 5f2a9c01.1", which is no answer to this message`},
		{"bare", patience, `later: sink program it said "ok", which is no answer to this message`},
		{"rubbish", patience, `later: sink program it said "what is this, [hidden]?", which is no answer to this message`},
		{"long", patience, "later: sink program it said a line of more than 4096 bytes"},
		{"silent", short, "later: sink program it did not answer in time"},
		{"deaf", short, "later: sink program it did not answer in time"},
		{"closes", short, "later: sink program it did not answer in time"},
		{"exit0", patience, "later: sink program it ended without an answer"},
		{"exit1", patience, "refused 1: sink program it ended with exit code 1: trouble with [hidden]"},
		{"exit75", patience, "later: sink program it ended with exit code 75"},
	} {
		t.Run(c.mode, func(t *testing.T) {
			t.Parallel()
			s, _ := staying(t, c.mode, c.limit)
			e := change(7)
			if c.mode == "deaf" {
				e.Problem = strings.Repeat("x", 1<<20)
			}
			for range 2 { // each try alike
				if got := outcome(s.Send(t.Context(), e)); got != c.want {
					t.Errorf("%s, want %s", got, c.want)
				}
			}
		})
	}
}

// Unasked output of a program is no answer to its next message.
func TestUnaskedAnswers(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"twice", "banner"} {
		s, _ := staying(t, mode, patience)
		for i := 0; ; i++ {
			err := s.Send(t.Context(), change(i))
			if err != nil {
				if got := outcome(err); !strings.HasPrefix(got, "later: sink program it said ") || !strings.HasSuffix(got, ", which is no answer to this message") {
					t.Error(got)
				}
				break
			}
			if i > 1000 {
				t.Fatal("it is never found out")
			}
		}
	}
}

// One that ends between two messages is started anew: its end is no answer to the second.
func TestEndsBetweenMessages(t *testing.T) {
	t.Parallel()
	s, out := staying(t, "once", patience)
	for i := range 3 {
		if err := s.Send(t.Context(), change(i)); err != nil {
			t.Fatal(err)
		}
		<-s.running.Done()
	}
	if got := read(t, out); got != "5f2a9c01.0\n5f2a9c01.1\n5f2a9c01.2\n" {
		t.Error(got)
	}
}

// However it fails, the next message finds a program.
func TestIsStartedAgain(t *testing.T) {
	t.Parallel()
	s, out := staying(t, "exit75", patience)
	for i := range 3 {
		if got := outcome(s.Send(t.Context(), change(i))); got != "later: sink program it ended with exit code 75" {
			t.Error(got)
		}
	}
	if got := strings.Count(read(t, out), "\n"); got != 3 {
		t.Errorf("%d messages came", got)
	}
}
