package testsite

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"recrawl/internal/crawl"
)

// largestBody is the default of fetch.max_body.
const largestBody = 10 << 20

const (
	htmlHead    = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
	htmlStart   = htmlHead + "\r\n"
	imageStart  = "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n"
	chunksStart = htmlHead + "Transfer-Encoding: chunked\r\n\r\n"
)

func codedStart(coding string) string { return htmlHead + "Content-Encoding: " + coding + "\r\n\r\n" }

// bombs returns twice the largest body in each coding, with the largest window.
var bombs = sync.OnceValue(func() map[string]string {
	var gz, br, zs bytes.Buffer
	z, err := zstd.NewWriter(&zs, zstd.WithWindowSize(8<<20), zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err) // the options are constants
	}
	for _, w := range []io.WriteCloser{gzip.NewWriter(&gz), brotli.NewWriterOptions(&br, brotli.WriterOptions{Quality: 1, LGWin: 24}), z} {
		w.Write(make([]byte, 2*largestBody)) // to memory, which does not fail
		w.Close()
	}
	return map[string]string{"gzip": gz.String(), "br": br.String(), "zstd": zs.String()}
})

// wireAttacks returns hosts that break the protocol, or never come to an end.
func wireAttacks() []Attack {
	bomb := bombs()
	attacks := []Attack{
		{"endless-body", crawl.OutcomeTooLarge, "larger than 10MiB", repeats(htmlStart, "x")},
		{"endless-chunks", crawl.OutcomeTooLarge, "larger than 10MiB", repeats(chunksStart, "400\r\n"+strings.Repeat("x", 1024)+"\r\n")},
		{"endless-chunks-of-one-byte", crawl.OutcomeTooLarge, "far more than a page", repeats(chunksStart, "1\r\nx\r\n")},
		{"endless-chunk-extension", crawl.OutcomeFailed, "line too long", repeats(chunksStart+"1;", "x")},
		{"endless-trailer", crawl.OutcomeFailed, "trailer", repeats(chunksStart+"1\r\nx\r\n0\r\n", "X: y\r\n")},
		{"endless-image", crawl.OutcomeUnsupported, "image/png", repeats(imageStart, "x")},
		{"endless-error", crawl.OutcomeFailed, "500", repeats("HTTP/1.1 500 No\r\nContent-Type: text/html\r\n\r\n", "x")},
		{"endless-header", crawl.OutcomeTooLarge, "header is larger", repeats(htmlHead, "X: y\r\n")},
		{"endless-header-line", crawl.OutcomeTooLarge, "header is larger", repeats(htmlHead+"X: ", "y")},
		{"endless-early-hints", crawl.OutcomeTooLarge, "header is larger", repeats("", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")},
		{"ten-thousand-headers", crawl.OutcomeTooLarge, "header is larger", says(htmlHead, numbered(10_000, "x%d:y\r\n"), "\r\n")},
		{"untidy-head", crawl.OutcomeNew, "", says("HTTP/1.1 200 OK\r\n no name: x\r\nno colon\r\n(x): \x01\r\nContent-Type : text/html\r\nTransfer-Encoding: identity\r\n\r\n<p>x")},
		{"no-http", crawl.OutcomeFailed, "not HTTP", repeats("", "SSH-2.0\r\n")},

		{"dripping-body", crawl.OutcomeTimedOut, "slower than", drips(htmlStart, "x")},
		{"dripping-gzip", crawl.OutcomeTimedOut, "slower than", drips(codedStart("gzip")+bomb["gzip"][:20], "")},
		// A window of 16 MiB, filled as much as a few bytes can.
		{"dripping-brotli", crawl.OutcomeTimedOut, "slower than", drips(codedStart("br")+"\xcf\xff\xff\xff"+strings.Repeat("x", 4<<10), "x")},

		{"gzip-bomb", crawl.OutcomeTooLarge, "larger than 10MiB", says(codedStart("gzip"), bomb["gzip"])},
		{"brotli-bomb", crawl.OutcomeTooLarge, "larger than 10MiB", says(codedStart("br"), bomb["br"])},
		{"zstd-bomb", crawl.OutcomeTooLarge, "larger than 10MiB", says(codedStart("zstd"), bomb["zstd"])},
		{"gzip-in-gzip", crawl.OutcomeTooLarge, "larger", says(codedStart("gzip, gzip"), bomb["gzip"])},
		{"zstd-window-of-2-gib", crawl.OutcomeFailed, "not the zstd", says(codedStart("zstd"), "\x28\xb5\x2f\xfd\x00\xa8\x00\x00\x10")},

		{"length-of-exabytes", crawl.OutcomeTooLarge, "larger than 10MiB", repeats(htmlHead+"Content-Length: 9000000000000000000\r\n\r\n", "x")},
		{"shorter-than-its-length", crawl.OutcomeFailed, "closed the connection", says(htmlHead, "Content-Length: 100\r\n\r\n<p>")},
		{"garbage-chunks", crawl.OutcomeFailed, "chunk", says(chunksStart, "zz\r\n<p>\r\n")},
		{"chunk-of-exabytes", crawl.OutcomeTooLarge, "larger than 10MiB", repeats(chunksStart+"7fffffffffffffff\r\n", "x")},
		{"closed", crawl.OutcomeFailed, "closed the connection", says()},
		{"reset", crawl.OutcomeFailed, "reset the connection", onWire((*wire).reset)},
		{"reset-in-the-body", crawl.OutcomeFailed, "the connection", onWire(func(w *wire) { w.send(htmlStart, "<p>"); w.reset() })},

		{"redirect-to-itself", crawl.OutcomeFailed, "redirects to itself", redirects("/")},
		{"redirect-loop", crawl.OutcomeRedirected, "", onWire(func(w *wire) {
			to := "/loop"
			if w.request.URL.Path == to {
				to = "/"
			}
			w.redirect(to)
		})},
		{"redirect-to-metadata", crawl.OutcomeRedirected, "", redirects("http://169.254.169.254/latest/meta-data/")},
	}
	for i := range attacks {
		attacks[i].Handler = withoutRobots(attacks[i].Handler)
	}
	return attacks
}

func (w *wire) redirect(to string) {
	w.send(fmt.Sprintf("HTTP/1.1 302 Found\r\nLocation: %s\r\n\r\n", to))
}

func redirects(to string) http.Handler { return onWire(func(w *wire) { w.redirect(to) }) }
