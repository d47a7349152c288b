package robots

import "testing"

func TestForbidsAll(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"User-agent: *\nDisallow: /\n":                                      true,
		"User-agent: *\nDisallow: /*\n":                                     true,
		"User-agent: *\nDisallow: *\n":                                      true,
		"User-agent: *\nDisallow: /a\nDisallow: /\n":                        true,
		"User-agent: *\nDisallow: /a\n":                                     false,
		"User-agent: *\nDisallow: /$\n":                                     false,
		"User-agent: *\nDisallow:\n":                                        false,
		"User-agent: *\nDisallow: /\nAllow: /docs\n":                        false,
		"User-agent: *\nDisallow: /\n\nUser-agent: recrawl\nDisallow: /a\n": false,
		"User-agent: *\nDisallow: /a\n\nUser-agent: recrawl\nDisallow: /\n": true,
		"User-agent: other\nDisallow: /\n":                                  false,
		"":                                                                  false,
	} {
		if got := Parse([]byte(text)).ForbidsAll("recrawl"); got != want {
			t.Errorf("%q: %t, want %t", text, got, want)
		}
	}
}
