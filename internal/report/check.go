package report

import (
	"fmt"
	"io"
	"strings"

	"recrawl/internal/crawl"
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

// RobotsCheck says whether robots.txt allows a URL.
type RobotsCheck struct {
	URL     string `json:"url"`
	Allowed bool   `json:"allowed"`
	Agent   string `json:"agent"`
	Rule    string `json:"rule"`
	Line    int    `json:"line"`
	// Group is the user-agent line that makes the rule's group the agent's.
	Group     string `json:"group"`
	GroupLine int    `json:"group_line"`
	Reason    string `json:"reason"`
}

// NewRobotsCheck reports a verdict on a URL.
func NewRobotsCheck(url, agent string, v robots.Verdict) RobotsCheck {
	return RobotsCheck{
		URL: url, Allowed: v.Allowed, Agent: agent, Rule: v.Rule, Line: v.Line,
		Group: v.Group, GroupLine: v.GroupLine, Reason: v.Reason,
	}
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
	text := fmt.Sprintf("%s for %s: %s", verdict, c.Agent, c.Reason)
	if c.GroupLine > 0 {
		text += fmt.Sprintf(" (group of line %d, %q)", c.GroupLine, c.Group)
	}
	return text
}

// RobotsProblem says why a URL of a list could not be checked.
type RobotsProblem struct {
	URL   string `json:"url"`
	Error string `json:"error"`
}

// Write writes the problem in the place of a RobotsCheck.
func (p RobotsProblem) Write(out io.Writer) error { return writeJSON(out, p) }

// RobotsJudge judges URLs of one origin for a product token.
type RobotsJudge func(agent string, u urlkey.URL) robots.Verdict

// NewRobotsJudge judges by an origin's cached robots.txt, which holds its text;
// it is parsed once. With a purpose, it also forbids what the file reserves for that.
func NewRobotsJudge(record store.RobotsRecord, purpose ...crawl.Use) RobotsJudge {
	var always robots.Verdict
	switch record.State {
	case store.RobotsParsed:
		file := robots.ParseText(record.Text)
		return func(agent string, u urlkey.URL) robots.Verdict { return file.CheckFor(agent, purpose, u) }
	case store.RobotsAllowAll:
		always = robots.Verdict{Allowed: true, Reason: fmt.Sprintf("the site has no robots.txt (status %d)", record.Status)}
	case store.RobotsUnreachable:
		always = robots.Verdict{Reason: "robots.txt cannot be had: " + record.Problem}
	case store.RobotsRedirected:
		always = robots.Verdict{Reason: robotsElsewhere(record)}
	default:
		always = robots.Verdict{Reason: "robots.txt has not been fetched yet"}
	}
	return func(string, urlkey.URL) robots.Verdict { return always }
}
