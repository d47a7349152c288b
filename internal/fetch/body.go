package fetch

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"recrawl/internal/crawl"
)

// acceptEncoding lists the codings that newDecoder reads.
const acceptEncoding = "gzip, br, zstd"

// maxWindow is the largest zstd window that a decoder must offer (RFC 9659); a
// larger one only serves to exhaust memory.
const maxWindow = 8 << 20

// readBody reads the body of a 2xx answer into the sink, if its type is wanted.
func (x *exchange) readBody(ctx context.Context, resp *http.Response) error {
	declared := resp.Header.Get("Content-Type") != ""
	if declared && !x.wanted(x.res.MediaType) && !emptyAnswer(resp) {
		x.unsupported()
		return nil
	}
	if resp.ContentLength > x.req.MaxBody && !x.req.Truncate {
		return limitError{x.req.MaxBody}
	}
	wire := &meter{r: resp.Body, limit: x.req.MaxBody}
	defer func() { x.res.Bytes = wire.received.Load() }()
	defer x.watchPace(wire)()
	decoded, err := newDecoder(resp.Header.Values("Content-Encoding"), wire)
	if err != nil {
		return err
	}
	defer decoded.Close()
	body := bufio.NewReaderSize(decoded, 32<<10)
	if !declared && !x.sniff(body) {
		x.unsupported()
		return nil
	}
	return x.copyBody(ctx, body)
}

// emptyAnswer: a 204 or 205 says that the page is empty now, whatever its type.
func emptyAnswer(resp *http.Response) bool {
	return resp.StatusCode == http.StatusNoContent || resp.StatusCode == http.StatusResetContent
}

func (x *exchange) unsupported() {
	kind := x.res.MediaType.Type
	if kind == "" {
		kind = "unreadable"
	}
	x.settle(crawl.OutcomeUnsupported, fmt.Sprintf("the content type is %s", kind))
}

// sniff decides on a body whose type the server does not name, by its first
// bytes as browsers do. An empty body has no type and is wanted.
func (x *exchange) sniff(body *bufio.Reader) bool {
	head, _ := body.Peek(512) // an error comes again when the body is read
	if len(head) == 0 {
		return true
	}
	x.res.MediaType = crawl.ParseMediaType(http.DetectContentType(head))
	// The guess at a charset is the extractor's, which sees the whole body.
	x.res.MediaType.Charset = ""
	return x.wanted(x.res.MediaType)
}

// copyBody copies the decoded body to the sink within the limit.
func (x *exchange) copyBody(ctx context.Context, body io.Reader) error {
	sum := sha256.New()
	buffer := make([]byte, 32<<10)
	for {
		n, err := body.Read(buffer)
		if room := x.req.MaxBody - x.res.Size; int64(n) > room {
			n, err = int(room), limitError{x.req.MaxBody}
		}
		if x.req.Truncate && errors.As(err, new(limitError)) {
			x.res.Truncated, err = true, io.EOF
		}
		if err := x.keep(sum, buffer[:n]); err != nil {
			return err
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err // the end may be that of a connection closed by the cancellation
	}
	x.res.Digest = hex.EncodeToString(sum.Sum(nil))
	x.res.Content = true
	x.settle(crawl.OutcomeNew, "")
	return nil
}

func (x *exchange) keep(sum hash.Hash, p []byte) error {
	sum.Write(p)
	x.res.Size += int64(len(p))
	if x.sink == nil {
		return nil
	}
	if _, err := x.sink.Write(p); err != nil {
		return localError{fmt.Errorf("store the body: %w", err)}
	}
	return nil
}

// limitError: the body is over the limit.
type limitError struct{ limit int64 }

func (e limitError) Error() string {
	return fmt.Sprintf("the body is larger than %s", crawl.Size(e.limit))
}

// meter counts the bytes of the body on the wire and ends it over the limit.
type meter struct {
	r        io.Reader
	limit    int64
	received atomic.Int64
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if m.received.Add(int64(n)) > m.limit {
		// The excess is counted but not passed on.
		over := int(m.received.Load() - m.limit)
		return max(n-over, 0), limitError{m.limit}
	}
	return n, err
}

// watchPace cancels the exchange when the body comes slower than the least rate
// after the grace. It looks only at the moments when the bytes received so far
// stop being enough. The returned function ends the watch.
func (x *exchange) watchPace(wire *meter) (stop func()) {
	start := time.Now()
	enoughFor := func() time.Duration {
		paid := time.Duration(float64(wire.received.Load()) / float64(x.options.MinRate) * float64(time.Second))
		return max(paid, x.options.Grace)
	}
	ended := make(chan struct{})
	go func() {
		timer := time.NewTimer(enoughFor())
		defer timer.Stop()
		for {
			select {
			case <-ended:
				return
			case <-timer.C:
			}
			left := enoughFor() - time.Since(start)
			if left <= 0 {
				x.cancel(errSlow)
				return
			}
			timer.Reset(left)
		}
	}()
	return func() { close(ended) }
}

// newDecoder undoes the one content coding that the header names. No coding at
// all, and an empty body whatever its coding, pass as they are.
func newDecoder(header []string, wire io.Reader) (io.ReadCloser, error) {
	codings := codingsOf(header)
	if len(codings) > 1 {
		return nil, fmt.Errorf("%w: %s", errCoding, strings.Join(codings, " in "))
	}
	if len(codings) == 0 {
		return io.NopCloser(wire), nil
	}
	buffered := bufio.NewReader(wire)
	if _, err := buffered.Peek(1); errors.Is(err, io.EOF) {
		return io.NopCloser(bytes.NewReader(nil)), nil
	} else if err != nil {
		return nil, err
	}
	switch codings[0] {
	case "gzip", "x-gzip":
		return gzip.NewReader(buffered)
	case "br":
		return io.NopCloser(brotli.NewReader(buffered)), nil
	case "zstd":
		d, err := zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, fmt.Errorf("zstd: %w", err)
		}
		return d.IOReadCloser(), nil
	}
	return nil, fmt.Errorf("%w: %s", errCoding, codings[0])
}

// codingsOf lists the content codings of a header in lower case, without
// identity.
func codingsOf(header []string) []string {
	var codings []string
	for _, c := range strings.Split(strings.Join(header, ","), ",") {
		if c = strings.ToLower(strings.TrimSpace(c)); c != "" && c != "identity" {
			codings = append(codings, c)
		}
	}
	return codings
}
