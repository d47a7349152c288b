package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
)

// NewVerifier wraps the reader of a stored content: where its bytes end and do
// not hash to the digest, reading returns ErrCorrupt instead of io.EOF.
func NewVerifier(r io.ReadCloser, digest string) io.ReadCloser {
	return &verifier{ReadCloser: r, digest: digest, hash: sha256.New()}
}

type verifier struct {
	io.ReadCloser
	digest string
	hash   hash.Hash
}

func (v *verifier) Read(p []byte) (int, error) {
	n, err := v.ReadCloser.Read(p)
	v.hash.Write(p[:n])
	if err != io.EOF {
		return n, err
	}
	if got := hex.EncodeToString(v.hash.Sum(nil)); got != v.digest {
		return n, fmt.Errorf("%w: %s holds bytes of %s", ErrCorrupt, v.digest, got)
	}
	return n, io.EOF
}
