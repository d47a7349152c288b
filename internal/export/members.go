package export

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"recrawl/internal/urlkey"
)

const (
	// membersName lists a mirror's members: sorted lines of a URL's hash and the file's
	// path, or of a hash and, after an arrow, the hash of the URL to which it leads.
	membersName = workFolder + "/members"
	foundName   = workFolder + "/found" // the same, before it is sorted
	// memberBlock is about the number of bytes of the list that are read to find one line.
	memberBlock = 16 << 10
	leadsTo     = ">"
	// maxLeads bounds the redirects that are followed.
	maxLeads = 5
)

// members knows the paths of the pages of a mirror. In memory it keeps one key for each
// block of the list.
type members struct {
	file   *os.File
	key    func(urlkey.URL) urlkey.URL
	starts []memberStart
	size   int64
	block  []byte
}

// memberStart is the first line of a block.
type memberStart struct {
	key    string // the hash, or its beginning
	offset int64
}

// memberKey returns the key under which a URL is listed.
func memberKey(url string) string {
	sum := sha256.Sum256([]byte(url))
	return hex.EncodeToString(sum[:16])
}

// listMembers lists the members of a mirror, or reads the list that an earlier call left.
func listMembers(ctx context.Context, src Source, j *job, o Options) (*members, error) {
	if _, done := j.Files[membersName]; !done {
		if err := writeMembers(ctx, src, j, o.Listing); err != nil {
			return nil, err
		}
		if err := sortLines(ctx, j, foundName, membersName, cmp.Or(o.SortMemory, DefaultSortMemory)); err != nil {
			return nil, err
		}
		if err := j.save(); err != nil {
			return nil, err
		}
	}
	m := &members{key: func(u urlkey.URL) urlkey.URL { return u }}
	if leading, ok := src.(Leading); ok {
		m.key = leading.Key
	}
	var err error
	if m.file, err = j.root.Open(membersName); err != nil {
		return nil, err
	}
	j.reading = append(j.reading, m.file)
	return m, m.survey()
}

// writeMembers writes the lines of the list as they come.
func writeMembers(ctx context.Context, src Source, j *job, listing func(int64)) error {
	out, err := j.stream(foundName)
	if err != nil {
		return err
	}
	var last Exchange
	read, pages := 0, int64(0)
	for x, err := range src.Exchanges(ctx, Query{Until: j.At, Found: true}) {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if read++; read%saidEvery == 0 && listing != nil {
			listing(pages)
		}
		if x.At.After(j.At) || !Mirror.holds(x) || !x.brings() {
			continue
		}
		if x.Page != last.Page {
			if err := writeMember(out, last); err != nil {
				return err
			}
			pages++
		}
		last = x
	}
	if err := writeMember(out, last); err != nil {
		return err
	}
	if leading, ok := src.(Leading); ok {
		for lead, err := range leading.Leads(ctx) {
			if err == nil {
				_, err = io.WriteString(out, memberKey(lead.From)+" "+leadsTo+memberKey(lead.To)+"\n")
			}
			if err != nil {
				return err
			}
		}
	}
	return out.close()
}

func writeMember(out io.Writer, x Exchange) error {
	name := ""
	if x.Page != 0 {
		name = FileName(Mirror, x)
	}
	if name == "" {
		return nil
	}
	_, err := io.WriteString(out, memberKey(x.URL)+" "+name+"\n")
	return err
}

// survey notes where the blocks begin.
func (m *members) survey() error {
	r := bufio.NewReaderSize(m.file, 64<<10)
	var offset int64
	for {
		line, err := r.ReadString('\n')
		if errors.Is(err, io.EOF) {
			m.size = offset
			return nil
		}
		if err != nil {
			return err
		}
		if n := len(m.starts); n == 0 || offset-m.starts[n-1].offset >= memberBlock {
			key, _, _ := strings.Cut(line, " ")
			m.starts = append(m.starts, memberStart{key, offset})
		}
		offset += int64(len(line))
	}
}

// Path implements mirror.Paths.
func (m *members) Path(_ context.Context, u urlkey.URL) (string, error) {
	key := memberKey(m.key(u).String())
	for range maxLeads {
		value, err := m.find(key)
		if err != nil {
			return "", err
		}
		next, leads := strings.CutPrefix(value, leadsTo)
		if !leads {
			return value, nil
		}
		key = next
	}
	return "", nil
}

// find returns what the list has for a key, "" for nothing.
func (m *members) find(key string) (string, error) {
	i, exact := slices.BinarySearchFunc(m.starts, key, func(s memberStart, key string) int { return strings.Compare(s.key, key) })
	if !exact {
		i-- // the block before
	}
	if i < 0 {
		return "", nil
	}
	end := m.size
	if i+1 < len(m.starts) {
		end = m.starts[i+1].offset
	}
	m.block = slices.Grow(m.block[:0], int(end-m.starts[i].offset))[:end-m.starts[i].offset]
	if _, err := m.file.ReadAt(m.block, m.starts[i].offset); err != nil {
		return "", err
	}
	for line := range bytes.Lines(m.block) {
		if value, ok := bytes.CutPrefix(line, []byte(key+" ")); ok {
			return string(bytes.TrimSuffix(value, []byte("\n"))), nil
		}
	}
	return "", nil
}
