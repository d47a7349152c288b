package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"

	"recrawl/internal/crawl"
)

// indexName is the file in the tree that lists all pages.
const indexName = "index.jsonl"

// tree writes the newest version of each page to a tree of folders; see FileName.
type tree struct {
	src   Source
	job   *job
	index *stream
	last  Exchange // that has the page's newest version
}

// treeLine is a page in the index. Path is null if the newest version's body may not be
// kept, is gone or is damaged.
type treeLine struct {
	URL         string `json:"url"`
	Path        orNull `json:"path"` // with slashes, from the index's folder
	At          stamp  `json:"at"`   // of the visit that found the version
	Version     int    `json:"version"`
	Digest      orNull `json:"digest"` // SHA-256 in hex
	Bytes       int64  `json:"bytes"`
	ContentType orNull `json:"content_type"`
	Title       orNull `json:"title"`
	// Reserved holds what the site said about uses of the version, null if it said nothing.
	Reserved []crawl.Reservation `json:"reserved"`
}

func newTree(src Source, j *job) (*tree, error) {
	index, err := j.stream(indexName)
	return &tree{src: src, job: j, index: index}, err
}

func (t *tree) add(_ context.Context, x Exchange) error {
	t.last = x
	return nil
}

func (t *tree) endPage(ctx context.Context) error {
	x, v := t.last, t.last.Version
	at := x.At
	if !x.brings() {
		at = v.At
	}
	line := treeLine{
		URL: x.URL, At: stamp(at), Version: v.Seq, Digest: orNull(v.Digest), Bytes: v.Bytes,
		ContentType: orNull(v.ContentType), Title: orNull(v.Title), Reserved: x.Reserved,
	}
	if name := FileName(t.job.Format, x); name != "" {
		there, err := t.page(ctx, name, x)
		if err != nil {
			return fmt.Errorf("%s: %w", x.URL, err)
		}
		if there {
			line.Path = orNull(name)
		}
	}
	return writeLine(t.index, line)
}

// page writes a page's file. It reports false for a body that is lost, or has no text. That
// a body is damaged may be known only at its end: then nothing of it stays.
func (t *tree) page(ctx context.Context, name string, x Exchange) (bool, error) {
	body, err := t.job.found(OpenFile(ctx, t.job.Format, t.src, x))
	if body == nil {
		return false, err
	}
	defer body.Close()
	if err := t.job.begin(name); err != nil {
		return false, err
	}
	if err := errors.Join(t.job.step(), t.job.root.MkdirAll(path.Dir(name), 0o755)); err != nil {
		return false, err
	}
	file, err := t.job.root.Create(name)
	if err != nil {
		return false, err
	}
	n, err := io.Copy(writerFunc(func(p []byte) (int, error) { return len(p), t.job.put(file, p) }), body)
	if err := errors.Join(err, file.Close()); err != nil {
		if t.job.lost(err) {
			return false, t.job.removePage(name)
		}
		return false, err
	}
	t.job.Bytes += n
	t.job.Versions++
	return true, nil
}

func (t *tree) finish(context.Context) error { return nil }
