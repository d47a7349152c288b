package cli

import (
	"bytes"
	"io"
	"unicode/utf8"

	"recrawl/internal/crawl"
)

// visible is a terminal to which only visible text is written: the text contains
// bytes of pages, which could move the cursor, rename the window or fake a line.
// Code that draws on the terminal itself writes to Env.screen.
type visible struct {
	out io.Writer
	// rest is the beginning of a character whose end is still to come.
	rest []byte
}

// Write implements io.Writer.
func (v *visible) Write(p []byte) (int, error) {
	if err := v.write(append(v.rest, p...), false); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close writes the rest; it does not close the terminal.
func (v *visible) Close() error { return v.write(v.rest, true) }

func (v *visible) write(text []byte, end bool) error {
	shown := make([]byte, 0, len(text))
	for len(text) > 0 && (end || utf8.FullRune(text) && string(text) != "\r") {
		r, size := utf8.DecodeRune(text)
		if text = text[size:]; r != '\r' || len(text) == 0 || text[0] != '\n' {
			shown = utf8.AppendRune(shown, crawl.Visible(r))
		}
	}
	v.rest = bytes.Clone(text)
	_, err := v.out.Write(shown)
	return err
}
