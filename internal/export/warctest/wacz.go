package warctest

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// CheckPackage checks a WACZ file against WACZ 1.1.1, Frictionless Data Package and CDXJ,
// and each WARC file in it against its own standard. It returns the problems, one a line;
// the error says that the file could not be read. All of it is read, parts of it into
// memory.
func CheckPackage(r io.ReaderAt, size int64) ([]string, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, err
	}
	p := packageCheck{files: map[string]*zip.File{}, in: r}
	for _, f := range z.File {
		if p.files[f.Name] != nil {
			p.wrong("%s is in it twice", f.Name)
		}
		p.files[f.Name] = f
		p.stored(f)
	}
	for _, step := range []func() error{p.description, p.digest, p.pages, p.archive, p.index} {
		if err := step(); err != nil {
			return p.problems, err
		}
	}
	return p.problems, nil
}

type packageCheck struct {
	in       io.ReaderAt
	files    map[string]*zip.File
	problems []string
	hashes   map[string]string // of the files, as the description has them
}

func (p *packageCheck) wrong(format string, args ...any) {
	p.problems = append(p.problems, fmt.Sprintf(format, args...))
}

// stored: files that are already compressed must not be compressed again, so that parts of
// them can be read ("Zip Compression").
func (p *packageCheck) stored(f *zip.File) {
	compressed := strings.HasSuffix(f.Name, ".gz") || strings.HasPrefix(f.Name, "archive/")
	if compressed && f.Method != zip.Store {
		p.wrong("%s is compressed in the ZIP file", f.Name)
	}
	if compressed && f.Flags&8 != 0 {
		p.wrong("%s has its size behind it: some readers cannot find its end", f.Name)
	}
}

// text reads a file; nil for one that is not there, which is a problem.
func (p *packageCheck) text(name string) ([]byte, error) {
	f := p.files[name]
	if f == nil {
		p.wrong("%s is missing", name)
		return nil, nil
	}
	in, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return io.ReadAll(in)
}

// resourceName matches the names that Data Package 1 allows.
var resourceName = regexp.MustCompile(`^[-a-z0-9._/]+$`)

// description checks datapackage.json, and the files against it.
func (p *packageCheck) description() error {
	text, err := p.text("datapackage.json")
	if err != nil || text == nil {
		return err
	}
	var d struct {
		Profile   string  `json:"profile"`
		Version   string  `json:"wacz_version"`
		Created   *string `json:"created"`
		MainDate  *string `json:"mainPageDate"`
		Resources []struct {
			Name, Path, Hash string
			Bytes            int64
		} `json:"resources"`
	}
	if err := json.Unmarshal(text, &d); err != nil {
		p.wrong("datapackage.json: %v", err)
		return nil
	}
	if d.Profile != "data-package" || !strings.HasPrefix(d.Version, "1.1.") {
		p.wrong("datapackage.json: profile %q, wacz_version %q", d.Profile, d.Version)
	}
	for _, at := range []*string{d.Created, d.MainDate} {
		if at != nil {
			p.time("datapackage.json", *at)
		}
	}
	p.hashes = map[string]string{}
	for _, r := range d.Resources {
		if !resourceName.MatchString(r.Name) {
			p.wrong("datapackage.json: %q is no name of a resource", r.Name)
		}
		if p.hashes[r.Path] != "" {
			p.wrong("datapackage.json names %s twice", r.Path)
		}
		p.hashes[r.Path] = r.Hash
		if err := p.resource(r.Path, r.Hash, r.Bytes); err != nil {
			return err
		}
	}
	for name := range p.files {
		if p.hashes[name] == "" && !strings.HasPrefix(name, "datapackage") {
			p.wrong("datapackage.json does not name %s", name)
		}
	}
	return nil
}

// resource checks a file against its digest and size.
func (p *packageCheck) resource(name, hash string, size int64) error {
	f := p.files[name]
	if f == nil {
		p.wrong("datapackage.json names %s, which is not there", name)
		return nil
	}
	in, err := f.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, in)
	if got := fmt.Sprintf("sha256:%x", sum.Sum(nil)); err == nil && (got != hash || n != size) {
		p.wrong("%s has %d bytes and %s, not %d and %s", name, n, got, size, hash)
	}
	return err
}

func (p *packageCheck) time(where, text string) {
	if _, err := time.Parse(time.RFC3339, text); err != nil {
		p.wrong("%s: %q is no time of RFC 3339", where, text)
	}
}

// digest checks datapackage-digest.json, which a package should have.
func (p *packageCheck) digest() error {
	text, err := p.text("datapackage-digest.json")
	if err != nil || text == nil {
		return err
	}
	described, err := p.text("datapackage.json")
	if err != nil {
		return err
	}
	var d struct{ Path, Hash string }
	if err := json.Unmarshal(text, &d); err != nil || d.Path != "datapackage.json" || d.Hash != fmt.Sprintf("sha256:%x", sha256.Sum256(described)) {
		p.wrong("datapackage-digest.json does not fit datapackage.json: %s, %v", text, err)
	}
	return nil
}

// pages checks pages/pages.jsonl.
func (p *packageCheck) pages() error {
	text, err := p.text("pages/pages.jsonl")
	if err != nil || text == nil {
		return err
	}
	n, texts, hasText := 0, 0, false
	for line := range bytes.Lines(text) {
		var page struct {
			Format, ID, URL, TS, Title, Text string
			HasText                          bool
		}
		if err := json.Unmarshal(line, &page); err != nil {
			p.wrong("pages/pages.jsonl: %.100s: %v", line, err)
			continue
		}
		if page.Text != "" {
			texts++
		}
		if n++; n == 1 {
			hasText = page.HasText
			if page.Format != "json-pages-1.0" || page.ID != "pages" {
				p.wrong("pages/pages.jsonl begins with %.100s", line)
			}
			continue
		}
		if page.URL == "" {
			p.wrong("pages/pages.jsonl: %.100s has no URL", line)
		}
		p.time("pages/pages.jsonl", page.TS)
	}
	if texts > 0 && !hasText {
		p.wrong("pages/pages.jsonl has texts and does not say so: players do not search them")
	}
	return nil
}

// archive checks the WARC files.
func (p *packageCheck) archive() error {
	n := 0
	for name, f := range p.files {
		if path.Dir(name) != "archive" {
			continue
		}
		n++
		if !strings.HasSuffix(name, ".warc.gz") && !strings.HasSuffix(name, ".warc") {
			p.wrong("%s has no name of a WARC file", name)
		}
		in, err := f.Open()
		if err != nil {
			return err
		}
		report, err := Check(in)
		if err := in.Close(); err != nil {
			return err
		}
		if err != nil {
			return err
		}
		for _, problem := range report.Problems {
			p.wrong("%s: %s", name, problem)
		}
	}
	if n == 0 {
		p.wrong("there is no WARC file")
	}
	return nil
}

// index checks the compressed index, block by block, and that each of its lines leads to a
// record of its URL and time.
func (p *packageCheck) index() error {
	idx, err := p.text("indexes/index.idx")
	if err != nil || idx == nil {
		return err
	}
	cdx, err := p.text("indexes/index.cdx.gz")
	if err != nil || cdx == nil {
		return err
	}
	var all []string
	end := int64(0)
	for line := range strings.Lines(string(idx)) {
		prefix, fields, ok := strings.Cut(line, " {")
		var block struct {
			Format, Filename, Digest string
			Offset, Length           int64
		}
		if err := json.Unmarshal([]byte("{"+fields), &block); !ok || err != nil || block.Filename != "index.cdx.gz" {
			p.wrong("indexes/index.idx: %.100s: %v", line, err)
			continue
		}
		if prefix == "!meta 0" {
			if block.Format != "cdxj-gzip-1.0" {
				p.wrong("indexes/index.idx: format %q", block.Format)
			}
			continue
		}
		if block.Offset != end || block.Length <= 0 || block.Offset+block.Length > int64(len(cdx)) {
			p.wrong("indexes/index.idx: a block at %d of %d bytes, after %d", block.Offset, block.Length, end)
			return nil
		}
		end = block.Offset + block.Length
		lines := p.block(cdx[block.Offset:end], block.Digest)
		if len(lines) > 0 && !strings.HasPrefix(lines[0], prefix+" ") {
			p.wrong("indexes/index.idx: %q is not the first of its block", prefix)
		}
		all = append(all, lines...)
	}
	if end != int64(len(cdx)) {
		p.wrong("indexes/index.idx: %d bytes of the index are in no block", int64(len(cdx))-end)
	}
	if !slices.IsSorted(all) {
		p.wrong("the index is not sorted")
	}
	for _, line := range all {
		if err := p.line(line); err != nil {
			return err
		}
	}
	return nil
}

// block reads the lines of a block.
func (p *packageCheck) block(member []byte, digest string) (lines []string) {
	if got := fmt.Sprintf("sha256:%x", sha256.Sum256(member)); digest != "" && digest != got {
		p.wrong("indexes/index.cdx.gz: a block has %s, not %s", got, digest)
	}
	z, err := gzip.NewReader(bytes.NewReader(member))
	if err != nil {
		p.wrong("indexes/index.cdx.gz: %v", err)
		return nil
	}
	z.Multistream(false)
	in := bufio.NewScanner(z)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		lines = append(lines, in.Text())
	}
	if err := in.Err(); err != nil {
		p.wrong("indexes/index.cdx.gz: %v", err)
	}
	return lines
}

// line follows a line of the index to its record.
func (p *packageCheck) line(line string) error {
	parts := strings.SplitN(line, " ", 3)
	var c struct{ URL, Filename, Offset, Length string }
	if len(parts) != 3 || json.Unmarshal([]byte(parts[2]), &c) != nil {
		p.wrong("%.100q is no line of CDXJ", line)
		return nil
	}
	offset, err := strconv.ParseInt(c.Offset, 10, 64)
	length, err2 := strconv.ParseInt(c.Length, 10, 64)
	f := p.files["archive/"+c.Filename]
	if err != nil || err2 != nil || f == nil || uint64(offset+length) > f.UncompressedSize64 {
		p.wrong("%.200s leads nowhere", line)
		return nil
	}
	begin, err := f.DataOffset()
	if err != nil {
		return err
	}
	record, err := NewReader(io.NewSectionReader(p.in, begin+offset, length)).Next()
	if err != nil || record.Get("WARC-Target-URI") != c.URL {
		p.wrong("%.200s leads to another record: %v", line, err)
		return nil
	}
	if at, err := time.Parse(time.RFC3339, record.Get("WARC-Date")); err != nil || at.UTC().Format("20060102150405") != parts[1] {
		p.wrong("%.200s leads to a record of %v", line, at)
	}
	return nil
}
