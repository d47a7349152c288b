// Package replay serves a WACZ file to the browsers of this machine, in which wabac.js plays
// it back: a service worker that answers for the archived sites, from ranges of the file. It
// serves nothing else, and asks no other machine for anything.
package replay

import (
	"archive/zip"
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// ErrNone: a file is not a WACZ file; the error says what is wrong.
var ErrNone = errors.New("not a WACZ file")

// maxDescription bounds datapackage.json in bytes.
const maxDescription = 16 << 20

// Archive is an open WACZ file.
type Archive struct {
	file  *os.File
	info  os.FileInfo
	pages *zip.File
	// ID identifies the archive: browsers keep its index under it.
	ID string
	// Title, Description and Created are the file's metadata.
	Title, Description, Created string
}

// Open opens a WACZ file. For other files the error wraps ErrNone.
func Open(path string) (*Archive, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	a := &Archive{file: file}
	if err := a.read(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s is %w", path, err), file.Close())
	}
	return a, nil
}

// Close closes the file.
func (a *Archive) Close() error { return a.file.Close() }

func (a *Archive) read() (err error) {
	if a.info, err = a.file.Stat(); err != nil {
		return err
	}
	z, err := zip.NewReader(a.file, a.info.Size())
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNone, err)
	}
	var description *zip.File
	for _, f := range z.File {
		switch f.Name {
		case "datapackage.json":
			description = f
		case "pages/pages.jsonl":
			a.pages = f
		}
	}
	if description == nil || a.pages == nil {
		return fmt.Errorf("%w: it has no datapackage.json or no pages/pages.jsonl", ErrNone)
	}
	in, err := description.Open()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNone, err)
	}
	text, err := io.ReadAll(io.LimitReader(in, maxDescription))
	if err := errors.Join(err, in.Close()); err != nil {
		return fmt.Errorf("%w: %w", ErrNone, err)
	}
	var d struct{ Title, Description, Created string }
	if err := json.Unmarshal(text, &d); err != nil {
		return fmt.Errorf("%w: datapackage.json: %w", ErrNone, err)
	}
	a.Title, a.Description, a.Created = d.Title, d.Description, d.Created
	// The description has the digests of all files in the package.
	a.ID = fmt.Sprintf("%x", sha256.Sum256(text))[:16]
	return nil
}

// Page is a page in the archive's list.
type Page struct {
	URL, Title string
	At         time.Time
}

// Stamp returns the time in the player's format.
func (p Page) Stamp() string { return p.At.UTC().Format("20060102150405") }

// maxLine bounds a line of the list in bytes: it may have a page's text.
const maxLine = 32 << 20

// Pages lists the pages after some of them, at most limit, that have some words in their address,
// title or text. It reports whether there are more.
func (a *Archive) Pages(ctx context.Context, having string, skip, limit int) (found []Page, more bool, err error) {
	in, err := a.pages.Open()
	if err != nil {
		return nil, false, err
	}
	defer in.Close()
	having = strings.ToLower(having)
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		var l struct{ URL, Title, TS, Text string }
		if json.Unmarshal(lines.Bytes(), &l) != nil || !isWeb(l.URL) {
			continue // such as the line that describes the list
		}
		at, err := time.Parse(time.RFC3339, l.TS)
		if err != nil {
			continue
		}
		if having != "" && !strings.Contains(strings.ToLower(l.URL+"\n"+l.Title+"\n"+l.Text), having) {
			continue
		}
		if skip > 0 {
			skip--
			continue
		}
		if len(found) == limit {
			return found, true, nil
		}
		found = append(found, Page{URL: l.URL, Title: l.Title, At: at})
	}
	return found, false, lines.Err()
}

func isWeb(url string) bool {
	return strings.HasPrefix(url, "http://") || strings.HasPrefix(url, "https://")
}
