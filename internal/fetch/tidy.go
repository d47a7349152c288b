package fetch

import (
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// net/http refuses an answer for one line of its head that browsers skip or mend. Worse, it
// takes a space before a colon for a part of the name: such a Retry-After or X-Robots-Tag would
// not be heard. So heads of HTTP/1 are written anew before it reads them.

// tidied is a connection whose answers have tidy heads. What comes after the last head is
// passed on as it is, and so is what does not begin like HTTP, or has no end within a limit.
type tidied struct {
	net.Conn
	most    int    // bytes of a head
	head    []byte // what has come of the next one
	out     []byte // tidy, and not read yet
	through bool   // what follows is passed on
	err     error  // that ended the connection within a head
}

func (t *tidied) Read(p []byte) (int, error) {
	for len(t.out) == 0 {
		switch {
		case !t.through:
			t.fill()
		case t.err != nil:
			return 0, t.err
		default:
			return t.Conn.Read(p)
		}
	}
	n := copy(p, t.out)
	t.out = t.out[n:]
	return n, nil
}

const (
	httpName = "HTTP/"
	nameOf2  = "h2" // in TLS
)

// fill reads once, and tidies the heads that are whole.
func (t *tidied) fill() {
	came := len(t.head)
	t.head = slices.Grow(t.head, 4<<10)
	n, err := t.Conn.Read(t.head[came:cap(t.head)])
	t.head = t.head[:came+n]
	from := max(came-2, 0) // the end of the head may have begun before
	for {
		end := headEnd(t.head, from)
		if end < 0 {
			break
		}
		if !bytes.HasPrefix(t.head, []byte(httpName)) {
			t.pass(nil)
			return
		}
		t.out = append(t.out, tidyHead(t.head[:end])...)
		interim := isInterim(t.head)
		t.head, from = t.head[end:], 0
		if !interim {
			t.pass(err)
			return
		}
	}
	begun := t.head[:min(len(t.head), len(httpName))]
	if err != nil || len(t.head) > t.most || !strings.HasPrefix(httpName, string(begun)) {
		t.pass(err)
	}
}

// pass passes on the rest of what came, and what will come.
func (t *tidied) pass(err error) {
	t.out, t.head = append(t.out, t.head...), nil
	t.through, t.err = true, err
}

// headEnd returns where a head ends, with its empty line; -1 if it goes on. No empty line
// ends before from.
func headEnd(text []byte, from int) int {
	for {
		at := bytes.IndexByte(text[from:], '\n')
		if at < 0 {
			return -1
		}
		from += at + 1
		for _, empty := range []string{"\n", "\r\n"} {
			if bytes.HasPrefix(text[from:], []byte(empty)) {
				return from + len(empty)
			}
		}
	}
}

// isInterim reports whether a head announces another one (RFC 9110 15.2).
func isInterim(head []byte) bool {
	_, status, _ := bytes.Cut(head, []byte(" "))
	status = bytes.TrimLeft(status, " ")
	return bytes.HasPrefix(status, []byte("1")) && !bytes.HasPrefix(status, []byte("101"))
}

// tidyHead leaves out lines that have no colon, or no name before it, joins those that go on in
// the next line, and removes space behind names and control characters. The body's framing is
// given once, and in a way that net/http reads: chunks before a length (RFC 9112 6.3).
func tidyHead(head []byte) []byte {
	lines := bytes.Split(bytes.TrimRight(head, "\r\n"), []byte("\n"))
	b := append(make([]byte, 0, len(head)+len("\r\n")), bytes.TrimSuffix(lines[0], []byte("\r"))...)
	b = append(b, "\r\n"...)
	fields := fieldsOf(lines[1:])
	chunked := slices.ContainsFunc(fields, func(f field) bool { return f.is("Transfer-Encoding", "chunked") })
	framed := false
	for _, f := range fields {
		switch {
		case f.is("Transfer-Encoding", "identity"):
			continue
		case strings.EqualFold(f.name, "Content-Length"):
			if f.value = lengthOf(f.value); chunked || f.value == "" {
				continue
			}
		case f.is("Transfer-Encoding", "chunked"):
			if framed {
				continue
			}
			framed = true
		}
		b = append(append(append(append(b, f.name...), ":"...), f.value...), "\r\n"...)
	}
	return append(b, "\r\n"...)
}

// lengthOf reads the length of a body, which some servers write twice (RFC 9110 8.6), and others
// leave empty: then the body lasts until the connection ends. Any other that is none stays, and
// net/http refuses it.
func lengthOf(value string) string {
	first, rest, several := strings.Cut(value, ",")
	if first = strings.TrimSpace(first); several && lengthOf(rest) != first {
		return value
	}
	return first
}

// field is a line of a head.
type field struct{ name, value string }

func (f field) is(name, value string) bool {
	return strings.EqualFold(f.name, name) && strings.EqualFold(f.value, value)
}

// fieldsOf reads the lines of a head.
func fieldsOf(lines [][]byte) []field {
	var fields []field
	skipped := true // the line before
	for _, line := range lines {
		if len(line) > 0 && (line[0] == ' ' || line[0] == '\t') {
			if last := len(fields) - 1; !skipped {
				fields[last].value = strings.TrimSpace(fields[last].value + " " + cleanValue(line))
			}
			continue
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		f := field{strings.TrimRight(string(name), " \t"), cleanValue(value)}
		if skipped = !ok || !httpguts.ValidHeaderFieldName(f.name); !skipped {
			fields = append(fields, f)
		}
	}
	return fields
}

// cleanValue replaces control characters, single line ends included (RFC 9112 2.2), by spaces,
// and removes the space around.
func cleanValue(raw []byte) string {
	clean := bytes.Clone(raw)
	for i, c := range clean {
		if c < ' ' || c == 0x7F {
			clean[i] = ' '
		}
	}
	return string(bytes.Trim(clean, " "))
}

// tidy is a dialer of connections with tidy heads.
func (d dialer) tidy(most int64) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := d.dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &tidied{Conn: conn, most: int(most)}, nil
	}
}

// tidyTLS is a dialer of connections with TLS, with tidy heads unless they speak HTTP/2. Net/http
// has put the protocols that it wants into the configuration by the time of the call.
func (d dialer) tidyTLS(config *tls.Config, most int64) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		conn, err := d.dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		config := config.Clone()
		config.ServerName = host
		secure := tls.Client(conn, config)
		if err := secure.HandshakeContext(ctx); err != nil {
			conn.Close()
			return nil, err
		}
		if secure.ConnectionState().NegotiatedProtocol == nameOf2 {
			return secure, nil
		}
		return &tidied{Conn: secure, most: int(most)}, nil
	}
}
