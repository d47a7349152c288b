package urlkey

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCanonical(t *testing.T) {
	cases := []struct{ name, in, want string }{
		{"plain", "https://example.com/a?b=c", "https://example.com/a?b=c"},
		{"case of scheme and host", "HTTP://EXAMPLE.com/A", "http://example.com/A"},
		{"empty path", "http://example.com", "http://example.com/"},
		{"default ports", "http://example.com:80/", "http://example.com/"},
		{"default port of https", "https://example.com:443/", "https://example.com/"},
		{"other port", "http://example.com:443/", "http://example.com:443/"},
		{"empty port", "http://example.com:/", "http://example.com/"},
		{"port with zeros", "http://example.com:0080/", "http://example.com/"},
		{"fragment", "http://example.com/a#b?c", "http://example.com/a"},
		{"user info", "http://user:pass@example.com/", "http://example.com/"},
		{"user info with a question mark", "http://u%3Fs@example.com/", "http://example.com/"},
		{"trailing dot", "http://example.com./", "http://example.com/"},
		{"dot segments", "http://example.com/a/./b/../c", "http://example.com/a/c"},
		{"encoded dot segments", "http://example.com/a/%2e%2E/%2e/b", "http://example.com/b"},
		{"above the root", "http://example.com/../a", "http://example.com/a"},
		{"double slashes stay", "http://example.com//a//b", "http://example.com//a//b"},
		{"backslashes", `http:\\example.com\a`, "http://example.com/a"},
		{"white space around and within", " \thttp://exam\nple.com/a\tb ", "http://example.com/ab"},
		{"unreserved decoded", "http://example.com/%7Euser/%41%2D%5f", "http://example.com/~user/A-_"},
		{"hex upper case", "http://example.com/%c3%a9", "http://example.com/%C3%A9"},
		{"reserved stays encoded", "http://example.com/a%2Fb%3Fc?d%26e%3df", "http://example.com/a%2Fb%3Fc?d%26e%3Df"},
		{"non-ASCII", "http://example.com/é?ü", "http://example.com/%C3%A9?%C3%BC"},
		{"invalid UTF-8", "http://example.com/\xff", "http://example.com/%EF%BF%BD"},
		{"unsafe characters", "http://example.com/a\"<>^`{|}[]b", "http://example.com/a%22%3C%3E%5E%60%7B%7C%7D%5B%5Db"},
		{"unsafe characters in the query", "http://example.com/?\"<>\\^`{|}[]", "http://example.com/?%22%3C%3E%5C%5E%60%7B%7C%7D%5B%5D"},
		{"single quotes", "http://example.com/it's?it's", "http://example.com/it%27s?it%27s"},
		{"stray percent", "http://example.com/100%?50%", "http://example.com/100%25?50%25"},
		{"percent with half a number", "http://example.com/%2?%zz%4", "http://example.com/%252?%25zz%254"},
		{"percent before a number", "http://example.com/%2%65", "http://example.com/%252e"},
		{"empty query differs from none", "http://example.com/?", "http://example.com/?"},
		{"empty query and fragment", "http://example.com/?#a?b", "http://example.com/?"},
		{"plus and order of the query stay", "http://example.com/?b=1+2&a=", "http://example.com/?b=1+2&a="},
		{"space", "http://example.com/a b?c d", "http://example.com/a%20b?c%20d"},
		{"internationalised name", "http://Bücher.example/", "http://xn--bcher-kva.example/"},
		{"full-width name", "http://ｅｘａｍｐｌｅ.com/", "http://example.com/"},
		{"decimal address", "http://2130706433/", "http://127.0.0.1/"},
		{"hex address", "http://0x7f.1/", "http://127.0.0.1/"},
		{"full-width digits", "http://１２７.0.0.1/", "http://127.0.0.1/"},
		{"IPv6", "http://[2001:DB8:0:0::1]:80/", "http://[2001:db8::1]/"},
		{"IPv6 with IPv4", "http://[::FFFF:127.0.0.1]:8080/", "http://[::ffff:7f00:1]:8080/"},
		{"underscore in a name", "http://a_b.example.com/", "http://a_b.example.com/"},
		{"hyphens at the ends of labels", "http://-a.b-.example/", "http://-a.b-.example/"},
		{"encoded name", "http://ex%41mple%2Ecom%2e/", "http://example.com/"},
		{"other full stops", "http://a。b．example/", "http://a.b.example/"},
		{"characters that names ignore", "http://\ufeffexa\u00admple.com/", "http://example.com/"},
		{"sharp s is a letter of its own", "http://Straße.example/", "http://xn--strae-oqa.example/"},
		{"Punycode stays", "http://XN--Bcher-KVA.example/", "http://xn--bcher-kva.example/"},
		{"symbol in a name", "http://☃.example/", "http://xn--n3h.example/"},
		{"octal address", "http://0177.0.0.01/", "http://127.0.0.1/"},
		{"address with three parts", "http://1.2.3/", "http://1.2.0.3/"},
		{"address of nothing but a prefix", "http://0x/", "http://0.0.0.0/"},
		{"address with a trailing dot", "http://1.2.3.4./", "http://1.2.3.4/"},
		{"encoded address", "http://%31%32%37.1/", "http://127.0.0.1/"},
		{"no number after all", "http://1e2/", "http://1e2/"},
		{"IPv6 in full", "http://[0:0:0:0:0:0:0:0]", "http://[::]/"},
		{"IPv6 compresses the longest run", "http://[1:0:0:2:0:0:0:3]/", "http://[1:0:0:2::3]/"},
		{"IPv6 without a run", "http://[1:2:3:4:5:6:7:8]:443/", "http://[1:2:3:4:5:6:7:8]:443/"},
		{"lowest port", "http://example.com:0/", "http://example.com:0/"},
		{"highest port", "http://example.com:65535/", "http://example.com:65535/"},
		{"port with many zeros", "https://example.com:00000000443/", "https://example.com/"},
		{"two signs of user info", "http://u:p@example.com:80@other.example/", "http://other.example/"},
		{"backslash before user info", `http://example.com\@other.example/`, "http://example.com/@other.example/"},
		{"one slash", "http:/example.com/a", "http://example.com/a"},
		{"no slash", "http:example.com/a", "http://example.com/a"},
		{"many slashes", "http:////example.com/a", "http://example.com/a"},
		{"query right after the name", "http://example.com?a", "http://example.com/?a"},
		{"line end in the scheme", "ht\ntp://example.com/", "http://example.com/"},
		{"control characters around", "\x01http://example.com/\x1f", "http://example.com/"},
		{"control characters within", "http://example.com/\x00\x7f?\x00\x7f", "http://example.com/%00%7F?%00%7F"},
		{"backslash in the query", `http://example.com/a\b?c\d`, "http://example.com/a/b?c%5Cd"},
		{"dot segments with parameters are names", "http://example.com/a/..;b=1/%2e;c", "http://example.com/a/..;b=1/.;c"},
		{"dot segment with one dot encoded", "http://example.com/a/b/.%2E/c", "http://example.com/a/c"},
		{"dot segments at the end", "http://example.com/a/b/..", "http://example.com/a/"},
		{"two percent signs", "http://example.com/%%41?%%", "http://example.com/%25A?%25%25"},
		{"encoded percent stays", "http://example.com/%2541?%25", "http://example.com/%2541?%25"},
		{"not UTF-8 when decoded", "http://example.com/%ff%c3", "http://example.com/%FF%C3"},
		{"beyond the basic plane", "http://example.com/😀", "http://example.com/%F0%9F%98%80"},
		{"a fragment of any length", " http://example.com/ #" + strings.Repeat("é/@", MaxLength), "http://example.com/%20"},
		{"most parts", "http:" + strings.Repeat("/", maxParts-1) + "example.com", "http://example.com/"},
		{"separators in the query", "http://example.com/?" + strings.Repeat("/@:", 2000), "http://example.com/?" + strings.Repeat("/@:", 2000)},
		{"longest user info", "http://" + strings.Repeat("a", maxUserInfo) + "@example.com/", "http://example.com/"},
		{"longest", "http://example.com/" + strings.Repeat("a", MaxLength-19), "http://example.com/" + strings.Repeat("a", MaxLength-19)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := Canonical(c.in)
			if err != nil {
				t.Fatalf("Canonical(%q): %v", c.in, err)
			}
			if got.String() != c.want {
				t.Errorf("Canonical(%q) = %q, want %q", c.in, got, c.want)
			}
			checkInvariants(t, got)
		})
	}
}

func TestCanonicalErrors(t *testing.T) {
	long := strings.Repeat("a", MaxLength)
	cases := []struct {
		name, in string
		want     error
	}{
		{"empty", "", ErrSyntax},
		{"relative", "/a", ErrSyntax},
		{"no host", "http://", ErrSyntax},
		{"mail", "mailto:a@example.com", ErrScheme},
		{"javascript", "javascript:void(0)", ErrScheme},
		{"ftp", "ftp://example.com/", ErrScheme},
		{"data", "data:text/html,x", ErrScheme},
		{"port too large", "http://example.com:65536/", ErrSyntax},
		{"port not a number", "http://example.com:a/", ErrSyntax},
		{"IPv4 part too large", "http://256.256.256.256/", ErrSyntax},
		{"open bracket", "http://[::1/", ErrSyntax},
		{"text after the bracket", "http://[::1]a/", ErrSyntax},
		{"IPv6 with a zone", "http://[fe80::1%25eth0]/", ErrSyntax},
		{"IPv6 with two runs", "http://[1::2::3]/", ErrSyntax},
		{"IPv6 with nine parts", "http://[1:2:3:4:5:6:7:8:9]/", ErrSyntax},
		{"number too large", "http://4294967296/", ErrSyntax},
		{"no octal number", "http://1.2.3.08/", ErrSyntax},
		{"five parts", "http://1.2.3.4.5/", ErrSyntax},
		{"ends in a number", "http://example.0x/", ErrSyntax},
		{"port with a sign", "http://example.com:+80/", ErrSyntax},
		{"port in full-width digits", "http://example.com:８０/", ErrSyntax},
		{"two ports", "http://example.com:80:80/", ErrSyntax},
		{"only a port", "http://:80/", ErrSyntax},
		{"only user info", "http://user@/", ErrSyntax},
		{"only user info and a port", "http://user:pass@:80/", ErrSyntax},
		{"slash in the host", "http://ex%2Fample.com/", ErrHost},
		{"NUL in the host", "http://%00/", ErrHost},
		{"stray percent in the host", "http://%zz.example/", ErrHost},
		{"broken Punycode", "http://xn--a/", ErrHost},
		{"semicolon in the host", "http://h;x/", ErrHost},
		{"one byte too long", "http://example.com/" + long[:MaxLength-18], ErrTooLong},
		{"space in the host", "http://exa mple.com/", ErrHost},
		{"only a dot", "http://./", ErrHost},
		{"empty label", "http://a..b/", ErrHost},
		{"two trailing dots", "http://example.com../", ErrHost},
		{"number behind two dots", "http://0x7f.1../", ErrHost},
		{"quote in the host", "http://it's.example.com/", ErrHost},
		{"backtick in the host", "http://a`b/", ErrHost},
		{"long label", "http://" + long[:64] + ".example.com/", ErrHost},
		{"long name", "http://" + strings.Repeat("a.", 130) + "com/", ErrHost},
		{"long path", "http://example.com/" + long, ErrTooLong},
		{"long when encoded", "http://example.com/" + strings.Repeat("é", MaxLength/3), ErrTooLong},
		{"many parts", "http://example.com" + strings.Repeat("/", maxParts), ErrTooLong},
		{"many at signs", "http://" + strings.Repeat("@", maxParts) + "example.com", ErrTooLong},
		{"long user info", "http://" + long[:maxUserInfo+1] + "@example.com/", ErrTooLong},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := Canonical(c.in)
			if !errors.Is(err, c.want) {
				t.Errorf("got %q, %v; want %v", got, err, c.want)
			}
			if !got.IsZero() {
				t.Errorf("an error came with the URL %q", got)
			}
		})
	}
}

func TestResolve(t *testing.T) {
	base := must(t, "https://example.com/a/b?c")
	cases := []struct{ ref, want string }{
		{"d", "https://example.com/a/d"},
		{"/d", "https://example.com/d"},
		{"../d", "https://example.com/d"},
		{"?d", "https://example.com/a/b?d"},
		{"#d", "https://example.com/a/b?c"},
		{"", "https://example.com/a/b?c"},
		{"//other.example/x", "https://other.example/x"},
		{"http://other.example", "http://other.example/"},
		{"https:d", "https://example.com/a/d"},
		{"http:d", "http://d/"},
		{" \n d\t", "https://example.com/a/d"},
		{`\d`, "https://example.com/d"},
		{"https:///other.example/x", "https://other.example/x"},
	}
	for _, c := range cases {
		t.Run(c.ref, func(t *testing.T) {
			got, err := Resolve(base, c.ref)
			if err != nil || got.String() != c.want {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
	for _, ref := range []string{"javascript:void(0)", "mailto:x@example.com", "data:,x", "//"} {
		if got, err := Resolve(base, ref); err == nil {
			t.Errorf("Resolve(%q) = %q, want an error", ref, got)
		}
	}
	if _, err := Resolve(URL{}, "/a"); !errors.Is(err, ErrSyntax) {
		t.Errorf("against the zero URL: %v", err)
	}
}

func TestParts(t *testing.T) {
	u := must(t, "HTTPS://User@Example.com:8443/a/b;c?d=e#f")
	got := []string{u.Scheme(), u.Host(), u.Hostname(), u.Port(), u.Path(), u.Query(), u.Target(), u.Origin(), u.HostKey()}
	want := []string{"https", "example.com:8443", "example.com", "8443", "/a/b;c", "d=e", "/a/b;c?d=e", "https://example.com:8443", "example.com:8443"}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("part %d: %q, want %q", i, got[i], want[i])
		}
	}
	var zero URL
	for i, s := range []string{zero.Scheme(), zero.Host(), zero.Hostname(), zero.Port(), zero.Path(), zero.Query(), zero.Target(), zero.Origin(), zero.HostKey(), zero.String()} {
		if s != "" {
			t.Errorf("part %d of the zero URL is %q", i, s)
		}
	}
}

func TestHostKey(t *testing.T) {
	cases := []struct{ in, want string }{
		{"http://Example.com/", "example.com"},
		{"https://example.com./", "example.com"},
		{"https://example.com:443/", "example.com"},
		{"http://example.com:80/", "example.com"},
		{"http://example.com:443/", "example.com:443"},
		{"https://example.com:8443/", "example.com:8443"},
		{"http://[::1]:80/", "[::1]"},
		{"http://[::1]:8080/", "[::1]:8080"},
	}
	for _, c := range cases {
		if got := must(t, c.in).HostKey(); got != c.want {
			t.Errorf("HostKey of %s = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestRegistrableDomain(t *testing.T) {
	cases := []struct{ host, want string }{
		{"example.com", "example.com"},
		{"a.b.example.com", "example.com"},
		{"www.example.co.uk:8080", "example.co.uk"},
		{"alice.github.io", "alice.github.io"},
		{"a.alice.github.io", "alice.github.io"},
		{"github.io", "github.io"},
		{"co.uk", "co.uk"},
		{"localhost", "localhost"},
		{"localhost:8080", "localhost"},
		{"127.0.0.1", "127.0.0.1"},
		{"127.0.0.1:80", "127.0.0.1"},
		{"[::1]:80", "[::1]"},
		{"[::1]", "[::1]"},
		{"", ""},
	}
	for _, c := range cases {
		if got := RegistrableDomain(c.host); got != c.want {
			t.Errorf("RegistrableDomain(%q) = %q, want %q", c.host, got, c.want)
		}
	}
}

func TestNamesakes(t *testing.T) {
	t.Parallel()
	for host, want := range map[string][]string{
		"example.com":          {"example.com", "www.example.com"},
		"www.example.com:8080": {"www.example.com", "example.com"},
		"localhost:21080":      {"localhost", "www.localhost"},
		"127.0.0.1:80":         {"127.0.0.1"},
		"[::1]:8080":           {"[::1]"},
		"[::1]":                {"[::1]"},
	} {
		if got := Namesakes(host); !slices.Equal(got, want) {
			t.Errorf("Namesakes(%s) = %q, want %q", host, got, want)
		}
	}
}

func TestSameSite(t *testing.T) {
	cases := []struct {
		a, b string
		want bool
	}{
		{"http://example.com/", "https://www.example.com/x", true},
		{"http://a.example.co.uk/", "http://b.example.co.uk:8080/", true},
		{"http://example.com/", "http://example.org/", false},
		{"http://a.github.io/", "http://b.github.io/", false},
		{"http://a.co.uk/", "http://b.co.uk/", false},
		{"http://192.0.2.1/", "https://192.0.2.1/x", true},
		{"http://192.0.2.1/", "http://192.0.2.1:8080/", false},
		{"http://192.0.2.1/", "http://192.0.2.2/", false},
		{"http://[2001:db8::1]/", "http://[2001:db8::1]:8080/", false},
		{"http://intranet/", "http://intranet/x", true},
		{"http://intranet/", "http://intranet:8080/", false},
		{"http://a.localhost:80/", "http://b.a.localhost/", true},
		{"http://a.localhost:8000/", "http://b.a.localhost:8000/", true},
		{"http://a.localhost:8000/", "http://b.a.localhost:9000/", false},
		{"http://localhost:8000/", "http://a.localhost:8000/", false},
		{"http://a.localhost/", "https://b.a.localhost/", true},
		{"http://127.0.0.1:8000/", "http://127.0.0.1:9000/", false},
	}
	for _, c := range cases {
		if got := SameSite(must(t, c.a), must(t, c.b)); got != c.want || got != SameSite(must(t, c.b), must(t, c.a)) {
			t.Errorf("SameSite(%s, %s) = %t", c.a, c.b, got)
		}
	}
}

func TestLoopback(t *testing.T) {
	for in, want := range map[string]string{
		"http://127.0.0.1/":               "[127.0.0.1:80]",
		"https://127.1/":                  "[127.0.0.1:443]",
		"http://[::1]:8080/":              "[[::1]:8080]",
		"http://[::ffff:127.0.0.1]:8080/": "[127.0.0.1:8080]",
		"https://localhost/":              "[127.0.0.1:443 [::1]:443]",
		"http://a.localhost:8080/":        "[127.0.0.1:8080 [::1]:8080]",
		"http://example.com/":             "[]",
		"http://10.0.0.1/":                "[]",
	} {
		if got := fmt.Sprint(must(t, in).Loopback()); got != want {
			t.Errorf("Loopback of %s = %s, want %s", in, got, want)
		}
	}
}

func TestIsLoopback(t *testing.T) {
	cases := map[string]bool{
		"http://127.0.0.1/":          true,
		"http://127.9.9.9:8080/":     true,
		"http://2130706433/":         true,
		"http://[::1]/":              true,
		"http://[::ffff:127.0.0.1]/": true,
		"http://localhost:1234/":     true,
		"http://a.LOCALHOST./":       true,
		"http://example.com/":        false,
		"http://localhost.com/":      false,
		"http://notlocalhost/":       false,
		"http://10.0.0.1/":           false,
	}
	for in, want := range cases {
		if got := must(t, in).IsLoopback(); got != want {
			t.Errorf("IsLoopback(%s) = %v", in, got)
		}
	}
}

func must(t testing.TB, raw string) URL {
	t.Helper()
	u, err := Canonical(raw)
	if err != nil {
		t.Fatalf("Canonical(%q): %v", raw, err)
	}
	return u
}

// checkInvariants states what every canonical URL promises.
func checkInvariants(t interface {
	Helper()
	Errorf(string, ...any)
}, u URL,
) {
	t.Helper()
	text := u.String()
	if len(text) > MaxLength {
		t.Errorf("%d bytes", len(text))
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"'<>\\^`{|}#", r) }); i >= 0 {
		t.Errorf("%q has %q", text, text[i])
	}
	again, err := Canonical(text)
	if err != nil || again != u {
		t.Errorf("not idempotent: %q becomes %q, %v", text, again, err)
	}
	if u.Origin()+u.Target() != text || u.Scheme()+"://"+u.Host() != u.Origin() {
		t.Errorf("parts do not make %q", text)
	}
	parsed, err := url.Parse(text)
	if err != nil {
		t.Errorf("net/url refuses %q: %v", text, err)
		return
	}
	if parsed.RequestURI() != u.Target() || parsed.Host != u.Host() || parsed.String() != text {
		t.Errorf("net/http would ask %q for %q, want %q for %q", parsed.Host, parsed.RequestURI(), u.Host(), u.Target())
	}
}

func FuzzCanonical(f *testing.F) {
	for _, s := range []string{
		"http://example.com/%7E%2e%2E/%zz?%", "http://0x7f.1../", "http://[::ffff:1.2.3.4]:99/", "http://u:p@Bücher.example./?#",
		"http://xn--bcher-kva.example/'\"", "http://a.-1/", "https:\\\\a\\b", "http://example.com/a\x00b\xff", "//a/b", "?",
	} {
		f.Add(s)
	}
	base, err := Canonical("https://example.com/a/b?c")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if u, err := Canonical(raw); err == nil {
			checkInvariants(t, u)
		}
		if u, err := Resolve(base, raw); err == nil {
			checkInvariants(t, u)
		}
	})
}

// TestEquivalentSpellings: percent-encoding unreserved characters, fragments
// and user info never make another page.
func TestEquivalentSpellings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.StringMatching(`/[a-zA-Z0-9._~-]{0,12}(/[a-zA-Z0-9]{1,5}){0,3}(\?[a-z=&]{0,8})?`).Draw(t, "path")
		plain, err := Canonical("http://example.com" + path)
		if err != nil {
			t.Fatalf("%q: %v", path, err)
		}
		var b strings.Builder
		for i := 0; i < len(path); i++ {
			if isAlnum(path[i]) && rapid.Bool().Draw(t, "encode") {
				writeByte(&b, path[i], func(byte) bool { return false })
			} else {
				b.WriteByte(path[i])
			}
		}
		other, err := Canonical("HTTP://u:p@EXAMPLE.com.:80" + b.String() + "#x")
		if err != nil || other != plain {
			t.Errorf("%q and %q differ: %q, %v", path, b.String(), other, err)
		}
		checkInvariants(t, plain)
	})
}

func BenchmarkCanonical(b *testing.B) {
	for b.Loop() {
		if _, err := Canonical("https://www.example.com/news/2026/11/21/some-article.html?utm=x&page=2"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkResolve(b *testing.B) {
	page, err := Canonical("https://www.example.com/news/2026/11/21/some-article.html")
	if err != nil {
		b.Fatal(err)
	}
	base := NewBase(page)
	for b.Loop() {
		if _, err := base.Resolve("../22/another.html?page=2#top"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkNetURL is the yardstick of the other two.
func BenchmarkNetURL(b *testing.B) {
	for b.Loop() {
		if _, err := url.Parse("https://www.example.com/news/2026/11/21/some-article.html?utm=x&page=2"); err != nil {
			b.Fatal(err)
		}
	}
}
