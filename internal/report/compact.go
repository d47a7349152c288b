package report

import (
	"fmt"
	"io"
)

// Compacted is a database that was written anew, with its sizes in bytes before and after.
type Compacted struct {
	File   string `json:"file"`
	Before int64  `json:"bytes_before"`
	After  int64  `json:"bytes_after"`
}

// Write writes the file and its sizes.
func (c Compacted) Write(out io.Writer, format Format) error {
	if format == JSON {
		return writeJSON(out, c)
	}
	_, err := fmt.Fprintf(out, "%s: %s, was %s\n", c.File, size(c.After), size(c.Before))
	return err
}
