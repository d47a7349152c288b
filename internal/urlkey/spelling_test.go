package urlkey

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSpelled(t *testing.T) {
	t.Parallel()
	base := NewBase(must(t, "http://h/dir/page"))
	for ref, want := range map[string]string{
		"/plain?a=b":             "",
		"/O'Brien":               "/O'Brien",
		"/O%27Brien":             "",
		"/?q='y'":                "", // browsers encode it in queries
		"/%7Ejoe":                "/%7Ejoe",
		"/~joe":                  "",
		"/caf%c3%a9":             "/caf%c3%a9",
		"/café":                  "", // browsers encode characters beyond ASCII
		"/a[1]":                  "/a[1]",
		"/a|b^c?d|e[f]^g`{h}":    "/a|b^c?d|e[f]^g`{h}",
		"O'Brien#top":            "/dir/O'Brien",
		"../x/%2E%2e/O'Brien":    "/O'Brien",
		"//other.example/it's":   "/it's",
		"?%7e":                   "/dir/page?%7e",
		"/100%":                  "", // not a stray percent sign
		"/100%/it's":             "",
		"http://h.example/it's?": "/it's?",
		"/it's?it's":             "/it's?it%27s",
	} {
		u, spelling, err := base.Spelled(ref)
		if err != nil || spelling != want {
			t.Errorf("%q is spelled %q, %v; want %q", ref, spelling, err, want)
		}
		if plain, err := base.Resolve(ref); err != nil || plain != u {
			t.Errorf("%q is %s spelled, else %s, %v", ref, u, plain, err)
		}
		if spelling != "" && !u.Spells(spelling) {
			t.Errorf("%q is no spelling of %s", spelling, u)
		}
	}
	if _, _, err := Spelled("mailto:a@h"); err == nil {
		t.Error("an address of mail is a URL")
	}
}

func TestRedirected(t *testing.T) {
	t.Parallel()
	from := must(t, "http://h/dir/page?q=1")
	for location, want := range map[string][2]string{
		"/O'Brien":          {"http://h/O%27Brien", "/O'Brien"},
		"?q='y'":            {"http://h/dir/page?q=%27y%27", "/dir/page?q='y'"},
		"?q=%27y%27":        {"http://h/dir/page?q=%27y%27", ""},
		"/%7Ejoe":           {"http://h/~joe", "/%7Ejoe"},
		"/caf%c3%a9":        {"http://h/caf%C3%A9", "/caf%c3%a9"},
		"/café":             {"http://h/caf%C3%A9", ""},
		"/caf\xe9":          {"http://h/caf%E9", ""}, // Latin-1 means its bytes
		"/a[1]":             {"http://h/a%5B1%5D", "/a[1]"},
		"/100%":             {"http://h/100%25", "/100%"},
		"http://h/a b":      {"http://h/a%20b", ""},
		"http://bücher.de/": {"http://xn--bcher-kva.de/", ""},
		"/dir/page?q=1#top": {"http://h/dir/page?q=1", ""},
	} {
		to, spelling, err := Redirected(from, location)
		if err != nil || to.String() != want[0] || spelling != want[1] {
			t.Errorf("%q leads to %s spelled %q, %v; want %q", location, to, spelling, err, want)
		}
	}
	for _, bad := range []string{"http://", "javascript:x", "/" + strings.Repeat("a", MaxLength)} {
		if to, _, err := Redirected(from, bad); err == nil {
			t.Errorf("%.20q leads to %s", bad, to)
		}
	}
}

func TestSpells(t *testing.T) {
	t.Parallel()
	u := must(t, "http://h/it's/~joe?a=%C3%A9")
	for _, target := range []string{"/it's/~joe?a=%c3%a9", "/it%27s/%7ejoe?%61=%C3%A9", u.Target()} {
		if !u.Spells(target) {
			t.Errorf("%q is no spelling of %s", target, u)
		}
	}
	for _, target := range []string{
		"", "/", "/it's/~joe", "/it's/~joe?a=\u00e9", "/it's/~joe?a=%C3%A9#x", "/it's/~joe?a=%C3%A9 ", "//it's/~joe?a=%C3%A9",
		"/it's%2F~joe?a=%C3%A9", "/it's/x/../~joe?a=%C3%A9", "http://h/it's/~joe?a=%C3%A9", "/it's/~joe%3Fa=%C3%A9",
	} {
		if u.Spells(target) {
			t.Errorf("%q is a spelling of %s", target, u)
		}
	}
	if (URL{}).Spells("/") {
		t.Error("no URL has a spelling")
	}
}

// TestSpellingKeepsTheKey: whatever is asked for has the key that was judged.
func TestSpellingKeepsTheKey(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		from, err := Canonical("http://h/dir/")
		if err != nil {
			t.Fatal(err)
		}
		location := rapid.StringMatching(`[/?.%'\[\]|^~A-Fa-f0-9#"é\\; -]{0,24}`).Draw(t, "location")
		to, spelling, err := Redirected(from, location)
		if err != nil || spelling == "" {
			return
		}
		if again, err := Canonical(to.Origin() + spelling); err != nil || again != to || !to.Spells(spelling) {
			t.Fatalf("%q leads to %s, but is asked for as %q: %s, %v", location, to, spelling, again, err)
		}
	})
}
