package report

import (
	"fmt"
	"io"
	"strings"

	"recrawl/internal/robots"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// URLCheck says how a URL became its canonical form.
type URLCheck struct {
	Input string   `json:"input"`
	URL   string   `json:"url"`
	Steps []string `json:"steps"`
}

// Write writes the check.
func (c URLCheck) Write(out io.Writer, format Format) error {
	if format == JSON {
		c.Steps = append([]string{}, c.Steps...) // never null
		return writeJSON(out, c)
	}
	if len(c.Steps) == 0 {
		_, err := fmt.Fprintf(out, "%s is canonical already\n", c.URL)
		return err
	}
	_, err := fmt.Fprintf(out, "%s\n  %s\n", c.URL, strings.Join(c.Steps, "\n  "))
	return err
}

// ScopeCheck says whether a URL belongs to a crawl.
type ScopeCheck struct {
	URL      string `json:"url"`
	Crawl    string `json:"crawl"`
	Level    int    `json:"level"`
	Accepted bool   `json:"accepted"`
	Reason   string `json:"reason"`
}

// Write writes the check.
func (c ScopeCheck) Write(out io.Writer, format Format) error {
	if format == JSON {
		return writeJSON(out, c)
	}
	verdict := "is out of scope of"
	if c.Accepted {
		verdict = "belongs to"
	}
	_, err := fmt.Fprintf(out, "%s %s crawl %s, %s from a seed (%s)\n", c.URL, verdict, c.Crawl, plural(c.Level, "link"), c.Reason)
	return err
}

// RobotsCheck says whether robots.txt allows a URL.
type RobotsCheck struct {
	URL     string `json:"url"`
	Allowed bool   `json:"allowed"`
	Agent   string `json:"agent"`
	Rule    string `json:"rule"`
	Line    int    `json:"line"`
	Reason  string `json:"reason"`
}

// Write writes the check.
func (c RobotsCheck) Write(out io.Writer, format Format) error {
	if format == JSON {
		return writeJSON(out, c)
	}
	_, err := fmt.Fprintln(out, c.text())
	return err
}

func (c RobotsCheck) text() string {
	verdict := "disallowed"
	if c.Allowed {
		verdict = "allowed"
	}
	return fmt.Sprintf("%s for %s: %s", verdict, c.Agent, c.Reason)
}

// RobotsVerdict judges a URL by its origin's cached robots.txt, which holds its
// text.
func RobotsVerdict(record store.RobotsRecord, agent string, u urlkey.URL) robots.Verdict {
	switch record.State {
	case store.RobotsParsed:
		return robots.Parse([]byte(record.Text)).Check(agent, u)
	case store.RobotsAllowAll:
		return robots.Verdict{Allowed: true, Reason: fmt.Sprintf("the site has no robots.txt (status %d)", record.Status)}
	case store.RobotsUnreachable:
		return robots.Verdict{Reason: "robots.txt cannot be had: " + record.Problem}
	default:
		return robots.Verdict{Reason: "robots.txt has not been fetched yet"}
	}
}
