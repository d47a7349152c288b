package export

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"
)

// Limits of a page's path in bytes. With its export's name the whole has at most 210, which
// leaves 50 of Windows' default 260 for the folder around it.
const (
	maxHost    = 48
	maxSegment = 40
	maxFolders = 64 // of all path segments together
	maxQuery   = 24
)

// extensions of the media types that crawls keep.
var extensions = map[string]string{
	"text/html": ".html", "application/xhtml+xml": ".xhtml", "text/plain": ".txt", "text/css": ".css", "text/csv": ".csv",
	"text/markdown": ".md", "application/xml": ".xml", "text/xml": ".xml", "application/rss+xml": ".xml",
	"application/atom+xml": ".xml", "application/json": ".json", "application/pdf": ".pdf", "text/javascript": ".js",
	"application/javascript": ".js", "image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif",
	"image/svg+xml": ".svg", "image/webp": ".webp",
}

// pageName returns the path in the tree of the page of a URL: a folder for the host, one
// for each segment of the path, and in it the page (Bouras, Poulopoulos and Thanou, section
// 2):
//
//	https://www.mysite.com/d1/d2       www.mysite.com/d1/d2/@page.html
//	https://www.mysite.com/d1/d2/      www.mysite.com/d1/d2/@index.html
//	http://localhost:8000/list?page=2  localhost+8000/list/@page-http,page=2.html
//
// The name is decided by the URL alone. It is printable ASCII that no file system
// refuses or changes, and no two URLs have the same, not even where case does not
// count: a name in full is one from which the URL can be read back, and any other,
// shortened or with characters replaced, ends in a hash of the URL after a tilde,
// which names in full do not have. Names of folders and of pages never meet, since
// only those of pages begin with an at sign.
func pageName(url, extension string) string {
	u := splitURL(url)
	n := name{host: folderName(u.host, maxHost), file: u.kind()}
	room := maxFolders
	for _, segment := range u.segments {
		folder := folderName(segment, min(maxSegment, room))
		if room -= len(folder) + 1; room < 0 {
			break
		}
		n.folders = append(n.folders, folder)
	}
	if u.hasQuery {
		n.file += "," + replace(shorten(u.query, maxQuery), queryMarks)
	}
	if n.url() != url {
		sum := sha256.Sum256([]byte(url))
		n.file += "~" + hex.EncodeToString(sum[:16])
	}
	return path.Join(n.host, path.Join(n.folders...), n.file+extension)
}

// parts are a URL's parts, cut without checking whether it is valid.
type parts struct {
	scheme, host, query string
	segments            []string
	slash               bool // the path ends with one
	hasQuery            bool
}

func splitURL(url string) parts {
	var p parts
	rest := url
	if scheme, after, ok := strings.Cut(url, "://"); ok {
		p.scheme, rest = scheme, after
	}
	rest, p.query, p.hasQuery = strings.Cut(rest, "?")
	host, path, _ := strings.Cut(rest, "/")
	p.host = hostLabel(host)
	if path, p.slash = cutSlash(path); path != "" {
		p.segments = strings.Split(path, "/")
		for i, s := range p.segments {
			p.segments[i] = lowerEscapes(s)
		}
	}
	p.query = lowerEscapes(p.query)
	return p
}

// cutSlash: the path "/" has no segment, and ends with a slash.
func cutSlash(path string) (string, bool) {
	if path == "" {
		return "", true
	}
	return strings.CutSuffix(path, "/")
}

// hostLabel writes a host so that it can be a folder's name: the port after a plus,
// as wget does, and an IPv6 address with hyphens in its brackets. Host names have
// neither.
func hostLabel(host string) string {
	if i := strings.LastIndexByte(host, ']'); i >= 0 {
		return strings.ReplaceAll(host[:i], ":", "-") + strings.Replace(host[i:], ":", "+", 1)
	}
	return strings.Replace(host, ":", "+", 1)
}

// kind is the beginning of the page's file name: whether the path ends with a
// slash, and which scheme it is.
func (p parts) kind() string {
	file := "@page"
	if p.slash {
		file = "@index"
	}
	if p.scheme == "http" {
		file += "-http"
	}
	return file
}

// lowerEscapes writes percent-encoded bytes with small letters. Canonical URLs have
// capital ones, so that nothing is lost.
func lowerEscapes(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' && isHex(b[i+1]) && isHex(b[i+2]) {
			b[i+1], b[i+2] = lower(b[i+1]), lower(b[i+2])
		}
	}
	return string(b)
}

func upperEscapes(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' && isHex(b[i+1]) && isHex(b[i+2]) {
			b[i+1], b[i+2] = upper(b[i+1]), upper(b[i+2])
		}
	}
	return string(b)
}

// The characters besides small letters and digits that stay as they are.
const (
	folderMarks = "-_.%+=,[]@"
	queryMarks  = "-_.%+=&"
)

// replace puts an underscore where a character is not plain. Capital letters stay, for
// readability; the name is then not one in full.
func replace(s, marks string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (isAlnum(byte(r)) || strings.ContainsRune(marks, r)) {
			return r
		}
		return '_'
	}, s)
}

// folderName makes a folder's name from a host or segment.
func folderName(s string, limit int) string {
	s = replace(shorten(s, limit), folderMarks)
	base, _, _ := strings.Cut(s, ".")
	switch {
	case s == "" || s[0] == '@' || s[0] == '.': // no name; a page's; hidden, or another folder
		s = "_" + s
	case isDevice(base), strings.EqualFold(s, manifestName), strings.EqualFold(s, indexName):
		s = "_" + s
	}
	if s[len(s)-1] == '.' { // Windows drops it
		s = s[:len(s)-1] + "_"
	}
	return s
}

// isDevice reports whether Windows reserves a name, with any extension, for a device.
func isDevice(base string) bool {
	switch base = strings.ToLower(base); base {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	return len(base) == 4 && (base[:3] == "com" || base[:3] == "lpt") && base[3] >= '0' && base[3] <= '9'
}

// shorten cuts a text after limit bytes.
func shorten(s string, limit int) string { return s[:min(len(s), max(limit, 1))] }

// name is a page's path in parts.
type name struct {
	host    string
	folders []string
	file    string // without hash and extension
}

// url reads back the URL from which a name in full was made. For other names it returns
// another URL.
func (n name) url() string {
	if n.host != strings.ToLower(n.host) || strings.Join(n.folders, "") != strings.ToLower(strings.Join(n.folders, "")) {
		return ""
	}
	kind, query, hasQuery := strings.Cut(n.file, ",")
	if query != strings.ToLower(query) {
		return ""
	}
	scheme := "https"
	if base, ok := strings.CutSuffix(kind, "-http"); ok {
		scheme, kind = "http", base
	}
	host := n.host
	if i := strings.LastIndexByte(host, ']'); i >= 0 {
		host = strings.ReplaceAll(host[:i], "-", ":") + host[i:]
	}
	url := scheme + "://" + strings.Replace(host, "+", ":", 1) + "/" + upperEscapes(strings.Join(n.folders, "/"))
	if kind == "@index" && len(n.folders) > 0 {
		url += "/"
	}
	if hasQuery {
		url += "?" + upperEscapes(query)
	}
	return url
}

func isAlnum(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' }
func isHex(c byte) bool   { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c | 0x20
	}
	return c
}

func upper(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c &^ 0x20
	}
	return c
}
