// Package archive keeps bytes under their SHA-256: a content stays until it is
// deleted, is kept once however often it is stored, and is checked when it is read.
package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"
)

// Errors that callers decide on.
var (
	// ErrNotFound: nothing is stored under the digest.
	ErrNotFound = errors.New("not in the archive")
	// ErrCorrupt: the stored bytes do not hash to their digest.
	ErrCorrupt = errors.New("archive is corrupt")
	// ErrUnavailable: the archive did not answer, or refused; trying again later may
	// help. It says nothing about the content.
	ErrUnavailable = errors.New("archive unavailable")
	// ErrFull is an ErrUnavailable: the archive has no room for a content. A folder's
	// error is the system's (ENOSPC, EDQUOT) instead.
	ErrFull = fmt.Errorf("archive full: %w", ErrUnavailable)
	// ErrBadDigest: the digest is not 64 hex digits in lower case.
	ErrBadDigest = errors.New("not a SHA-256 digest")
	// ErrTooLarge: a content has more than MaxContent bytes.
	ErrTooLarge = errors.New("too large for the archive")
	// ErrClosed: the writer was committed or aborted before.
	ErrClosed = errors.New("writer is closed")
)

// Lost reports whether an error says that a content cannot be had however often it is
// tried: it is not there, or its bytes are damaged.
func Lost(err error) bool { return errors.Is(err, ErrNotFound) || errors.Is(err, ErrCorrupt) }

// MaxContent is the most bytes that a content may have: the largest body that a
// crawl's spec allows. Readers trust no file that says it has more.
const MaxContent = 1 << 30

// Store keeps bytes under their SHA-256 in lower-case hex. Its methods may be
// called from any goroutine and process. An invalid digest is refused with
// ErrBadDigest. Package archivetest states these promises as a test.
type Store interface {
	// Create begins a new content. Nothing of it can be seen before Commit.
	Create(ctx context.Context) (Writer, error)
	// Open reads the content of a digest, or returns ErrNotFound. A reader that
	// reaches the end of bytes that do not hash to the digest returns ErrCorrupt
	// there instead of io.EOF, and it reads no more than MaxContent bytes of a damaged
	// content.
	Open(ctx context.Context, digest string) (io.ReadCloser, error)
	// Has reports whether a content is stored under the digest.
	Has(ctx context.Context, digest string) (bool, error)
	// Delete removes a content; it is gone when Delete returns. Deleting a missing
	// content is no error.
	Delete(ctx context.Context, digest string) error
	// List yields the stored contents in the order of the digests, from the one after
	// the given digest, or from the first for "". An error is the last that it yields.
	// Contents that are stored or deleted meanwhile may or may not be included.
	List(ctx context.Context, after string) iter.Seq2[Info, error]
}

// Info is a stored content as List finds it, unread.
type Info struct {
	Digest string
	// Size is its size in the archive, compressed.
	Size int64
	// At is when it was stored, by the archive's clock. Storing it again need not
	// change that.
	At time.Time
}

// Writer takes one content. It is for one goroutine.
type Writer interface {
	io.Writer
	// Commit stores the written bytes and returns their digest and size in bytes. When
	// it returns without error the content survives a power loss. It may be called
	// once.
	Commit() (digest string, size int64, err error)
	// Abort drops the written bytes. After Commit or Abort it does nothing, so it may
	// be deferred.
	Abort()
}

// CheckDigest returns ErrBadDigest unless digest is 64 lower-case hex digits:
// digests become paths, and some come from outside.
func CheckDigest(digest string) error {
	if len(digest) != 64 || strings.Trim(digest, hexDigits) != "" {
		return fmt.Errorf("%w: %.80q", ErrBadDigest, digest)
	}
	return nil
}

const hexDigits = "0123456789abcdef"

// Check is the first step of every method with a digest.
func Check(ctx context.Context, digest string) error {
	if err := CheckDigest(digest); err != nil {
		return err
	}
	return CheckContext(ctx)
}

// CheckContext returns the error of a context that has ended.
func CheckContext(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	return nil
}
