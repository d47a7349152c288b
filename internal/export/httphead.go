package export

import (
	"bytes"
	"strconv"
	"strings"
)

// origPrefix renames fields that were true on the wire but not in the archive, where bodies
// are kept decoded. The Wayback Machine and its successors use it.
const origPrefix = "X-Archive-Orig-"

// head is an HTTP message's head.
type head struct {
	start  string
	fields []field
}

// parseHead reads the head of an HTTP message. It reports false unless there is a
// start line. Lines that are no fields are left out, HTTP/2's pseudo-fields among
// them.
func parseHead(raw []byte) (head, bool) {
	var h head
	for i, line := range bytes.Split(raw, []byte("\n")) {
		text := strings.TrimRight(string(line), "\r")
		switch {
		case i == 0:
			h.start = fieldText(text)
		case text == "":
			return h, h.start != ""
		case (text[0] == ' ' || text[0] == '\t') && len(h.fields) > 0:
			last := &h.fields[len(h.fields)-1]
			last.value += " " + fieldText(text)
		default:
			if name, value, ok := strings.Cut(text, ":"); ok && isToken(name) {
				h.fields = append(h.fields, field{name, fieldText(value)})
			}
		}
	}
	return h, h.start != ""
}

// isToken reports whether s is a token of HTTP (RFC 9110 5.6.2).
func isToken(s string) bool {
	for i := range len(s) {
		if !isAlnum(s[i]) && strings.IndexByte("!#$%&'*+-.^_`|~", s[i]) < 0 {
			return false
		}
	}
	return s != ""
}

// get returns a field's value, or "".
func (h head) get(name string) string {
	for _, f := range h.fields {
		if strings.EqualFold(f.name, name) {
			return f.value
		}
	}
	return ""
}

func (h head) bytes() []byte {
	var b bytes.Buffer
	b.WriteString(h.start + "\r\n")
	for _, f := range h.fields {
		b.WriteString(f.name + ": " + f.value + "\r\n")
	}
	b.WriteString("\r\n")
	return b.Bytes()
}

// requestHead is a request's head as HTTP/1.1. It reports false if raw is none.
func requestHead(raw []byte) (head, bool) {
	h, ok := parseHead(raw)
	method, rest, _ := strings.Cut(h.start, " ")
	target, version, has := strings.Cut(rest, " ")
	if !ok || !has || !isToken(method) || target == "" || !strings.HasPrefix(version, "HTTP/") {
		return head{}, false
	}
	h.start = method + " " + target + " " + http1(version)
	return h, true
}

// responseHead is a response's head as HTTP/1.1 before a body of size bytes without any
// coding; a size below 0 stands for a missing body. It reports false if raw is none.
func responseHead(raw []byte, size int64) (head, bool) {
	h, ok := parseHead(raw)
	version, rest, _ := strings.Cut(h.start, " ")
	code, reason, _ := strings.Cut(rest, " ")
	if status, err := strconv.Atoi(code); !ok || err != nil || len(code) != 3 || status < 100 || !strings.HasPrefix(version, "HTTP/") {
		return head{}, false
	}
	// HTTP/1.1 requires the space even before an empty reason, which HTTP/2 does not have.
	h.start = http1(version) + " " + code + " " + reason
	h.fit(size)
	return h, true
}

// http1 names a version in whose syntax the message is written. The real protocol is in
// WARC-Protocol (the IIPC's extension for HTTP/2).
func http1(version string) string {
	if version == "HTTP/1.0" {
		return version
	}
	return "HTTP/1.1"
}

// fit renames the fields that do not describe a body of size bytes without coding and adds
// the length. A correct length stays where it is.
func (h *head) fit(size int64) {
	length := strconv.FormatInt(size, 10)
	coded, right := false, false
	for _, f := range h.fields {
		switch strings.ToLower(f.name) {
		case "content-encoding", "transfer-encoding":
			coded = true
		}
	}
	for i, f := range h.fields {
		switch strings.ToLower(f.name) {
		case "content-length":
			if f.value == length && !coded && !right {
				right = true
				continue
			}
			fallthrough
		case "content-encoding", "transfer-encoding":
			h.fields[i].name = origPrefix + f.name
		}
	}
	if !right && size >= 0 {
		h.fields = append(h.fields, field{"Content-Length", length})
	}
}
