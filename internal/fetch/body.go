package fetch

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"

	"recrawl/internal/crawl"
)

// readBody reads the body of a 2xx answer into the sink, if its type is wanted.
func (x *exchange) readBody(ctx context.Context, resp *http.Response) error {
	declared := x.res.MediaType.Type != ""
	if declared && !x.wanted(x.res.MediaType) && !emptyAnswer(resp) {
		x.unsupported()
		return nil
	}
	if resp.ContentLength > x.req.MaxBody && !x.req.Truncate {
		return limitError{x.req.MaxBody}
	}
	wire := &meter{r: resp.Body, limit: x.req.MaxBody, pace: x.pace()}
	defer func() { x.res.Bytes = wire.received }()
	decoded, err := x.client.decoders.decode(ctx, resp.Header.Values("Content-Encoding"), wire)
	if err != nil {
		return err
	}
	defer decoded.Close()
	if declared {
		return x.copyBody(ctx, decoded)
	}
	body := bufio.NewReader(decoded)
	if !x.sniff(body) {
		x.unsupported()
		return nil
	}
	return x.copyBody(ctx, body)
}

// pace returns the watch over the body's speed, which ends the exchange.
func (x *exchange) pace() *pace {
	o := x.client.options
	least := int64(float64(o.MinRate) * o.Window.Seconds())
	return newPace(o.Window, max(least, 1), func() { x.cancel(errSlow) })
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

// sniff decides on a body whose type the server does not name, or not readably, by its
// first bytes as browsers do. An empty body has no type and is wanted.
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

// ending is a body that remembers whether it was read to its end.
type ending struct {
	io.ReadCloser
	ended bool
}

func (e *ending) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	e.ended = e.ended || errors.Is(err, io.EOF)
	return n, err
}

// sentAlready reports whether the host has written all of its answer by the time its
// header arrives: a short answer goes out in one piece.
func sentAlready(resp *http.Response) bool {
	const onePiece = 16 << 10
	return resp.Body == http.NoBody || resp.ContentLength >= 0 && resp.ContentLength <= onePiece
}
