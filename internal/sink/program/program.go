// Package program hands changes to programs of the operator. That is how systems with a
// protocol of their own are attached to a crawl.
//
// A program gets one line of JSON on its standard input. It is run once for each message,
// and its exit code is the answer, as for the programs to which mail servers deliver; or it
// stays, and answers each line with a line, which saves it starting anew. Both ways a
// message counts as delivered only once the program has said so, and is handed over again
// otherwise.
package program

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/sink"
)

// Program is a program that the operator lists.
type Program struct {
	Path string
	// Stays: the program answers each line with a line, and is not run for each.
	Stays bool
}

// Programs are the programs of a worker, by the names that specs use.
type Programs map[string]Program

// stays marks the path of a program that stays.
const stays = "stay:"

// Parse reads "NAME=/PATH NAME=stay:/PATH".
func Parse(v string) (Programs, error) {
	all := Programs{}
	for _, field := range strings.Fields(v) {
		name, path, _ := strings.Cut(field, "=")
		path, staying := strings.CutPrefix(path, stays)
		switch {
		case !crawl.ValidName(name):
			return nil, fmt.Errorf("%q: write NAME=PATH or NAME=stay:PATH, the name of 1 to 40 of a-z 0-9 . _ -", field)
		case !filepath.IsAbs(path):
			return nil, fmt.Errorf("%s: %q is not an absolute path", name, path)
		case all[name] != Program{}:
			return nil, fmt.Errorf("%s is named twice", name)
		}
		all[name] = Program{Path: path, Stays: staying}
	}
	return all, nil
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// ParseVariables reads the names of variables that programs get.
func ParseVariables(v string) ([]string, error) {
	names := strings.Fields(v)
	for _, name := range names {
		if !variable.MatchString(name) {
			return nil, fmt.Errorf("%.40q is not the name of a variable: write names only, with spaces between", name)
		}
	}
	return names, nil
}

// usual are the variables that each program gets: those that it needs to find itself and
// its files, and none that may be secret.
var usual = []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR"}

// timeLimit bounds the time of a program for a message. The caller of Send allows a little
// more, so that our reason is the one reported.
const timeLimit = 25 * time.Second

// Options holds what a Sender needs besides its spec.
type Options struct {
	// Programs are those that specs may name.
	Programs Programs
	// Variables are the names of further variables of the worker that programs get.
	Variables []string
	// Getenv reads the worker's environment; nil is os.Getenv.
	Getenv func(string) string
	// TimeLimit bounds a message; 0 is 25 seconds.
	TimeLimit time.Duration
}

// Sender hands changes to one program. It implements sink.Sender.
type Sender struct {
	name    string
	program Program
	limit   time.Duration
	env     []string
	hidden  []string // texts that no problem may show

	mu      sync.Mutex // one message at a time
	running *process   // of a program that stays, nil if it does not run
}

// New returns the sender of a spec of kind exec, or says in one line what is wrong.
func New(spec crawl.SinkSpec, o Options) (*Sender, error) {
	p, ok := o.Programs[spec.To]
	if !ok {
		return nil, fmt.Errorf("to: this worker has no sink program %.40q; whoever runs the workers lists programs in RECRAWL_SINK_PROGRAMS (there are: %s)", spec.To, listed(o.Programs))
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.TimeLimit <= 0 {
		o.TimeLimit = timeLimit
	}
	s := &Sender{name: spec.To, program: p, limit: o.TimeLimit}
	for _, name := range usual {
		s.give(name, o.Getenv(name))
	}
	for _, name := range o.Variables {
		value := o.Getenv(name)
		s.give(name, value)
		if len(value) >= leastSecret {
			s.hidden = append(s.hidden, value)
		}
	}
	slices.SortFunc(s.hidden, func(a, b string) int { return len(b) - len(a) }) // a whole before its parts
	return s, nil
}

// leastSecret is the least length at which a variable's value is taken for a secret.
const leastSecret = 6

// give puts a variable into the program's environment, if the worker has it.
func (s *Sender) give(name, value string) {
	if value != "" {
		s.env = append(s.env, name+"="+value)
	}
}

func listed(all Programs) string {
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(all)), ", ")
}

// Send implements sink.Sender.
func (s *Sender) Send(ctx context.Context, e feed.Event) error {
	line, err := sink.EncodeEvent(e)
	if err != nil {
		return &sink.Refused{Reason: err.Error()}
	}
	return s.hand(ctx, e.ID, line)
}

// SendDigest implements sink.Sender.
func (s *Sender) SendDigest(ctx context.Context, d sink.Digest) error {
	line, err := sink.EncodeDigest(d)
	if err != nil {
		return &sink.Refused{Reason: err.Error()}
	}
	return s.hand(ctx, d.ID, line)
}

// hand gives the program a message.
func (s *Sender) hand(ctx context.Context, id string, line []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	line = append(line, '\n')
	if s.program.Stays {
		return s.ask(ctx, id, line)
	}
	return s.run(ctx, line)
}

// Close implements sink.Sender. A program that stays sees the end of its input, and is
// ended if it does not end by itself.
func (s *Sender) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running != nil {
		s.running.finish()
		s.running = nil
	}
	return nil
}
