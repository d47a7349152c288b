package export

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"recrawl/internal/durable"
)

// workFolder holds temporary files in an unfinished export's folder.
const workFolder = ".work"

// job is one export that is being written. A process may end at any moment: the manifest
// says which part of the files counts, and the rest is written again. Files that hold many
// pages are streams; only they are remembered.
//
// A kill loses nothing. After a power loss a folder may be damaged; its name then
// still ends in ".part".
type job struct {
	manifest
	place     *place
	published bool // it was there, under its final name
	root      *os.Root
	streams   []*stream  // open ones
	reading   []*os.File // files of it that are read, until it is closed
	begun     *os.File   // see begin; nil before the first file since the last checkpoint
}

func (j *job) name() string { return j.At.Format(nameLayout) }

func (j *job) path() string { return filepath.Join(j.place.path, j.name()) }

// step marks a point where a process may end.
func (j *job) step() error {
	if j.place.fault != nil {
		return j.place.fault()
	}
	return nil
}

// open makes the folder, or prepares an existing one to go on: it removes everything that
// is not in the manifest.
func (j *job) open() (err error) {
	part := j.name() + partSuffix
	if err := errors.Join(j.step(), j.place.root.MkdirAll(path.Join(part, workFolder), 0o755)); err != nil {
		return err
	}
	if j.root, err = j.place.root.OpenRoot(part); err != nil {
		return err
	}
	if err := j.removeBegun(); err != nil {
		return err
	}
	for _, folder := range []string{".", workFolder} {
		entries, err := fs.ReadDir(j.root.FS(), folder)
		if err != nil {
			return err
		}
		for _, e := range entries {
			name := path.Join(folder, e.Name())
			if _, known := j.Files[name]; known || e.IsDir() || name == manifestName {
				continue
			}
			if err := j.remove(name); err != nil {
				return err
			}
		}
	}
	return j.save()
}

func (j *job) close() error {
	var err error
	for _, s := range j.streams {
		err = errors.Join(err, s.file.Close())
	}
	for _, f := range j.reading {
		err = errors.Join(err, f.Close())
	}
	if j.begun != nil {
		err = errors.Join(err, j.begun.Close())
	}
	if j.streams, j.reading, j.begun = nil, nil, nil; j.root != nil {
		err = errors.Join(err, j.root.Close())
		j.root = nil
	}
	return err
}

// save replaces the manifest.
func (j *job) save() error {
	text, err := json.MarshalIndent(j.manifest, "", "  ")
	if err != nil {
		return err
	}
	temp := path.Join(workFolder, manifestName)
	f, err := j.root.Create(temp)
	if err != nil {
		return err
	}
	if err := errors.Join(j.put(f, append(text, '\n')), f.Sync(), f.Close()); err != nil {
		return err
	}
	return j.rename(temp, manifestName)
}

// checkpoint makes everything up to a page count.
func (j *job) checkpoint(page int64) error {
	for _, s := range j.streams {
		if err := s.sync(); err != nil {
			return err
		}
	}
	name := j.begunName()
	j.After = page
	if err := j.save(); err != nil || j.begun == nil {
		return err
	}
	err := errors.Join(j.begun.Close(), j.remove(name))
	j.begun = nil
	return err
}

// begunName is the file that names the files of single pages that were begun since the last
// checkpoint.
func (j *job) begunName() string { return fmt.Sprintf("%s/begun-%d", workFolder, j.After) }

// begin notes a file of a single page before it is made. If this is cut off before the next
// checkpoint, the page may not be in the export any more when that goes on.
func (j *job) begin(name string) (err error) {
	if j.begun == nil {
		if j.begun, err = j.root.Create(j.begunName()); err != nil {
			return err
		}
	}
	return j.put(j.begun, []byte(name+"\n"))
}

// removeBegun removes the files that were begun since the last checkpoint.
func (j *job) removeBegun() error {
	if j.Done {
		return nil
	}
	names, err := j.root.ReadFile(j.begunName())
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	for line := range strings.Lines(string(names)) {
		name, whole := strings.CutSuffix(line, "\n")
		if !whole {
			break // cut off, and so is not begun
		}
		if err := j.removePage(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// removePage removes a page's file, and the folders that were made for it alone.
func (j *job) removePage(name string) error {
	err := j.remove(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for folder := path.Dir(name); folder != "."; folder = path.Dir(folder) {
		if gone := j.root.Remove(folder); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			break // it holds other pages
		}
	}
	return err
}

// finish closes the files and says that the export is whole.
func (j *job) finish() error {
	for len(j.streams) > 0 {
		if err := j.streams[0].close(); err != nil {
			return err
		}
	}
	if j.begun != nil {
		if err := j.begun.Close(); err != nil {
			return err
		}
		j.begun = nil
	}
	for name := range j.Files {
		if strings.HasPrefix(name, workFolder+"/") {
			delete(j.Files, name)
		}
	}
	j.Done, j.After = true, 0
	return j.save()
}

// publish gives the whole export its name.
func (j *job) publish() error {
	if err := j.step(); err != nil {
		return err
	}
	if err := j.root.RemoveAll(workFolder); err != nil {
		return err
	}
	// Streams are on the disk by now, but a tree's files, perhaps a million, were not waited
	// for one by one.
	if err := durable.SyncAll(j.root); err != nil {
		return err
	}
	if err := j.close(); err != nil {
		return err
	}
	if err := j.step(); err != nil {
		return err
	}
	if err := j.place.root.Rename(j.name()+partSuffix, j.name()); err != nil {
		return err
	}
	return durable.SyncFolder(j.place.lock)
}

func (j *job) remove(name string) error {
	if err := j.step(); err != nil {
		return err
	}
	return j.root.Remove(name)
}

func (j *job) rename(from, to string) error {
	if err := j.step(); err != nil {
		return err
	}
	return j.root.Rename(from, to)
}

// put writes to a file of the export; if the process ends meanwhile, some of p is written.
func (j *job) put(w io.Writer, p []byte) error {
	fault := j.step()
	if fault != nil {
		p = p[:len(p)/2]
	}
	_, err := w.Write(p)
	return errors.Join(fault, err)
}

// stream is a file of an export that is only ever appended to.
type stream struct {
	job  *job
	name string
	file *os.File
	buf  *bufio.Writer
	size int64 // bytes written to buf, ever
}

// stream opens a file at the point where the last checkpoint left it.
func (j *job) stream(name string) (*stream, error) {
	f, err := j.root.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	s := &stream{job: j, name: name, file: f, size: j.Files[name]}
	s.buf = bufio.NewWriterSize(writerFunc(func(p []byte) (int, error) { return len(p), j.put(f, p) }), 256<<10)
	if err := s.restore(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	j.Files[name] = s.size
	j.streams = append(j.streams, s)
	return s, nil
}

func (s *stream) restore() error {
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() < s.size {
		return fmt.Errorf("%s is damaged: %s should have %d bytes and has %d: delete the folder", s.job.path()+partSuffix, s.name, s.size, info.Size())
	}
	if err := errors.Join(s.job.step(), s.file.Truncate(s.size)); err != nil {
		return err
	}
	_, err = s.file.Seek(s.size, io.SeekStart)
	return err
}

// Write implements io.Writer.
func (s *stream) Write(p []byte) (int, error) {
	n, err := s.buf.Write(p)
	s.size += int64(n)
	return n, err
}

// sync makes the written bytes count at the next save.
func (s *stream) sync() error {
	if err := errors.Join(s.buf.Flush(), s.job.step()); err != nil {
		return err
	}
	s.job.Files[s.name] = s.size
	return s.file.Sync()
}

// close ends the file.
func (s *stream) close() error {
	if err := s.sync(); err != nil {
		return err
	}
	for i, open := range s.job.streams {
		if open == s {
			s.job.streams = append(s.job.streams[:i], s.job.streams[i+1:]...)
			break
		}
	}
	return s.file.Close()
}

type writerFunc func(p []byte) (int, error)

// Write implements io.Writer.
func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
