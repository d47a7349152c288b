package e2e

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"recrawl/internal/crawl"
	"recrawl/internal/store/sqlite"
)

const (
	hostileHosts = 200
	// hostileLimit is the time limit of a request: long, because the hosts hold theirs
	// until all have one. Dripping answers are given up by their pace.
	hostileLimit  = 3 * time.Minute
	hostileMemory = 1 << 30
	hostileBody   = 10 << 20 // the default of fetch.max_body
)

// hostility is one way to abuse a crawler: what a host answers to the request for
// its page, whose visit must come to the outcome, with problem as a part of its
// words.
type hostility struct {
	name    string
	answer  func(c *hostileConn)
	outcome crawl.Outcome
	problem string
}

// hostileConn is a connection whose request was read. After a failed write there
// is nobody to answer to.
type hostileConn struct {
	net.Conn
	request *http.Request
	over    bool
}

func (c *hostileConn) send(parts ...string) {
	for _, part := range parts {
		_, err := io.WriteString(c, part)
		c.over = c.over || err != nil
	}
}

func (c *hostileConn) forever(piece string) {
	block := strings.Repeat(piece, 1+(64<<10)/len(piece))
	for !c.over {
		c.send(block)
	}
}

func (c *hostileConn) drip(piece string) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !c.over {
		c.send(piece)
		<-tick.C
	}
}

func (c *hostileConn) reset() { c.Conn.(*net.TCPConn).SetLinger(0) }

// says answers and closes.
func says(parts ...string) func(*hostileConn) {
	return func(c *hostileConn) { c.send(parts...) }
}

// repeats says a start and then a piece for ever.
func repeats(start, piece string) func(*hostileConn) {
	return func(c *hostileConn) { c.send(start); c.forever(piece) }
}

// drips says a start and then, slowly, a piece for ever.
func drips(start, piece string) func(*hostileConn) {
	return func(c *hostileConn) { c.send(start); c.drip(piece) }
}

func redirects(to string) func(*hostileConn) {
	return says("HTTP/1.1 302 Found\r\nLocation: ", to, "\r\n\r\n")
}

const (
	htmlHead    = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
	htmlStart   = htmlHead + "\r\n"
	chunksStart = htmlHead + "Transfer-Encoding: chunked\r\n\r\n"
)

func codedStart(coding string) string { return htmlHead + "Content-Encoding: " + coding + "\r\n\r\n" }

// bombs are twice the largest body in each coding, with the largest window.
func bombs(t *testing.T) map[string]string {
	t.Helper()
	var gz, br, zs bytes.Buffer
	z, err := zstd.NewWriter(&zs, zstd.WithWindowSize(8<<20), zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	zeros := make([]byte, 2*hostileBody)
	for _, w := range []io.WriteCloser{gzip.NewWriter(&gz), brotli.NewWriterOptions(&br, brotli.WriterOptions{Quality: 1, LGWin: 24}), z} {
		if _, err := w.Write(zeros); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return map[string]string{"gzip": gz.String(), "br": br.String(), "zstd": zs.String()}
}

// filled is a page as large as may be of one piece.
func filled(piece string) func(*hostileConn) {
	return func(c *hostileConn) { c.send(htmlStart, strings.Repeat(piece, (hostileBody-1)/len(piece))) }
}

// numbered is n pieces that each have their number.
func numbered(n int, piece string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, piece, i)
	}
	return b.String()
}

func hostilities(t *testing.T) []hostility {
	bomb := bombs(t)
	fonts, paragraphs := numbered(400, "<font size=%d>"), strings.Repeat("<p>x", 25_000)
	return []hostility{
		{"endless body", repeats(htmlStart, "x"), crawl.OutcomeTooLarge, "larger than 10MiB"},
		{"endless chunks", repeats(chunksStart, "400\r\n"+strings.Repeat("x", 1024)+"\r\n"), crawl.OutcomeTooLarge, "larger than 10MiB"},
		{"endless chunks of one byte", repeats(chunksStart, "1\r\nx\r\n"), crawl.OutcomeTooLarge, "far more than a page"},
		{"endless chunk extension", repeats(chunksStart+"1;", "x"), crawl.OutcomeFailed, "line too long"},
		{"endless trailer", repeats(chunksStart+"1\r\nx\r\n0\r\n", "X: y\r\n"), crawl.OutcomeFailed, "trailer"},
		{"endless image", repeats("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n", "x"), crawl.OutcomeUnsupported, "image/png"},
		{"endless error", repeats("HTTP/1.1 500 No\r\nContent-Type: text/html\r\n\r\n", "x"), crawl.OutcomeFailed, "500"},
		{"endless header", repeats(htmlHead, "X: y\r\n"), crawl.OutcomeTooLarge, "header is larger"},
		{"endless header line", repeats(htmlHead+"X: ", "y"), crawl.OutcomeTooLarge, "header is larger"},
		{"endless early hints", repeats("", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"), crawl.OutcomeTooLarge, "header is larger"},
		{"ten thousand headers", says(htmlHead, numbered(10_000, "x%d:y\r\n"), "\r\n"), crawl.OutcomeTooLarge, "header is larger"},
		{"no HTTP", repeats("", "SSH-2.0\r\n"), crawl.OutcomeFailed, "not HTTP"},

		{"dripping body", drips(htmlStart, "x"), crawl.OutcomeTimedOut, "slower than"},
		{"dripping gzip", drips(codedStart("gzip")+bomb["gzip"][:20], ""), crawl.OutcomeTimedOut, "slower than"},
		// A window of 16 MiB, filled as far as a few bytes do.
		{"dripping brotli", drips(codedStart("br")+"\xcf\xff\xff\xff"+strings.Repeat("x", 4<<10), "x"), crawl.OutcomeTimedOut, "slower than"},

		{"gzip bomb", says(codedStart("gzip"), bomb["gzip"]), crawl.OutcomeTooLarge, "larger than 10MiB"},
		{"brotli bomb", says(codedStart("br"), bomb["br"]), crawl.OutcomeTooLarge, "larger than 10MiB"},
		{"zstd bomb", says(codedStart("zstd"), bomb["zstd"]), crawl.OutcomeTooLarge, "larger than 10MiB"},
		{"gzip in gzip", says(codedStart("gzip, gzip"), bomb["gzip"]), crawl.OutcomeFailed, "not offered"},
		{"a zstd window of 2 GiB", says(codedStart("zstd"), "\x28\xb5\x2f\xfd\x00\xa8\x00\x00\x10"), crawl.OutcomeFailed, "not the zstd"},

		{"a length of exabytes", repeats(htmlHead+"Content-Length: 9000000000000000000\r\n\r\n", "x"), crawl.OutcomeTooLarge, "larger than 10MiB"},
		{"shorter than its length", says(htmlHead, "Content-Length: 100\r\n\r\n<p>"), crawl.OutcomeFailed, "closed the connection"},
		{"garbage chunks", says(chunksStart, "zz\r\n<p>\r\n"), crawl.OutcomeFailed, "chunk"},
		{"a chunk of exabytes", repeats(chunksStart+"7fffffffffffffff\r\n", "x"), crawl.OutcomeTooLarge, "larger than 10MiB"},
		{"closed", says(), crawl.OutcomeFailed, "closed the connection"},
		{"reset", (*hostileConn).reset, crawl.OutcomeFailed, "reset the connection"},
		{"reset in the body", func(c *hostileConn) { c.send(htmlStart, "<p>"); c.reset() }, crawl.OutcomeFailed, "the connection"},

		{"redirect to itself", redirects("/"), crawl.OutcomeFailed, "redirects to itself"},
		{"redirect loop", func(c *hostileConn) {
			to := "/loop"
			if c.request.URL.Path == to {
				to = "/"
			}
			redirects(to)(c)
		}, crawl.OutcomeRedirected, ""},
		{"redirect to metadata", redirects("http://169.254.169.254/latest/meta-data/"), crawl.OutcomeRedirected, ""},

		{"no charset of this world", says("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=\"?\"\r\n\r\n<p>\xff\xfe"), crawl.OutcomeNew, ""},
		{"UTF-16 that is none", says("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-16\r\n\r\n<p>odd"), crawl.OutcomeNew, ""},
		{"a picture that says it is HTML", says(htmlStart, "\x89PNG\r\n\x1a\n", strings.Repeat("\x00\xff", 1000)), crawl.OutcomeNew, ""},
		{"HTML that says it is a picture", says("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n<p>x"), crawl.OutcomeUnsupported, "image/png"},
		{"68 KB of NULs", says(htmlStart, strings.Repeat("\x00", 68<<10)), crawl.OutcomeNew, ""},
		{"2000 nested elements", says(htmlStart, strings.Repeat("<div>", 2000)), crawl.OutcomeNew, ""},
		{"ten thousand links", says(htmlStart, numbered(10_000, `<a href="http://h%d.invalid/">x</a>`)), crawl.OutcomeNew, ""},
		{"elements only", filled("<p>x"), crawl.OutcomeNew, ""},
		{"attributes only", filled("<p a b c d e f g h i j k l m n o p>"), crawl.OutcomeNew, ""},
		{"words only", filled("a "), crawl.OutcomeNew, ""},
		{"as many elements as a tree may have", says(htmlStart, strings.Repeat("<p>x", 120_000)), crawl.OutcomeNew, ""},
		// Each paragraph closes what the first one has open, and opens all of it again; and
		// the same, hidden from who counts tags: these end tags end nothing.
		{"elements that return", says(htmlStart, "<p>", fonts, paragraphs), crawl.OutcomeNew, ""},
		{"elements that return in secret", says(htmlStart, "<p>", fonts, strings.Repeat("</i>", 400), paragraphs), crawl.OutcomeNew, ""},
		{"a body of bodies", says(htmlStart, numbered(5000, "<body a%d>")), crawl.OutcomeNew, ""},
		{"a body of bodies in secret", says(htmlStart, "<svg><title></svg>", numbered(5000, "<body a%d>")), crawl.OutcomeNew, ""},
	}
}

// crowd is a number of hosts that hold the first requests for their pages until
// they may answer.
type crowd struct {
	waiting atomic.Int64
	answer  chan struct{}
}

// serveHostile serves a hostile page on a host of its own, one of the crowd, and
// returns its URL.
func (c *crowd) serveHostile(t *testing.T, h hostility) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go c.serve(conn, h)
		}
	}()
	return "http://" + l.Addr().String() + "/"
}

func (c *crowd) serve(conn net.Conn, h hostility) {
	defer conn.Close()
	r, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	if r.URL.Path == "/robots.txt" {
		io.WriteString(conn, "HTTP/1.1 404 None\r\n\r\n")
		return
	}
	if r.URL.Path == "/" {
		c.waiting.Add(1)
		<-c.answer
	}
	h.answer(&hostileConn{Conn: conn, request: r})
}

// TestHostileSiteBound: one process makes requests to two hundred hostile hosts at
// the same moment. A sane host of the same crawl gets its visits meanwhile, each
// hostile page ends as its hostility calls for, and memory stays within a bound.
func TestHostileSiteBound(t *testing.T) {
	t.Parallel()
	sane, hostile, kinds := serve(t, tree(crashPages)), &crowd{answer: make(chan struct{})}, hostilities(t)
	args := append(crawlSettings("20ms"), "--name", "t", "--time-limit", hostileLimit.String(), "--min-interval", "1h", sane.url+"/")
	hosts := map[string]hostility{}
	for i := range hostileHosts {
		h := kinds[i%len(kinds)]
		url := hostile.serveHostile(t, h)
		hosts[url], args = h, append(args, url)
	}
	data := filepath.Join(t.TempDir(), "data")
	d := startDevEnv(t, data, []string{fmt.Sprintf("RECRAWL_CONCURRENCY=%d", hostileHosts+8)}, args...)
	d.eventually(hostileLimit, "all hostile hosts are asked", func() bool { return hostile.waiting.Load() == hostileHosts })
	d.eventually(hostileLimit, "the sane host gets its visits", func() bool { return len(sane.requests()) > crashPages })
	close(hostile.answer)
	// On a machine that is far too busy, permits may have to expire.
	d.eventuallyEvery(time.Second, 2*hostileLimit, "every page is visited", d.crawled("t", hostileHosts+crashPages, 1))
	peak := peakMemory(t, d.cmd.Process.Pid)
	if t.Logf("at most %d MiB", peak>>20); peak > hostileMemory {
		t.Errorf("the process had %d MiB, want at most %d", peak>>20, hostileMemory>>20)
	}
	d.stop()
	checkHostile(t, data, hosts)
	sane.checkPolite(t, 20*time.Millisecond)
}

// checkHostile reads from the store what became of the hosts' pages.
func checkHostile(t *testing.T, data string, hosts map[string]hostility) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(data, "recrawl.db"), sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for url, h := range hosts {
		pages, err := db.FindPages(t.Context(), url, "t")
		if err != nil || len(pages) != 1 {
			t.Fatalf("%s: %d pages, %v", h.name, len(pages), err)
		}
		visits, err := db.ListVisits(t.Context(), pages[0].PageID, 0, 2)
		if err != nil {
			t.Fatal(err)
		}
		if v := visits[0]; len(visits) != 1 || v.Outcome != h.outcome || !strings.Contains(v.Problem, h.problem) {
			t.Errorf("%s: %d visits, the last one %s: %q; want %s: %q", h.name, len(visits), v.Outcome, v.Problem, h.outcome, h.problem)
		}
	}
}

// peakMemory is the most memory that a process has had, in bytes.
func peakMemory(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		var kib int64
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kib); err == nil {
			return kib << 10
		}
	}
	t.Fatalf("no peak in the status of %d: %s", pid, status)
	return 0
}
