package export

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strconv"
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/document"
	"recrawl/internal/mirror"
)

// Bodies provides the contents of versions; see Source.
type Bodies interface {
	Body(ctx context.Context, digest string) (io.ReadCloser, error)
	Text(ctx context.Context, x Exchange) (string, error)
	Read(ctx context.Context, x Exchange) (document.Document, error)
}

// FileName returns the path with slashes, in a tree of this format, of the version that x
// found, and "" if it has no file: its body may not be kept, or only a Mirror has such
// pages. A page's name follows from its URL and, in the formats with bodies, from the type
// of the content.
func FileName(f Format, x Exchange) string {
	if x.Version.Digest == "" || x.Requisite && f.standing() && f != Mirror {
		return ""
	}
	switch f {
	case Text:
		return pageName(x.URL, ".txt")
	case Markdown:
		return pageName(x.URL, ".md")
	case Chunks:
		return pageName(x.URL, ".jsonl")
	case Mirror:
		return pageName(x.URL, mirror.Extension(x.Version.ContentType))
	}
	return pageName(x.URL, extensionOf(x.Version.ContentType))
}

// OpenFile opens the contents of such a file. It returns nil for a version without text if
// the format has only text, and for a body that cannot be made safe for a Mirror. In a
// Mirror, references lead to other files if src is also a mirror.Paths. The error for a
// body that is gone wraps archive.ErrNotFound.
func OpenFile(ctx context.Context, f Format, src Bodies, x Exchange) (io.ReadCloser, error) {
	var text string
	var err error
	switch f {
	case Text:
		if text, err = src.Text(ctx, x); text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
	case Markdown, Chunks:
		text, err = readFile(ctx, f, src, x)
	case Mirror:
		return openMirrored(ctx, src, x)
	default:
		return src.Body(ctx, x.Version.Digest)
	}
	if err != nil || text == "" {
		return nil, err
	}
	return io.NopCloser(strings.NewReader(text)), nil
}

// readFile returns the file of a document, "" if that has no text.
func readFile(ctx context.Context, f Format, src Bodies, x Exchange) (string, error) {
	d, err := src.Read(ctx, x)
	if err != nil || d.Markdown == "" {
		return "", err
	}
	if f == Markdown {
		return d.File(), nil
	}
	var lines strings.Builder
	for _, c := range d.Chunks() {
		if err := writeLine(&lines, c); err != nil {
			return "", err
		}
	}
	return lines.String(), nil
}

// Signature tells two files of a page apart without making them: with the same program and
// rules, files with the same signature have the same bytes. It is the digest of the body if
// the file follows from that.
func Signature(f Format, x Exchange) string {
	about := ""
	switch f {
	case Markdown:
		x.Reserved = nil // that follows from the version
		about = MetaOf("", x).FrontMatter()
	case Chunks: // they say what the site reserved when it served this version
		about = strconv.Itoa(x.Version.Seq)
	default:
		return x.Version.Digest
	}
	sum := sha256.Sum256([]byte(x.Version.Digest + "\n" + about))
	return hex.EncodeToString(sum[:])
}

// MetaOf returns a document's metadata about the version that x found.
func MetaOf(crawlName string, x Exchange) document.Meta {
	v := x.Version
	return document.Meta{
		URL: x.URL, Title: v.Title, Crawl: crawlName, Page: x.Page, Version: v.Seq, Fetched: v.Fetched, Changed: x.TextAt,
		Language: v.Language, Canonical: v.Canonical, ContentType: v.ContentType, Reserved: x.Reserved,
	}
}

// isTree: the format is a tree of folders with the newest version of each page.
func (f Format) isTree() bool { return f == Dir || f.standing() }

// standing: only pages that stand are in it.
func (f Format) standing() bool {
	return f == HTML || f == Text || f == Markdown || f == Chunks || f == Mirror
}

// hasArticles: the format has documents, which may be of the article alone.
func (f Format) hasArticles() bool { return f == Markdown || f == Chunks }

// shows: the format is for showing pages as their sites do.
func (f Format) shows() bool { return f == Mirror || f == WARC || f == WACZ }

// holds reports whether the format has the page: requisites only in formats that show
// pages, and in a tree of standing pages only those that stand.
func (f Format) holds(x Exchange) bool {
	return (x.Stands || !f.standing()) && (!x.Requisite || f.shows())
}

func extensionOf(contentType string) string {
	if ext, ok := extensions[crawl.ParseMediaType(contentType).Type]; ok {
		return ext
	}
	return ".bin"
}
