package export

import (
	"archive/zip"
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"recrawl/internal/archive"
	"recrawl/internal/crawl"
)

const (
	// waczVersion is that of the package's format (https://specs.webrecorder.net/wacz/1.1.1/).
	waczVersion = "1.1.1"
	waczSuffix  = ".wacz"
	// pagesName lists the pages where people begin.
	pagesName = workFolder + "/pages.jsonl"
	// zipnumLines is the number of lines of the index in one gzip member. To look one up, a
	// reader reads a member.
	zipnumLines = 1000
	// maxPageText bounds the bytes of a page's text in the list. Players read all of the
	// list before they search.
	maxPageText = 64 << 10
	cdxName     = "index.cdx.gz"
	idxName     = "index.idx"
)

// wacz writes a package (WACZ) of WARC files, their index and a list of pages: a ZIP file
// from which readers take only what they need. Its parts are written beside it and packed
// at the end, so meanwhile it takes twice its size on disk.
type wacz struct {
	*warc
	pages *stream
	last  Exchange // of the page
}

// pageLine is a page in the list.
type pageLine struct {
	ID    string `json:"id"`
	URL   string `json:"url"`
	TS    string `json:"ts"` // of the capture, as the index has it
	Title string `json:"title,omitempty"`
	Text  string `json:"text,omitempty"` // for the search of players
}

func newWACZ(src Source, j *job, o Options) (*wacz, error) {
	w, err := newWARC(src, j, o, workFolder+"/")
	if err != nil {
		return nil, err
	}
	pages, err := j.stream(pagesName)
	if err != nil {
		return nil, err
	}
	if pages.size == 0 {
		_, err = io.WriteString(pages, `{"format":"json-pages-1.0","id":"pages","title":"All Pages","hasText":true}`+"\n")
	}
	return &wacz{warc: w, pages: pages}, err
}

func (w *wacz) add(ctx context.Context, x Exchange) error {
	w.last = x
	return w.warc.add(ctx, x)
}

// endPage lists a page with its newest version and the beginning of its text, if that is in
// the package and is a document.
func (w *wacz) endPage(ctx context.Context) error {
	x := w.last
	if found, there := w.versions[x.Version.Seq]; there && w.page == x.Page && !x.Requisite && isDocument(x.Version.ContentType) {
		text, err := w.pageText(ctx, x)
		if err != nil {
			return fmt.Errorf("%s: %w", x.URL, err)
		}
		line := pageLine{
			ID: strings.Trim(recordID(w.job.Crawl, x.Page, x.URL, "page"), "<>"), URL: found.target,
			TS: x.Version.At.UTC().Format(waczTime), Title: fieldText(x.Version.Title), Text: text,
		}
		if err := writeLine(w.pages, line); err != nil {
			return err
		}
	}
	return w.warc.endPage(ctx)
}

// pageText returns the beginning of the main text of a page's version after its last visit,
// "" if its body has been forgotten meanwhile, or is damaged.
func (w *wacz) pageText(ctx context.Context, last Exchange) (string, error) {
	found := last // as the visit that found the version, since the source finds texts by these
	found.Visit, found.At = last.Version.Visit, last.Version.At
	text, err := w.src.Text(ctx, found)
	if archive.Lost(err) {
		return "", nil // counted with its WARC record
	}
	if len(text) > maxPageText {
		text = strings.ToValidUTF8(text[:maxPageText], "")
	}
	return text, err
}

const waczTime = "2006-01-02T15:04:05Z"

// isDocument: people read pages of this type; lists of URLs are left out.
func isDocument(contentType string) bool {
	switch crawl.ParseMediaType(contentType).Type {
	case "", "text/html", "application/xhtml+xml", "text/plain", "text/markdown", "application/pdf":
		return true
	}
	return false
}

func (w *wacz) finish(ctx context.Context) error {
	if err := errors.Join(w.warc.finish(ctx), w.pages.close()); err != nil {
		return err
	}
	if err := w.zipnum(ctx); err != nil {
		return err
	}
	return w.pack(ctx)
}

// zipnum compresses the index by blocks, and writes where each begins.
func (w *wacz) zipnum(ctx context.Context) error {
	in, err := w.job.root.Open(w.folder + cdxjName)
	if err != nil {
		return err
	}
	defer in.Close()
	cdx, err := w.job.stream(w.folder + cdxName)
	if err != nil {
		return err
	}
	idx, err := w.job.stream(w.folder + idxName)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(idx, "!meta 0 {\"format\":\"cdxj-gzip-1.0\",\"filename\":%q}\n", cdxName); err != nil {
		return err
	}
	r := bufio.NewReaderSize(in, 256<<10)
	for {
		more, err := w.zipnumBlock(r, cdx, idx)
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if !more {
			return errors.Join(cdx.close(), idx.close())
		}
	}
}

// zipnumBlock writes the next lines of the index as a member and reports whether there may be
// more.
func (w *wacz) zipnumBlock(r *bufio.Reader, cdx, idx *stream) (more bool, err error) {
	begin, first := cdx.size, ""
	sum := sha256.New()
	w.gz.Reset(io.MultiWriter(cdx, sum))
	for n := range zipnumLines {
		line, err := r.ReadString('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return false, err
		}
		if n == 0 {
			first = line
		}
		if _, err := io.WriteString(w.gz, line); err != nil {
			return false, err
		}
	}
	if first == "" {
		return false, nil
	}
	if err := w.gz.Close(); err != nil {
		return false, err
	}
	prefix, _, _ := strings.Cut(first, " {")
	_, err = fmt.Fprintf(idx, "%s {\"offset\":%d,\"length\":%d,\"digest\":\"sha256:%x\",\"filename\":%q}\n", prefix, begin, cdx.size-begin, sum.Sum(nil), cdxName)
	return true, err
}

// resource is a file in the package's description.
type resource struct {
	Name  string `json:"name"`
	Path  string `json:"path"`
	Hash  string `json:"hash"`
	Bytes int64  `json:"bytes"`
	from  string // the file of the export
	crc   uint32
}

// description is datapackage.json, a Frictionless Data Package.
type description struct {
	Profile      string     `json:"profile"`
	WACZVersion  string     `json:"wacz_version"`
	Title        string     `json:"title"`
	Description  string     `json:"description"`
	Created      string     `json:"created"`
	Software     string     `json:"software,omitempty"`
	MainPageURL  string     `json:"mainPageUrl,omitempty"`
	MainPageDate string     `json:"mainPageDate,omitempty"`
	Resources    []resource `json:"resources"`
}

// pack writes the package.
func (w *wacz) pack(ctx context.Context) error {
	d := description{
		Profile: "data-package", WACZVersion: waczVersion, Title: w.job.Crawl,
		Description: "Pages of crawl " + w.job.Crawl + " as of " + w.job.At.Format(waczTime) + ".",
		Created:     w.job.At.Format(waczTime), Software: w.job.Software,
	}
	var err error
	if d.MainPageURL, d.MainPageDate, err = w.mainPage(); err != nil {
		return err
	}
	for _, part := range w.parts() {
		r, err := w.measure(ctx, part[0], part[1])
		if err != nil {
			return err
		}
		d.Resources = append(d.Resources, r)
	}
	out, err := w.job.stream(strings.TrimSuffix(w.fileName(0), "-00000"+warcSuffix) + waczSuffix)
	if err != nil {
		return err
	}
	z := zip.NewWriter(out)
	for _, r := range d.Resources {
		if err := w.store(ctx, z, r); err != nil {
			return err
		}
	}
	if err := w.describe(z, d); err != nil {
		return err
	}
	return errors.Join(z.Close(), out.close())
}

// parts returns the files of the package except its description: the path in it, and the
// export's file.
func (w *wacz) parts() [][2]string {
	var parts [][2]string
	for name := range w.job.Files {
		if strings.HasSuffix(name, warcSuffix) {
			parts = append(parts, [2]string{"archive/" + path.Base(name), name})
		}
	}
	slices.SortFunc(parts, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return append(parts, [2]string{"indexes/" + cdxName, w.folder + cdxName}, [2]string{"indexes/" + idxName, w.folder + idxName},
		[2]string{"pages/pages.jsonl", pagesName})
}

// mainPage returns the page where a reader may begin: the first of the list.
func (w *wacz) mainPage() (url, ts string, err error) {
	f, err := w.job.root.Open(pagesName)
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	d := json.NewDecoder(f)
	var first pageLine
	for range 2 { // the first line describes the list
		if err := d.Decode(&first); err != nil {
			if errors.Is(err, io.EOF) {
				return "", "", nil
			}
			return "", "", err
		}
	}
	return first.URL, first.TS, nil
}

// measure computes a part's digests.
func (w *wacz) measure(ctx context.Context, name, from string) (resource, error) {
	r := resource{Name: path.Base(name), Path: name, from: from}
	sum, crc := sha256.New(), crc32.NewIEEE()
	n, err := w.copyPart(ctx, io.MultiWriter(sum, crc), from)
	r.Hash, r.Bytes, r.crc = "sha256:"+hex.EncodeToString(sum.Sum(nil)), n, crc.Sum32()
	return r, err
}

func (w *wacz) copyPart(ctx context.Context, to io.Writer, from string) (int64, error) {
	f, err := w.job.root.Open(from)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return io.Copy(to, readerFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return f.Read(p)
	}))
}

type readerFunc func(p []byte) (int, error)

// Read implements io.Reader.
func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// store puts a file into the package uncompressed: readers read parts of it, and what could
// become smaller is already compressed.
func (w *wacz) store(ctx context.Context, z *zip.Writer, r resource) error {
	part, err := z.CreateRaw(zipHeader(r.Path, w.job.At, r.Bytes, r.crc))
	if err != nil {
		return err
	}
	n, err := w.copyPart(ctx, part, r.from)
	if err == nil && n != r.Bytes {
		err = fmt.Errorf("%s had %d bytes, and then %d", r.from, r.Bytes, n)
	}
	return err
}

// describe puts the description and its digest into the package.
func (w *wacz) describe(z *zip.Writer, d description) error {
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	digest, err := json.MarshalIndent(map[string]string{"path": "datapackage.json", "hash": fmt.Sprintf("sha256:%x", sha256.Sum256(text))}, "", "  ")
	if err != nil {
		return err
	}
	for _, file := range []struct {
		name string
		text []byte
	}{{"datapackage.json", text}, {"datapackage-digest.json", digest}} {
		part, err := z.CreateRaw(zipHeader(file.name, w.job.At, int64(len(file.text)), crc32.ChecksumIEEE(file.text)))
		if err != nil {
			return err
		}
		if _, err := part.Write(file.text); err != nil {
			return err
		}
	}
	return nil
}

// zipHeader returns a file's header. Sizes stand in it, not after the file, since otherwise
// some readers do not find the end of a stored file.
func zipHeader(name string, at time.Time, size int64, crc uint32) *zip.FileHeader {
	at = at.UTC()
	h := &zip.FileHeader{Name: name, Method: zip.Store, CRC32: crc, CompressedSize64: uint64(size), UncompressedSize64: uint64(size)}
	// MS-DOS has no year before 1980.
	//lint:ignore SA1019 CreateRaw does not look at Modified, which would add a field that players read past each time.
	h.ModifiedDate = uint16(max(at.Year()-1980, 0)&0x7f<<9 | int(at.Month())<<5 | at.Day())
	//lint:ignore SA1019 see above
	h.ModifiedTime = uint16(at.Hour()<<11 | at.Minute()<<5 | at.Second()/2)
	return h
}
