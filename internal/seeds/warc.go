package seeds

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// readWARC reads the URLs of a WARC file's records: of responses, resources and
// revisits.
func readWARC(in *bufio.Reader) *Reader {
	n := 0
	return &Reader{what: "WARC", next: func() (Entry, error) {
		for {
			url, kept, err := nextRecord(in)
			switch {
			case errors.Is(err, io.EOF):
				return Entry{}, io.EOF
			case err != nil:
				return Entry{}, fmt.Errorf("record %d is broken: %w", n+1, err)
			}
			n++
			if kept && isWeb(url) {
				return Entry{Text: url}, nil
			}
		}
	}}
}

// nextRecord reads one record's header and skips its block.
func nextRecord(in *bufio.Reader) (url string, kept bool, err error) {
	line, err := readLine(in)
	for err == nil && strings.TrimSpace(line) == "" { // the end of the record before
		line, err = readLine(in)
	}
	switch {
	case errors.Is(err, io.EOF) && strings.TrimSpace(line) == "":
		return "", false, io.EOF
	case err != nil:
		return "", false, unexpected(err)
	case !strings.HasPrefix(line, "WARC/"):
		return "", false, errors.New("it does not start with WARC/")
	}
	length, size := int64(-1), 0
	for {
		line, err := readLine(in)
		if err != nil {
			return "", false, unexpected(err)
		}
		if size += len(line); size > maxEntry {
			return "", false, tooLong(0)
		}
		line = strings.TrimSpace(line)
		if line == "" {
			break
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch strings.ToLower(name) {
		case "warc-type":
			kept = value == "response" || value == "resource" || value == "revisit"
		case "warc-target-uri":
			url = strings.Trim(value, "<>")
		case "content-length":
			if length, err = strconv.ParseInt(value, 10, 64); err != nil || length < 0 {
				return "", false, fmt.Errorf("Content-Length %q is no length", value)
			}
		}
	}
	if length < 0 {
		return "", false, errors.New("it has no Content-Length")
	}
	if _, err := io.CopyN(io.Discard, in, length); err != nil {
		return "", false, unexpected(err)
	}
	return url, kept, nil
}

// unexpected is the error of an end in the middle.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
