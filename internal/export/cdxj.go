package export

import (
	"cmp"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"
)

// cdxjLine is the JSON of a line of the index, by Webrecorder's CDXJ
// (https://specs.webrecorder.net/cdxj/) with numbers as texts and the digest without
// its label, as pywb and warcio write and expect them.
type cdxjLine struct {
	URL      string `json:"url"`
	MIME     string `json:"mime"`
	Status   string `json:"status,omitempty"`
	Digest   string `json:"digest"`
	Length   string `json:"length"` // of the gzip member
	Offset   string `json:"offset"`
	Filename string `json:"filename"`
}

// writeCDXJ writes a line: a key that sorts, the time of the capture to the second,
// the JSON.
func writeCDXJ(w io.Writer, at time.Time, line cdxjLine) error {
	if _, err := io.WriteString(w, surt(line.URL)+" "+at.UTC().Format("20060102150405")+" "); err != nil {
		return err
	}
	return writeLine(w, line)
}

// surt returns the searchable form of a URI, the key by which readers look it up: in lower
// case, without scheme and "www.", with the host's labels reversed and parameters sorted:
// "com,example)/a?b&c". It follows warcio, as players of WACZ files do, not the letter of the
// CDXJ document, which keeps "www".
func surt(uri string) string {
	u, err := url.Parse(strings.ToLower(uri))
	if err != nil || u.Host == "" {
		return uri
	}
	labels := strings.Split(withoutWWW(u.Host), ".")
	port := ""
	if i := strings.LastIndexByte(u.Host, ':'); i > strings.LastIndexByte(u.Host, ']') {
		last := &labels[len(labels)-1]
		*last, port, _ = strings.Cut(*last, ":")
		port = ":" + port
	}
	slices.Reverse(labels)
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	key := strings.Join(labels, ",") + port + ")" + path
	if u.RawQuery != "" {
		params := strings.Split(u.RawQuery, "&")
		slices.Sort(params)
		key += "?" + strings.Join(params, "&")
	}
	return key
}

// withoutWWW removes a first label "www", "www2" and so on.
func withoutWWW(host string) string {
	rest, ok := strings.CutPrefix(host, "www")
	if !ok {
		return host
	}
	label, name, ok := strings.Cut(rest, ".")
	if !ok || strings.Trim(label, "0123456789") != "" {
		return host
	}
	return name
}

// mimeOf returns the media type of a message's body from its head, or "unk", as in pywb's
// indexes, if the head has none.
func mimeOf(h head) string {
	mime, _, _ := strings.Cut(h.get("Content-Type"), ";")
	return cmp.Or(strings.TrimSpace(mime), "unk")
}
