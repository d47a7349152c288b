package warctest

import (
	"bytes"
	"compress/gzip"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// entry is a record to be written, with as many faults as its fields have.
type entry struct {
	version string
	fields  []string // "Name: value"; Content-Length is added
	block   string
	raw     string // instead of all this
}

func (e entry) String() string {
	if e.raw != "" {
		return e.raw
	}
	var b strings.Builder
	b.WriteString(e.version + "\r\n")
	for _, f := range e.fields {
		b.WriteString(f + "\r\n")
	}
	if !strings.Contains(b.String(), "\r\nContent-Length:") {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(e.block))
	}
	return b.String() + "\r\n" + e.block + "\r\n\r\n"
}

// with returns e with fields replaced or added, or removed by an empty value.
func (e entry) with(fields ...string) entry {
	kept := []string{}
	for _, f := range e.fields {
		name, _, _ := strings.Cut(f, ":")
		replaced := false
		for _, n := range fields {
			replaced = replaced || strings.HasPrefix(n, name+":")
		}
		if !replaced {
			kept = append(kept, f)
		}
	}
	for _, f := range fields {
		if !strings.HasSuffix(f, ":") {
			kept = append(kept, f)
		}
	}
	e.fields = kept
	return e
}

func (e entry) and(field string) entry {
	e.fields = append(e.fields[:len(e.fields):len(e.fields)], field)
	return e
}

func (e entry) holding(block string) entry {
	e.block = block
	return e.with("WARC-Block-Digest: " + sha1Of(block))
}

func (e entry) as(version string) entry {
	e.version = version
	return e
}

func sha1Of(text string) string {
	sum := sha1.Sum([]byte(text))
	return "sha1:" + base32.StdEncoding.EncodeToString(sum[:])
}

func sha256Of(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func id(n int) string { return fmt.Sprintf("<urn:uuid:00000000-0000-4000-8000-%012d>", n) }

const (
	body     = "<html>"
	answer   = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n" + body
	question = "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n"
	date     = "WARC-Date: 2026-11-21T18:03:38.123456Z"
	target   = "WARC-Target-URI: http://example.com/"
)

// The records of a good file.
var (
	info = entry{version: Version11, fields: []string{
		"WARC-Type: warcinfo", "WARC-Record-ID: " + id(1), "WARC-Date: 2026-11-21T18:00:00Z",
		"WARC-Filename: a.warc.gz", "Content-Type: application/warc-fields",
	}}.holding("software: test\r\nformat: WARC File Format 1.1\r\n")
	response = entry{version: Version11, fields: []string{
		"WARC-Type: response", "WARC-Record-ID: " + id(2), date, target, "WARC-Warcinfo-ID: " + id(1),
		"WARC-IP-Address: 2001:db8::1", "WARC-Payload-Digest: " + sha1Of(body),
		"Content-Type: application/http;msgtype=response", "WARC-Protocol: h2", "WARC-Protocol: tls/1.3",
	}}.holding(answer)
	request = entry{version: Version11, fields: []string{
		"WARC-Type: request", "WARC-Record-ID: " + id(3), date, target, "WARC-Concurrent-To: " + id(2),
		"Content-Type: application/http; msgtype=request",
	}}.holding(question)
	metadata = entry{version: Version11, fields: []string{
		"WARC-Type: metadata", "WARC-Record-ID: " + id(4), date, target,
		"WARC-Concurrent-To: " + id(2), "WARC-Concurrent-To: " + id(3), "Content-Type: application/warc-fields",
	}}.holding("fetchTimeMs: 565\r\n")
	revisit = entry{version: Version11, fields: []string{
		"WARC-Type: revisit", "WARC-Record-ID: " + id(5), "WARC-Date: 2026-11-22T18:03:38Z", target,
		"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest", "WARC-Payload-Digest: " + sha1Of(body),
		"WARC-Refers-To: " + id(2), "WARC-Refers-To-Target-URI: http://example.com/", "WARC-Refers-To-Date: 2026-11-21T18:03:38.123456Z",
	}}.holding("")
	resource = entry{version: Version11, fields: []string{
		"WARC-Type: resource", "WARC-Record-ID: " + id(6), "WARC-Date: 2026-11-23", target,
		"Content-Type: text/html; charset=\"utf;8\"", "WARC-Payload-Digest: " + sha256Of(body),
	}}.holding(body)
)

func good() []entry { return []entry{info, response, request, metadata, revisit, resource} }

// plain and packed are the two ways to store records.
func plain(t testing.TB, all []entry) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, e := range all {
		b.WriteString(e.String())
	}
	return b.Bytes()
}

func packed(t testing.TB, all []entry) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, e := range all {
		z := gzip.NewWriter(&b)
		_, err := io.WriteString(z, e.String())
		if err := errors.Join(err, z.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func check(t testing.TB, file []byte) Report {
	t.Helper()
	report, err := Check(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestGoodFiles(t *testing.T) {
	t.Parallel()
	old := func(e entry) entry { return e.as(Version10) }
	for name, all := range map[string][]entry{
		"1.1": good(),
		"1.0": {
			old(info), old(response.with("WARC-Date: 2026-11-21T18:00:00Z", "WARC-Target-URI: <http://example.com/>")),
			old(revisit.with("WARC-Profile: http://netpreserve.org/warc/1.0/revisit/server-not-modified", "WARC-Refers-To-Date: whatever")),
		},
		"chunked": {info, response.holding("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\n<ht\r\n3\r\nml>\r\n0\r\nX-T: 1\r\n\r\n")},
		"revisit with its head": {info, response, revisit.holding("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n").
			with("WARC-Truncated: length", "Content-Type: application/http;msgtype=response")},
		"an unknown type and fields": {info, {version: Version11, fields: []string{
			"WARC-Type: screenshot", "WARC-Record-ID: " + id(2), date, "Content-Type: image/png", "X-Mine: ü",
		}, block: "png"}},
		"hex and padded digests": {info, resource.with("WARC-Payload-Digest: SHA-1:" + hex.EncodeToString(func() []byte { s := sha1.Sum([]byte(body)); return s[:] }()))},
		"segments": {
			info, response.with("WARC-Segment-Number: 1", "WARC-Payload-Digest: "+sha1Of("of all segments")).holding(answer[:len(answer)-3]).and("WARC-Truncated: length"),
			{version: Version11, fields: []string{
				"WARC-Type: continuation", "WARC-Record-ID: " + id(7), date, target, "WARC-Segment-Number: 2",
				"WARC-Segment-Origin-ID: " + id(2), "WARC-Segment-Total-Length: 99",
			}, block: "ml>"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for kind, file := range map[string][]byte{"plain": plain(t, all), "gzip": packed(t, all)} {
				report := check(t, file)
				if report.Records != len(all) || len(report.Problems) > 0 {
					t.Errorf("%s: %d records of %d, %v", kind, report.Records, len(all), report.Problems)
				}
			}
		})
	}
}

// Each case breaks one thing, and exactly that is found.
func TestFaults(t *testing.T) {
	t.Parallel()
	replace := func(e entry, old, with string) entry {
		return entry{raw: strings.Replace(e.String(), old, with, 1)}
	}
	cases := []struct {
		name   string
		file   []entry
		rule   string
		advice bool
	}{
		{"no record", nil, "4", false},
		{"no version", []entry{info, replace(response, "WARC/1.1\r\n", "")}, "4", false},
		{"an unknown version", []entry{info, response.as("WARC/2.0")}, "4", false},
		{"a bare LF", []entry{info, replace(response, "WARC/1.1\r\n", "WARC/1.1\n")}, "4", false},
		{"a field without a colon", []entry{info, response.and("WARC-Truncated")}, "4", false},
		{"a field name with a space", []entry{info, response.and("WARC Truncated: length")}, "4", false},
		{"a field that is not UTF-8", []entry{info, response.and("X: \xff")}, "4", false},
		{"a control character", []entry{info, response.and("X: \x00")}, "4", false},
		{"white space first", []entry{info, replace(response, "WARC/1.1\r\n", "WARC/1.1\r\n x\r\n")}, "4", false},
		{"a folded field", []entry{info, response.and("X: a\r\n b")}, "IIPC annotation 74", true},
		{"an endless header", []entry{info, response.and("X: " + strings.Repeat("x", maxHeader))}, "4", false},
		{"one newline at the end", []entry{info, replace(response, body+"\r\n\r\n", body+"\r\n")}, "4", false},
		{"three newlines at the end", []entry{info, replace(response, body+"\r\n\r\n", body+"\r\n\r\n\r\n")}, "4", false},
		{"no Content-Length", []entry{info, replace(response, "Content-Length: "+fmt.Sprint(len(answer))+"\r\n", "")}, "5.3", false},
		{"a Content-Length in words", []entry{info, response.and("Content-Length: many")}, "5.3", false},
		{"a negative Content-Length", []entry{info, response.and("Content-Length: -1")}, "5.3", false},
		{"a long Content-Length", []entry{info, response.and("Content-Length: 500")}, "5.3", false},
		{"a short Content-Length", []entry{info, resource.with("WARC-Block-Digest:", "WARC-Payload-Digest:").and("Content-Length: 3")}, "4", false},

		{"no identifier", []entry{info, response.with("WARC-Record-ID:")}, "5.2", false},
		{"an identifier without brackets", []entry{info, response.with("WARC-Record-ID: urn:uuid:1")}, "5.2", false},
		{"an identifier that is no URI", []entry{info, response.with("WARC-Record-ID: <1>")}, "5.2", false},
		{"an identifier twice", []entry{info, response, resource.with("WARC-Record-ID: " + id(2))}, "5.2", false},
		{"no date", []entry{info, response.with("WARC-Date:")}, "5.4", false},
		{"a local date", []entry{info, response.with("WARC-Date: 2026-11-21T18:03:38+01:00")}, "5.4", false},
		{"a date that is none", []entry{info, response.with("WARC-Date: 2026-02-30T18:03:38Z")}, "5.4", false},
		{"ten digits of a second", []entry{info, response.with("WARC-Date: 2026-11-21T18:03:38.1234567890Z")}, "5.4", false},
		{"no digit of a fraction", []entry{info, response.with("WARC-Date: 2026-11-21T18:03:38.Z")}, "5.4", false},
		{"a fraction in 1.0", []entry{info, response.as(Version10)}, "5.4", false},
		{"two dates of one event", []entry{info, response, request.with("WARC-Date: 2026-11-21T18:03:39Z")}, "5.4", false},
		{"two dates of one event, the later first", []entry{info, request.with("WARC-Date: 2026-11-21T18:03:39Z"), response}, "5.4", false},
		{"no type", []entry{info, response.with("WARC-Type:")}, "5.5", false},
		{"no warcinfo first", []entry{response.with("WARC-Warcinfo-ID:")}, "5.5", true},
		{"a field twice", []entry{info, response.and(target)}, "5.1", false},
		{"no Content-Type", []entry{info, resource.with("Content-Type:")}, "5.6", true},
		{"a Content-Type that is none", []entry{info, resource.with("Content-Type: html")}, "5.6", false},
		{"a parameter without a value", []entry{info, resource.with("Content-Type: text/html; charset")}, "5.6", false},
		{"a quote without an end", []entry{info, resource.with(`Content-Type: text/html; charset="utf`)}, "5.6", false},
		{"a warcinfo of an event", []entry{info.and("WARC-Concurrent-To: " + id(2)), response.with("WARC-Date: 2026-11-21T18:00:00Z")}, "5.7", false},
		{"an event of no record", []entry{info, request}, "5.7", true},
		{"a wrong block digest", []entry{info, response.with("WARC-Block-Digest: " + sha1Of(body))}, "5.8", false},
		{"a block digest that is none", []entry{info, response.with("WARC-Block-Digest: sha1:AB2CD3EF4GH5IJ6KL7MN8OPQ")}, "5.8", false},
		{"a digest without its label", []entry{info, response.with("WARC-Block-Digest: " + strings.TrimPrefix(sha1Of(answer), "sha1:"))}, "5.8", false},
		{"a wrong payload digest", []entry{info, response.with("WARC-Payload-Digest: " + sha1Of(answer))}, "5.9", false},
		{"a wrong payload digest of a resource", []entry{info, resource.with("WARC-Payload-Digest: " + sha256Of("x"))}, "5.9", false},
		{"a payload digest of metadata", []entry{info, response, request, metadata.and("WARC-Payload-Digest: " + sha1Of(""))}, "5.9", false},
		{"a digest with the chunks", []entry{info, response.holding("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n").with("WARC-Payload-Digest: " + sha1Of("0\r\n\r\n"))}, "5.9", true},
		{"an address that is none", []entry{info, response.with("WARC-IP-Address: 10.0.0")}, "5.10", false},
		{"an address of a warcinfo", []entry{info.and("WARC-IP-Address: 10.0.0.1")}, "5.10", false},
		{"a response that refers", []entry{info, response.and("WARC-Refers-To: " + id(1))}, "5.11", false},
		{"metadata that revisits", []entry{info, response, request, metadata.and("WARC-Refers-To-Target-URI: http://example.com/")}, "5.12", false},
		{"a resource of a date", []entry{info, resource.and("WARC-Refers-To-Date: 2026-11-22T18:03:38Z")}, "5.13", false},
		{"a wrong date to refer to", []entry{info, response, revisit.with("WARC-Refers-To-Date: 2026-11-21T18:03:38Z")}, "5.13", false},
		{"no target", []entry{info, resource.with("WARC-Target-URI:")}, "5.14", false},
		{"a target in brackets", []entry{info, resource.with("WARC-Target-URI: <http://example.com/>")}, "5.14", false},
		{"a target with a space", []entry{info, resource.with("WARC-Target-URI: http://example.com/a b")}, "5.14", false},
		{"a target with a lone percent sign", []entry{info, resource.with("WARC-Target-URI: http://example.com/%")}, "5.14", false},
		{"a target with brackets in its path", []entry{info, resource.with("WARC-Target-URI: http://[::1]/[")}, "5.14", false},
		{"a target with two fragments", []entry{info, resource.with("WARC-Target-URI: http://example.com/#a#b")}, "5.14", false},
		{"a target of a warcinfo", []entry{info.and(target)}, "5.14", false},
		{"a truncation without a word", []entry{info, resource.and("WARC-Truncated: too long")}, "5.15", false},
		{"a warcinfo of a warcinfo", []entry{info.and("WARC-Warcinfo-ID: " + id(1))}, "5.16", false},
		{"a warcinfo of no record", []entry{info, response.with("WARC-Warcinfo-ID: " + id(9))}, "5.16", true},
		{"the name of another record", []entry{info, resource.and("WARC-Filename: a.warc")}, "5.17", false},
		{"a response with a profile", []entry{info, resource.and("WARC-Profile: http://example.com/")}, "5.18", false},
		{"a revisit without a profile", []entry{info, response, revisit.with("WARC-Profile:")}, "5.18", false},
		{"a payload's type of a warcinfo", []entry{info.and("WARC-Identified-Payload-Type: text/html")}, "5.19", false},
		{"a second segment that is no continuation", []entry{info, resource.and("WARC-Segment-Number: 2")}, "5.20", false},
		{"an origin of no segment", []entry{info, resource.and("WARC-Segment-Origin-ID: " + id(1))}, "5.21", false},
		{"a total length of no segment", []entry{info, resource.and("WARC-Segment-Total-Length: 6")}, "5.22", false},

		{"warc-fields with LF", []entry{info.holding("software: test\n")}, "4", false},
		{"warc-fields in prose", []entry{info.holding("software by me\r\n")}, "4", false},
		{"warc-fields in parts", []entry{info.holding("a: 1\r\n\r\nb: 2\r\nc: 3\r\n")}, "4", false},
		{"a response without a head", []entry{info, response.holding(body).with("WARC-Payload-Digest:")}, "6.3.2", true},
		{"a head without an end", []entry{info, response.holding("HTTP/1.1 200 OK\r\n").with("WARC-Payload-Digest:")}, "6.3.2", true},
		{"a request as a response", []entry{info, response.holding(question).with("WARC-Payload-Digest:")}, "6.3.2", true},
		{"another length in the head", []entry{info, response.holding(answer + "!").with("WARC-Payload-Digest:")}, "6.3.2", true},
		{"no digest of identical payload", []entry{info, response, revisit.with("WARC-Payload-Digest:")}, "6.7.2", false},
		{"a head only, and not truncated", []entry{info, response, revisit.holding("HTTP/1.1 200 OK\r\n\r\n").and("Content-Type: application/http;msgtype=response")}, "6.7.2", false},
		{"another payload than the first", []entry{info, response, revisit.with("WARC-Payload-Digest: " + sha1Of("x"))}, "6.7", false},
		{"a revisit of nothing", []entry{info, revisit.with("WARC-Refers-To:", "WARC-Refers-To-Date:")}, "6.7", true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for kind, file := range map[string][]byte{"plain": plain(t, c.file), "gzip": packed(t, c.file)} {
				report := check(t, file)
				if len(report.Problems) == 0 {
					t.Errorf("%s: nothing found", kind)
					continue
				}
				// A damaged record may have more than one thing wrong with it, and leave
				// the others' references open.
				if p := report.Problems[0]; p.Rule != c.rule || p.Advice != c.advice {
					t.Errorf("%s: %v", kind, report.Problems)
				}
				if c.advice != (report.Err() == nil) {
					t.Errorf("%s: %v", kind, report.Err())
				}
			}
		})
	}
}

func TestGzipMembers(t *testing.T) {
	t.Parallel()
	var whole bytes.Buffer
	z := gzip.NewWriter(&whole)
	z.Write(plain(t, good()))
	z.Close()
	report := check(t, whole.Bytes())
	if report.Records != len(good()) || report.Err() != nil || len(report.Problems) != len(good())-1 || report.Problems[0].Rule != "annex D" {
		t.Errorf("one member for all: %+v", report)
	}
	damaged := packed(t, good())
	damaged[len(damaged)-6] ^= 1 // the last member's checksum
	if report := check(t, damaged); report.Err() == nil || report.Records != len(good()) {
		t.Errorf("a wrong checksum: %+v", report)
	}
	trailing := append(packed(t, good()), "more"...)
	if report := check(t, trailing); report.Err() == nil {
		t.Errorf("bytes after the last member: %+v", report)
	}
}

// After a record that cannot be read the next member can.
func TestGoesOn(t *testing.T) {
	t.Parallel()
	all := good()
	all[2] = entry{raw: "WARC/9\r\n\r\n\r\n\r\n"}
	report := check(t, packed(t, all))
	if report.Records != len(all)-1 || report.Err() == nil {
		t.Errorf("%+v", report)
	}
}

// Wherever a file is cut, unless between two records, the cut is found.
func TestCuts(t *testing.T) {
	t.Parallel()
	for kind, store := range map[string]func(testing.TB, []entry) []byte{"plain": plain, "gzip": packed} {
		whole := map[int]bool{}
		for n := range good() {
			whole[len(store(t, good()[:n+1]))] = true
		}
		file := store(t, good())
		for n := range file {
			if report := check(t, file[:n]); whole[n] != (report.Err() == nil) {
				t.Errorf("%s, cut after %d bytes of %d: %v", kind, n, len(file), report)
			}
		}
	}
}

func TestReadErrorsAreErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk broke")
	for kind, file := range map[string][]byte{"plain": plain(t, good()), "gzip": packed(t, good())} {
		for _, n := range []int{0, 1, 10, 300, len(file) / 2, len(file)} {
			_, err := Check(io.MultiReader(bytes.NewReader(file[:n]), iotest.ErrReader(broken)))
			if !errors.Is(err, broken) {
				t.Errorf("%s, after %d bytes: %v", kind, n, err)
			}
		}
	}
}

func TestManyProblemsAreCounted(t *testing.T) {
	t.Parallel()
	all := []entry{info}
	for range 3 * MaxProblems {
		all = append(all, resource.with("WARC-Date:"))
	}
	report := check(t, plain(t, all))
	if len(report.Problems) != MaxProblems || report.More == 0 {
		t.Errorf("%d listed, %d more", len(report.Problems), report.More)
	}
}

// FuzzCheck: whatever the bytes, Check ends, with no more records than there is room for,
// and has the same findings for the records in members of their own.
func FuzzCheck(f *testing.F) {
	f.Add(plain(f, good()))
	f.Add(packed(f, good()))
	f.Add([]byte("WARC/1.1\r\nContent-Length: 9223372036854775807\r\n\r\n"))
	f.Add([]byte{0x1f, 0x8b})
	for _, e := range []entry{info, response, revisit, metadata} {
		f.Add(plain(f, []entry{e.as(Version10)}))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		report := check(t, file)
		if report.Records > len(file) || len(report.Problems) > MaxProblems {
			t.Errorf("%d bytes: %+v", len(file), report)
		}
		if bytes.HasPrefix(file, []byte{0x1f, 0x8b}) {
			return
		}
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		w.Write(file)
		w.Close()
		if again := check(t, z.Bytes()); len(file) > 0 && (again.Err() == nil) != (report.Err() == nil) {
			t.Errorf("plain: %v\ngzip: %v", report, again)
		}
	})
}
