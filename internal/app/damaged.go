package app

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"recrawl/internal/archive"
)

// damageLog is an archive that logs which contents turn out to be damaged. Whoever reads
// goes on without them, so nobody else would tell the operator.
type damageLog struct {
	archive.Store
	log *slog.Logger
}

// Open implements archive.Store.
func (d damageLog) Open(ctx context.Context, digest string) (io.ReadCloser, error) {
	r, err := d.Store.Open(ctx, digest)
	if err != nil {
		d.tell(err)
		return nil, err
	}
	return &damageReader{r, d}, nil
}

func (d damageLog) tell(err error) {
	if errors.Is(err, archive.ErrCorrupt) {
		d.log.Warn("a content is damaged and counts as missing: starter archive verify names its pages", "error", err)
	}
}

// damageReader reads a content, which is known to be damaged only at its end.
type damageReader struct {
	io.ReadCloser
	log damageLog
}

// Read implements io.Reader.
func (r *damageReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err != nil {
		r.log.tell(err)
	}
	return n, err
}
