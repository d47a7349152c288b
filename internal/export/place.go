package export

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"recrawl/internal/durable"
	"recrawl/internal/feed"
)

const (
	// nameLayout is the name of an export's folder: its time in UTC, without colons,
	// which Windows refuses.
	nameLayout = "2006-01-02T150405Z"
	// partSuffix ends the folder's name while the export is written.
	partSuffix = ".part"
	// manifestName is the file in the folder that says what it is.
	manifestName = "export.json"
)

// manifest says what an export is and, while it is written, how far it is. Its fields are
// the same in every run.
type manifest struct {
	// Recrawl is the version of this file and of the formats.
	Recrawl  int       `json:"recrawl_export"`
	Format   Format    `json:"format"`
	Article  bool      `json:"article,omitempty"` // alone, of documents
	Crawl    string    `json:"crawl"`
	At       time.Time `json:"at"`
	Software string    `json:"software,omitempty"`
	MaxFile  int64     `json:"max_file,omitempty"` // of WARC files
	// Since, in an export of changes only, is the cursor after which they came. Cursor is
	// the one from which to go on.
	Since  feed.Cursor `json:"since,omitzero"`
	Cursor feed.Cursor `json:"cursor,omitzero"`
	Done   bool        `json:"done"`
	// After is the page up to which the export is written, until it is done.
	After int64 `json:"after,omitempty"`
	Counts
	// Files are the sizes in bytes of the files that hold many pages.
	Files map[string]int64 `json:"files"`
}

const manifestVersion = 1

// place is the folder that exports are written to.
type place struct {
	path  string
	lock  *os.File
	root  *os.Root
	fault func() error
}

// openPlace makes the folder if need be and keeps other processes from it.
func openPlace(path string, fault func() error) (*place, error) {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrForeign, err)
	}
	handle, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	p := &place{path: path, lock: handle, fault: fault}
	if err := durable.Lock(handle); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %s: %w", ErrBusy, path, err), handle.Close())
	}
	if p.root, err = os.OpenRoot(path); err != nil {
		return nil, errors.Join(fmt.Errorf("export: %w", err), p.close())
	}
	return p, nil
}

func (p *place) close() error {
	err := errors.Join(durable.Unlock(p.lock), p.lock.Close())
	if p.root != nil {
		err = errors.Join(err, p.root.Close())
	}
	return err
}

func (p *place) foreign(format string, args ...any) error {
	return fmt.Errorf("%w: %s %s", ErrForeign, p.path, fmt.Sprintf(format, args...))
}

// choose looks at the folder's contents and returns the export to write, continue or leave
// as it is.
func (p *place) choose(o Options) (*job, error) {
	want := manifest{Recrawl: manifestVersion, Format: o.Format, Article: o.Article, Crawl: o.Crawl, Software: o.Software, At: o.At, Since: o.Since, Cursor: o.Cursor, Files: map[string]int64{}}
	if o.Format == WARC || o.Format == WACZ {
		if want.MaxFile = o.MaxFile; want.MaxFile <= 0 {
			want.MaxFile = DefaultMaxFile
		}
	}
	finished, part, err := p.survey(want)
	if err != nil {
		return nil, err
	}
	if part != nil && o.At.IsZero() {
		want.At = part.At
	} else if o.At.IsZero() {
		want.At = o.Now
	}
	// Whole seconds, so that the folder's name is the export's exact time.
	want.At = want.At.UTC().Truncate(time.Second)
	if want.At.Year() < 1 || want.At.Year() > 9999 || want.At.IsZero() {
		return nil, fmt.Errorf("export: %v is no time of an export", want.At)
	}
	j := &job{manifest: want, place: p}
	if have, ok := finished[j.name()]; ok {
		j.published = true
		return j, p.take(j, have, j.name())
	}
	if part != nil {
		return j, p.take(j, *part, part.At.Format(nameLayout)+partSuffix)
	}
	return j, nil
}

// take makes j the existing export, if that is the wanted one.
func (p *place) take(j *job, have manifest, name string) error {
	switch want := j.manifest; {
	case !have.At.Equal(want.At):
		return p.foreign("holds the unfinished %s: finish it by naming its time or none, or delete it", name)
	case have.Since != want.Since && have.Done:
		return p.foreign("holds %s, %s, and not %s: name another folder, or try again in a second", name, sinceWords(have), sinceWords(want))
	case have.Since != want.Since:
		return p.foreign("holds the unfinished %s, %s, and not %s: finish it, or delete it", name, sinceWords(have), sinceWords(want))
	case have.MaxFile != want.MaxFile:
		return p.foreign("holds %s with files of %d bytes: name that size, another folder, or delete it", name, have.MaxFile)
	}
	j.manifest = have
	return nil
}

// sinceWords says which changes an export covers.
func sinceWords(m manifest) string {
	if m.Since == (feed.Cursor{}) {
		return "an export of everything"
	}
	return "an export since " + m.Since.String()
}

// ofWords names the crawl of an export, and how much of its pages it holds.
func (m manifest) ofWords() string {
	if m.Article {
		return "the articles of crawl " + m.Crawl
	}
	return "crawl " + m.Crawl
}

// survey reads the folder's contents: exports by their folders' names and at most one
// unfinished export. It removes those that were cut off before their first manifest: no later
// export has their time.
func (p *place) survey(want manifest) (finished map[string]manifest, part *manifest, err error) {
	entries, err := fs.ReadDir(p.root.FS(), ".")
	if err != nil {
		return nil, nil, fmt.Errorf("export: %w", err)
	}
	finished = map[string]manifest{}
	for _, e := range entries {
		m, err := p.read(e)
		if err != nil {
			return nil, nil, err
		}
		if m == nil {
			if err := p.root.RemoveAll(e.Name()); err != nil {
				return nil, nil, fmt.Errorf("remove an export that was never begun: %w", err)
			}
			continue
		}
		if m.Format != want.Format || m.Crawl != want.Crawl || m.Article != want.Article {
			return nil, nil, p.foreign("holds %s, a %s export of %s: name another folder", e.Name(), m.Format, m.ofWords())
		}
		switch _, unfinished := strings.CutSuffix(e.Name(), partSuffix); {
		case !unfinished:
			finished[e.Name()] = *m
		case part != nil:
			return nil, nil, p.foreign("holds two unfinished exports: delete one of them")
		default:
			part = m
		}
	}
	return finished, part, nil
}

// read reads the manifest of a folder that is named like an export. It is nil if a kill,
// or a full disk, came before the first one was written.
func (p *place) read(e fs.DirEntry) (*manifest, error) {
	name, unfinished := strings.CutSuffix(e.Name(), partSuffix)
	at, err := time.Parse(nameLayout, name)
	if err != nil || !e.IsDir() {
		return nil, p.foreign("holds %.80q, which is no export: name an empty or a new folder", e.Name())
	}
	text, err := p.root.ReadFile(filepath.Join(e.Name(), manifestName))
	if errors.Is(err, fs.ErrNotExist) && unfinished && p.untouched(e.Name()) {
		return nil, nil
	}
	var m manifest
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil || m.Recrawl != manifestVersion || !m.At.Equal(at) || !unfinished && !m.Done {
		return nil, p.foreign("holds %s, which is no export that this version reads: name another folder", e.Name())
	}
	if m.Files == nil {
		m.Files = map[string]int64{}
	}
	return &m, nil
}

// untouched reports whether a folder holds only the work of a first write.
func (p *place) untouched(name string) bool {
	entries, err := fs.ReadDir(p.root.FS(), name)
	return err == nil && (len(entries) == 0 || len(entries) == 1 && entries[0].Name() == workFolder)
}
