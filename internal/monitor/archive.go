package monitor

import (
	"context"
	"errors"
	"io"
	"time"

	"recrawl/internal/archive"
)

var archiveKinds = []string{kindUnavailable, kindFull, kindCorrupt, kindOther}

// Archive counts and times the calls of an archive.
func (m *Metrics) Archive(a archive.Store) archive.Store { return &meteredArchive{a, m} }

type meteredArchive struct {
	archive.Store
	m *Metrics
}

// Create implements archive.Store.
func (a *meteredArchive) Create(ctx context.Context) (archive.Writer, error) {
	w, err := a.Store.Create(ctx)
	a.m.archiveError("create", err)
	if err != nil {
		return nil, err
	}
	return &meteredWriter{w, a.m}, nil
}

// Open implements archive.Store.
func (a *meteredArchive) Open(ctx context.Context, digest string) (io.ReadCloser, error) {
	defer a.m.archiveCall("open")()
	r, err := a.Store.Open(ctx, digest)
	a.m.archiveError("open", err)
	if err != nil {
		return nil, err
	}
	return &meteredReader{r, a.m, false}, nil
}

// meteredReader counts why a content cannot be read to its end: that it is damaged is known
// only there.
type meteredReader struct {
	io.ReadCloser
	m       *Metrics
	counted bool
}

// Read implements io.Reader.
func (r *meteredReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) && !r.counted {
		r.counted = true
		r.m.archiveError("read", err)
	}
	return n, err
}

// Has implements archive.Store.
func (a *meteredArchive) Has(ctx context.Context, digest string) (bool, error) {
	defer a.m.archiveCall("has")()
	is, err := a.Store.Has(ctx, digest)
	a.m.archiveError("has", err)
	return is, err
}

// Delete implements archive.Store.
func (a *meteredArchive) Delete(ctx context.Context, digest string) error {
	defer a.m.archiveCall("delete")()
	err := a.Store.Delete(ctx, digest)
	a.m.archiveError("delete", err)
	return err
}

type meteredWriter struct {
	archive.Writer
	m *Metrics
}

// Commit implements archive.Writer.
func (w *meteredWriter) Commit() (string, int64, error) {
	defer w.m.archiveCall("commit")()
	digest, size, err := w.Writer.Commit()
	w.m.archiveError("commit", err)
	if err == nil {
		w.m.filesBytes.Add(float64(size))
	}
	return digest, size, err
}

func (m *Metrics) archiveCall(call string) func() {
	start := time.Now()
	return func() { m.filesTook.WithLabelValues(call).Observe(time.Since(start).Seconds()) }
}

func (m *Metrics) archiveError(call string, err error) {
	kind := kindOther
	switch {
	case err == nil, errors.Is(err, archive.ErrNotFound), errors.Is(err, context.Canceled):
		return
	case errors.Is(err, archive.ErrFull):
		kind = kindFull
	case errors.Is(err, archive.ErrUnavailable):
		kind = kindUnavailable
	case errors.Is(err, archive.ErrCorrupt):
		kind = kindCorrupt
	}
	m.filesErr.WithLabelValues(call, kind).Inc()
}
