package export

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"

	"recrawl/internal/mirror"
	"recrawl/internal/urlkey"
)

// Leading is a source that knows which other addresses lead to a page.
type Leading interface {
	Source
	// Key returns the URL under which the crawl keeps the page of another URL.
	Key(u urlkey.URL) urlkey.URL
	// Leads yields pages that do not stand because their content is at another address:
	// they redirect, or are duplicates.
	Leads(ctx context.Context) iter.Seq2[Lead, error]
}

// Lead is a page that leads to another.
type Lead struct{ From, To string } // canonical URLs

// mirrored is a source that also knows the paths of files.
type mirrored struct {
	Source
	*members
}

// newMirror returns the writer of a tree of rewritten pages. First it lists its pages, so
// that links also lead to pages that come later.
func newMirror(ctx context.Context, src Source, j *job, o Options) (*tree, error) {
	members, err := listMembers(ctx, src, j, o)
	if err != nil {
		return nil, err
	}
	return newTree(mirrored{src, members}, j)
}

// openMirrored opens a mirror's file of a version.
func openMirrored(ctx context.Context, src Bodies, x Exchange) (_ io.ReadCloser, err error) {
	body, err := src.Body(ctx, x.Version.Digest)
	if err != nil || !mirror.Rewrites(x.Version.ContentType) {
		return body, err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	content, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	paths, ok := src.(mirror.Paths)
	if !ok {
		paths = nowhere{}
	}
	f := mirror.File{URL: x.URL, Path: FileName(Mirror, x), ContentType: x.Version.ContentType}
	out, err := mirror.Rewrite(ctx, f, content, paths)
	if err != nil || len(out) == 0 && len(content) > 0 {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(out)), nil
}

// nowhere is a mirror of one page.
type nowhere struct{}

// Path implements mirror.Paths.
func (nowhere) Path(context.Context, urlkey.URL) (string, error) { return "", nil }
