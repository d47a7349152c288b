package seeds

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// maxLine bounds the part of a line that is kept: a URL is shorter.
const maxLine = 64 << 10

// readLines reads an entry a line. entry reports whether a line has one.
func readLines(in *bufio.Reader, what string, entry func(line string) (Entry, bool)) *Reader {
	next := func() (Entry, error) {
		for {
			line, err := readLine(in)
			if err != nil && !errors.Is(err, io.EOF) {
				return Entry{}, err // the line may be a part of one
			}
			if e, ok := entry(strings.TrimSpace(line)); ok {
				return e, nil // the end comes again
			}
			if err != nil {
				return Entry{}, err
			}
		}
	}
	return &Reader{what: what, next: next}
}

// readLine reads a line and keeps its first maxLine bytes.
func readLine(in *bufio.Reader) (string, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part[:min(len(part), maxLine-len(line))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return string(line), err
		}
	}
}

// urlLine is a line of a list of URLs. Empty lines and comments are ignored.
func urlLine(line string) (Entry, bool) {
	line = uncommented(line)
	return Entry{Text: line}, line != ""
}

// uncommented is a line of a list of URLs without its comment, which begins with a # at the start or
// after white space. That of a URL's fragment follows the URL at once.
func uncommented(line string) string {
	for i := range len(line) {
		if line[i] == '#' && (i == 0 || strings.IndexByte(" \t", line[i-1]) >= 0) {
			return strings.TrimSpace(line[:i])
		}
	}
	return line
}

// isIndexLine reports whether a line is one of a CDXJ or CDX file, or its header.
func isIndexLine(line string) bool {
	if strings.HasPrefix(line, "!") || strings.HasPrefix(line, "CDX ") {
		return true
	}
	_, ok := indexed(line)
	return ok
}

// indexLine is a line of a CDXJ file ("key time {…}") or of a CDX file of the usual
// fields ("key time url …").
func indexLine(line string) (Entry, bool) {
	if line == "" || strings.HasPrefix(line, "!") || strings.HasPrefix(line, "CDX ") || isComment(line) {
		return Entry{}, false
	}
	url, ok := indexed(line)
	switch {
	case !ok:
		return Entry{Text: line, Refused: ReasonNoURL}, true
	case !isWeb(url):
		return Entry{}, false // dns: and the like are records of how it was fetched
	}
	return Entry{Text: url}, true
}

// indexed returns the URL of a line of an index.
func indexed(line string) (url string, ok bool) {
	_, rest, found := strings.Cut(line, " ")
	stamp, rest, more := strings.Cut(rest, " ")
	if !found || !more || len(stamp) < 4 || len(stamp) > 17 || strings.Trim(stamp, "0123456789") != "" {
		return "", false
	}
	if !strings.HasPrefix(rest, "{") {
		url, _, _ = strings.Cut(rest, " ")
		return url, strings.Contains(url, ":")
	}
	var fields struct {
		URL string `json:"url"`
	}
	err := json.Unmarshal([]byte(rest), &fields)
	return fields.URL, err == nil && fields.URL != ""
}

func isWeb(url string) bool {
	scheme, _, ok := strings.Cut(url, ":")
	return ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}
