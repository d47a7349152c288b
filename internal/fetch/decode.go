package fetch

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/semaphore"

	"recrawl/internal/unzip"
)

// acceptEncoding lists the codings that are asked for. Deflate is read as well, but not asked
// for: servers disagree on its meaning.
const acceptEncoding = "gzip, br, zstd"

// Limits of the text before the current byte that decoders keep. The server chooses
// the size of that window, up to 16 MiB, so some hundred hostile answers at once
// could exhaust the memory of a worker.
const (
	// maxWindow is the largest zstd window that a decoder must offer (RFC 9659).
	maxWindow = 8 << 20
	// freeWindow is a window that every exchange may have.
	freeWindow = 512 << 10
	// windowMemory is the total memory for all larger windows of a Client. A decoder
	// that finds no room waits for it.
	windowMemory = 128 << 20
)

// decoders makes decoders within the memory for their windows.
type decoders struct{ memory *semaphore.Weighted }

func newDecoders() decoders { return decoders{semaphore.NewWeighted(windowMemory)} }

// maxCodings is how many codings, one in the other, are undone. More are no server's honest work.
const maxCodings = 2

// encoded is a body in a coding. It knows why it ended.
type encoded interface {
	io.Reader
	ended() error
}

// decode undoes the content codings that the header names. No coding at all, and an empty body
// whatever its coding, pass as they are.
func (d decoders) decode(ctx context.Context, header []string, wire *meter) (io.ReadCloser, error) {
	codings := codingsOf(header)
	if len(codings) > maxCodings || slices.ContainsFunc(codings, func(c string) bool { return openers[c] == nil }) {
		return nil, fmt.Errorf("%w: %s", errCoding, strings.Join(codings, " in "))
	}
	var source encoded = wire
	undone := &layers{Reader: wire}
	for i, coding := range slices.Backward(codings) {
		again := i < len(codings)-1
		layer, err := d.undo(ctx, coding, source, again)
		if err != nil {
			undone.Close()
			return nil, err
		}
		undone.add(layer)
		source = &between{r: layer, limit: wire.limit}
	}
	return undone, nil
}

// undo undoes one coding. Again, it is that of a body which was in another: gzip that is named
// twice may be there once.
func (d decoders) undo(ctx context.Context, coding string, source encoded, again bool) (io.ReadCloser, error) {
	buffered := bufio.NewReader(source)
	head, err := buffered.Peek(zstd.HeaderMaxSize)
	switch {
	case len(head) == 0 && errors.Is(err, io.EOF):
		return io.NopCloser(bytes.NewReader(nil)), nil
	case len(head) == 0:
		return nil, err
	case again && strings.TrimPrefix(coding, "x-") == "gzip" && !unzip.IsGzip(head):
		return io.NopCloser(buffered), nil
	}
	window, r, err := openers[coding](head, buffered)
	if err != nil {
		return nil, corrupt(coding, source, err)
	}
	release, err := d.reserve(ctx, window, again)
	if err != nil {
		return nil, err
	}
	return &decoded{coding: coding, source: source, r: r, release: release}, nil
}

// layers are the decoders of a body, each of which reads from the one before.
type layers struct {
	io.Reader // the last
	all       []io.Closer
}

func (l *layers) add(layer io.ReadCloser) { l.Reader, l.all = layer, append(l.all, layer) }

func (l *layers) Close() error {
	var errs []error
	for _, layer := range slices.Backward(l.all) {
		errs = append(errs, layer.Close())
	}
	return errors.Join(errs...)
}

// between is what one decoder leaves for the next, of no more than the size that a body may have.
type between struct {
	r     io.Reader
	limit int64
	got   int64
	err   error
}

func (b *between) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if b.got += int64(n); b.got > b.limit {
		n, err = 0, limitError{b.limit}
	}
	if err != nil {
		b.err = err
	}
	return n, err
}

func (b *between) ended() error { return b.err }

// reserve waits for the memory of a large window, unless the body has one already: such bodies
// would wait for each other.
func (d decoders) reserve(ctx context.Context, window int64, again bool) (release func(), err error) {
	if window <= freeWindow {
		return func() {}, nil
	}
	if again && !d.memory.TryAcquire(window) {
		err = errors.New("another decoder of the same body has some")
	} else if !again {
		err = d.memory.Acquire(ctx, window)
	}
	if err != nil {
		// The page may be fine: it is we who are overloaded.
		return nil, localError{fmt.Errorf("no memory for a decoder became free: %w", err)}
	}
	return func() { d.memory.Release(window) }, nil
}

// opener makes a decoder, which must not claim its window before it is read, and
// reads that window's size from the first bytes of the body.
type opener func(head []byte, body *bufio.Reader) (window int64, r io.Reader, err error)

var openers = map[string]opener{"gzip": openGzip, "x-gzip": openGzip, "deflate": openDeflate, "br": openBrotli, "zstd": openZstd}

func openGzip(_ []byte, body *bufio.Reader) (int64, io.Reader, error) {
	r, err := unzip.NewReader(body)
	return 32 << 10, r, err
}

// openDeflate reads a zlib stream, which the name stands for (RFC 9110 8.4.1.2), or the bare
// deflate data that some servers send instead.
func openDeflate(head []byte, body *bufio.Reader) (int64, io.Reader, error) {
	const window = 32 << 10
	if len(head) < 2 || head[0]&15 != 8 || (int(head[0])<<8|int(head[1]))%31 != 0 {
		return window, flate.NewReader(body), nil
	}
	r, err := zlib.NewReader(body)
	return window, r, err
}

func openBrotli(head []byte, body *bufio.Reader) (int64, io.Reader, error) {
	return brotliWindow(head[0]), stream{brotli.NewReader(body)}, nil
}

// stream reads a brotli stream, and ignores what follows it.
type stream struct{ *brotli.Reader }

func (s stream) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && err.Error() == "brotli: excessive input" { // the package exports no error
		err = io.EOF
	}
	return n, err
}

// brotliWindow is the size that the first bits of a stream announce (RFC 7932
// 9.1).
func brotliWindow(first byte) int64 {
	switch low, high := first>>1&7, first>>4&7; {
	case first&1 == 0:
		return 1 << 16
	case low != 0:
		return 1 << (17 + low)
	case high > 1:
		return 1 << (8 + high)
	}
	return 1 << 17
}

func openZstd(head []byte, body *bufio.Reader) (int64, io.Reader, error) {
	// The first frame states the window, and later frames may not have a larger one. A
	// skippable frame states nothing.
	window := int64(freeWindow)
	var h zstd.Header
	if err := h.Decode(head); err != nil || h.Skippable || h.WindowSize > freeWindow || h.SingleSegment && h.FrameContentSize > freeWindow {
		window = maxWindow
	}
	var source io.Reader = body
	framed := bytes.HasPrefix(head, []byte(zstdMagic)) || h.Skippable
	if framed {
		source = io.MultiReader(body, strings.NewReader(noFrame))
	}
	d, err := zstd.NewReader(source, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(uint64(window)), zstd.WithDecoderLowmem(true))
	if err != nil {
		return 0, nil, err
	}
	if framed {
		return window, frames{d.IOReadCloser()}, nil
	}
	return window, d.IOReadCloser(), nil
}

// zstdMagic begins a frame. noFrame is as long and begins none.
const (
	zstdMagic = "\x28\xb5\x2f\xfd"
	noFrame   = "\x00\x00\x00\x00"
)

// frames reads the frames of a zstd body, and ignores what follows the last one. Its source ends
// with noFrame, so that enough follows the last frame for the decoder to say that it is none. If
// the decoder does not say so, it took noFrame for the end of a frame that is cut.
type frames struct{ io.ReadCloser }

func (f frames) Read(p []byte) (int, error) {
	n, err := f.ReadCloser.Read(p)
	switch {
	case errors.Is(err, zstd.ErrMagicMismatch):
		err = io.EOF
	case errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// decoded is a body without its coding.
type decoded struct {
	coding  string
	source  encoded
	r       io.Reader
	release func()
}

func (d *decoded) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = corrupt(d.coding, d.source, err)
	}
	return n, err
}

func (d *decoded) Close() error {
	defer d.release()
	if c, ok := d.r.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// corrupt distinguishes a body that does not match its header from one that broke
// off on the way.
func corrupt(coding string, source encoded, err error) error {
	if ended := source.ended(); ended != nil && !errors.Is(ended, io.EOF) {
		return ended
	}
	return &corruptError{coding: coding, err: err}
}

// corruptError: the whole body came, and its coding is broken. The cause is not
// unwrapped: it may be the end of the body, which is not that of the connection.
type corruptError struct {
	coding string
	err    error
}

func (e *corruptError) Error() string {
	return fmt.Sprintf("the body is not the %s that its header promises: %v", e.coding, e.err)
}

// otherCodings are the codings of IANA's registry that nothing here undoes.
var otherCodings = []string{"aes128gcm", "compress", "x-compress", "dcb", "dcz", "exi", "pack200-gzip"}

// codingsOf lists the content codings of a header in lower case. Identity changes nothing, and
// a name that is no coding is a server's mistake, often a charset: the body is as it is
// (Fetch standard, handle content codings).
func codingsOf(header []string) []string {
	var codings []string
	for _, c := range strings.Split(strings.Join(header, ","), ",") {
		c = strings.ToLower(strings.TrimSpace(c))
		if openers[c] != nil || slices.Contains(otherCodings, c) {
			codings = append(codings, c)
		}
	}
	return codings
}
