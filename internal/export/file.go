package export

import (
	"context"
	"io"
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/mirror"
)

// Bodies are what versions hold; see Source.
type Bodies interface {
	Body(ctx context.Context, digest string) (io.ReadCloser, error)
	Text(ctx context.Context, x Exchange) (string, error)
}

// FileName returns where in a tree of this format the version lies that x found, with
// slashes, and "" if there is no file of it: its body may not be kept, or only a Mirror has such pages. A page's name
// follows from its URL and, in the formats with bodies, from the type of the content.
func FileName(f Format, x Exchange) string {
	if x.Version.Digest == "" || x.Requisite && f.standing() && f != Mirror {
		return ""
	}
	switch f {
	case Text:
		return pageName(x.URL, ".txt")
	case Mirror:
		return pageName(x.URL, mirror.Extension(x.Version.ContentType))
	}
	return pageName(x.URL, extensionOf(x.Version.ContentType))
}

// OpenFile opens what such a file holds. It is nil for a version without text where the
// format has only that, and for what cannot be made safe for a Mirror. Of that, references lead
// to other files where src is a mirror.Paths too. A body that is gone is an error wrapping archive.ErrNotFound.
func OpenFile(ctx context.Context, f Format, src Bodies, x Exchange) (io.ReadCloser, error) {
	switch f {
	case Text:
	case Mirror:
		return openMirrored(ctx, src, x)
	default:
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
func (f Format) standing() bool { return f == HTML || f == Text || f == Mirror }

// holds reports whether a tree of what stands has the page: only a mirror has what pages use.
func (f Format) holds(x Exchange) bool {
	if x.Requisite {
		return f == Mirror
	}
	return x.Stands
}

func extensionOf(contentType string) string {
	if ext, ok := extensions[crawl.ParseMediaType(contentType).Type]; ok {
		return ext
	}
	return ".bin"
}
