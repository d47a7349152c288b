package fetch

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"recrawl/internal/crawl"
	"recrawl/internal/urlkey"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// get returns a request that reaches test servers.
func get(t testing.TB, raw string) Request {
	t.Helper()
	u, err := urlkey.Canonical(raw)
	if err != nil {
		t.Fatal(err)
	}
	return Request{
		URL: u, UserAgent: "recrawl/test", Accept: []string{"text/html", "application/xhtml+xml"},
		MaxBody: 1 << 20, Deadline: time.Now().Add(hostileTime), AllowNetworks: loopback,
	}
}

func serve(t testing.TB, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// html answers with a page.
func html(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "text/html; charset=UTF-8")
	_, _ = io.WriteString(w, body)
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func TestContent(t *testing.T) {
	const page = "<p>hello"
	asked := make(chan *http.Request, 1)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked <- r
		h := w.Header()
		h.Set("ETag", `W/"1"`)
		h.Set("Last-Modified", "Sat, 21 Nov 2026 10:00:00 GMT")
		h.Set("Date", "Sat, 21 Nov 2026 12:00:00 GMT")
		h.Add("X-Robots-Tag", "nofollow")
		h.Add("X-Robots-Tag", "recrawl: noindex")
		html(w, page)
	})
	req := get(t, s.URL+"/a?b")
	req.From, req.ETag, req.LastModified = "me@example.com", `"0"`, "Fri, 20 Nov 2026 10:00:00 GMT"
	var sink bytes.Buffer
	got := New(Options{}).Do(t.Context(), req, &sink)
	if got.Duration <= 0 {
		t.Errorf("duration %v", got.Duration)
	}
	got.Duration, got.Heads = 0, Heads{} // see TestHeads
	want := Result{
		Outcome: crawl.OutcomeNew, Content: true, Sent: true, Status: 200, HostAnswer: HostOK,
		ETag: `W/"1"`, LastModified: "Sat, 21 Nov 2026 10:00:00 GMT", Date: "Sat, 21 Nov 2026 12:00:00 GMT",
		RobotsTags: []string{"nofollow", "recrawl: noindex"}, MediaType: crawl.MediaType{Type: "text/html", Charset: "utf-8"},
		Bytes: int64(len(page)), Size: int64(len(page)), Digest: digest(page),
	}
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if sink.String() != page {
		t.Errorf("sink has %q", &sink)
	}
	r := <-asked
	for name, value := range map[string]string{
		"User-Agent": "recrawl/test", "From": "me@example.com", "If-None-Match": `"0"`, "If-Modified-Since": "Fri, 20 Nov 2026 10:00:00 GMT",
		"Accept": "text/html, application/xhtml+xml, */*;q=0.1", "Accept-Encoding": "gzip, br, zstd", "Connection": "close",
	} {
		if r.Header.Get(name) != value {
			t.Errorf("%s: %q, want %q", name, r.Header.Get(name), value)
		}
	}
	if r.RequestURI != "/a?b" {
		t.Errorf("asked for %q", r.RequestURI)
	}
}

// Directives to crawlers are read completely, wherever they stand in the header.
func TestAllRobotsTags(t *testing.T) {
	var want []string
	for i := range 100 {
		want = append(want, fmt.Sprintf("bot%d: noindex", i))
	}
	want = append(want, strings.Repeat("max-snippet: 5, ", 3000)+"noindex", "nofollow")
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header()["X-Robots-Tag"] = want
		html(w, "<p>hello")
	})
	if got := New(Options{}).Do(t.Context(), get(t, s.URL), io.Discard); !slices.Equal(got.RobotsTags, want) {
		t.Errorf("%d headers, want %d: %.300q", len(got.RobotsTags), len(want), got.RobotsTags)
	}
}

// TestCut distinguishes answers that ended from those that were given up.
func TestCut(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		cut    bool
	}{
		"whole": {func(w http.ResponseWriter, _ *http.Request) { html(w, long) }, false},
		"too large": {func(w http.ResponseWriter, _ *http.Request) {
			html(w, strings.Repeat(long, 11))
		}, true},
		"unwanted, long": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "video/mp4")
			io.WriteString(w, long)
		}, true},
		"unwanted, short": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "video/mp4")
			io.WriteString(w, "short")
		}, false},
		"not there":    {http.NotFound, false},
		"not modified": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) }, false},
		"broken off":   {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, true},
	} {
		s := serve(t, c.answer)
		if got := New(Options{}).Do(t.Context(), get(t, s.URL), io.Discard); got.Cut != c.cut {
			t.Errorf("%s: cut %t, want %t: %+v", name, got.Cut, c.cut, got)
		}
	}
}

func TestOutcomes(t *testing.T) {
	cases := []struct {
		name    string
		status  int
		header  map[string]string
		body    string
		outcome crawl.Outcome
		answer  HostAnswer
		problem string // a part of it
	}{
		{"empty page", 200, map[string]string{"Content-Type": "text/html"}, "", crawl.OutcomeNew, HostOK, ""},
		{"accepted", 202, map[string]string{"Content-Type": "text/html"}, "x", crawl.OutcomeNew, HostOK, ""},
		{"no content", 204, nil, "", crawl.OutcomeNew, HostOK, ""},
		{"part", 206, map[string]string{"Content-Type": "text/html"}, "x", crawl.OutcomeFailed, HostOK, "not asked for"},
		{"redirect", 301, map[string]string{"Location": "../x y#z"}, "", crawl.OutcomeRedirected, HostOK, ""},
		{"see other", 303, map[string]string{"Location": "https://other.example"}, "", crawl.OutcomeRedirected, HostOK, ""},
		{"redirect to itself", 302, map[string]string{"Location": "/page#cookie"}, "", crawl.OutcomeFailed, HostOK, "redirects to itself"},
		{"redirect to nowhere", 302, nil, "", crawl.OutcomeFailed, HostOK, "without a place to go to"},
		{"redirect to mail", 302, map[string]string{"Location": "mailto:x@example.com"}, "", crawl.OutcomeFailed, HostOK, "not an http or https URL"},
		{"use a proxy", 305, map[string]string{"Location": "http://proxy.example/"}, "", crawl.OutcomeFailed, HostOK, "305"},
		{"unasked 304", 304, nil, "", crawl.OutcomeFailed, HostOK, "without a condition"},
		{"forbidden", 403, nil, "", crawl.OutcomeFailed, HostOK, "403 Forbidden"},
		{"not found", 404, nil, "", crawl.OutcomeGone, HostOK, "404 Not Found"},
		{"gone", 410, nil, "", crawl.OutcomeGone, HostOK, "410 Gone"},
		{"too many", 429, map[string]string{"Retry-After": "120"}, "", crawl.OutcomeThrottled, HostThrottled, "429 Too Many Requests"},
		{"legal", 451, nil, "", crawl.OutcomeFailed, HostOK, "451"},
		{"server error", 500, nil, "", crawl.OutcomeFailed, HostOK, "500 Internal Server Error"},
		{"unavailable", 503, map[string]string{"Retry-After": "120"}, "", crawl.OutcomeThrottled, HostThrottled, "503"},
		{"unheard of", 599, nil, "", crawl.OutcomeFailed, HostOK, "answered 599"},
		{"image", 200, map[string]string{"Content-Type": "image/png"}, "x", crawl.OutcomeUnsupported, HostOK, "image/png"},
		{"unreadable type", 200, map[string]string{"Content-Type": "?"}, "x", crawl.OutcomeUnsupported, HostOK, "text/plain"},
		{"unreadable type of a page", 200, map[string]string{"Content-Type": "text/html charset=utf-8"}, "<!DOCTYPE html><p>x", crawl.OutcomeNew, HostOK, ""},
		{"an unknown type", 200, map[string]string{"Content-Type": "unknown/unknown"}, "<html><p>x", crawl.OutcomeNew, HostOK, ""},
		{"any type", 200, map[string]string{"Content-Type": "*/*"}, "<html><p>x", crawl.OutcomeNew, HostOK, ""},
		{"a type twice", 200, map[string]string{"Content-Type": "text/html, text/html; charset=utf-8"}, "x", crawl.OutcomeNew, HostOK, ""},
		{"upper-case type", 200, map[string]string{"Content-Type": "Text/HTML"}, "x", crawl.OutcomeNew, HostOK, ""},
		{"over the limit by its length", 200, map[string]string{"Content-Type": "text/html", "Content-Length": "2000000"}, "", crawl.OutcomeTooLarge, HostOK, "larger than 1MiB"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				for name, value := range c.header {
					w.Header().Set(name, value)
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			got := New(Options{}).Do(t.Context(), get(t, s.URL+"/page"), nil)
			if got.Outcome != c.outcome || got.HostAnswer != c.answer || got.Status != c.status {
				t.Errorf("got %s %s %d (%s)", got.Outcome, got.HostAnswer, got.Status, got.Problem)
			}
			if !strings.Contains(got.Problem, c.problem) || (c.problem == "") != (got.Problem == "") {
				t.Errorf("problem %q, want %q in it", got.Problem, c.problem)
			}
			if got.RetryAfter != c.header["Retry-After"] {
				t.Errorf("Retry-After %q", got.RetryAfter)
			}
			checkResult(t, got)
		})
	}
}

// checkResult checks the invariants of every result.
func checkResult(t interface {
	Helper()
	Errorf(string, ...any)
}, r Result,
) {
	t.Helper()
	if !slices.Contains(crawl.Outcomes(), r.Outcome) {
		t.Errorf("outcome %d", r.Outcome)
	}
	if r.Content != (r.Outcome == crawl.OutcomeNew) || r.Content != (r.Digest != "") {
		t.Errorf("content %v, outcome %s, digest %q", r.Content, r.Outcome, r.Digest)
	}
	if r.Content && (r.Err != nil || r.Problem != "") {
		t.Errorf("content, and yet %q, %v", r.Problem, r.Err)
	}
	if r.Err != nil && r.Problem == "" || r.Local && r.Err == nil {
		t.Errorf("error %v without words, local %v", r.Err, r.Local)
	}
	if redirects := !r.Location.IsZero() || r.Spelling != ""; redirects != (r.Outcome == crawl.OutcomeRedirected) {
		t.Errorf("%s to %q spelled %q", r.Outcome, r.Location, r.Spelling)
	}
	if r.HostAnswer == "" {
		t.Errorf("no word on the host")
	}
	if clean := crawl.Clean(r.Problem, maxProblem); clean != r.Problem {
		t.Errorf("unclean problem %q", r.Problem)
	}
}

func TestRedirectTargets(t *testing.T) {
	var requests atomic.Int32
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		w.Header().Set("Location", "../x y?q='#frag")
		w.WriteHeader(http.StatusFound)
	})
	got := New(Options{}).Do(t.Context(), get(t, s.URL+"/a/b"), nil)
	if want := s.URL + "/x%20y?q=%27"; got.Location.String() != want || requests.Load() != 1 {
		t.Errorf("to %q after %d requests, want %q after one", got.Location, requests.Load(), want)
	}
}

func TestNotModified(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", r.Header.Get("If-None-Match"))
		w.WriteHeader(http.StatusNotModified)
	})
	req := get(t, s.URL)
	req.ETag = `"v1"`
	got := New(Options{}).Do(t.Context(), req, nil)
	if got.Outcome != crawl.OutcomeUnchanged || got.Status != 304 || got.ETag != `"v1"` || got.Content {
		t.Errorf("%+v", got)
	}
	checkResult(t, got)
}

func TestValidatorsFitToBeSentBack(t *testing.T) {
	for value, want := range map[string]string{
		`"a"`: `"a"`, `W/"a b"`: `W/"a b"`, "": "", "\"é\"": "", `"` + strings.Repeat("x", 600) + `"`: "", "\"a\tb\"": "",
	} {
		if got := validator(value); got != want {
			t.Errorf("validator(%q) = %q", value, got)
		}
	}
}

// In If-None-Match an asterisk stands for whatever version there is, so the answer would be
// 304 for ever.
func TestTagsThatMatchEverything(t *testing.T) {
	for tag, want := range map[string]string{
		"*": "", " * ": "", `"a", *`: "", `*,"a"`: "", `"a" , * , "b"`: "",
		`"*"`: `"*"`, `"a*b"`: `"a*b"`, `W/"*"`: `W/"*"`, "a*": "a*", "**": "**", "abc": "abc", `'a'`: `'a'`, `"a", "b"`: `"a", "b"`,
	} {
		if got := entityTag(tag); got != want {
			t.Errorf("entityTag(%q) = %q", tag, got)
		}
	}
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") == "*" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("ETag", "*")
		html(w, "<p>hello")
	})
	req := get(t, s.URL)
	req.ETag = "*" // as earlier releases stored it
	if got := New(Options{}).Do(t.Context(), req, io.Discard); got.Outcome != crawl.OutcomeNew || got.ETag != "" {
		t.Errorf("%s, ETag %q", got.Outcome, got.ETag)
	}
}

func encode(t testing.TB, coding string, body []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch coding {
	case "gzip", "x-gzip":
		w = gzip.NewWriter(&b)
	case "br":
		w = brotli.NewWriter(&b)
	case "zstd":
		z, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		w = z
	case "zlib":
		w = zlib.NewWriter(&b)
	case "deflate":
		f, err := flate.NewWriter(&b, flate.DefaultCompression)
		if err != nil {
			t.Fatal(err)
		}
		w = f
	default:
		return body
	}
	_, err := w.Write(body)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestCodings(t *testing.T) {
	page := strings.Repeat("<p>hello ", 1000)
	cases := []struct {
		name, header, coding string
		outcome              crawl.Outcome
		problem              string
	}{
		{"none", "", "", crawl.OutcomeNew, ""},
		{"identity", "identity", "", crawl.OutcomeNew, ""},
		{"gzip", "gzip", "gzip", crawl.OutcomeNew, ""},
		{"x-gzip in capitals", "X-GZIP", "gzip", crawl.OutcomeNew, ""},
		{"brotli", "br", "br", crawl.OutcomeNew, ""},
		{"zstd", "zstd", "zstd", crawl.OutcomeNew, ""},
		{"gzip and identity", "gzip, identity", "gzip", crawl.OutcomeNew, ""},
		{"gzip, said twice", "gzip, gzip", "gzip", crawl.OutcomeNew, ""},
		{"gzip, said three times", "gzip, gzip, gzip", "gzip", crawl.OutcomeFailed, "was not offered: gzip in gzip in gzip"},
		{"brotli, said twice", "br, br", "br", crawl.OutcomeFailed, "not the br"},
		{"compress in gzip", "compress, gzip", "gzip", crawl.OutcomeFailed, "was not offered: compress in gzip"},
		{"compress", "compress", "", crawl.OutcomeFailed, "was not offered: compress"},
		{"deflate in a zlib stream", "deflate", "zlib", crawl.OutcomeNew, ""},
		{"deflate as it is", "deflate", "deflate", crawl.OutcomeNew, ""},
		{"not deflate", "deflate", "", crawl.OutcomeFailed, "not the deflate"},
		{"a charset", "UTF-8", "", crawl.OutcomeNew, ""},
		{"a word", "none", "", crawl.OutcomeNew, ""},
		{"gzip and a charset", "gzip, utf-8", "gzip", crawl.OutcomeNew, ""},
		{"not gzip", "gzip", "", crawl.OutcomeFailed, "not the gzip"},
		{"not brotli", "br", "gzip", crawl.OutcomeFailed, "brotli"},
		{"not zstd", "zstd", "gzip", crawl.OutcomeFailed, "magic"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			body := encode(t, c.coding, []byte(page))
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", c.header)
				html(w, string(body))
			})
			var sink bytes.Buffer
			got := New(Options{}).Do(t.Context(), get(t, s.URL), &sink)
			checkResult(t, got)
			if got.Outcome != c.outcome || !strings.Contains(got.Problem, c.problem) {
				t.Fatalf("%s: %s", got.Outcome, got.Problem)
			}
			if got.Content && (sink.String() != page || got.Bytes != int64(len(body)) || got.Size != int64(len(page)) || got.Digest != digest(page)) {
				t.Errorf("%d bytes became %d, %d in the sink", got.Bytes, got.Size, sink.Len())
			}
		})
	}
}

// A body may be in one coding within another (RFC 9110 8.4).
func TestCodingsInCodings(t *testing.T) {
	page := strings.Repeat("<p>hello ", 1000)
	for _, inner := range []string{"gzip", "x-gzip", "br", "zstd", "deflate"} {
		for _, outer := range []string{"gzip", "br", "zstd", "deflate"} {
			body := string(encode(t, outer, encode(t, strings.TrimPrefix(inner, "x-"), []byte(page))))
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Encoding"] = []string{inner, outer}
				html(w, body)
			})
			var sink bytes.Buffer
			got := New(Options{}).Do(t.Context(), get(t, s.URL), &sink)
			checkResult(t, got)
			if !got.Content || sink.String() != page || got.Bytes != int64(len(body)) {
				t.Errorf("%s in %s: %s (%s), %d bytes of %d", inner, outer, got.Outcome, got.Problem, sink.Len(), got.Bytes)
			}
		}
	}
}

// Some servers end a gzip body with more bytes, or send it in several members.
func TestGzipMembers(t *testing.T) {
	first, second := string(encode(t, "gzip", []byte("<p>first"))), string(encode(t, "gzip", []byte("<p>second")))
	for name, c := range map[string]struct{ body, want string }{
		"two members":        {first + second, "<p>first<p>second"},
		"a line feed behind": {first + "\r\n", "<p>first"},
		"zeros behind":       {first + second + strings.Repeat("\x00", 10), "<p>first<p>second"},
		"one byte behind":    {first + "\x1f", "<p>first"},
		"a broken second":    {first + second[:len(second)-1], ""},
		"a wrong checksum":   {first[:len(first)-8] + "xxxx" + first[len(first)-4:], ""},
		"a header behind":    {first + "\x1f\x8bxx", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", "gzip")
				html(w, c.body)
			})
			var sink bytes.Buffer
			got := New(Options{}).Do(t.Context(), get(t, s.URL), &sink)
			checkResult(t, got)
			if got.Content != (c.want != "") || got.Content && sink.String() != c.want {
				t.Errorf("%s (%s): %q, want %q", got.Outcome, got.Problem, sink.String(), c.want)
			}
		})
	}
}

// What follows the end of a body is ignored in every coding, at once or later. A body that lacks
// bytes is no whole one, whatever zeros would stand in their place.
func TestBytesBehindTheEnd(t *testing.T) {
	t.Parallel()
	const page = "<p>hello, hello, hello"
	var bare bytes.Buffer // without a checksum, so that only the length can tell
	z, err := zstd.NewWriter(&bare, zstd.WithEncoderCRC(false))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(make([]byte, 1000)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	bodies := map[string]map[string]string{"zstd": {"zeros": bare.String()}, "deflate": {"zlib": string(encode(t, "zlib", []byte(page)))}}
	for _, coding := range []string{"gzip", "br", "zstd", "deflate"} {
		if bodies[coding] == nil {
			bodies[coding] = map[string]string{}
		}
		bodies[coding]["page"] = string(encode(t, coding, []byte(page)))
	}
	decode := func(coding string, parts ...string) (string, error) {
		var readers []io.Reader
		for _, p := range parts {
			readers = append(readers, strings.NewReader(p))
		}
		wire := &meter{r: io.MultiReader(readers...), limit: 1 << 20, pace: newPace(time.Hour, 1, func() {})}
		r, err := newDecoders().decode(t.Context(), []string{coding}, wire)
		if err != nil {
			return "", err
		}
		defer r.Close()
		text, err := io.ReadAll(r)
		return string(text), err
	}
	for coding, named := range bodies {
		for name, body := range named {
			whole, err := decode(coding, body)
			if err != nil || whole == "" {
				t.Errorf("%s of %s: %q, %v", coding, name, whole, err)
			}
			for _, behind := range []string{"\n", "\r\n", "\x00\x00\x00", "<!-- -->", strings.Repeat("\x00", 100_000)} {
				for at, parts := range map[string][]string{"at once": {body + behind}, "later": {body, behind}} {
					if text, err := decode(coding, parts...); err != nil || text != whole {
						t.Errorf("%s of %s, %.10q %s: %d bytes, %v", coding, name, behind, at, len(text), err)
					}
				}
			}
			for n := 1; n < len(body); n++ {
				if _, err := decode(coding, body[:n]); err == nil {
					t.Errorf("%s of %s: %d of %d bytes are taken for all", coding, name, n, len(body))
				}
			}
		}
	}
	if got, err := decode("zstd", bodies["zstd"]["page"], bodies["zstd"]["page"]); err != nil || got != page+page {
		t.Errorf("two frames: %q, %v", got, err)
	}
}

func TestEmptyBodyWithACoding(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		html(w, "")
	})
	if got := New(Options{}).Do(t.Context(), get(t, s.URL), nil); !got.Content || got.Digest != digest("") {
		t.Errorf("%+v", got)
	}
}

func TestBombs(t *testing.T) {
	zeros := make([]byte, 4<<20)
	for _, coding := range []string{"gzip", "br", "zstd", ""} {
		t.Run("coding "+coding, func(t *testing.T) {
			body := encode(t, coding, zeros)
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", coding)
				w.Header().Set("Content-Type", "text/html")
				w.(http.Flusher).Flush() // no Content-Length
				_, _ = w.Write(body)
			})
			var sink bytes.Buffer
			got := New(Options{}).Do(t.Context(), get(t, s.URL), &sink)
			checkResult(t, got)
			if got.Outcome != crawl.OutcomeTooLarge || got.HostAnswer != HostOK || sink.Len() > 1<<20 || got.Size > 1<<20 || got.Bytes > 2<<20 {
				t.Errorf("%s (%s), %d bytes in the sink, %d received", got.Outcome, got.Problem, sink.Len(), got.Bytes)
			}
		})
	}
}

func TestTruncate(t *testing.T) {
	page := strings.Repeat("0123456789", 1000)
	for _, coding := range []string{"", "gzip"} {
		for _, limit := range []int64{1, 5000, 9999, 10000, 10001} {
			body := encode(t, coding, []byte(page))
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", coding)
				w.Header().Set("Content-Type", "text/plain")
				_, _ = w.Write(body)
			})
			req := get(t, s.URL+"/robots.txt")
			req.Accept, req.MaxBody, req.Truncate = nil, limit, true
			if int64(len(body)) > limit && coding != "" {
				continue // cut on the wire: only the limit is promised
			}
			var sink bytes.Buffer
			got := New(Options{}).Do(t.Context(), req, &sink)
			want := page[:min(int64(len(page)), limit)]
			if !got.Content || sink.String() != want || got.Truncated != (limit < 10000) || got.Digest != digest(want) {
				t.Errorf("coding %q, limit %d: %s %s, %d bytes, truncated %v", coding, limit, got.Outcome, got.Problem, sink.Len(), got.Truncated)
			}
		}
	}
}

// TestUnwantedTypeEndsTheDownload: the server would send for ever.
func TestUnwantedTypeEndsTheDownload(t *testing.T) {
	gone := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		defer close(gone)
		w.Header().Set("Content-Type", "video/mp4")
		w.WriteHeader(200)
		chunk := make([]byte, 64<<10)
		for r.Context().Err() == nil {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	var sink bytes.Buffer
	got := New(Options{}).Do(t.Context(), get(t, s.URL), &sink)
	if got.Outcome != crawl.OutcomeUnsupported || sink.Len() != 0 || got.Bytes != 0 || got.Err != nil {
		t.Errorf("%+v", got)
	}
	<-gone
}

func TestMissingTypeIsSniffed(t *testing.T) {
	cases := []struct {
		body, kind string
		outcome    crawl.Outcome
	}{
		{"<!DOCTYPE html><p>x", "text/html", crawl.OutcomeNew},
		{"\x89PNG\r\n\x1a\n", "image/png", crawl.OutcomeUnsupported},
		{"just text", "text/plain", crawl.OutcomeUnsupported},
		{"", "", crawl.OutcomeNew},
	}
	for _, c := range cases {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			_, _ = io.WriteString(w, c.body)
		})
		var sink bytes.Buffer
		got := New(Options{}).Do(t.Context(), get(t, s.URL), &sink)
		if got.Outcome != c.outcome || got.MediaType.String() != c.kind || got.Content && sink.String() != c.body {
			t.Errorf("%q: %s as %q", c.body, got.Outcome, got.MediaType)
		}
	}
}

func TestEarlyHintsAreNoAnswer(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", "</style.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		html(w, "x")
	})
	if got := New(Options{}).Do(t.Context(), get(t, s.URL), nil); got.Status != 200 || !got.Content {
		t.Errorf("%+v", got)
	}
}

func TestDeadline(t *testing.T) {
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	got := impatiently(50*time.Millisecond, func(limit time.Duration) (Result, bool) {
		req := get(t, s.URL)
		req.Deadline = time.Now().Add(limit)
		got := New(Options{}).Do(t.Context(), req, nil)
		return got, got.Sent
	})
	checkResult(t, got)
	if got.Outcome != crawl.OutcomeTimedOut || got.HostAnswer != HostFailed || got.Local || !strings.HasPrefix(got.Problem, "no answer within") {
		t.Errorf("%+v", got)
	}
}

func TestDeadlineInTheBody(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		html(w, "<p>")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	got := impatiently(100*time.Millisecond, func(limit time.Duration) (Result, bool) {
		req := get(t, s.URL)
		req.Deadline = time.Now().Add(limit)
		got := New(Options{}).Do(t.Context(), req, nil)
		return got, got.Bytes > 0
	})
	checkResult(t, got)
	if got.Outcome != crawl.OutcomeTimedOut || got.Status != 200 || got.Bytes != 3 || !strings.HasPrefix(got.Problem, "the answer was not complete within") {
		t.Errorf("%+v", got)
	}
}

func TestPastDeadlineMakesNoRequest(t *testing.T) {
	var requests atomic.Int32
	s := serve(t, func(http.ResponseWriter, *http.Request) { requests.Add(1) })
	req := get(t, s.URL)
	req.Deadline = time.Now().Add(-time.Second)
	got := New(Options{}).Do(t.Context(), req, nil)
	if got.Outcome != crawl.OutcomeTimedOut || got.Sent || requests.Load() != 0 || !strings.HasPrefix(got.Problem, "no connection within") {
		t.Errorf("%+v after %d requests", got, requests.Load())
	}
}

func TestSlowBody(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		html(w, "<p>")
		for w.(http.Flusher).Flush(); ; w.(http.Flusher).Flush() {
			select {
			case <-r.Context().Done():
				return
			case <-time.After(20 * time.Millisecond):
				_, _ = io.WriteString(w, ".")
			}
		}
	})
	got := New(Options{MinRate: 1000, Window: 100 * time.Millisecond}).Do(t.Context(), get(t, s.URL), nil)
	checkResult(t, got)
	if got.Outcome != crawl.OutcomeTimedOut || got.HostAnswer != HostFailed || !strings.Contains(got.Problem, "slower than 1000 bytes a second") {
		t.Errorf("%+v", got)
	}
}

// bursts answers with a kilobyte and, after a pause, with another.
func bursts(t *testing.T, pause time.Duration) *httptest.Server {
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		html(w, strings.Repeat("x", 1000))
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
		case <-time.After(pause):
			_, _ = io.WriteString(w, strings.Repeat("x", 1000))
		}
	})
}

// TestPaceForgivesAPause: the bytes that came in a window are enough for that window.
func TestPaceForgivesAPause(t *testing.T) {
	got := New(Options{MinRate: 100, Window: hostileTime}).Do(t.Context(), get(t, bursts(t, 150*time.Millisecond).URL), nil)
	if !got.Content || got.Size != 2000 {
		t.Errorf("%+v", got)
	}
}

// TestPaceCountsEachWindow: a burst at the start does not pay for dripping later.
func TestPaceCountsEachWindow(t *testing.T) {
	got := New(Options{MinRate: 10, Window: 50 * time.Millisecond}).Do(t.Context(), get(t, bursts(t, time.Minute).URL), nil)
	checkResult(t, got)
	if got.Outcome != crawl.OutcomeTimedOut || !strings.Contains(got.Problem, "slower than 10 bytes a second over 50ms") {
		t.Errorf("%+v", got)
	}
}

func TestCancellationIsOurs(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	got := New(Options{}).Do(ctx, get(t, s.URL), nil)
	checkResult(t, got)
	if !got.Local || !errors.Is(got.Err, context.Canceled) || got.HostAnswer != HostNone {
		t.Errorf("%+v", got)
	}
}

type brokenSink struct{ err error }

func (s brokenSink) Write([]byte) (int, error) { return 0, s.err }

func TestSinkErrorIsOurs(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { html(w, "x") })
	full := errors.New("disk full")
	got := New(Options{}).Do(t.Context(), get(t, s.URL), brokenSink{full})
	checkResult(t, got)
	if !got.Local || !errors.Is(got.Err, full) || got.Content || got.HostAnswer != HostOK {
		t.Errorf("%+v", got)
	}
}

func TestBeforeWrite(t *testing.T) {
	var requests atomic.Int32
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		html(w, "x")
	})
	expired := errors.New("permit expired")
	req := get(t, s.URL)
	req.BeforeWrite = func() error { return expired }
	got := New(Options{}).Do(t.Context(), req, nil)
	checkResult(t, got)
	if got.Sent || !got.Local || !errors.Is(got.Err, expired) || requests.Load() != 0 {
		t.Errorf("%+v after %d requests", got, requests.Load())
	}
	calls := 0
	req.BeforeWrite = func() error { calls++; return nil }
	if got := New(Options{}).Do(t.Context(), req, nil); !got.Content || calls != 1 || requests.Load() != 1 {
		t.Errorf("%+v after %d calls", got, calls)
	}
}

func TestRequestNeedsItsLimits(t *testing.T) {
	for name, req := range map[string]Request{"no URL": {MaxBody: 1}, "no limit": {URL: get(t, "http://127.0.0.1/").URL}} {
		if got := New(Options{}).Do(t.Context(), req, nil); !got.Local || got.Sent {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func tlsServer(t testing.TB, http2 bool, h http.HandlerFunc) (*httptest.Server, *x509.CertPool) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.EnableHTTP2 = http2
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // some tests want refused handshakes
	s.StartTLS()
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return s, roots
}

func TestTLS(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("HTTP/2 %v", http2), func(t *testing.T) {
			protos := make(chan string, 1)
			s, roots := tlsServer(t, http2, func(w http.ResponseWriter, r *http.Request) {
				protos <- r.Proto
				html(w, "x")
			})
			got := New(Options{RootCAs: roots}).Do(t.Context(), get(t, s.URL), nil)
			want := map[bool]string{false: "HTTP/1.1", true: "HTTP/2.0"}[http2]
			if !got.Content {
				t.Fatalf("%+v", got)
			}
			if proto := <-protos; proto != want {
				t.Errorf("asked by %s, want %s", proto, want)
			}
		})
	}
}

// Servers that agree on a key by RSA alone are read, as by browsers.
func TestOldTLS(t *testing.T) {
	for _, suite := range []uint16{tls.TLS_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_RSA_WITH_AES_256_CBC_SHA} {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { html(w, "x") }))
		s.TLS = &tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{suite}}
		s.StartTLS()
		t.Cleanup(s.Close)
		roots := x509.NewCertPool()
		roots.AddCert(s.Certificate())
		got := New(Options{RootCAs: roots}).Do(t.Context(), get(t, s.URL), nil)
		checkResult(t, got)
		if !got.Content {
			t.Errorf("%s: %q", tls.CipherSuiteName(suite), got.Problem)
		}
	}
}

func TestTLSProblems(t *testing.T) {
	s, roots := tlsServer(t, true, func(w http.ResponseWriter, _ *http.Request) { html(w, "x") })
	plain := serve(t, func(w http.ResponseWriter, _ *http.Request) { html(w, "x") })
	cases := []struct {
		name, url string
		roots     *x509.CertPool
		problem   string
	}{
		{"unknown authority", s.URL, x509.NewCertPool(), "signed by nobody we trust"},
		{"other name", strings.Replace(s.URL, "127.0.0.1", "localhost", 1), roots, "not for localhost"},
		{"no TLS", strings.Replace(plain.URL, "http:", "https:", 1), roots, "does not speak TLS"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := New(Options{RootCAs: c.roots}).Do(t.Context(), get(t, c.url), nil)
			checkResult(t, got)
			if got.Outcome != crawl.OutcomeFailed || got.HostAnswer != HostFailed || got.Sent || !strings.Contains(got.Problem, c.problem) {
				t.Errorf("%+v", got)
			}
		})
	}
}

func BenchmarkFetch(b *testing.B) {
	page := strings.Repeat("<p>hello ", 2000)
	s := serve(b, func(w http.ResponseWriter, _ *http.Request) { html(w, page) })
	b.Run("fetch", func(b *testing.B) {
		client, req := New(Options{}), get(b, s.URL)
		for b.Loop() {
			req.Deadline = time.Now().Add(time.Minute)
			if got := client.Do(b.Context(), req, io.Discard); !got.Content {
				b.Fatal(got.Problem)
			}
		}
	})
	b.Run("net/http", func(b *testing.B) { // the yardstick: a new connection, no checks, no digest
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		for b.Loop() {
			resp, err := client.Get(s.URL)
			if err != nil {
				b.Fatal(err)
			}
			_, err = io.Copy(io.Discard, resp.Body)
			if err := errors.Join(err, resp.Body.Close()); err != nil {
				b.Fatal(err)
			}
		}
	})
}
