package archive

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Coding is the form of a content in the archive. The content's name ends with it,
// so that folders and buckets can be read, and copied into each other, with any
// other program.
type Coding string

// The codings.
const (
	Plain Coding = ".raw" // the bytes as they are
	Zstd  Coding = ".zst" // one zstd frame that states the size of the bytes
)

// Codings are all codings, in the order in which a content is looked for.
func Codings() []Coding { return []Coding{Zstd, Plain} }

// Name is the path of a checked digest's content below the root of a folder or
// the prefix of a bucket: aa/bb/<digest>.zst.
func Name(digest string, c Coding) string {
	return digest[:2] + "/" + digest[2:4] + "/" + digest + string(c)
}

// ParseName is the inverse of Name; false for names that it does not make.
func ParseName(name string) (digest string, c Coding, ok bool) {
	for _, c := range Codings() {
		digest, found := strings.CutSuffix(name[strings.LastIndexByte(name, '/')+1:], string(c))
		if found && CheckDigest(digest) == nil && Name(digest, c) == name {
			return digest, c, true
		}
	}
	return "", "", false
}

const (
	// smallest is the size up to which a content stays plain: a block of a file
	// system, below which a smaller file saves nothing.
	smallest = 4 << 10
	// worthwhile says what compression must save to be worth undoing it at every
	// reading: one eighth of the size.
	worthwhile = 8
	// level is chosen by measure, on the 1024 pages of PostgreSQL's manual that are
	// larger than smallest: this one makes them 3.8 times smaller at 115 MB/s. The
	// next faster gives 3.7 at 175 MB/s, the next better 4.0 at 24 MB/s. Only new
	// contents are compressed, and making one durable takes longer.
	level = zstd.SpeedBetterCompression
	// window is the memory that a decoder must keep for our own files. Few pages are
	// larger, and the manual's are no smaller with more.
	window = 1 << 20
	// maxWindow is the most that a decoder keeps, for files of other programs.
	maxWindow = 8 << 20
)

// encoders lends as many encoders as there are processors, which bounds both
// the processors and the memory that compression takes.
var encoders = newEncoders(runtime.GOMAXPROCS(0))

func newEncoders(n int) chan *zstd.Encoder {
	lent := make(chan *zstd.Encoder, n)
	for range n {
		lent <- nil // made when it is first needed
	}
	return lent
}

// errNotWorthwhile ends a compression that saves too little.
var errNotWorthwhile = errors.New("compression saves too little")

// compress writes size bytes as one zstd frame of up to most bytes, or returns
// errNotWorthwhile.
func compress(to io.Writer, from io.Reader, size, most int64) (err error) {
	encoder := <-encoders
	defer func() { encoders <- encoder }()
	if encoder == nil {
		encoder, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithWindowSize(window),
			zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
		if err != nil {
			return fmt.Errorf("make an encoder: %w", err)
		}
	}
	encoder.ResetContentSize(&limitedWriter{to, most}, size)
	if _, err := io.Copy(encoder, from); err != nil {
		return err
	}
	return encoder.Close()
}

// limitedWriter writes at most a number of bytes.
type limitedWriter struct {
	w    io.Writer
	left int64
}

func (l *limitedWriter) Write(p []byte) (int, error) {
	if l.left -= int64(len(p)); l.left < 0 {
		return 0, errNotWorthwhile
	}
	return l.w.Write(p)
}

// encoded is a content in its stored form: in its spool, or compressed in a
// separate temporary file, which close drops.
type encoded struct {
	file   *os.File
	size   int64
	coding Coding
	close  func()
}

// encode chooses the coding of a spooled content and applies it.
func encode(s *Spool) (encoded, error) {
	plain := encoded{file: s.file, size: s.size, coding: Plain, close: func() {}}
	if s.size <= smallest {
		return plain, nil
	}
	target, err := s.createTemp()
	if err != nil {
		return encoded{}, err
	}
	drop := func() { dropTemp(target) }
	err = compress(target, io.NewSectionReader(s.file, 0, s.size), s.size, s.size-s.size/worthwhile)
	if errors.Is(err, errNotWorthwhile) {
		drop()
		return plain, nil
	}
	size, seekErr := target.Seek(0, io.SeekCurrent)
	if err := errors.Join(err, seekErr); err != nil {
		drop()
		return encoded{}, fmt.Errorf("compress: %w", err)
	}
	return encoded{file: target, size: size, coding: Zstd, close: drop}, nil
}
