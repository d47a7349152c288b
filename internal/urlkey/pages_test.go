package urlkey

import "testing"

func TestPagesHas(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		prefix, host, url string
		want              bool
	}{
		{"https://example.com/shop/", "", "https://example.com/shop/a", true},
		{"https://example.com/shop", "", "https://example.com/shopping", true},
		{"https://example.com/shop/", "", "https://example.com/news/", false},
		{"HTTPS://Example.com", "", "https://example.com/news/", true},
		{"https://example.com", "", "https://example.com.evil/", false},
		// As people write them.
		{"https://example.com:443/shop/", "", "https://example.com/shop/a", true},
		{"https://müller.example/über/", "", "https://xn--mller-kva.example/%C3%BCber/uns", true},
		{"https://example.com/%7ejoe", "", "https://example.com/~joe/", true},
		{"https://example.com/a b", "", "https://example.com/a%20b", true},
		{"https://example.com/shop?kind=", "", "https://example.com/shop?kind=x", true},
		{"", "Müller.example", "https://xn--mller-kva.example/", true},
		{"", "*.müller.example", "https://www.xn--mller-kva.example/", true},
		{"", "*.müller.example", "https://xn--mller-kva.example/", false},
		{"", "example.com", "https://example.com/a", true},
		{"", "Example.com:8080", "http://example.com:8080/", true},
		{"", "example.com", "http://example.com:8080/", false},
		{"", "example.com", "https://www.example.com/a", false},
		{"", "*.example.com", "https://www.example.com/a", true},
		{"", "*.example.com", "https://example.com/a", false},
		{"", "*.example.com", "https://notexample.com/", false},
	} {
		if got := PagesOf(c.prefix, c.host).Has(c.url); got != c.want {
			t.Errorf("%q %q has %s: %v", c.prefix, c.host, c.url, got)
		}
	}
}

func TestBegun(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://Example.com:443/Docs": "https://example.com/Docs",
		"https://example.com/ü":        "https://example.com/%C3%BC",
		"https://exam":                 "https://exam",
		"https://Exam":                 "https://Exam",
		"example.com/docs":             "example.com/docs",
		"https://":                     "https://",
		"ftp://a/":                     "ftp://a/",
		"":                             "",
	} {
		if got := Begun(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
