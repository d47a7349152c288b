// Package archive keeps bytes under their SHA-256: whatever is stored stays until
// it is deleted, is kept once however often it is stored, and is checked when it
// is read.
package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Errors that callers decide on.
var (
	// ErrNotFound: nothing is stored under the digest.
	ErrNotFound = errors.New("not in the archive")
	// ErrCorrupt: what is stored does not hash to its digest.
	ErrCorrupt = errors.New("archive is corrupt")
	// ErrBadDigest: the digest is not 64 hex digits in lower case.
	ErrBadDigest = errors.New("not a SHA-256 digest")
	// ErrClosed: the writer was committed or aborted before.
	ErrClosed = errors.New("writer is closed")
)

// Store keeps bytes under their SHA-256 in lower-case hex. Its methods may be
// called from any goroutine and process. Any digest that is not one is refused
// with ErrBadDigest. Package archivetest states these promises as a test.
type Store interface {
	// Create begins a new content. Nothing of it can be seen before Commit.
	Create(ctx context.Context) (Writer, error)
	// Open reads the content of a digest, or returns ErrNotFound. A reader that
	// reaches the end of bytes that do not hash to the digest returns ErrCorrupt
	// there instead of io.EOF.
	Open(ctx context.Context, digest string) (io.ReadCloser, error)
	// Has reports whether a content is stored under the digest.
	Has(ctx context.Context, digest string) (bool, error)
	// Delete removes a content; it is gone when Delete returns. Deleting what is
	// not there is no error.
	Delete(ctx context.Context, digest string) error
}

// Writer takes one content. It is for one goroutine.
type Writer interface {
	io.Writer
	// Commit stores what was written and returns its digest and size in bytes.
	// When it returns without error the content survives a power loss. It may be
	// called once.
	Commit() (digest string, size int64, err error)
	// Abort drops what was written. After Commit or Abort it does nothing, so it
	// may be deferred.
	Abort()
}

// CheckDigest returns ErrBadDigest unless digest is 64 lower-case hex digits:
// digests become paths, and some come from outside.
func CheckDigest(digest string) error {
	if len(digest) != 64 || strings.Trim(digest, "0123456789abcdef") != "" {
		return fmt.Errorf("%w: %.80q", ErrBadDigest, digest)
	}
	return nil
}
