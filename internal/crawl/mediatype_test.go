package crawl

import (
	"mime"
	"testing"
)

func TestParseMediaType(t *testing.T) {
	cases := []struct{ in, kind, charset string }{
		{"text/html", "text/html", ""},
		{"text/html;charset=gbk", "text/html", "gbk"},
		{"TEXT/HTML;CHARSET=GBK", "text/html", "gbk"},
		{"text/html; charset=\"utf-8\"", "text/html", "utf-8"},
		{"text/html;charset=gbk;charset=windows-1255", "text/html", "gbk"},
		{"text/html;;;;charset=gbk", "text/html", "gbk"},
		{"text/html; test; charset=gbk", "text/html", "gbk"},
		{"text/html;test;charset=gbk", "text/html", "gbk"},
		{"text/html;charset=\"gbk", "text/html", "gbk"},
		{"text/html;charset=\"\\gbk\"", "text/html", "gbk"},
		{"text/html;charset=\"gbk\"x;y=z", "text/html", "gbk"},
		{"text/html;charset=();charset=GBK", "text/html", "gbk"},
		{"text/html;charset =gbk", "text/html", ""},
		{"text/html;charset= gbk", "text/html", ""},
		{"text/html; x=\"a;charset=b\"; charset=c", "text/html", "c"},
		{" text/html ", "text/html", ""},
		{"text/html;charset=", "text/html", ""},
		{"", "", ""},
		{"text", "", ""},
		{"/html", "", ""},
		{"text/", "", ""},
		{"te xt/html", "", ""},
		{";charset=gbk", "", ""},
	}
	for _, c := range cases {
		t.Run(c.in, func(t *testing.T) {
			got := ParseMediaType(c.in)
			if got != (MediaType{c.kind, c.charset}) {
				t.Errorf("got %+v, want %q %q", got, c.kind, c.charset)
			}
		})
	}
}

func TestParseContentType(t *testing.T) {
	for header, want := range map[string]MediaType{
		"":                                     {},
		"text/html":                            {"text/html", ""},
		"text/html, text/html; charset=utf-8":  {"text/html", "utf-8"},
		"text/html; charset=utf-8, text/html":  {"text/html", "utf-8"},
		"text/html; charset=utf-8, text/plain": {"text/plain", ""},
		"text/html;charset=gbk, x/x;charset=utf-8": {"x/x", "utf-8"},
		"text/plain, what, */*":                    {"text/plain", ""},
		"text/html charset=utf-8":                  {},
		"*/*":                                      {},
		"unknown/unknown":                          {},
		"Application/Unknown; charset=utf-8":       {},
		"text/html, unknown/unknown":               {},
		"unknown/unknown, text/html":               {"text/html", ""},
		`text/html;x=",text/plain"`:                {"text/html", ""},
		`text/html;x="\",text/plain,";charset=gbk`: {"text/html", "gbk"},
		",,text/html,,":                            {"text/html", ""},
	} {
		if got := ParseContentType(header); got != want {
			t.Errorf("%q: got %+v, want %+v", header, got, want)
		}
	}
}

func FuzzParseMediaType(f *testing.F) {
	for _, s := range []string{"text/html;charset=\"gbk", "a/b;c;charset=d", "x/y; charset=\"\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m := ParseMediaType(s)
		if again := ParseMediaType(m.String()); again != m {
			t.Errorf("%+v does not survive %q: %+v", m, m.String(), again)
		}
		if m.Type == "" {
			return
		}
		if kind, _, err := mime.ParseMediaType(m.String()); err != nil || kind != m.Type {
			t.Errorf("mime reads %q as %q, %v", m.String(), kind, err)
		}
	})
}

func TestMediaTypeAmong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		typ   string
		types []string
		want  bool
	}{
		{"text/html", []string{"application/xhtml+xml", "Text/HTML"}, true},
		{"text/html", []string{"text/*"}, true},
		{"text/html", []string{"*/*"}, true},
		{"text/html", []string{"text/plain", "image/*"}, false},
		{"textual/html", []string{"text/*"}, false},
		{"", []string{"text/*", "*/*"}, false},
	} {
		if got := (MediaType{Type: c.typ}).Among(c.types); got != c.want {
			t.Errorf("%q among %q: %v, want %v", c.typ, c.types, got, c.want)
		}
	}
}
