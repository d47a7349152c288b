package archive

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"

	"github.com/klauspost/compress/zstd"
)

// Decode reads a stored content as it was written. If the stored bytes do not fit
// their coding or the digest, reading returns ErrCorrupt instead of io.EOF; an
// error of the stored reader itself is returned as it is. No content of a file
// makes it yield more than MaxContent bytes, or keep more than some MiB.
func Decode(stored io.ReadCloser, c Coding, digest string) io.ReadCloser {
	v := &verifier{stored: &source{ReadCloser: stored}, digest: digest, hash: sha256.New(), left: MaxContent}
	v.plain = v.stored
	if c == Zstd {
		v.open = v.unzstd
	}
	return v
}

// source remembers the error of the stored reader, so that a broken connection is
// not taken for a broken content.
type source struct {
	io.ReadCloser
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// verifier reads the plain bytes of a stored content and checks them.
type verifier struct {
	stored *source
	digest string
	open   func() error // sets plain at the first reading; nil when it is set
	plain  io.Reader
	close  func() // of the decoder, if there is one
	hash   hash.Hash
	left   int64 // bytes that may still come
	err    error // that ended the reading
}

// Read implements io.Reader.
func (v *verifier) Read(p []byte) (int, error) {
	if v.err != nil {
		return 0, v.err
	}
	if v.open != nil {
		open := v.open
		v.open = nil
		if err := open(); err != nil {
			v.err = v.fault(err)
			return 0, v.err
		}
	}
	n, err := v.plain.Read(p)
	v.hash.Write(p[:n])
	if v.left -= int64(n); v.left < 0 {
		n, err = 0, errors.New("more bytes than it says")
	}
	switch {
	case err == io.EOF:
		v.err = v.verdict()
	case err != nil:
		v.err = v.fault(err)
	}
	return n, v.err
}

// fault is an error of the stored reader, or else one that its bytes are to
// blame for.
func (v *verifier) fault(err error) error {
	if v.stored.err != nil {
		return v.stored.err
	}
	return fmt.Errorf("%w: %s: %v", ErrCorrupt, v.digest, err)
}

// verdict is io.EOF if all the bytes are those of the digest.
func (v *verifier) verdict() error {
	if got := hex.EncodeToString(v.hash.Sum(nil)); got != v.digest {
		return fmt.Errorf("%w: %s holds bytes of %s", ErrCorrupt, v.digest, got)
	}
	return io.EOF
}

// unzstd makes plain a decoder, if the file is one that we might have written:
// one that states its size. A file without its size could go on for ever.
func (v *verifier) unzstd() error {
	buffered := bufio.NewReader(v.stored)
	head, err := buffered.Peek(zstd.HeaderMaxSize)
	if err != nil && err != io.EOF {
		return err
	}
	var h zstd.Header
	if err := h.Decode(head); err != nil {
		return err
	}
	if h.Skippable || !h.HasFCS || h.FrameContentSize > MaxContent {
		return errors.New("the zstd frame does not state an acceptable size")
	}
	v.left = int64(h.FrameContentSize)
	decoder, err := zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return err
	}
	v.plain, v.close = decoder, decoder.Close
	return nil
}

// Close implements io.Closer.
func (v *verifier) Close() error {
	if v.close != nil {
		v.close()
		v.close = nil
	}
	v.err = fs.ErrClosed
	return v.stored.Close()
}
