package fetch

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"log"
	"net"
	"net/netip"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"recrawl/internal/crawl"
	"recrawl/internal/extract"
)

// The bounds that every hostile answer must keep, whatever its outcome.
const (
	hostileBody = 1 << 20 // MaxBody
	// hostileTime is far more than any case takes, however busy the machine is, and far
	// less than for ever: each case ends by itself, by the pace or by its own limit.
	hostileTime = 10 * time.Minute
	// hostileReceived is how much of a body the site can make us read: the limit, and
	// the buffer with which it was exceeded.
	hostileReceived = hostileBody + 64<<10
	// hostileSent is how much the site can hand to the network before it sees the end
	// of the connection: our budget for it, and the buffers of both systems.
	hostileSent = framing + DefaultMaxHeader + 2*hostileBody + 16<<20
)

// impatient gives up a dripping body soon.
var impatient = Options{MinRate: 1000, Window: 300 * time.Millisecond}

// hostileCase is one way to abuse a crawler. The answer is written after the
// request was read.
type hostileCase struct {
	name   string
	answer func(c *wire)
	limit  time.Duration // the exchange's at first, see impatiently; 0 is hostileTime
	// The expected result; problem is a part of the words.
	outcome  crawl.Outcome
	answered HostAnswer
	problem  string
}

// wire is a connection that counts the sent bytes. A failed write ends the case.
type wire struct {
	net.Conn
	sent *atomic.Int64
	over bool
}

func (w *wire) send(p []byte) {
	n, err := w.Write(p)
	w.sent.Add(int64(n))
	w.over = w.over || err != nil
}

// text sends a whole string.
func (w *wire) text(s string) { w.send([]byte(s)) }

// forever repeats a piece until the other side has enough.
func (w *wire) forever(piece string) {
	block := []byte(strings.Repeat(piece, 1+(64<<10)/len(piece)))
	for !w.over {
		w.send(block)
	}
}

// drip repeats a piece slowly.
func (w *wire) drip(piece string) {
	for !w.over {
		w.text(piece)
		time.Sleep(5 * time.Millisecond)
	}
}

// hang waits until the other side closes.
func (w *wire) hang() { _, _ = io.Copy(io.Discard, w.Conn) }

func (w *wire) reset() { _ = w.Conn.(*net.TCPConn).SetLinger(0) }

const (
	page200 = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
	chunked = page200 + "Transfer-Encoding: chunked\r\n\r\n"
)

// says answers with fixed bytes and closes.
func says(parts ...string) func(*wire) {
	return func(w *wire) { w.text(strings.Join(parts, "")) }
}

// repeats answers with a start and then a piece for ever.
func repeats(start, piece string) func(*wire) {
	return func(w *wire) { w.text(start); w.forever(piece) }
}

// drips answers with a start and then slowly a piece for ever.
func drips(start, piece string) func(*wire) {
	return func(w *wire) { w.text(start); w.drip(piece) }
}

// resets answers with a start and resets the connection. Bytes that have arrived
// before the reset can still be read.
func resets(start string) func(*wire) {
	return func(w *wire) { w.text(start); w.reset() }
}

func coded(coding string) string { return page200 + "Content-Encoding: " + coding + "\r\n\r\n" }

// wideBrotli starts a stream with a window of 16 MiB and a block of 16 MiB: four
// bytes that make a decoder request all of it.
const wideBrotli = "\xcf\xff\xff\xff"

// wideZstd starts a frame with a window of 8 MiB and a block of 128 KiB.
const wideZstd = "\x28\xb5\x2f\xfd\x00\x68\x00\x00\x10"

// bomb is 20 MiB of zeros in a coding, with the largest window that it has.
var bomb = sync.OnceValue(func() map[string]string {
	zeros := make([]byte, 20<<20)
	var gz, br, zs bytes.Buffer
	g := gzip.NewWriter(&gz)
	b := brotli.NewWriterOptions(&br, brotli.WriterOptions{Quality: 4, LGWin: 24})
	z, _ := zstd.NewWriter(&zs, zstd.WithWindowSize(8<<20), zstd.WithEncoderConcurrency(1))
	for _, w := range []io.WriteCloser{g, b, z} {
		_, _ = w.Write(zeros)
		_ = w.Close()
	}
	return map[string]string{"gzip": gz.String(), "br": br.String(), "zstd": zs.String()}
})

func gzipped(t testing.TB, s string) string { return string(encode(t, "gzip", []byte(s))) }

// hostileCases are the whole suite of answers by HTTP/1.
func hostileCases(t testing.TB) []hostileCase {
	short := 400 * time.Millisecond
	gzipBomb := bomb()["gzip"]
	return []hostileCase{
		// Bodies without end.
		{"endless body", repeats(page200+"\r\n", "x"), 0, crawl.OutcomeTooLarge, HostOK, "larger than 1MiB"},
		{"endless chunks", repeats(chunked, "400\r\n"+strings.Repeat("x", 1024)+"\r\n"), 0, crawl.OutcomeTooLarge, HostOK, "larger than 1MiB"},
		{"endless chunks of one byte", repeats(chunked, "1\r\nx\r\n"), 0, crawl.OutcomeTooLarge, HostFailed, "far more than a page"},
		{"endless chunk extension", repeats(chunked+"1;", "x"), 0, crawl.OutcomeFailed, HostFailed, "line too long"},
		{"endless chunk extensions", repeats(chunked, "1;"+strings.Repeat("x", 2000)+"\r\nx\r\n"), 0, crawl.OutcomeFailed, HostFailed, "non-data"},
		{"endless trailer", repeats(chunked+"1\r\nx\r\n0\r\n", "X: y\r\n"), 0, crawl.OutcomeFailed, HostFailed, "trailer"},
		{"endless image", repeats("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n", "x"), 0, crawl.OutcomeUnsupported, HostOK, "image/png"},
		{"endless error page", repeats("HTTP/1.1 500 No\r\nContent-Type: text/html\r\n\r\n", "x"), 0, crawl.OutcomeFailed, HostOK, "500"},
		{"endless redirect page", repeats("HTTP/1.1 301 Go\r\nLocation: /next\r\n\r\n", "x"), 0, crawl.OutcomeRedirected, HostOK, ""},
		{"a body where none may be", repeats("HTTP/1.1 204 None\r\n\r\n", "x"), 0, crawl.OutcomeNew, HostOK, ""},
		{"dripping body", drips(page200+"\r\n", "x"), 0, crawl.OutcomeTimedOut, HostFailed, "slower than"},
		{"dripping chunks", drips(chunked, "1\r\nx\r\n"), 0, crawl.OutcomeTimedOut, HostFailed, "slower than"},
		{"dripping after a burst", drips(page200+"\r\n"+strings.Repeat("x", 500_000), "x"), 0, crawl.OutcomeTimedOut, HostFailed, "slower than"},
		{"dripping gzip", drips(coded("gzip")+gzipBomb[:20], ""), 0, crawl.OutcomeTimedOut, HostFailed, "slower than"},
		{"a body that never starts", func(w *wire) { w.text(page200 + "Content-Length: 10\r\n\r\n"); w.hang() }, 0, crawl.OutcomeTimedOut, HostFailed, "slower than"},

		// Headers.
		{"silence", (*wire).hang, short, crawl.OutcomeTimedOut, HostFailed, "no answer within"},
		{"dripping header", drips(page200, "X: y\r\n"), short, crawl.OutcomeTimedOut, HostFailed, "no answer within"},
		{"endless header", repeats(page200, "X: y\r\n"), 0, crawl.OutcomeTooLarge, HostOK, "header is larger than 65536 bytes"},
		{"endless header line", repeats(page200+"X: ", "y"), 0, crawl.OutcomeTooLarge, HostOK, "header is larger than 65536 bytes"},
		{"endless status line", repeats("HTTP/1.1 200 ", "y"), 0, crawl.OutcomeTooLarge, HostOK, "header is larger than 65536 bytes"},
		{"endless early hints", repeats("", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"), 0, crawl.OutcomeTooLarge, HostOK, "header is larger than 65536 bytes"},
		{"ten thousand headers", says(page200, manyHeaders(10_000), "\r\n"), 0, crawl.OutcomeTooLarge, HostOK, "header is larger than 65536 bytes"},
		{"five thousand headers", says(page200, manyHeaders(5_000), "\r\n<p>"), 0, crawl.OutcomeNew, HostOK, ""},
		{"another protocol", says("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nxyz"), 0, crawl.OutcomeFailed, HostOK, "101"},
		{"no protocol", repeats("", "SSH-2.0\r\n"), 0, crawl.OutcomeFailed, HostFailed, "not HTTP"},

		// Codings.
		{"gzip bomb", says(coded("gzip"), gzipBomb), 0, crawl.OutcomeTooLarge, HostOK, "larger than 1MiB"},
		{"brotli bomb", says(coded("br"), bomb()["br"]), 0, crawl.OutcomeTooLarge, HostOK, "larger than 1MiB"},
		{"zstd bomb", says(coded("zstd"), bomb()["zstd"]), 0, crawl.OutcomeTooLarge, HostOK, "larger than 1MiB"},
		{"gzip in gzip", says(coded("gzip, gzip"), gzipped(t, gzipBomb)), 0, crawl.OutcomeTooLarge, HostOK, "larger than 1MiB"},
		{"a bomb between two codings", says(coded("br, gzip"), gzipBomb), 0, crawl.OutcomeFailed, HostOK, "not the br"},
		{"empty gzip members between two codings", repeats(coded("gzip, gzip"), gzipped(t, strings.Repeat(gzipped(t, ""), 1000))), 0, crawl.OutcomeTooLarge, HostOK, "larger than 1MiB"},
		{"a wide zstd window in a wide brotli one, cut", says(coded("zstd, br"), string(encode(t, "br", []byte(wideZstd+"xxxxxxxxxxxxxxxx")))), 0, crawl.OutcomeFailed, HostOK, "not the zstd"},
		{"a coding of the transfer", says(page200, "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"), 0, crawl.OutcomeFailed, HostFailed, "transfer encoding"},
		{"deflate bomb", says(coded("deflate"), string(encode(t, "zlib", make([]byte, 20<<20)))), 0, crawl.OutcomeTooLarge, HostOK, "larger than 1MiB"},
		{"one byte of deflate", says(coded("deflate"), "x"), 0, crawl.OutcomeFailed, HostOK, "not the deflate"},
		{"zlib with a dictionary", says(coded("deflate"), "\x78\xbb\x00\x00\x00\x01x"), 0, crawl.OutcomeFailed, HostOK, "not the deflate"},
		{"a thousand codings", says(coded(strings.Repeat("gzip,", 1000)), "x"), 0, crawl.OutcomeFailed, HostOK, "not offered: gzip in gzip"},
		{"empty gzip members", repeats(coded("gzip"), gzipped(t, "")), 0, crawl.OutcomeTooLarge, HostOK, "larger than 1MiB"},
		{"skipped zstd frames", repeats(coded("zstd"), "\x50\x2a\x4d\x18\x08\x00\x00\x00skipped!"), 0, crawl.OutcomeTooLarge, HostOK, "larger than 1MiB"},
		{"a zstd window of 2 GiB", says(coded("zstd"), "\x28\xb5\x2f\xfd\x00\xa8\x00\x00\x10"), 0, crawl.OutcomeFailed, HostOK, "not the zstd"},
		{"a zstd frame of 1 TiB", says(coded("zstd"), "\x28\xb5\x2f\xfd\xe0\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x10"), 0, crawl.OutcomeFailed, HostOK, "not the zstd"},
		{"a small zstd frame before a large one", says(coded("zstd"), string(encode(t, "zstd", []byte("x"))), wideZstd), 0, crawl.OutcomeFailed, HostOK, "not the zstd"},
		{"a brotli window of 1 GiB", says(coded("br"), "\x11\x3e\xff\xff\xff"), 0, crawl.OutcomeFailed, HostOK, "not the br"},
		{"gzip that ends early", says(page200, "Content-Length: 20\r\nContent-Encoding: gzip\r\n\r\n", gzipBomb[:20]), 0, crawl.OutcomeFailed, HostOK, "not the gzip"},
		{"a wide brotli window, dripping", drips(coded("br")+wideBrotli, "x"), 0, crawl.OutcomeTimedOut, HostFailed, "slower than"},
		{"a wide zstd window, dripping", drips(coded("zstd")+wideZstd, "x"), 0, crawl.OutcomeTimedOut, HostFailed, "slower than"},

		// Lengths.
		{"shorter than its length", says(page200, "Content-Length: 100\r\n\r\n<p>"), 0, crawl.OutcomeFailed, HostFailed, "closed the connection"},
		{"longer than its length", repeats(page200+"Content-Length: 3\r\n\r\n<p>", "more"), 0, crawl.OutcomeNew, HostOK, ""},
		{"a length of exabytes", repeats(page200+"Content-Length: 9000000000000000000\r\n\r\n", "x"), 0, crawl.OutcomeTooLarge, HostOK, "larger than 1MiB"},
		{"a length beyond numbers", says(page200, "Content-Length: 99999999999999999999\r\n\r\nx"), 0, crawl.OutcomeFailed, HostFailed, "Content-Length"},
		{"two lengths", says(page200, "Content-Length: 3\r\nContent-Length: 4\r\n\r\n<p>x"), 0, crawl.OutcomeFailed, HostFailed, "Content-Length"},

		// Chunks.
		{"garbage chunks", says(chunked, "zz\r\n<p>\r\n"), 0, crawl.OutcomeFailed, HostFailed, "chunk"},
		{"a negative chunk", says(chunked, "-5\r\n<p>\r\n"), 0, crawl.OutcomeFailed, HostFailed, "chunk"},
		{"a chunk beyond numbers", says(chunked, "fffffffffffffffff\r\n<p>\r\n"), 0, crawl.OutcomeFailed, HostFailed, "chunk"},
		{"a chunk of exabytes", repeats(chunked+"7fffffffffffffff\r\n", "x"), 0, crawl.OutcomeTooLarge, HostOK, "larger than 1MiB"},
		{"chunks that stop", says(chunked, "5\r\n<p>"), 0, crawl.OutcomeFailed, HostFailed, "closed the connection"},

		// Connections that end.
		{"closed after the request", says(), 0, crawl.OutcomeFailed, HostFailed, "closed the connection"},
		{"reset after the request", (*wire).reset, 0, crawl.OutcomeFailed, HostFailed, "reset the connection"},
		{"reset in the header", resets(page200), 0, crawl.OutcomeFailed, HostFailed, "the connection"},
		{"reset after the header", resets(page200 + "Content-Length: 10\r\n\r\n"), 0, crawl.OutcomeFailed, HostFailed, "reset the connection"},
		{"reset in the body", resets(page200 + "Content-Length: 10\r\n\r\n<p>"), 0, crawl.OutcomeFailed, HostFailed, "reset the connection"},
		{"reset at the end of the body", resets(page200 + "\r\n<p>"), 0, crawl.OutcomeFailed, HostFailed, "reset the connection"},
	}
}

func manyHeaders(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "x%d:y\r\n", i)
	}
	return b.String()
}

// serveHostile serves one case and reports how much it sent.
func serveHostile(t testing.TB, c hostileCase) (s *wireServer, sent *atomic.Int64) {
	sent = new(atomic.Int64)
	s = serveWire(t, func(conn net.Conn) {
		if readRequest(bufio.NewReader(conn)) == nil {
			c.answer(&wire{Conn: conn, sent: sent})
		}
	})
	return s, sent
}

// sizedSink counts the kept bytes of a result.
type sizedSink struct{ n int64 }

func (s *sizedSink) Write(p []byte) (int, error) {
	s.n += int64(len(p))
	return len(p), nil
}

// impatiently makes an exchange that must be given up at a time limit, once the part to
// be given up has begun. A busy machine may take longer than the first limit to get
// that far; then it gets twice the time.
func impatiently(limit time.Duration, exchange func(limit time.Duration) (got Result, begun bool)) Result {
	for {
		got, begun := exchange(limit)
		if begun || limit >= hostileTime {
			return got
		}
		limit *= 2
	}
}

// TestHostileSites: each case has its outcome, costs the site one connection and
// one request, and stays within the bounds above.
func TestHostileSites(t *testing.T) {
	patient, impatient := New(Options{}), New(impatient)
	for _, c := range hostileCases(t) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			client := patient
			if c.outcome == crawl.OutcomeTimedOut && c.limit == 0 {
				client = impatient
			}
			var s *wireServer
			var sent *atomic.Int64
			var sink *sizedSink
			got := impatiently(cmp.Or(c.limit, hostileTime), func(limit time.Duration) (Result, bool) {
				s, sent = serveHostile(t, c)
				sink = new(sizedSink)
				req := get(t, s.url)
				req.MaxBody, req.Deadline = hostileBody, time.Now().Add(limit)
				got := client.Do(t.Context(), req, sink)
				return got, got.Sent
			})
			checkResult(t, got)
			if got.Outcome != c.outcome || got.HostAnswer != c.answered || !strings.Contains(got.Problem, c.problem) || got.Local || !got.Sent {
				t.Errorf("%s, %s: %q (%v)", got.Outcome, got.HostAnswer, got.Problem, got.Err)
			}
			if n := s.connections.Load(); n != 1 {
				t.Errorf("%d connections", n)
			}
			if got.Duration > hostileTime || got.Bytes > hostileReceived || sink.n > hostileBody || got.Size != sink.n || sent.Load() > hostileSent {
				t.Errorf("%s, %d bytes received, %d kept, %d sent", got.Duration, got.Bytes, sink.n, sent.Load())
			}
		})
	}
}

// TestHostileSitesHTTP2: the same by frames.
func TestHostileSitesHTTP2(t *testing.T) {
	// net/http reports to the standard logger each frame that it does not know.
	log.SetOutput(io.Discard)
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
	head := func(f *http2.Framer, stream uint32, fields ...hpack.HeaderField) error {
		var b bytes.Buffer
		e := hpack.NewEncoder(&b)
		for _, field := range append([]hpack.HeaderField{{Name: ":status", Value: "200"}, {Name: "content-type", Value: "text/html"}}, fields...) {
			if err := e.WriteField(field); err != nil {
				return err
			}
		}
		return f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: b.Bytes(), EndHeaders: true})
	}
	forever := func(write func() error) error {
		for {
			if err := write(); err != nil {
				return err
			}
		}
	}
	cases := []struct {
		name    string
		answer  func(f *http2.Framer, stream uint32) error
		outcome crawl.Outcome
		problem string
	}{
		{"pings without end", func(f *http2.Framer, _ uint32) error {
			return forever(func() error { return f.WritePing(true, [8]byte{}) })
		}, crawl.OutcomeTooLarge, "far more than a page"},
		{"settings without end", func(f *http2.Framer, _ uint32) error {
			return forever(func() error { return f.WriteSettingsAck() })
		}, crawl.OutcomeFailed, ""},
		{"unknown frames without end", func(f *http2.Framer, _ uint32) error {
			return forever(func() error { return f.WriteRawFrame(0xbe, 0, 0, make([]byte, 1000)) })
		}, crawl.OutcomeTooLarge, "far more than a page"},
		{"header frames without end", func(f *http2.Framer, stream uint32) error {
			_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: []byte{0x88}})
			return forever(func() error { return f.WriteContinuation(stream, false, bytes.Repeat([]byte{0x88}, 1000)) })
		}, crawl.OutcomeFailed, ""},
		{"empty data frames without end", func(f *http2.Framer, stream uint32) error {
			_ = head(f, stream)
			return forever(func() error { return f.WriteData(stream, false, nil) })
		}, crawl.OutcomeTooLarge, "far more than a page"},
		{"more data than the window", func(f *http2.Framer, stream uint32) error {
			_ = head(f, stream)
			return forever(func() error { return f.WriteData(stream, false, make([]byte, 16000)) })
		}, crawl.OutcomeTooLarge, ""}, // or failed: whichever limit is noticed first
		{"a header that refers to itself", func(f *http2.Framer, stream uint32) error {
			big := hpack.HeaderField{Name: "x", Value: strings.Repeat("y", 4000)}
			fields := []hpack.HeaderField{big}
			for range 10_000 { // each is one byte on the wire
				fields = append(fields, big)
			}
			return head(f, stream, fields...)
		}, crawl.OutcomeTooLarge, "header is larger"},
		{"a status of five digits", func(f *http2.Framer, stream uint32) error {
			var b bytes.Buffer
			_ = hpack.NewEncoder(&b).WriteField(hpack.HeaderField{Name: ":status", Value: "99999"})
			return f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: b.Bytes(), EndHeaders: true, EndStream: true})
		}, crawl.OutcomeFailed, "not HTTP"},
		{"shorter than its length", func(f *http2.Framer, stream uint32) error {
			_ = head(f, stream, hpack.HeaderField{Name: "content-length", Value: "100"})
			return f.WriteData(stream, true, []byte("<p>"))
		}, crawl.OutcomeFailed, "closed the connection"},
		{"reset in the body", func(f *http2.Framer, stream uint32) error {
			_ = head(f, stream)
			_ = f.WriteData(stream, false, []byte("<p>"))
			return f.WriteRSTStream(stream, http2.ErrCodeInternal)
		}, crawl.OutcomeFailed, ""},
		{"dripping body", func(f *http2.Framer, stream uint32) error {
			_ = head(f, stream)
			return forever(func() error {
				time.Sleep(5 * time.Millisecond)
				return f.WriteData(stream, false, []byte("x"))
			})
		}, crawl.OutcomeTimedOut, "slower than"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			url, client, headers, connections := serveH2(t, c.answer)
			options := client.options
			options.Window = hostileTime // on a busy machine other limits are met late, too
			if c.outcome == crawl.OutcomeTimedOut {
				options.MinRate, options.Window = impatient.MinRate, impatient.Window
			}
			client = New(options)
			req, sink := get(t, url), new(sizedSink)
			req.MaxBody, req.Deadline = hostileBody, time.Now().Add(hostileTime)
			got := client.Do(t.Context(), req, sink)
			checkResult(t, got)
			first := c.problem == "" && c.outcome == crawl.OutcomeTooLarge && got.Outcome == crawl.OutcomeFailed
			if got.Outcome != c.outcome && !first || !strings.Contains(got.Problem, c.problem) || got.HostAnswer != HostFailed && got.Outcome != crawl.OutcomeTooLarge {
				t.Errorf("%s, %s: %q (%v)", got.Outcome, got.HostAnswer, got.Problem, got.Err)
			}
			if headers.Load() != 1 || connections.Load() != 1 {
				t.Errorf("%d requests on %d connections", headers.Load(), connections.Load())
			}
			if got.Duration > hostileTime || got.Bytes > hostileReceived || sink.n > hostileBody {
				t.Errorf("%s, %d bytes received, %d kept", got.Duration, got.Bytes, sink.n)
			}
		})
	}
}

// TestHostileHandshakes: neither silence nor a flood before the first request
// costs more than the limits, and no request was made.
func TestHostileHandshakes(t *testing.T) {
	cases := []struct {
		name    string
		answer  func(c net.Conn)
		outcome crawl.Outcome
		problem string
	}{
		{"silence", func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, crawl.OutcomeTimedOut, "no connection within"},
		{"closed", func(net.Conn) {}, crawl.OutcomeFailed, "the connection"},
		{"garbage", func(c net.Conn) { _, _ = io.WriteString(c, "220 mail.example ESMTP\r\n") }, crawl.OutcomeFailed, "does not speak TLS"},
		{"a hello that never ends", func(c net.Conn) {
			_, _ = io.ReadFull(c, make([]byte, 100))
			_, err := c.Write([]byte{22, 3, 3, 0, 5, 2, 1, 0, 0, 0}) // a message of 64 KiB
			for err == nil {
				_, err = c.Write([]byte{22, 3, 3, 0, 1, 0})
			}
		}, crawl.OutcomeFailed, "TLS"},
		{"a hello that is too long", func(c net.Conn) {
			_, _ = io.ReadFull(c, make([]byte, 100))
			_, _ = c.Write([]byte{22, 3, 3, 0, 5, 2, 255, 255, 255, 0})
			_, _ = io.Copy(io.Discard, c)
		}, crawl.OutcomeFailed, "TLS"},
		{"an alert", func(c net.Conn) {
			_, _ = io.ReadFull(c, make([]byte, 100))
			_, _ = c.Write([]byte{21, 3, 3, 0, 2, 2, 112})
			_, _ = io.Copy(io.Discard, c)
		}, crawl.OutcomeFailed, "TLS: the server refused the connection: unrecognized name"},
		{"an old protocol", func(c net.Conn) {
			_, _ = io.ReadFull(c, make([]byte, 100))
			_, _ = c.Write([]byte{21, 3, 1, 0, 2, 2, 70})
			_, _ = io.Copy(io.Discard, c)
		}, crawl.OutcomeFailed, "TLS: the server refused the connection: protocol version not supported"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			limit := hostileTime
			if c.outcome == crawl.OutcomeTimedOut {
				limit = 300 * time.Millisecond
			}
			var s *wireServer
			got := impatiently(limit, func(limit time.Duration) (Result, bool) {
				s = serveWire(t, c.answer)
				req := get(t, strings.Replace(s.url, "http:", "https:", 1))
				req.Deadline = time.Now().Add(limit)
				got := New(Options{}).Do(t.Context(), req, nil)
				return got, s.connections.Load() > 0
			})
			checkResult(t, got)
			if got.Outcome != c.outcome || got.HostAnswer != HostFailed || got.Sent || !strings.Contains(got.Problem, c.problem) {
				t.Errorf("%s, %s: %q (%v)", got.Outcome, got.HostAnswer, got.Problem, got.Err)
			}
			if n := s.connections.Load(); n != 1 {
				t.Errorf("%d connections", n)
			}
		})
	}
}

// TestRedirectsAreNotFollowed: a chain and a loop are one result for each
// request, and their targets are checked when somebody goes there.
func TestRedirectsAreNotFollowed(t *testing.T) {
	for name, location := range map[string]string{
		"loop": "/b", "chain": "/next", "private": "http://10.0.0.1/", "metadata": "http://169.254.169.254/latest/meta-data/",
		"this machine": "http://0x7f.1/", "mapped": "http://[::ffff:10.0.0.1]/", "ten thousand bytes": "/?" + strings.Repeat("x", 10_000),
	} {
		t.Run(name, func(t *testing.T) {
			s := answering(t, "HTTP/1.1 302 Found\r\nLocation: "+location+"\r\n\r\n")
			req := get(t, s.url+"/a")
			client := New(Options{})
			got := client.Do(t.Context(), req, nil)
			checkResult(t, got)
			if s.requests.Load() != 1 || got.Content {
				t.Fatalf("%d requests: %+v", s.requests.Load(), got)
			}
			if strings.HasPrefix(location, "http") {
				req.URL, req.AllowNetworks = got.Location, nil
				if got := client.Do(t.Context(), req, nil); !IsRefused(got.Err) || got.Sent {
					t.Errorf("followed to %s: %+v", req.URL, got)
				}
			}
		})
	}
}

// TestHostilePages: bodies that lie or choke readers, through the reader.
func TestHostilePages(t *testing.T) {
	nested := strings.Repeat("<div>", 2000) + `<a href="/deep">deep</a>`
	nul := strings.Repeat("\x00", 68<<10) + `<a href="/after">after</a>`
	cases := []struct {
		name, contentType, body string
		links                   int
		text                    string
	}{
		{"2000 nested elements", "text/html", nested, 1, "deep"},
		{"2000 nested tables", "text/html", strings.Repeat("<table><tr><td>", 2000) + `<a href="/deep">deep</a>`, 1, "deep"},
		{"68 KB of NULs", "text/html", nul, 1, "after"},
		{"a picture", "text/html", "\x89PNG\r\n\x1a\n" + strings.Repeat("\x00\xff", 1000), 0, ""},
		{"no UTF-8", "text/html; charset=utf-8", "<a href=/x>\xc3\x28</a>", 1, "\uFFFD("},
		{"UTF-16 that is none", "text/html; charset=utf-16", "<a href=/x>x</a>", 0, ""},
		{"a charset that nobody knows", "text/html; charset=\"\x00\"", "<a href=/x>é</a>", 1, "é"},
		{"a charset against readers", "text/html; charset=iso-2022-kr", "<a href=/x>x</a>", 0, "\uFFFD"},
		{"a thousand attributes", "text/html", "<a href=/x " + strings.Repeat("a ", 10_000) + ">x</a>", 1, "x"},
		{"an attribute of a megabyte", "text/html", `<a href="/` + strings.Repeat("x", 900<<10) + `">x</a>`, 0, "x"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := answering(t, "HTTP/1.1 200 OK\r\nContent-Type: "+strings.ReplaceAll(c.contentType, "\x00", "?")+"\r\n\r\n"+c.body)
			var sink bytes.Buffer
			req := get(t, s.url)
			got := New(Options{}).Do(t.Context(), req, &sink)
			if !got.Content {
				t.Fatalf("%+v", got)
			}
			page, err := extract.Parse(extract.Source{Body: sink.Bytes(), ContentType: got.MediaType.String(), URL: req.URL}, extract.Rules{})
			if err != nil || len(page.Links) != c.links || c.text != "" && page.Text != c.text {
				t.Errorf("%d links, %.80q, %v", len(page.Links), page.Text, err)
			}
			if strings.ContainsRune(page.Text, 0) {
				t.Error("NULs in the text")
			}
		})
	}
}

// TestRebinding: for a name that is public when it is looked up and private a
// moment later, no unchecked address is ever connected to.
func TestRebinding(t *testing.T) {
	s := answering(t, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nsecret")
	port := s.url[strings.LastIndexByte(s.url, ':'):]
	client := New(Options{})
	for _, second := range []string{"127.0.0.9", "::ffff:127.0.0.9", "::1", "10.0.0.1", "169.254.169.254", "64:ff9b::7f00:1", "64:ff9b:1::1", "168.63.129.16"} {
		answers := [][]netip.Addr{{netip.MustParseAddr("127.0.0.1")}, {netip.MustParseAddr(second)}}
		client.names = fakeNames(func() ([]netip.Addr, error) {
			a := answers[0]
			answers = answers[1:]
			return a, nil
		})
		for ask := range 2 {
			req := get(t, "http://rebind.example"+port)
			req.AllowNetworks = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
			got := client.Do(t.Context(), req, nil)
			checkResult(t, got)
			if want := ask == 1; IsRefused(got.Err) != want || got.Content != !want {
				t.Errorf("%s, ask %d: %+v", second, ask, got)
			}
			client.names.forget("rebind.example") // as if its time were over
		}
	}
}

// The heap under fire. Two hundred exchanges hold, at worst, a free window, an
// HTTP/2 buffer, a header and some small buffers each, together about 1.3 MiB;
// wider windows share windowMemory, of which a decoder may use half as much again
// while it grows; and the collector lets garbage grow to the size of what is
// alive, here mostly the windows. The test uses about 280 MiB; without the
// limit on windows it is 1.2 GiB.
const (
	fires     = 200
	fireBound = 512 << 20
)

// fullWindows are answers that fill the largest windows and then drip.
func fullWindows() []hostileCase {
	const frame, block = "\x28\xb5\x2f\xfd\x00\x68", "\x02\x00\x10x" // 8 MiB; 128 KiB of the letter x
	return []hostileCase{
		{name: "brotli", answer: drips(coded("br")+wideBrotli+strings.Repeat("x", 4<<10), "x")},
		{name: "zstd", answer: drips(coded("zstd")+frame+strings.Repeat(block, 70), "")},
	}
}

// TestHeapUnderFire fetches two hundred hostile pages at once.
func TestHeapUnderFire(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // the worker's; make test collects more rarely
	var cases []hostileCase
	for _, c := range hostileCases(t) {
		if c.limit == 0 {
			cases = append(cases, c)
		}
	}
	for wide := fullWindows(); len(cases) < fires; { // the worst, most often
		cases = append(cases, wide...)
	}
	urls := make([]string, len(cases))
	for i, c := range cases {
		s, _ := serveHostile(t, c)
		urls[i] = s.url
	}
	// Shorter still: eight wide windows at a time take their turns.
	client := New(Options{MinRate: impatient.MinRate, Window: impatient.Window / 3})
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	peak := watchHeap(t)
	var all sync.WaitGroup
	for i := range fires {
		all.Go(func() {
			req := get(t, urls[i%len(urls)])
			req.MaxBody, req.Deadline = 10<<20, time.Now().Add(hostileTime)
			checkResult(t, client.Do(t.Context(), req, io.Discard))
		})
	}
	all.Wait()
	used := peak() - min(before.HeapInuse, peak())
	t.Logf("%d exchanges used %d MiB at most", fires, used>>20)
	if used > fireBound {
		t.Errorf("%d exchanges used %d MiB, want at most %d", fires, used>>20, fireBound>>20)
	}
}

// watchHeap samples the heap until the returned function is called, which returns
// the most that was in use.
func watchHeap(t *testing.T) (peak func() uint64) {
	t.Helper()
	stop, ended := make(chan struct{}), make(chan struct{})
	var most uint64
	go func() {
		defer close(ended)
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		var m runtime.MemStats
		for {
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapInuse)
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	}()
	return sync.OnceValue(func() uint64 {
		close(stop)
		<-ended
		return most
	})
}
