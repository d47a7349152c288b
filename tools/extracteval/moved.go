package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/extract"
)

// printMoved lists the verdicts that differ from those of an earlier run, which -verdicts wrote.
func (j *judge) printMoved(w io.Writer, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("read the earlier verdicts: %w", err)
	}
	defer f.Close()
	before := map[string]string{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		const fields = 4
		if part := strings.Split(lines.Text(), "\t"); len(part) == fields {
			before[part[1]] = part[2]
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read the earlier verdicts: %w", err)
	}
	moved := 0
	for _, c := range j.all {
		was := before[c.name]
		if was == c.verdict {
			continue
		}
		if was == "" {
			was = "not there"
		}
		moved++
		fmt.Fprintf(w, "%s\t%s -> %s\t%s\t%s\n", c.name, was, c.verdict, c.group, c.url)
	}
	fmt.Fprintf(w, "%d verdicts moved\n", moved)
	return nil
}

// targets counts what must be rare.
type targets struct {
	natural, falses  int // natural pairs whose bytes differ, and those called changed though the curators recorded nothing
	changes, returns int // changes on consecutive snapshots, and those to a text seen not long before
}

func (j *judge) targets() targets {
	var t targets
	for _, c := range j.all {
		changed := c.verdict == crawl.OutcomeChanged.String()
		switch {
		case c.kind == "natural" && c.differs:
			t.natural++
			if changed && c.curators != "changed" {
				t.falses++
			}
		case c.kind == "" && changed:
			t.changes++
			if c.seen {
				t.returns++
			}
		}
	}
	return t
}

func (t targets) String() string {
	return fmt.Sprintf(`natural pairs whose bytes differ: %d, called changed without a curators' record: %d (%.1f %%)
changes on consecutive snapshots: %d, to a text of the %d snapshots before: %d (%.1f %%)
`, t.natural, t.falses, 100*share(t.falses, t.natural), t.changes, lately, t.returns, 100*share(t.returns, t.changes))
}

// printLeft lists, for each pair that is cosmetic, the visible lines that only one of its two pages
// has: what a verdict leaves out, to be read by people.
func (j *judge) printLeft(w io.Writer) error {
	const most, longest = 8, 160 // lines a pair, characters a line
	for _, c := range j.all {
		if c.verdict != crawl.OutcomeCosmetic.String() || c.before == "" {
			continue
		}
		lines, err := j.seenDifferences(c)
		if err != nil {
			return err
		}
		if len(lines) == 0 {
			continue
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d lines\n", c.name, c.group, c.url, len(lines))
		for _, line := range lines[:min(len(lines), most)] {
			fmt.Fprintf(w, "\t%.*s\n", longest, line)
		}
	}
	return nil
}

// seenDifferences are the visible lines that only one of two pages has, with - or + before them.
func (j *judge) seenDifferences(c comparison) ([]string, error) {
	var texts [2]string
	for i, name := range [...]string{c.before, c.name} {
		body, err := j.body(name)
		if err != nil {
			return nil, err
		}
		if texts[i], err = extract.Readable(body, "text/html"); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
	}
	var lines []string
	for i, mark := range [...]string{"- ", "+ "} {
		other := map[string]bool{}
		for line := range strings.Lines(texts[1-i]) {
			other[strings.TrimSpace(line)] = true
		}
		for line := range strings.Lines(texts[i]) {
			if line = strings.TrimSpace(line); line != "" && !other[line] {
				lines = append(lines, mark+line)
			}
		}
	}
	return lines, nil
}
