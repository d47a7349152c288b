package archive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
)

const tempSuffix = ".part"

// Spool is the Writer of all drivers: it collects a content in a temporary file
// until its digest is known. A driver then keeps the file, or sends the content
// from it, so that nothing unfinished ever lies under a digest. At the number of
// requests that a worker makes, bodies do not fit into memory.
type Spool struct {
	ctx    context.Context //nolint:containedctx // io.Writer has none, and a cancelled fetch must not fill the disk
	folder string
	named  bool // the temporary files keep their names, to be renamed
	store  func(digest string, s *Spool) error
	file   *os.File // nil when committed or aborted
	hash   hash.Hash
	size   int64
}

var _ Writer = (*Spool)(nil)

// NewSpool begins a content in a folder; store does the work of Commit. Its file
// has no name where the system allows that, so that it vanishes with the process,
// however that ends.
func NewSpool(ctx context.Context, folder string, store func(digest string, s *Spool) error) (*Spool, error) {
	return (&Spool{folder: folder, store: store}).begin(ctx)
}

func (s *Spool) begin(ctx context.Context) (*Spool, error) {
	err := CheckContext(ctx)
	if err != nil {
		return nil, err
	}
	s.ctx, s.hash = ctx, sha256.New()
	if s.file, err = s.createTemp(); err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	return s, nil
}

// Write implements io.Writer.
func (s *Spool) Write(p []byte) (int, error) {
	if s.file == nil {
		return 0, fmt.Errorf("archive: %w", ErrClosed)
	}
	if err := CheckContext(s.ctx); err != nil {
		return 0, err
	}
	if int64(len(p)) > MaxContent-s.size {
		return 0, fmt.Errorf("archive: %w: more than %d bytes", ErrTooLarge, int64(MaxContent))
	}
	n, err := s.file.Write(p)
	s.hash.Write(p[:n])
	s.size += int64(n)
	if err != nil {
		return n, fmt.Errorf("archive: %w", err)
	}
	return n, nil
}

// Commit implements Writer.
func (s *Spool) Commit() (string, int64, error) {
	if s.file == nil {
		return "", 0, fmt.Errorf("archive: %w", ErrClosed)
	}
	defer s.Abort()
	digest := hex.EncodeToString(s.hash.Sum(nil))
	if err := s.store(digest, s); err != nil {
		return "", 0, fmt.Errorf("archive: commit: %w", err)
	}
	return digest, s.size, nil
}

// Abort implements Writer.
func (s *Spool) Abort() {
	if s.file != nil {
		dropTemp(s.file)
		s.file = nil
	}
}

// Encoded passes send the content in the coding that suits it best, and its size in that
// coding. The reader can seek, and must not be used after the call.
func (s *Spool) Encoded(send func(content io.ReadSeeker, size int64, c Coding) error) error {
	e, err := encode(s)
	if err != nil {
		return err
	}
	defer e.close()
	return send(io.NewSectionReader(e.file, 0, e.size), e.size, e.coding)
}

func (s *Spool) createTemp() (*os.File, error) {
	file, err := os.CreateTemp(s.folder, "*"+tempSuffix)
	if err == nil && !s.named {
		_ = os.Remove(file.Name()) // where an open file keeps its name, dropTemp removes it
	}
	return file, err
}

// dropTemp removes a temporary file. A file that it cannot remove is swept when the
// archive is next opened; after a rename there is nothing to remove.
func dropTemp(f *os.File) {
	_ = f.Close()
	_ = os.Remove(f.Name())
}
