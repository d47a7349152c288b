package export_test

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"recrawl/internal/export"
	"recrawl/internal/export/exporttest"
	"recrawl/internal/urlkey"
)

func TestPageName(t *testing.T) {
	t.Parallel()
	// A tilde stands for one and the hash.
	for url, want := range map[string]string{
		"https://www.mysite.com/d1/d2":             "www.mysite.com/d1/d2/@page.html",
		"https://www.mysite.com/d1/d2/":            "www.mysite.com/d1/d2/@index.html",
		"https://www.mysite.com/":                  "www.mysite.com/@index.html",
		"http://www.mysite.com/":                   "www.mysite.com/@index-http.html",
		"http://localhost:8000/list?page=2":        "localhost+8000/list/@page-http,page=2.html",
		"https://example.com/?":                    "example.com/@index,.html",
		"http://[2001:db8::1]:8080/a":              "[2001-db8--1]+8080/a/@page-http.html",
		"https://example.com/%E4%B8%AD":            "example.com/%e4%b8%ad/@page.html",
		"https://example.com/index.html":           "example.com/index.html/@page.html",
		"https://xn--bcher-kva.example/":           "xn--bcher-kva.example/@index.html",
		"https://example.com/Main_Page":            "example.com/Main_Page/@page~.html",
		"https://example.com/con":                  "example.com/_con/@page~.html",
		"https://example.com/con.txt":              "example.com/_con.txt/@page~.html",
		"https://example.com/..%2f":                "example.com/_..%2f/@page~.html",
		"https://example.com/../..":                "example.com/_._/_._/@page~.html",
		"https://example.com/a.":                   "example.com/a_/@page~.html",
		"https://example.com/a b\x00":              "example.com/a_b_/@page~.html",
		"https://example.com//":                    "example.com/@index~.html",
		"https://example.com/@page.html":           "example.com/_@page.html/@page~.html",
		"https://index.jsonl/":                     "_index.jsonl/@index~.html",
		"https://example.com/?Q=1":                 "example.com/@index,Q=1~.html",
		"https://example.com/?a=/../b":             "example.com/@index,a=_.._b~.html",
		"https://example.com":                      "example.com/@index~.html",
		"":                                         "_/@index~.html",
		"https://e.com/" + strings.Repeat("a", 90): "e.com/" + strings.Repeat("a", 40) + "/@page~.html",
	} {
		got := export.PageName(url, ".html")
		if strings.Contains(want, "~") {
			sum := sha256.Sum256([]byte(url))
			want = strings.Replace(want, "~", "~"+hex.EncodeToString(sum[:16]), 1)
		}
		if got != want {
			t.Errorf("%q: %s, want %s", url, got, want)
		}
	}
}

// foldings are the normal forms, in each of which case is then dropped, under which file
// systems may store a name.
var foldings = []norm.Form{norm.NFC, norm.NFD, norm.NFKC, norm.NFKD}

// checkName checks that file systems neither refuse nor change a name.
func checkName(t *testing.T, url, name string) {
	t.Helper()
	if !filepath.IsLocal(name) || path.Clean(name) != name || len(name) > 190 || strings.Count(name, "/") < 1 {
		t.Errorf("%q: %q (%d bytes)", url, name, len(name))
	}
	for part := range strings.SplitSeq(name, "/") {
		base, _, _ := strings.Cut(strings.ToLower(part), ".")
		switch {
		case strings.HasSuffix(part, "."), strings.HasPrefix(part, "."), len(part) > 120:
			t.Errorf("%q: %q in %q", url, part, name)
		case base == "con" || base == "nul" || base == "aux" || base == "prn" || base == "com1" || base == "lpt9":
			t.Errorf("%q: the device %q in %q", url, part, name)
		}
		for i := range len(part) {
			if part[i] <= ' ' || part[i] >= 0x7f || strings.IndexByte(`<>:"\|?*'$&;()`, part[i]) >= 0 && !strings.HasPrefix(part, "@") {
				t.Errorf("%q: %q has %q", url, name, part[i])
			}
		}
	}
	if first, _, _ := strings.Cut(name, "/"); strings.EqualFold(first, "index.jsonl") || strings.EqualFold(first, "export.json") {
		t.Errorf("%q: %q is a file beside the hosts", url, name)
	}
}

// checkApart: two addresses have two names, and neither is a folder of the other.
func checkApart(t *testing.T, urls []string) {
	t.Helper()
	fold := cases.Fold()
	for _, form := range foldings {
		pages := map[string]string{}
		for _, url := range urls {
			for _, ext := range []string{".html", ".xhtml"} {
				name := fold.String(form.String(export.PageName(url, ext)))
				if other, taken := pages[name]; taken && other != url {
					t.Errorf("%q and %q are both %q", url, other, name)
				}
				pages[name] = url
			}
		}
		for name, url := range pages {
			for folder := path.Dir(name); folder != "."; folder = path.Dir(folder) {
				if other, taken := pages[folder]; taken {
					t.Errorf("%q lies in the page of %q", url, other)
				}
			}
		}
	}
}

func TestNamesAreApart(t *testing.T) {
	t.Parallel()
	for _, url := range exporttest.URLs() {
		checkName(t, url, export.PageName(url, ".html"))
	}
	checkApart(t, exporttest.URLs())
}

// respelled are other addresses that file systems might take for this one.
func respelled(url string) []string {
	return []string{
		strings.ToUpper(url), strings.ToLower(url), norm.NFC.String(url), norm.NFD.String(url), url + "/", url + ".", url + " ", url + "?",
		url + "%20", url + "~", strings.TrimSuffix(url, "/"), strings.Replace(url, "https:", "http:", 1), strings.ReplaceAll(url, "/", "%2F"),
		strings.ReplaceAll(url, "?", ","), strings.ReplaceAll(url, ":", "+"), strings.ReplaceAll(url, "_", "@"), url + "/@page.html",
		export.PageName(url, ".html"), "https://" + export.PageName(url, ".html"), "https://" + strings.TrimSuffix(export.PageName(url, ".html"), "/@page.html"),
	}
}

// FuzzPageName: names stay in the tree, and no two addresses share one.
func FuzzPageName(f *testing.F) {
	for i, url := range exporttest.URLs() {
		f.Add(url, exporttest.URLs()[(i+1)%len(exporttest.URLs())])
	}
	f.Add("https://example.com/é", "https://example.com/e\u0301")
	f.Add("https://example.com/ß/K", "https://example.com/SS/\u212a")
	f.Fuzz(func(t *testing.T, a, b string) {
		all := append(respelled(a), a, b)
		if u, err := urlkey.Canonical(a); err == nil {
			all = append(all, u.String())
		}
		for _, url := range all {
			checkName(t, url, export.PageName(url, ".html"))
		}
		checkApart(t, all)
	})
}
