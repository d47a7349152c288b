package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"recrawl/internal/report"
	"recrawl/internal/robots"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

type checkRobotsCmd struct {
	URL   string `arg:"" optional:"" help:"The URL."`
	URLs  string `name:"urls" placeholder:"FILE" help:"Check the URLs of this file instead, one a line, and answer in JSON Lines; - is standard input."`
	Agent string `default:"${agent}" placeholder:"TOKEN" help:"Product token to be checked, by default ${agent}."`
	File  string `placeholder:"FILE" help:"Judge by this robots.txt instead of the one that was fetched last; - is standard input."`
}

// Help implements kong.HelpProvider.
func (checkRobotsCmd) Help() string {
	return `Makes no request: it judges by the robots.txt that was fetched last.

    starter check robots https://example.com/private
    starter check robots https://example.com/private --file robots.txt --agent GoogleBot
    starter check robots --urls urls.txt

Of a list, a URL that cannot be checked has a line with an error, and the others go on. The exit code then is 2
if a line is no URL, and 3 if the robots.txt of one has not been fetched yet.`
}

// Run shows the verdict of robots.txt.
func (c checkRobotsCmd) Run(s *session) error {
	switch {
	case (c.URL == "") == (c.URLs == ""):
		return usagef("give a URL, or a file of URLs with --urls")
	case c.URLs == "-" && c.File == "-":
		return usagef("--urls and --file cannot both be standard input")
	case c.File == "":
		return s.withStore(func(opened Opened) error {
			return c.check(s, (&cachedRobots{session: s, store: opened.Store}).of)
		})
	}
	text, err := readFile(c.File, s.env.Stdin)
	if err != nil {
		return usage(err)
	}
	file := robots.Parse(text)
	return c.check(s, func(urlkey.URL) (report.RobotsJudge, error) { return file.Check, nil })
}

// judgeOf returns the judge of the URLs of a URL's origin.
type judgeOf func(u urlkey.URL) (report.RobotsJudge, error)

func (c checkRobotsCmd) check(s *session, judge judgeOf) error {
	if c.URLs != "" {
		return c.checkList(s, judge)
	}
	check, err := c.checkOne(c.URL, judge)
	if err != nil {
		return err
	}
	return check.Write(s.env.Stdout, s.global.Output)
}

func (c checkRobotsCmd) checkOne(raw string, judge judgeOf) (report.RobotsCheck, error) {
	u, err := urlkey.Canonical(raw)
	if err != nil {
		return report.RobotsCheck{}, usagef("%s: %w", raw, err)
	}
	decide, err := judge(u)
	if err != nil {
		return report.RobotsCheck{}, err
	}
	return report.NewRobotsCheck(u.String(), c.Agent, decide(c.Agent, u)), nil
}

// checkList answers each line as soon as it is read. Only errors that concern them
// all (a store that does not answer, a file that cannot be read) end it early.
func (c checkRobotsCmd) checkList(s *session, judge judgeOf) error {
	list, err := openList(c.URLs, s.env.Stdin)
	if err != nil {
		return usage(err)
	}
	defer list.Close()
	unanswered := map[int]int{} // by exit code
	for line, err := range lines(list) {
		if err != nil {
			return usagef("--urls %s: %w", c.URLs, err)
		}
		code, err := c.answer(s, line, judge)
		if err != nil {
			return err
		}
		unanswered[code]++
	}
	return unansweredError(unanswered)
}

// maxLine is how much of a line is read, more than any URL has. A longer line is
// cut, so that one endless line does not end the list, or exhaust the memory.
const maxLine = 64 << 10

// lines yields the lines that are not blank, without space around them; an error
// is the last.
func lines(from io.Reader) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		reader := bufio.NewReaderSize(from, maxLine)
		for {
			head, more, err := reader.ReadLine()
			line := strings.TrimSpace(string(head))
			for more && err == nil {
				_, more, err = reader.ReadLine()
			}
			if line != "" && !yield(line, nil) {
				return
			}
			if err != nil {
				if !errors.Is(err, io.EOF) {
					yield("", err)
				}
				return
			}
		}
	}
}

// answer writes the line of one URL and returns the exit code that it would have
// alone.
func (c checkRobotsCmd) answer(s *session, raw string, judge judgeOf) (int, error) {
	check, err := c.checkOne(raw, judge)
	var wrong *failure
	switch {
	case err == nil:
		return ExitOK, check.Write(s.env.Stdout, report.JSON)
	case errors.As(err, &wrong):
		return wrong.code, report.RobotsProblem{URL: raw, Error: oneLine(err)}.Write(s.env.Stdout)
	}
	return ExitFailed, err
}

func unansweredError(count map[int]int) error {
	switch bad, unknown := count[ExitUsage], count[ExitNotFound]; {
	case bad > 0:
		return usagef("%d of the lines are no URLs; their answers say what is wrong", bad)
	case unknown > 0:
		return &failure{code: ExitNotFound, text: fmt.Sprintf("%d of the URLs are of sites whose robots.txt has not been fetched yet", unknown), err: store.ErrNotFound}
	}
	return nil
}

// maxJudges and maxJudged bound the parsed files that a list keeps, in files and in
// bytes of their texts; parsed, a hostile text takes up to twenty times its size.
// Parsing again costs well under a millisecond (a hostile text: tens), so dropping
// everything at a bound is fine.
const (
	maxJudges = 100
	maxJudged = 4 << 20
)

// robotsStore has robots.txt files; store.ErrNotFound for one that was not fetched yet.
type robotsStore interface {
	Robots(ctx context.Context, origin string) (store.RobotsRecord, error)
}

// cachedRobots judges by the store's robots.txt files.
type cachedRobots struct {
	session *session
	store   robotsStore
	judges  map[string]report.RobotsJudge // by origin
	bytes   int                           // of the texts of judges
}

func (c *cachedRobots) of(u urlkey.URL) (report.RobotsJudge, error) {
	if judge := c.judges[u.Origin()]; judge != nil {
		return judge, nil
	}
	record, err := c.store.Robots(c.session.ctx, u.Origin())
	if errors.Is(err, store.ErrNotFound) {
		return nil, &failure{ExitNotFound, fmt.Sprintf("%s/robots.txt has not been fetched yet: crawl the site, or give the file with --file", u.Origin()), err}
	}
	if err != nil {
		return nil, err
	}
	c.bytes += len(record.Text)
	if c.judges == nil || len(c.judges) >= maxJudges || c.bytes > maxJudged {
		c.judges, c.bytes = map[string]report.RobotsJudge{}, len(record.Text)
	}
	judge := report.NewRobotsJudge(record)
	c.judges[u.Origin()] = judge
	return judge, nil
}

func openList(name string, stdin io.Reader) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(stdin), nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("--urls %s: %w", name, errors.Unwrap(err))
	}
	return f, nil
}

func readFile(name string, stdin io.Reader) ([]byte, error) {
	if name == "-" {
		// The limit is one byte more, so that package robots drops the line that is cut.
		return io.ReadAll(io.LimitReader(stdin, robots.MaxBytes+1))
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("--file %s: %w", name, errors.Unwrap(err))
	}
	return text, nil
}
