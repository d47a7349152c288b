package export

import (
	"bufio"
	"bytes"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// maxRuns bounds the sorted files that are merged at once.
const maxRuns = 64

// sortLines writes the lines of one file of an export to another in the order of
// their bytes (LC_ALL=C sort), with about memory bytes of memory: sorted runs in the
// work folder are merged, maxRuns at a time.
func sortLines(ctx context.Context, j *job, from, to string, memory int) error {
	s := sorter{job: j, memory: memory}
	if err := s.split(ctx, from); err != nil {
		return err
	}
	for len(s.runs) > maxRuns {
		if err := s.mergeRuns(ctx); err != nil {
			return err
		}
	}
	return s.merge(ctx, s.runs, to)
}

type sorter struct {
	job    *job
	memory int
	runs   []string // names of sorted files
	made   int      // runs ever
	data   []byte   // lines that are to be sorted
	ends   []int    // of the lines in data
}

func (s *sorter) runName() string {
	s.made++
	return fmt.Sprintf("%s/run-%d", workFolder, s.made)
}

// split writes the lines of a file to sorted runs.
func (s *sorter) split(ctx context.Context, name string) error {
	file, err := s.job.root.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	s.data = make([]byte, 0, min(int64(s.memory), info.Size())+16<<10)
	for r := bufio.NewReaderSize(file, 256<<10); ; {
		part, err := r.ReadSlice('\n')
		s.data = append(s.data, part...)
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF:
			return s.flush()
		case err != nil:
			return err
		}
		if s.ends = append(s.ends, len(s.data)); len(s.data) >= s.memory {
			if err := errors.Join(ctx.Err(), s.flush()); err != nil {
				return err
			}
		}
	}
}

// flush writes a run of the lines that were read.
func (s *sorter) flush() error {
	lines := make([][]byte, 0, len(s.ends))
	begin := 0
	for _, end := range s.ends {
		lines = append(lines, s.data[begin:end])
		begin = end
	}
	slices.SortFunc(lines, bytes.Compare)
	name := s.runName()
	out, err := s.job.stream(name)
	if err != nil {
		return err
	}
	for _, line := range lines {
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	s.runs = append(s.runs, name)
	s.data, s.ends = s.data[:0], s.ends[:0]
	return out.close()
}

// mergeRuns makes one run from the oldest ones.
func (s *sorter) mergeRuns(ctx context.Context) error {
	name := s.runName()
	old := s.runs[:maxRuns]
	if err := s.merge(ctx, old, name); err != nil {
		return err
	}
	for _, n := range old {
		if err := s.job.remove(n); err != nil {
			return err
		}
	}
	s.runs = append(slices.Clone(s.runs[maxRuns:]), name)
	return nil
}

// merge writes the lines of sorted files, sorted, to another.
func (s *sorter) merge(ctx context.Context, names []string, to string) (err error) {
	out, err := s.job.stream(to)
	if err != nil {
		return err
	}
	var h runHeap
	defer func() {
		for _, r := range h {
			err = errors.Join(err, r.file.Close())
		}
	}()
	for _, name := range names {
		file, err := s.job.root.Open(name)
		if err != nil {
			return err
		}
		h = append(h, &run{file: file, r: bufio.NewReaderSize(file, 64<<10)})
		if err := h[len(h)-1].next(); err != nil && err != io.EOF {
			return err
		}
	}
	heap.Init(&h)
	for n := 0; len(h) > 0; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if _, err := out.Write(h[0].line); err != nil {
			return err
		}
		if err := h.advance(); err != nil {
			return err
		}
	}
	return out.close()
}

// run is a sorted file at one of its lines.
type run struct {
	file *os.File
	r    *bufio.Reader
	line []byte // empty at the end
}

// next reads the next line.
func (r *run) next() error {
	r.line = r.line[:0]
	for {
		part, err := r.r.ReadSlice('\n')
		if r.line = append(r.line, part...); err != bufio.ErrBufferFull {
			return err
		}
	}
}

// runHeap has the run with the least line first.
type runHeap []*run

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (h runHeap) Len() int           { return len(h) }
func (h runHeap) Less(a, b int) bool { return bytes.Compare(h[a].line, h[b].line) < 0 }
func (h runHeap) Swap(a, b int)      { h[a], h[b] = h[b], h[a] }
func (h *runHeap) Push(r any)        { *h = append(*h, r.(*run)) }

func (h *runHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// advance takes the first run's next line; a finished run leaves.
func (h *runHeap) advance() error {
	first := (*h)[0]
	switch err := first.next(); err {
	case nil:
		heap.Fix(h, 0)
		return nil
	case io.EOF:
		heap.Pop(h)
		return first.file.Close()
	default:
		return err
	}
}
