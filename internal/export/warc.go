package export

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"

	"recrawl/internal/crawl"
)

const (
	warcSuffix = ".warc.gz"
	// capturesName is the index before it is sorted.
	capturesName = workFolder + "/captures"
	cdxjName     = "index.cdxj"
	// gzipLevel is the usual one. On HTML the library is more than twice as fast as
	// Go's own and writes 2 % more.
	gzipLevel = 6
	// maxKept bounds the bytes of a body that are kept in memory between the pass that
	// makes its digests, which come first in a record, and the one that writes it. Larger
	// bodies are read twice.
	maxKept = 8 << 20
)

// The types of blocks that are HTTP messages (6.3.2, 6.5.2).
const (
	httpResponse = "application/http;msgtype=response"
	httpRequest  = "application/http;msgtype=request"
)

// warc writes WARC/1.1 files of about MaxFile bytes, each record a gzip member, and
// their index.
//
// Each visit has a metadata record and, if its head was kept, a request. A visit that found
// a version has its body in a response or, without a head, in a resource record; one that
// found it unchanged, or again after another, is a revisit.
type warc struct {
	src      Source
	job      *job
	memory   int    // for sorting
	folder   string // of the files, with its slash
	file     *stream
	serial   int    // of the file
	info     string // identifier of the file's warcinfo record
	captures *stream
	page     int64           // whose versions
	versions map[int]capture // has, by their numbers
	gz       *gzip.Writer
	text     bytes.Buffer // of the current record's header
	body     bytes.Buffer // of the current record
}

// capture is the record to which a revisit of a version refers.
type capture struct {
	id, date, target string
	payload          string // digest
}

func newWARC(src Source, j *job, o Options, folder string) (*warc, error) {
	captures, err := j.stream(capturesName)
	if err != nil {
		return nil, err
	}
	gz, err := gzip.NewWriterLevel(nil, gzipLevel)
	if err != nil {
		return nil, err
	}
	w := &warc{src: src, job: j, memory: o.SortMemory, folder: folder, captures: captures, gz: gz}
	if w.memory <= 0 {
		w.memory = DefaultSortMemory
	}
	serial := 0
	for name := range j.Files {
		if strings.HasSuffix(name, warcSuffix) {
			serial++
		}
	}
	return w, w.open(max(serial-1, 0))
}

// event is a visit on its way into records.
type event struct {
	Exchange
	date, target string
	main         string // identifier of its first record
}

func (w *warc) add(ctx context.Context, x Exchange) error {
	if err := w.roll(); err != nil {
		return err
	}
	e := &event{Exchange: x, date: warcDate(x.At), target: targetURI(asked(x))}
	if err := w.content(ctx, e); err != nil {
		return fmt.Errorf("%s: %w", x.URL, err)
	}
	if err := w.request(e); err != nil {
		return err
	}
	return w.metadata(e)
}

// content writes what the visit found: a response, resource or revisit record, or none.
func (w *warc) content(ctx context.Context, e *event) error {
	if e.keeps() {
		return w.version(ctx, e)
	}
	if e.Outcome == crawl.OutcomeUnchanged || e.Back {
		return w.revisit(e)
	}
	// A redirect or an error. An answer whose body was compared and not kept has no record:
	// its head alone would be played back as an empty page.
	h, ok := responseHead(e.Response, 0)
	if !ok || e.Outcome.Observes() {
		return nil
	}
	r := w.record(e, "response")
	if e.Bytes > 0 {
		r.fields = append(r.fields, field{"WARC-Truncated", "unspecified"})
	}
	r.media, r.head, r.payload = httpResponse, h.bytes(), digestOf(nil)
	return w.index(e, r, nil, mimeOf(h))
}

// version writes the body that the visit found.
func (w *warc) version(ctx context.Context, e *event) error {
	kind, media, text := "resource", cmp.Or(crawl.ParseMediaType(e.Version.ContentType).String(), "application/octet-stream"), []byte(nil)
	mime := crawl.ParseMediaType(media).Type
	if h, ok := responseHead(e.Response, e.Version.Bytes); ok {
		kind, media, text, mime = "response", httpResponse, h.bytes(), mimeOf(h)
	}
	b, err := w.read(ctx, e, text)
	if b == nil {
		return err
	}
	r := w.record(e, kind)
	r.media, r.head, r.digest, r.payload, r.body = media, text, b.block, b.payload, e.Version.Bytes
	if e.Page != w.page {
		w.page, w.versions = e.Page, map[int]capture{}
	}
	w.versions[e.Version.Seq] = capture{id: r.id, date: r.date, target: e.target, payload: b.payload}
	return w.index(e, r, b, mime)
}

// The profiles of 6.7.
const (
	identicalPayload = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
	notModified      = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
)

// revisit writes that the version was found again. Without a capture of it there is no
// record to refer to.
func (w *warc) revisit(e *event) error {
	profile := identicalPayload
	if e.Status == 304 {
		profile = notModified
	}
	found, ok := w.versions[e.Version.Seq]
	if !ok || w.page != e.Page || profile == identicalPayload && e.Digest != e.Version.Digest {
		return nil
	}
	e.target = found.target // its own request is not kept
	r := w.record(e, "revisit",
		field{"WARC-Profile", profile}, field{"WARC-Refers-To", found.id},
		field{"WARC-Refers-To-Target-URI", e.target}, field{"WARC-Refers-To-Date", found.date})
	r.payload = found.payload
	if h, ok := responseHead(e.Response, -1); ok {
		r.media, r.head = httpResponse, h.bytes()
		if profile == identicalPayload {
			r.fields = append(r.fields, field{"WARC-Truncated", "length"}) // 6.7.2
		}
	}
	return w.index(e, r, nil, "warc/revisit")
}

// request writes the request if its head was kept.
func (w *warc) request(e *event) error {
	h, ok := requestHead(e.Request)
	if !ok {
		return nil
	}
	r := w.record(e, "request")
	r.media, r.head = httpRequest, h.bytes()
	_, err := w.write(r, nil)
	return err
}

// metadata writes the other facts about the visit (6.6).
func (w *warc) metadata(e *event) error {
	reasons, err := listed(e.Reasons)
	if err != nil {
		return err
	}
	reserved, err := listed(e.Reserved)
	if err != nil {
		return err
	}
	r := w.record(e, "metadata")
	r.media = "application/warc-fields"
	r.head = namedFields(
		field{"fetchTimeMs", strconv.FormatInt(e.Duration.Milliseconds(), 10)},
		field{"visit", strconv.Itoa(e.Visit)},
		field{"outcome", e.Outcome.String()},
		field{"status", number(e.Status)},
		field{"version", number(e.Version.Seq)},
		field{"sha256", e.Digest},
		field{"location", e.Location},
		field{"problem", e.Problem},
		field{"reasons", reasons},
		field{"reserved", reserved},
	)
	_, err = w.write(r, nil)
	return err
}

// listed returns a list as JSON, "" if it is empty.
func listed[T any](all []T) (string, error) {
	if len(all) == 0 {
		return "", nil
	}
	text, err := json.Marshal(all)
	return string(text), err
}

// number writes a number, "" for 0.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// record begins a record of a visit. The first is the one that the others are
// concurrent to (5.7).
func (w *warc) record(e *event, kind string, fields ...field) record {
	r := record{kind: kind, date: e.date, id: recordID(w.job.Crawl, e.Page, e.Visit, e.URL, e.At.UnixMicro(), kind)}
	r.fields = append(r.fields, field{"WARC-Target-URI", e.target}, field{"WARC-Warcinfo-ID", w.info})
	if e.main == "" {
		e.main = r.id
	} else {
		r.fields = append(r.fields, field{"WARC-Concurrent-To", e.main})
	}
	r.fields = append(r.fields, field{"WARC-IP-Address", address(e.IP)}, field{"WARC-Protocol", protocol(e.Protocol)})
	r.fields = append(r.fields, fields...)
	return r
}

// index writes a record that can be played back, and its line of the index.
func (w *warc) index(e *event, r record, b *block, mime string) error {
	offset := w.file.size
	length, err := w.write(r, b)
	if err != nil {
		return err
	}
	return writeCDXJ(w.captures, e.At, cdxjLine{
		URL: e.target, MIME: mime, Status: number(e.Status), Digest: strings.TrimPrefix(r.payload, "sha1:"),
		Length: strconv.FormatInt(length, 10), Offset: strconv.FormatInt(offset, 10), Filename: path.Base(w.file.name),
	})
}

func (w *warc) endPage(context.Context) error { return nil }

// finish sorts the index.
func (w *warc) finish(ctx context.Context) error {
	if err := errors.Join(w.file.close(), w.captures.close()); err != nil {
		return err
	}
	return sortLines(ctx, w.job, capturesName, w.folder+cdxjName, w.memory)
}
