package report

import (
	"fmt"
	"io"
	"strings"

	"recrawl/internal/scope"
)

// ScopeCheck says whether a URL belongs to a crawl, and how that was decided.
type ScopeCheck struct {
	URL       string      `json:"url"`
	Crawl     string      `json:"crawl"`
	Level     int         `json:"level"`
	Hops      int         `json:"hops_off_host"`
	Accepted  bool        `json:"accepted"`
	Undecided bool        `json:"undecided,omitempty"`
	Reason    string      `json:"reason"`
	Detail    string      `json:"detail,omitempty"`
	Steps     []ScopeStep `json:"steps"`
	// Trap is the name of the trap that holds new pages of the URL, "" for none.
	Trap string `json:"trap,omitempty"`
	// Problem says why the scope cannot be asked; then nothing else is set.
	Problem string `json:"problem,omitempty"`
}

// ScopeStep is one step of the scope's decision.
type ScopeStep struct {
	Depth   int    `json:"depth"`
	Check   string `json:"check"`
	Result  string `json:"result"`
	Decides bool   `json:"decides,omitempty"`
}

// NewScopeCheck reports a scope's verdict on a link.
func NewScopeCheck(crawl string, l scope.Link, v scope.Verdict, steps []scope.Step) ScopeCheck {
	c := ScopeCheck{
		URL: l.URL.String(), Crawl: crawl, Level: l.Level, Hops: l.Hops,
		Accepted: v.Accept, Undecided: v.Undecided, Reason: v.Reason, Detail: v.Detail,
	}
	for _, step := range steps {
		c.Steps = append(c.Steps, ScopeStep(step))
	}
	return c
}

// Write writes the check: the verdict in a line, then the steps.
func (c ScopeCheck) Write(out io.Writer, format Format) error {
	if format == JSON {
		return writeJSON(out, c)
	}
	if _, err := fmt.Fprintf(out, "%s %s crawl %s, %s from a seed (%s)\n", c.URL, c.verdict(), c.Crawl, plural(c.Level, "link"), c.Reason); err != nil {
		return err
	}
	t := newTable(out)
	for _, step := range c.Steps {
		mark := ""
		if step.Decides {
			mark = "<- decides"
		}
		t.row(strings.Repeat("  ", step.Depth+1)+step.Check, step.Result, mark)
	}
	if err := t.flush(); err != nil || c.Trap == "" {
		return err
	}
	_, err := fmt.Fprintf(out, "new pages there are held: trap %s\n", c.Trap)
	return err
}

func (c ScopeCheck) verdict() string {
	switch {
	case c.Accepted:
		return "belongs to"
	case c.Undecided:
		return "waits for a filter program of"
	}
	return "is out of scope of"
}
