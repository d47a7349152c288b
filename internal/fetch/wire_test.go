package fetch

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/net/http2"

	"recrawl/internal/crawl"
)

// wireServer accepts connections and hands each to a function, which need not
// speak HTTP.
type wireServer struct {
	url                   string
	connections, requests atomic.Int32
}

func serveWire(t testing.TB, handle func(c net.Conn)) *wireServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	s := &wireServer{url: "http://" + l.Addr().String()}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.connections.Add(1)
			go func() {
				defer c.Close()
				handle(c)
			}()
		}
	}()
	return s
}

// readRequest reads the head of a request.
func readRequest(r *bufio.Reader) error {
	req, err := http.ReadRequest(r)
	if err == nil {
		req.Body.Close()
	}
	return err
}

// answering serves a raw answer to every request on every connection, and
// counts the requests.
func answering(t testing.TB, answer string) *wireServer {
	var s *wireServer
	ready := make(chan struct{})
	s = serveWire(t, func(c net.Conn) {
		<-ready
		r := bufio.NewReader(c)
		for readRequest(r) == nil {
			s.requests.Add(1)
			if _, err := io.WriteString(c, answer); err != nil || !strings.Contains(answer, "keep-alive") {
				return
			}
		}
	})
	close(ready)
	return s
}

func TestBrokenAnswers(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
	cases := []struct {
		name, answer string
		outcome      crawl.Outcome
		answered     HostAnswer
		problem      string
	}{
		{"closed without a word", "", crawl.OutcomeFailed, HostFailed, "closed the connection"},
		{"cut header", ok, crawl.OutcomeFailed, HostFailed, "closed the connection"},
		{"body shorter than its length", ok + "Content-Length: 100\r\n\r\n<p>", crawl.OutcomeFailed, HostFailed, "closed the connection"},
		{"body longer than its length", ok + "Content-Length: 3\r\n\r\n<p>more", crawl.OutcomeNew, HostOK, ""},
		{"cut chunks", ok + "Transfer-Encoding: chunked\r\n\r\n5\r\n<p>", crawl.OutcomeFailed, HostFailed, "closed the connection"},
		{"bad chunks", ok + "Transfer-Encoding: chunked\r\n\r\nzz\r\n<p>", crawl.OutcomeFailed, HostFailed, "chunk"},
		{"two lengths", ok + "Content-Length: 3\r\nContent-Length: 4\r\n\r\n<p>x", crawl.OutcomeFailed, HostFailed, "Content-Length"},
		{"two lengths in a line", ok + "Content-Length: 3, 4\r\n\r\n<p>x", crawl.OutcomeFailed, HostFailed, "Content-Length"},
		{"negative length", ok + "Content-Length: -3\r\n\r\n<p>", crawl.OutcomeFailed, HostFailed, "Content-Length"},
		{"body until the end", ok + "\r\n<p>", crawl.OutcomeNew, HostOK, ""},
		{"HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<p>", crawl.OutcomeNew, HostOK, ""},
		{"not HTTP", "220 mail.example ESMTP\r\n", crawl.OutcomeFailed, HostFailed, "not HTTP"},
		{"an empty line first", "\r\n" + ok + "\r\n<p>", crawl.OutcomeFailed, HostFailed, "not HTTP"},
		{"bad status", "HTTP/1.1 abc\r\n\r\n", crawl.OutcomeFailed, HostFailed, "not HTTP"},
		{"huge header", ok + "X: " + strings.Repeat("x", 80<<10) + "\r\n\r\n", crawl.OutcomeTooLarge, HostOK, "header is larger than 65536 bytes"},
		{"many headers", ok + strings.Repeat("X: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n", 3000) + "\r\n", crawl.OutcomeTooLarge, HostOK, "header is larger"},
		{"hostile strings", "HTTP/1.1 301 x\r\nLocation: http://h\x85/\r\nRetry-After: \xff\xfe\r\nETag: \"\xff\"\r\n\r\n", crawl.OutcomeFailed, HostOK, "redirects to"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := answering(t, c.answer)
			got := New(Options{}).Do(t.Context(), get(t, s.url), nil)
			checkResult(t, got)
			if got.Outcome != c.outcome || got.HostAnswer != c.answered || !strings.Contains(got.Problem, c.problem) {
				t.Errorf("%s, %s: %q (%v)", got.Outcome, got.HostAnswer, got.Problem, got.Err)
			}
			if s.connections.Load() != 1 || s.requests.Load() != 1 {
				t.Errorf("%d connections, %d requests", s.connections.Load(), s.requests.Load())
			}
		})
	}
}

// TestOneRequestPerCall: a server that closes the connection instead of
// answering is exactly the case in which http.Transport asks again.
func TestOneRequestPerCall(t *testing.T) {
	const page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 3\r\nConnection: keep-alive\r\n\r\n<p>"
	for name, answer := range map[string]string{"keeps connections": page, "closes them": "", "answers half": page[:40]} {
		t.Run(name, func(t *testing.T) {
			s := answering(t, answer)
			client := New(Options{})
			for n := int32(1); n <= 5; n++ {
				checkResult(t, client.Do(t.Context(), get(t, s.url), nil))
				if s.connections.Load() != n || s.requests.Load() != n {
					t.Fatalf("call %d: %d connections, %d requests", n, s.connections.Load(), s.requests.Load())
				}
			}
		})
	}
}

func TestReset(t *testing.T) {
	s := serveWire(t, func(c net.Conn) {
		if readRequest(bufio.NewReader(c)) == nil {
			_ = c.(*net.TCPConn).SetLinger(0) // close by reset
		}
	})
	got := New(Options{}).Do(t.Context(), get(t, s.url), nil)
	checkResult(t, got)
	if got.Outcome != crawl.OutcomeFailed || got.HostAnswer != HostFailed || got.Problem != "the host reset the connection" {
		t.Errorf("%+v", got)
	}
}

func TestRefusedConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	got := New(Options{}).Do(t.Context(), get(t, "http://"+l.Addr().String()), nil)
	checkResult(t, got)
	if got.Outcome != crawl.OutcomeFailed || got.HostAnswer != HostFailed || got.Sent || got.Problem != "the host refused the connection" {
		t.Errorf("%+v", got)
	}
}

// serveH2 answers the first HEADERS frame of each connection by a function and
// counts those frames.
func serveH2(t *testing.T, answer func(f *http2.Framer, stream uint32) error) (url string, client *Client, headers, connections *atomic.Int32) {
	t.Helper()
	pattern, roots := tlsServer(t, true, nil)
	config := &tls.Config{Certificates: pattern.TLS.Certificates, NextProtos: []string{"h2"}}
	headers = new(atomic.Int32)
	s := serveWire(t, func(c net.Conn) {
		answerH2(tls.Server(c, config), func(f *http2.Framer, stream uint32) error {
			headers.Add(1)
			return answer(f, stream)
		})
	})
	return strings.Replace(s.url, "http:", "https:", 1), New(Options{RootCAs: roots}), headers, &s.connections
}

// answerH2 answers the requests of a connection by a function, until that fails.
func answerH2(c *tls.Conn, answer func(f *http2.Framer, stream uint32) error) {
	if _, err := io.ReadFull(c, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	f := http2.NewFramer(c, c)
	if f.WriteSettings() != nil {
		return
	}
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return
		}
		if frame.Header().Type == http2.FrameHeaders && answer(f, frame.Header().StreamID) != nil {
			return
		}
	}
}

// TestOneRequestPerCallHTTP2: net/http's transport sends a refused stream, and
// one that GOAWAY says was not processed, again.
func TestOneRequestPerCallHTTP2(t *testing.T) {
	answers := map[string]func(f *http2.Framer, stream uint32) error{
		"refused stream": func(f *http2.Framer, stream uint32) error {
			return f.WriteRSTStream(stream, http2.ErrCodeRefusedStream)
		},
		"go away": func(f *http2.Framer, _ uint32) error { return f.WriteGoAway(0, http2.ErrCodeNo, nil) },
		"closed":  func(*http2.Framer, uint32) error { return io.EOF },
	}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			url, client, headers, connections := serveH2(t, answer)
			got := client.Do(t.Context(), get(t, url), nil)
			checkResult(t, got)
			if got.Outcome != crawl.OutcomeFailed || !got.Sent {
				t.Errorf("%+v", got)
			}
			if headers.Load() != 1 || connections.Load() != 1 {
				t.Errorf("%d requests on %d connections", headers.Load(), connections.Load())
			}
		})
	}
}

// TestHTTP2Ends: a server that wants calm throttles, as by a 429. Other early ends are failures,
// which say what happened.
func TestHTTP2Ends(t *testing.T) {
	reset := func(code http2.ErrCode) func(*http2.Framer, uint32) error {
		return func(f *http2.Framer, stream uint32) error { return f.WriteRSTStream(stream, code) }
	}
	for name, c := range map[string]struct {
		answer  func(f *http2.Framer, stream uint32) error
		outcome crawl.Outcome
		host    HostAnswer
		problem string
	}{
		"calm": {reset(http2.ErrCodeEnhanceYourCalm), crawl.OutcomeThrottled, HostThrottled, "the server wants fewer requests (HTTP/2 ENHANCE_YOUR_CALM)"},
		"calm for the connection": {func(f *http2.Framer, _ uint32) error {
			return errors.Join(f.WriteGoAway(0, http2.ErrCodeEnhanceYourCalm, []byte("NO_ERROR")), io.EOF)
		}, crawl.OutcomeThrottled, HostThrottled, "the server wants fewer requests (HTTP/2 ENHANCE_YOUR_CALM)"},
		"away": {func(f *http2.Framer, _ uint32) error {
			return errors.Join(f.WriteGoAway(0, http2.ErrCodeNo, []byte("ENHANCE_YOUR_CALM")), io.EOF)
		}, crawl.OutcomeFailed, HostFailed, "the server ended the exchange early (HTTP/2 GOAWAY)"},
		"cancelled": {reset(http2.ErrCodeCancel), crawl.OutcomeFailed, HostFailed, "the server ended the exchange early (HTTP/2 CANCEL)"},
		"no HTTP/2": {func(f *http2.Framer, _ uint32) error { return f.WriteRawFrame(http2.FrameData, 0, 0, []byte("x")) }, crawl.OutcomeFailed, HostFailed, "the server broke the rules of HTTP/2: "},
	} {
		t.Run(name, func(t *testing.T) {
			url, client, headers, connections := serveH2(t, c.answer)
			got := client.Do(t.Context(), get(t, url), nil)
			checkResult(t, got)
			if got.Outcome != c.outcome || got.HostAnswer != c.host || !strings.HasPrefix(got.Problem, c.problem) {
				t.Errorf("%s, %s: %q (%v)", got.Outcome, got.HostAnswer, got.Problem, got.Err)
			}
			if headers.Load() != 1 || connections.Load() != 1 {
				t.Errorf("%d requests on %d connections", headers.Load(), connections.Load())
			}
		})
	}
}

func TestHugeHeaderHTTP2(t *testing.T) {
	// Far over the limit the connection itself is given up, without a reason that
	// could be distinguished from other protocol errors.
	for kilobytes, want := range map[int]crawl.Outcome{70: crawl.OutcomeTooLarge, 400: crawl.OutcomeFailed} {
		s, roots := tlsServer(t, true, func(w http.ResponseWriter, _ *http.Request) {
			for i := range kilobytes {
				w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 1000))
			}
			html(w, "x")
		})
		got := New(Options{RootCAs: roots}).Do(t.Context(), get(t, s.URL), nil)
		checkResult(t, got)
		if got.Outcome != want || got.Content {
			t.Errorf("%d kB: %+v", kilobytes, got)
		}
	}
}

// TestPrivateAddressesAreRefused: whatever the spelling, no connection is made.
func TestPrivateAddressesAreRefused(t *testing.T) {
	s := answering(t, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nsecret")
	port := s.url[strings.LastIndexByte(s.url, ':'):]
	for _, host := range []string{
		"127.0.0.1", "127.1", "2130706433", "0x7f.1", "0177.0.0.1", "[::ffff:127.0.0.1]", "[::1]", "localhost", "a.b.localhost",
		"0.0.0.0", "[::]", "10.0.0.1", "172.16.3.4", "192.168.1.1", "169.254.169.254", "100.64.0.1", "224.0.0.1", "255.255.255.255",
		"198.18.0.1", "[fe80::1]", "[fc00::1]", "[ff02::1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[::127.0.0.1]",
	} {
		t.Run(host, func(t *testing.T) {
			req := get(t, "http://"+host+port)
			req.AllowNetworks = nil
			got := New(Options{}).Do(t.Context(), req, nil)
			checkResult(t, got)
			if got.Outcome != crawl.OutcomeFailed || !IsRefused(got.Err) || got.HostAnswer != HostNone || got.Sent || !strings.Contains(got.Problem, "allow_networks") {
				t.Errorf("%+v", got)
			}
		})
	}
	if n := s.connections.Load(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
}

// TestBadPortsAreRefused: no name is looked up, no connection made and no proxy
// asked, whatever networks may be reached.
func TestBadPortsAreRefused(t *testing.T) {
	direct := New(Options{})
	direct.names.look = func(context.Context, string) ([]netip.Addr, error) {
		t.Error("a name was looked up")
		return nil, nil
	}
	proxy, asked := proxyTo(t, "", http.StatusOK)
	for name, client := range map[string]*Client{"direct": direct, "by a proxy": New(Options{Proxy: proxy})} {
		for _, host := range []string{"mail.example.com:25", "127.0.0.1:22", "[::1]:6000"} {
			t.Run(name+" "+host, func(t *testing.T) {
				got := client.Do(t.Context(), get(t, "http://"+host), nil)
				checkResult(t, got)
				if !IsRefused(got.Err) || got.HostAnswer != HostNone || got.Sent || got.Local || !strings.Contains(got.Problem, "belongs to another protocol") {
					t.Errorf("%+v", got)
				}
			})
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the proxy was asked %d times", n)
	}
}

func TestAllowNetworks(t *testing.T) {
	s := answering(t, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nx")
	port := s.url[strings.LastIndexByte(s.url, ':'):]
	cases := []struct {
		host, allow string
		fetched     bool
	}{
		{"127.0.0.1", "127.0.0.1/32", true},
		{"[::ffff:127.0.0.1]", "127.0.0.0/8", true},
		{"localhost", "127.0.0.0/8", true},
		{"a.localhost", "127.0.0.0/8", true},
		{"127.0.0.1", "127.0.0.2/32", false},
		{"127.0.0.1", "10.0.0.0/8", false},
		{"localhost", "::1/128", false}, // nothing listens there
	}
	for _, c := range cases {
		t.Run(c.host+" "+c.allow, func(t *testing.T) {
			req := get(t, "http://"+c.host+port)
			req.AllowNetworks = []netip.Prefix{netip.MustParsePrefix(c.allow)}
			if got := New(Options{}).Do(t.Context(), req, nil); got.Content != c.fetched {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestLocalhostOnIPv6(t *testing.T) {
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Fatalf("no IPv6 on loopback: %v", err)
	}
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { html(w, "x") })}}
	s.Start()
	defer s.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if got := New(Options{}).Do(t.Context(), get(t, "http://localhost:"+port), nil); !got.Content {
		t.Errorf("%+v", got)
	}
}

// nameServer returns a resolver that knows the given names only. Names mapped
// to an invalid address make it answer with a server failure.
func nameServer(t *testing.T, names map[string]netip.Addr) *net.Resolver {
	t.Helper()
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pc.Close() })
	go func() {
		buffer := make([]byte, 1500)
		for {
			n, from, err := pc.ReadFrom(buffer)
			if err != nil {
				return
			}
			if answer, err := resolve(buffer[:n], names); err == nil {
				_, _ = pc.WriteTo(answer, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", pc.LocalAddr().String())
	}}
}

func resolve(query []byte, names map[string]netip.Addr) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil || len(m.Questions) != 1 {
		return nil, errors.Join(err, errors.New("not one question"))
	}
	m.Header.Response, m.Additionals = true, nil
	q := m.Questions[0]
	addr, known := names[strings.TrimSuffix(q.Name.String(), ".")]
	switch {
	case !known:
		m.Header.RCode = dnsmessage.RCodeNameError
	case !addr.IsValid():
		m.Header.RCode = dnsmessage.RCodeServerFailure
	case q.Type == dnsmessage.TypeA:
		m.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 1},
			Body:   &dnsmessage.AResource{A: addr.As4()},
		}}
	}
	return m.Pack()
}

func TestNames(t *testing.T) {
	s := answering(t, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nx")
	port := s.url[strings.LastIndexByte(s.url, ':'):]
	client := New(Options{Resolver: nameServer(t, map[string]netip.Addr{
		"inside.example": netip.MustParseAddr("127.0.0.1"), "broken.example": {},
	})})
	cases := []struct {
		name    string
		allow   []netip.Prefix
		fetched bool
		problem string
	}{
		{"inside.example", loopback, true, ""},
		{"inside.example", nil, false, "address 127.0.0.1 is not a public one"},
		{"nowhere.example", loopback, false, "the host name nowhere.example does not exist"},
		{"broken.example", loopback, false, "broken.example"},
	}
	for _, c := range cases {
		t.Run(c.name+" "+c.problem, func(t *testing.T) {
			req := get(t, "http://"+c.name+port)
			req.AllowNetworks = c.allow
			got := client.Do(t.Context(), req, nil)
			checkResult(t, got)
			if got.Content != c.fetched || !strings.Contains(got.Problem, c.problem) {
				t.Errorf("%+v", got)
			}
		})
	}
	if n := s.connections.Load(); n != 1 {
		t.Errorf("%d connections, want one", n)
	}
}

// FuzzAnswer: whatever a server sends, the result is whole and within limits,
// and the server got one request.
func FuzzAnswer(f *testing.F) {
	for _, answer := range []string{
		"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b",
		"HTTP/1.1 302 x\r\nLocation: //\x01\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 x\r\nRetry-After: \x00\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX: y\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\n\r\n\x28\xb5\x2f\xfd",
	} {
		f.Add([]byte(answer))
	}
	var answer atomic.Pointer[[]byte]
	var requests atomic.Int32
	s := serveWire(f, func(c net.Conn) {
		if readRequest(bufio.NewReader(c)) == nil {
			requests.Add(1)
			_, _ = c.Write(*answer.Load())
		}
	})
	client := New(Options{})
	f.Fuzz(func(t *testing.T, data []byte) {
		answer.Store(&data)
		requests.Store(0)
		req := get(t, s.url)
		req.MaxBody = 1000
		var sink bytes.Buffer
		got := client.Do(t.Context(), req, &sink)
		checkResult(t, got)
		if requests.Load() > 1 {
			t.Errorf("%d requests", requests.Load())
		}
		if int64(sink.Len()) > req.MaxBody || got.Content && (int64(sink.Len()) != got.Size || digest(sink.String()) != got.Digest) {
			t.Errorf("%d bytes in the sink: %+v", sink.Len(), got)
		}
	})
}
