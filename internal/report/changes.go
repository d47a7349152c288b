package report

import (
	"bytes"
	"fmt"
	"io"

	"recrawl/internal/feed"
)

// Changes writes events, pages of snapshots and cursors as they come, each call with one
// write: a reader of its output sees whole lines.
type Changes struct {
	Out    io.Writer
	Format Format

	headed bool
}

// changeTime is short, sorts, and is valid for --since.
const changeTime = "2006-01-02T15:04:05Z"

// Events writes events.
func (c *Changes) Events(events []feed.Event) error {
	if len(events) == 0 {
		return nil
	}
	return c.write(func(out io.Writer) error {
		if c.Format == JSON {
			return writeLines(out, events)
		}
		t := newTable(out, c.header("WHEN", "WHAT", "TITLE", "WHERE")...)
		for _, e := range events {
			where := e.Where()
			if detail := e.Detail(); detail != "" {
				where += " (" + detail + ")"
			}
			t.row(e.At.UTC().Format(changeTime), e.What()+c.size(e), some(e.Title()), where)
			if e.Diff == nil {
				continue
			}
			if err := t.flush(); err != nil {
				return err
			}
			writeDiff(out, *e.Diff)
		}
		return t.flush()
	})
}

// size says how much changed, if that was asked for.
func (c *Changes) size(e feed.Event) string {
	if e.Diff == nil {
		return ""
	}
	return ": " + e.Diff.Size()
}

// writeDiff writes the lines of a diff below their event.
func writeDiff(out io.Writer, d feed.EventDiff) {
	for _, line := range d.Removed {
		fmt.Fprintln(out, "    -", line)
	}
	for _, line := range d.Added {
		fmt.Fprintln(out, "    +", line)
	}
	if d.Cut {
		fmt.Fprintln(out, "    …")
	}
}

// Pages writes pages of a snapshot.
func (c *Changes) Pages(pages []feed.SnapshotPage) error {
	if len(pages) == 0 {
		return nil
	}
	return c.write(func(out io.Writer) error {
		if c.Format == JSON {
			return writeLines(out, pages)
		}
		t := newTable(out, c.header("WHEN", "WHAT", "TITLE", "WHERE")...)
		for _, p := range pages {
			at := some("")
			if p.Version != nil {
				at = p.Version.At.UTC().Format(changeTime)
			}
			t.row(at, p.Page.State.String(), some(p.Page.Title), p.Page.URL)
		}
		return t.flush()
	})
}

// header are the columns' names, once.
func (c *Changes) header(names ...string) []string {
	if c.headed {
		return nil
	}
	c.headed = true
	return names
}

// Cursor writes where to go on. more is the command for that, for people.
func (c *Changes) Cursor(at feed.Cursor, more string) error {
	return c.write(func(out io.Writer) error {
		if c.Format == JSON {
			return writeJSON(out, feed.PlaceAt(at))
		}
		if !c.headed {
			fmt.Fprintln(out, "no such changes")
		}
		_, err := fmt.Fprintf(out, "what comes next: %s --after %s\n", more, at)
		return err
	})
}

func (c *Changes) write(do func(io.Writer) error) error {
	var text bytes.Buffer
	if err := do(&text); err != nil {
		return err
	}
	_, err := c.Out.Write(text.Bytes())
	return err
}

func writeLines[T any](out io.Writer, lines []T) error {
	for _, line := range lines {
		if err := writeJSON(out, line); err != nil {
			return err
		}
	}
	return nil
}
