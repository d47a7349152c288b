package report

import (
	"fmt"
	"io"
	"time"

	"recrawl/internal/backup"
)

// BackedUp describes a finished backup.
type BackedUp backup.Made

// Write writes the backup's name and counts.
func (b BackedUp) Write(out io.Writer, format Format) error {
	if format == JSON {
		return writeJSON(out, struct {
			Name       string `json:"name"`
			Made       string `json:"made"`
			StoreBytes int64  `json:"store_bytes"`
			Contents   int    `json:"contents"`
			Copied     int    `json:"copied"`
			Bytes      int64  `json:"copied_bytes"`
			Missing    int    `json:"missing"`
			Damaged    int    `json:"damaged"`
			Gone       int    `json:"given_up"`
			Removed    int    `json:"removed_backups"`
			Pruned     int    `json:"removed_contents"`
		}{
			b.Manifest.Name, b.Manifest.Made.Format(time.RFC3339), b.Manifest.Bytes, b.Manifest.Contents, b.Copied.Copied, b.Copied.Bytes,
			b.Copied.Missing, b.Copied.Damaged, b.Gone, b.Removed, b.Pruned,
		})
	}
	text := fmt.Sprintf("backup %s is whole: the store, %s, and %s, %d of them new, %s",
		b.Manifest.Name, size(b.Manifest.Bytes), plural(b.Manifest.Contents, "content"), b.Copied.Copied, size(b.Copied.Bytes))
	if b.Gone > 0 {
		text += fmt.Sprintf("; %d that crawls gave up meanwhile are not in it", b.Gone)
	}
	if b.Removed > 0 || b.Pruned > 0 {
		text += fmt.Sprintf("; removed %s and %s", plural(b.Removed, "older backup"), plural(b.Pruned, "content"))
	}
	_, err := fmt.Fprintln(out, text)
	return err
}

// copiedLine counts the contents copied of an archive.
type copiedLine struct {
	Contents int   `json:"contents"`
	Copied   int   `json:"copied"`
	Bytes    int64 `json:"copied_bytes"`
	Missing  int   `json:"missing"`
	Damaged  int   `json:"damaged"`
}

func copiedOf(c backup.Copied) copiedLine {
	return copiedLine{c.Contents, c.Copied, c.Bytes, c.Missing, c.Damaged}
}

// Restored describes a finished restore.
type Restored backup.Restored

// Write writes the backup's name and counts.
func (r Restored) Write(out io.Writer, format Format) error {
	if format == JSON {
		return writeJSON(out, struct {
			Name     string `json:"name"`
			Software string `json:"software"`
			copiedLine
		}{r.Manifest.Name, r.Manifest.Software, copiedOf(r.Copied)})
	}
	text := fmt.Sprintf("restored %s, made by %s: the store and %s, %d of them new here", r.Manifest.Name, r.Manifest.Software,
		plural(r.Copied.Contents-r.Copied.Lacking(), "content"), r.Copied.Copied)
	if n := r.Manifest.Lacking; n > 0 {
		text += fmt.Sprintf("; %s lacked when it was made", plural(n, "content"))
	}
	_, err := fmt.Fprintln(out, text)
	return err
}

// ArchiveCopied counts the contents copied of an archive.
type ArchiveCopied backup.Copied

// Write writes the counts.
func (c ArchiveCopied) Write(out io.Writer, format Format) error {
	if format == JSON {
		return writeJSON(out, copiedOf(backup.Copied(c)))
	}
	_, err := fmt.Fprintf(out, "%s, %d of them new, %s\n", plural(c.Contents-backup.Copied(c).Lacking(), "content"), c.Copied, size(c.Bytes))
	return err
}
