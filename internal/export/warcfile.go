package export

import (
	"bytes"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"hash"
	"io"
)

// open opens a file, which begins with a warcinfo record (6.2).
func (w *warc) open(serial int) (err error) {
	name := w.fileName(serial)
	w.serial = serial
	if w.file, err = w.job.stream(w.folder + name); err != nil {
		return err
	}
	w.info = recordID(w.job.Crawl, w.job.At.Unix(), name, "warcinfo")
	if w.file.size > 0 {
		return nil
	}
	_, err = w.write(record{
		kind: "warcinfo", id: w.info, date: warcDate(w.job.At), fields: []field{{"WARC-Filename", name}},
		media: "application/warc-fields",
		head: namedFields(
			field{"software", w.job.Software},
			field{"format", "WARC File Format 1.1"},
			field{"conformsTo", "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"},
			field{"robots", "RFC 9309"},
			field{"isPartOf", w.job.Crawl},
			field{"description", "Bodies are stored decoded: header fields about codings are renamed to " + origPrefix + "…"},
		),
	}, nil)
	return err
}

// fileName returns a name in the form of annex C, without a machine's name.
func (w *warc) fileName(serial int) string {
	return fmt.Sprintf("%s-%s-%05d%s", w.job.Crawl, w.job.At.Format("20060102150405"), serial, warcSuffix)
}

// roll begins the next file if the current one is full. A visit's records stay
// together.
func (w *warc) roll() error {
	if w.file.size < w.job.MaxFile {
		return nil
	}
	if err := w.file.close(); err != nil {
		return err
	}
	return w.open(w.serial + 1)
}

// write writes a record as a gzip member (annex D) and returns the member's length.
func (w *warc) write(r record, b *block) (int64, error) {
	if b == nil {
		r.digest = digestOf(r.head)
	}
	begin := w.file.size
	w.gz.Reset(w.file)
	r.header(&w.text)
	w.text.Write(r.head)
	if _, err := w.gz.Write(w.text.Bytes()); err != nil {
		return 0, err
	}
	if b != nil {
		if err := w.copy(b, r.body); err != nil {
			return 0, err
		}
	}
	if _, err := io.WriteString(w.gz, "\r\n\r\n"); err != nil {
		return 0, err
	}
	err := w.gz.Close()
	return w.file.size - begin, err
}

// copy writes a body that has been measured before.
func (w *warc) copy(b *block, size int64) error {
	body, err := b.open()
	if err != nil {
		return err
	}
	n, err := io.Copy(w.gz, body)
	if n != size && err == nil {
		err = fmt.Errorf("%w: a body had %d bytes, and then %d", ErrSource, size, n)
	}
	return errors.Join(err, body.Close())
}

// block is a body on its way into a record.
type block struct {
	payload, block string // digests
	open           func() (io.ReadCloser, error)
}

// read computes the digests of a body and of its block, in which it follows text. It
// returns nil for a body that is lost.
func (w *warc) read(ctx context.Context, e *event, text []byte) (*block, error) {
	body, err := w.job.body(ctx, w.src, e.Version.Digest)
	if body == nil {
		return nil, err
	}
	whole, payload := sha1.New(), sha1.New()
	whole.Write(text)
	w.body.Reset()
	kept := kept{buf: &w.body}
	n, err := io.Copy(io.MultiWriter(whole, payload, &kept), body)
	if err := errors.Join(err, body.Close()); err != nil {
		if w.job.lost(err) {
			return nil, nil
		}
		return nil, err
	}
	if n != e.Version.Bytes {
		return nil, fmt.Errorf("%w: version %d has %d bytes, not %d", ErrSource, e.Version.Seq, n, e.Version.Bytes)
	}
	w.job.Versions++
	w.job.Bytes += n
	b := &block{payload: sumOf(payload), block: sumOf(whole)}
	b.open = func() (io.ReadCloser, error) { return io.NopCloser(&w.body), nil }
	if kept.over {
		b.open = func() (io.ReadCloser, error) { return w.src.Body(ctx, e.Version.Digest) }
	}
	return b, nil
}

func sumOf(h hash.Hash) string { return labelled(h.Sum(nil)) }

// kept keeps the bytes written to it, up to maxKept.
type kept struct {
	buf  *bytes.Buffer
	over bool
}

// Write implements io.Writer.
func (k *kept) Write(p []byte) (int, error) {
	if k.over = k.over || k.buf.Len()+len(p) > maxKept; !k.over {
		k.buf.Write(p)
	}
	return len(p), nil
}
