package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"recrawl/internal/archive/gc"
	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

// ArchiveProblem names a content that is missing or damaged.
type ArchiveProblem gc.Problem

// Write writes the problem.
func (p ArchiveProblem) Write(out io.Writer, format Format) error {
	if format == JSON {
		return writeJSON(out, struct {
			Digest  string    `json:"digest"`
			Problem gc.Damage `json:"problem"`
			Detail  orNull    `json:"detail"`
			Pages   []string  `json:"pages"`
		}{p.Digest, p.Damage, orNull(p.Detail), append([]string{}, p.Pages...)})
	}
	text := fmt.Sprintf("%s %s", p.Damage, p.Digest)
	if p.Detail != "" {
		text += " (" + p.Detail + ")"
	}
	if len(p.Pages) > 0 {
		text += " of " + strings.Join(p.Pages, ", ")
	}
	_, err := fmt.Fprintln(out, strings.Map(printable, text))
	return err
}

// ArchiveVerified counts the contents read.
type ArchiveVerified gc.Verified

// Write writes the counts.
func (v ArchiveVerified) Write(out io.Writer, format Format) error {
	if format == JSON {
		return writeJSON(out, struct {
			Contents   int   `json:"contents"`
			Bytes      int64 `json:"bytes"`
			Missing    int   `json:"missing"`
			Corrupt    int   `json:"corrupt"`
			Unreadable int   `json:"unreadable"`
		}(v))
	}
	damaged := gc.Verified(v).Damaged()
	text := fmt.Sprintf("%s, %s, all intact", plural(v.Contents, "content"), size(v.Bytes))
	if damaged > 0 {
		text = fmt.Sprintf("%s, %s, intact; %d missing, %d corrupt, %d unreadable",
			plural(v.Contents-damaged, "content"), size(v.Bytes), v.Missing, v.Corrupt, v.Unreadable)
	}
	_, err := fmt.Fprintln(out, text)
	return err
}

// ArchiveCollected counts the contents deleted, or to be deleted.
type ArchiveCollected struct {
	gc.Collected
	Age time.Duration
	Dry bool
}

// Write writes the counts.
func (c ArchiveCollected) Write(out io.Writer, format Format) error {
	if format == JSON {
		return writeJSON(out, struct {
			Deleted   int            `json:"deleted"`
			Bytes     int64          `json:"bytes"`
			Kept      int            `json:"kept"`
			Young     int            `json:"young"`
			OlderThan crawl.Duration `json:"older_than"`
			DryRun    bool           `json:"dry_run"`
			Claimed   int            `json:"claimed,omitempty"`
		}{c.Deleted, c.Bytes, c.Kept, c.Young, crawl.Duration(c.Age), c.Dry, c.Claimed})
	}
	verb := "deleted"
	if c.Dry {
		verb = "would delete"
	}
	text := fmt.Sprintf("%s %s that no version has, %s", verb, plural(c.Deleted, "content"), size(c.Bytes))
	if c.Young > 0 {
		text += fmt.Sprintf("; %d more may be a visit's that is under way, younger than %s", c.Young, schedule.Rough(c.Age))
	}
	if c.Claimed > 0 {
		text += fmt.Sprintf("; %d more are claimed by another command or worker, which deletes them; if it was killed, they can be deleted in %s",
			c.Claimed, crawl.FormatDuration(store.ClaimFor))
	}
	_, err := fmt.Fprintln(out, text)
	return err
}

// ArchiveProgress says on one line how far a walk through all contents is.
type ArchiveProgress gc.Progress

func (p ArchiveProgress) String() string {
	text := fmt.Sprintf("%.0f %%, %s, %s", 100*p.Part, plural(p.Contents, "content"), size(p.Bytes))
	if p.Damaged > 0 {
		text += fmt.Sprintf(", %d damaged", p.Damaged)
	}
	return text
}
