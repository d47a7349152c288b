package duplicates

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
)

// record is one sorted record: by key, then by value.
type record struct{ key, value uint64 }

const (
	recordBytes = 16
	// A run is read through a buffer of this size, less if there are so many runs that
	// their buffers would be larger than the memory for sorting.
	maxReadBytes, minReadBytes = 64 << 10, 4 << 10
)

func compare(a, b record) int {
	if a.key != b.key {
		return cmp.Compare(a.key, b.key)
	}
	return cmp.Compare(a.value, b.value)
}

// sorter sorts more records than fit into memory: it writes sorted runs to a
// file and merges them.
type sorter struct {
	dir string
	buf []record // of which as many are used as fit
	// sum adds up the values of one key, so that it occurs once.
	sum bool

	file *os.File // nil until the first run is written
	out  *bufio.Writer
	runs []run
	size int64 // of the file
}

// run is where in the file a sorted run is.
type run struct{ offset, bytes int64 }

// newSorter returns a sorter that uses the whole capacity of buf and a file in
// dir. The caller must close it.
func newSorter(dir string, buf []record, sum bool) *sorter {
	return &sorter{dir: dir, buf: buf[:0], sum: sum}
}

// add takes one more record.
func (s *sorter) add(r record) error {
	if len(s.buf) == cap(s.buf) {
		// Summing up may have made enough room to go on.
		if s.settle(); len(s.buf) > cap(s.buf)/2 {
			if err := s.spill(); err != nil {
				return err
			}
		}
	}
	s.buf = append(s.buf, r)
	return nil
}

// settle sorts the records in memory.
func (s *sorter) settle() {
	slices.SortFunc(s.buf, compare)
	if !s.sum {
		return
	}
	kept := s.buf[:0]
	for _, r := range s.buf {
		if n := len(kept); n > 0 && kept[n-1].key == r.key {
			kept[n-1].value += r.value
		} else {
			kept = append(kept, r)
		}
	}
	s.buf = kept
}

// spill writes the records in memory, sorted, as a run.
func (s *sorter) spill() error {
	if len(s.buf) == 0 {
		return nil
	}
	if s.file == nil {
		file, err := makeTemp(s.dir, "recrawl-sort-*")
		if err != nil {
			return fmt.Errorf("sort on disk: %w", err)
		}
		s.file, s.out = file, bufio.NewWriterSize(file, maxReadBytes)
	}
	var b [recordBytes]byte
	for _, r := range s.buf {
		binary.LittleEndian.PutUint64(b[:8], r.key)
		binary.LittleEndian.PutUint64(b[8:], r.value)
		if _, err := s.out.Write(b[:]); err != nil {
			return fmt.Errorf("sort on disk: %w", err)
		}
	}
	if err := s.out.Flush(); err != nil {
		return fmt.Errorf("sort on disk: %w", err)
	}
	written := int64(len(s.buf)) * recordBytes
	s.runs = append(s.runs, run{s.size, written})
	s.size += written
	s.buf = s.buf[:0]
	return nil
}

// sorted yields all records in order, once. An error ends it.
func (s *sorter) sorted() iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		s.settle()
		if len(s.runs) == 0 {
			for _, r := range s.buf {
				if !yield(r, nil) {
					return
				}
			}
			return
		}
		if err := s.merge(yield); err != nil {
			yield(record{}, fmt.Errorf("sort on disk: %w", err))
		}
	}
}

// merge yields the records of all runs in order.
func (s *sorter) merge(yield func(record, error) bool) error {
	if err := s.spill(); err != nil {
		return err
	}
	heap, err := s.open()
	if err != nil {
		return err
	}
	var last record
	pending := false // last is still to be yielded: more of its key may come
	for len(heap) > 0 {
		r := heap[0].head
		switch {
		case !s.sum:
			if !yield(r, nil) {
				return nil
			}
		case pending && last.key == r.key:
			last.value += r.value
		default:
			if pending && !yield(last, nil) {
				return nil
			}
			last, pending = r, true
		}
		if heap, err = advance(heap); err != nil {
			return err
		}
	}
	if pending {
		yield(last, nil)
	}
	return nil
}

// reader reads a run.
type reader struct {
	in   *bufio.Reader
	left int64 // bytes after head
	head record
}

// next moves to the next record, or returns io.EOF after the last.
func (r *reader) next() error {
	if r.left == 0 {
		return io.EOF
	}
	var b [recordBytes]byte
	if _, err := io.ReadFull(r.in, b[:]); err != nil {
		return fmt.Errorf("read a run: %w", noEOF(err))
	}
	r.left -= recordBytes
	r.head = record{binary.LittleEndian.Uint64(b[:8]), binary.LittleEndian.Uint64(b[8:])}
	return nil
}

// noEOF turns the end of a file that should have more into an error like any other.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// open returns the readers of all runs as a heap: the one with the least head
// comes first.
func (s *sorter) open() ([]*reader, error) {
	size := min(maxReadBytes, max(minReadBytes, cap(s.buf)*recordBytes/len(s.runs)))
	var heap []*reader
	for _, run := range s.runs {
		in := io.NewSectionReader(s.file, run.offset, run.bytes)
		r := &reader{in: bufio.NewReaderSize(in, size), left: run.bytes}
		if err := r.next(); err != nil {
			return nil, err
		}
		heap = append(heap, r)
	}
	for i := len(heap)/2 - 1; i >= 0; i-- {
		sink(heap, i)
	}
	return heap, nil
}

// advance moves the first reader on and restores the heap.
func advance(heap []*reader) ([]*reader, error) {
	err := heap[0].next()
	if errors.Is(err, io.EOF) {
		last := len(heap) - 1
		heap[0], heap = heap[last], heap[:last]
	} else if err != nil {
		return nil, err
	}
	sink(heap, 0)
	return heap, nil
}

// sink lets a reader sink until no reader below it has a lesser head.
func sink(heap []*reader, i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(heap); child++ {
			if compare(heap[child].head, heap[least].head) < 0 {
				least = child
			}
		}
		if least == i {
			return
		}
		heap[i], heap[least] = heap[least], heap[i]
		i = least
	}
}

// close removes the file.
func (s *sorter) close() error {
	if s.file == nil {
		return nil
	}
	return dropTemp(s.file)
}

// makeTemp makes a file that has no name where the system allows that, so that it vanishes with
// the process, however that ends.
func makeTemp(dir, pattern string) (*os.File, error) {
	file, err := os.CreateTemp(dir, pattern)
	if err == nil {
		_ = os.Remove(file.Name()) // else dropTemp does
	}
	return file, err
}

// dropTemp closes a file of makeTemp, and removes it if it has a name.
func dropTemp(file *os.File) error {
	err := file.Close()
	if gone := os.Remove(file.Name()); !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}
