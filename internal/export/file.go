package export

import (
	"context"
	"io"
	"strings"

	"recrawl/internal/crawl"
)

// Bodies are what versions hold; see Source.
type Bodies interface {
	Body(ctx context.Context, digest string) (io.ReadCloser, error)
	Text(ctx context.Context, x Exchange) (string, error)
}

// FileName returns where in a tree of this format the version lies that x found, with
// slashes, and "" if there is no file of it since its body may not be kept. A page's name
// follows from its URL and, in the formats with bodies, from the type of the content.
func FileName(f Format, x Exchange) string {
	if x.Version.Digest == "" {
		return ""
	}
	if f == Text {
		return pageName(x.URL, ".txt")
	}
	return pageName(x.URL, extensionOf(x.Version.ContentType))
}

// OpenFile opens what such a file holds. It is nil for a version without text where the
// format has only that. A body that is gone is an error wrapping archive.ErrNotFound.
func OpenFile(ctx context.Context, f Format, src Bodies, x Exchange) (io.ReadCloser, error) {
	if f != Text {
		return src.Body(ctx, x.Version.Digest)
	}
	text, err := src.Text(ctx, x)
	if err != nil || text == "" {
		return nil, err
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return io.NopCloser(strings.NewReader(text)), nil
}

// isTree: the format is a tree of folders with the newest version of each page.
func (f Format) isTree() bool { return f == Dir || f.standing() }

// standing: only pages that stand are in it.
func (f Format) standing() bool { return f == HTML || f == Text }

// hasRequisites: the format is for showing pages as their sites do.
func (f Format) hasRequisites() bool { return f == WARC || f == "mirror" || f == "wacz" }

func extensionOf(contentType string) string {
	if ext, ok := extensions[crawl.ParseMediaType(contentType).Type]; ok {
		return ext
	}
	return ".bin"
}
