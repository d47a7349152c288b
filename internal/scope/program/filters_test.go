//go:build unix

package program

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"recrawl/internal/scope"
	"recrawl/internal/urlkey"
)

// clock is moved by hand.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// patience is the time limit of programs that answer: a busy machine must not reach
// it.
const patience = time.Minute

// started starts one of the programs of testdata under the name it.
func started(t *testing.T, name string, timeout time.Duration) (*Set, *clock) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	c := &clock{}
	s, err := Start(map[string]string{"it": path}, Options{Timeout: timeout, Now: c.now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, c
}

func ask(t *testing.T, s *Set, path string) scope.Answer {
	t.Helper()
	u, err := urlkey.Canonical("https://example.com/" + path)
	if err != nil {
		t.Fatal(err)
	}
	return s.Ask("it", u)
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	s, _ := started(t, "casino", patience)
	for range 2 {
		if a := ask(t, s, "news"); a != (scope.Answer{Accept: true}) {
			t.Errorf("news: %+v", a)
		}
		if a := ask(t, s, "casino?a=1"); a != (scope.Answer{Reason: "gambling"}) {
			t.Errorf("casino: %+v", a)
		}
	}
	if !s.Has("it") || s.Has("other") {
		t.Error("it has other programs")
	}
	if a := s.Ask("other", urlkey.URL{}); !a.Unknown || a.Reason == "" {
		t.Errorf("a program that there is not: %+v", a)
	}
}

func TestAnswersAreRemembered(t *testing.T) {
	t.Parallel()
	s, _ := started(t, "count", patience)
	for i, path := range []string{"a", "b", "a", "b", "c", "a"} {
		want := []string{"answer 1", "answer 2", "answer 1", "answer 2", "answer 3", "answer 1"}[i]
		if a := ask(t, s, path); a.Reason != want {
			t.Errorf("%s: %+v, want %s", path, a, want)
		}
	}
}

func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	var c cache
	for i := range 10 * cacheSize {
		c.put(fmt.Sprint(i), scope.Answer{Reason: fmt.Sprint(i)})
		if len(c.young)+len(c.old) > 2*cacheSize {
			t.Fatalf("%d answers", len(c.young)+len(c.old))
		}
	}
	if a, ok := c.get(fmt.Sprint(9*cacheSize + 1)); !ok || a.Reason != fmt.Sprint(9*cacheSize+1) {
		t.Errorf("a young answer is %+v", a)
	}
	if _, ok := c.get("0"); ok {
		t.Error("the oldest answer is still there")
	}
}

// A program that ends has no answer, is then tried again, later each time, and its
// earlier answers are forgotten.
func TestRestartWithBackoff(t *testing.T) {
	t.Parallel()
	s, c := started(t, "ends", patience)
	if a := ask(t, s, "a"); !a.Accept {
		t.Fatalf("%+v", a)
	}
	for _, pause := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
		if a := ask(t, s, "end"); !a.Unknown || !strings.Contains(a.Reason, "exit code 3") {
			t.Fatalf("%+v", a)
		}
		c.move(pause - 1)
		if a := ask(t, s, "a"); !a.Unknown {
			t.Fatalf("started again before %s: %+v", pause, a)
		}
		c.move(1)
	}
	if a := ask(t, s, "a"); !a.Accept {
		t.Fatalf("not started again: %+v", a)
	}
	ask(t, s, "end")
	c.move(firstPause)
	if a := ask(t, s, "a"); !a.Accept {
		t.Errorf("after an answer the pause is not the first again: %+v", a)
	}
}

func TestMisbehaviour(t *testing.T) {
	t.Parallel()
	const short = 100 * time.Millisecond
	for _, c := range []struct {
		name    string
		timeout time.Duration
		want    string
	}{
		{"silent", short, "no answer within 100ms"},
		{"deaf", short, "no answer within 100ms"},
		{"babbles", patience, "neither accept nor reject"},
		{"endless", patience, "it ended"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, _ := started(t, c.name, c.timeout)
			if a := ask(t, s, "a"); !a.Unknown || a.Accept || !strings.Contains(a.Reason, c.want) {
				t.Errorf("%+v, want no answer: %s", a, c.want)
			}
		})
	}
}

// An answer to no question must not be taken for the answer to the next.
func TestAnswersTwice(t *testing.T) {
	t.Parallel()
	s, _ := started(t, "twice", patience)
	if a := ask(t, s, "a"); !a.Accept {
		t.Fatalf("%+v", a)
	}
	for i := 0; ; i++ {
		a := ask(t, s, fmt.Sprint(i))
		if a.Unknown {
			if !strings.Contains(a.Reason, "without being asked") {
				t.Errorf("%+v", a)
			}
			return
		}
		if i > 1000 {
			t.Fatal("it is never found out")
		}
	}
}

// A program is not ended because others were asked before: it has its whole time from its turn on.
func TestTimeBeginsWithTheTurn(t *testing.T) {
	t.Parallel()
	const limit = 400 * time.Millisecond
	for range 100 {
		s, _ := started(t, "silent", limit)
		turn := s.programs["it"].turn
		turn <- struct{}{}
		answered := make(chan scope.Answer)
		go func() { answered <- ask(t, s, "a") }()
		time.Sleep(limit / 2) // most of which it waits for its turn
		begun := time.Now()
		<-turn
		a := <-answered
		if strings.Contains(a.Reason, "busy") {
			continue // this machine is: it has waited for longer
		}
		if took := time.Since(begun); took < limit || !a.Unknown {
			t.Errorf("given up %s after its turn came, want %s at least: %+v", took, limit, a)
		}
		return
	}
}

func TestManyAskAtOnce(t *testing.T) {
	t.Parallel()
	s, _ := started(t, "casino", patience)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			for j := range 20 {
				gambles := (i+j)%3 == 0
				path := fmt.Sprintf("%d/%d", i, j)
				if gambles {
					path += "/casino"
				}
				if a := ask(t, s, path); a.Unknown || a.Accept == gambles {
					t.Errorf("%s: %+v", path, a)
				}
			}
		})
	}
	all.Wait()
}

func TestStartSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	if _, err := Start(map[string]string{"it": "/no/such/program"}, Options{}); err == nil || !strings.Contains(err.Error(), "filter program it") {
		t.Errorf("error %v", err)
	}
}

func TestClosedHasNoAnswer(t *testing.T) {
	t.Parallel()
	s, _ := started(t, "casino", patience)
	s.Close()
	if a := ask(t, s, "a"); !a.Unknown {
		t.Errorf("%+v", a)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", maxReason)
	for line, want := range map[string]scope.Answer{
		"accept":                 {Accept: true},
		" accept ok\r":           {Accept: true, Reason: "ok"},
		"reject":                 {},
		"reject \x00bad\xff\tx ": {Reason: "bad? x"},
		"reject " + long:         {Reason: strings.Repeat("ä", maxReason/2) + "…"},
	} {
		if got, err := parse(line); err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", line, got, err, want)
		}
	}
	for _, line := range []string{"", "ACCEPT", "accepted", "rejectx", "maybe accept"} {
		if got, err := parse(line); err == nil {
			t.Errorf("%q: %+v", line, got)
		}
	}
}
